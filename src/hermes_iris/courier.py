"""Gives people's messages to the host, oldest first, each until the host has taken it.

Invariant: a message that was accepted reaches the host, whatever happens in between; what waits is marked in the store,
so a gateway that starts goes on where the last one stopped.
"""

import asyncio
import logging
import sqlite3
from contextlib import suppress
from functools import partial

from .address import Lane
from .errors import IrisError
from .host import Context, Host
from .protocol.frames import Channel, Message
from .protocol.types import MessageId, Seconds
from .store import Store, channels, messages

logger = logging.getLogger(__name__)

RETRY: Seconds = 2.0
"""Time until the host is asked again to take a message that it refused."""

GRACE: Seconds = 2.0
"""How long the host may take at the end for the message that it is just being given."""


class Courier:
    """The one task that delivers; to be woken after each commit of a message."""

    def __init__(self, store: Store, host: Host) -> None:
        self._store = store
        self._host = host
        self._woken = asyncio.Event()
        self._taken: set[MessageId] = set()
        """What the host has taken while the store could not note it yet."""

        self._stopping = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to deliver: from now on the host must be ready."""
        self._task = asyncio.create_task(self._run(), name="iris-courier")

    def wake(self) -> None:
        """There may be something to deliver."""
        self._woken.set()

    async def stop(self) -> None:
        """Finish the delivery that is under way, but do not wait for the host for ever."""
        self._stopping = True
        if self._task is None:
            return
        self.wake()
        await asyncio.wait([self._task], timeout=GRACE)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        delivered_all = False
        self.wake()
        while not self._stopping:
            with suppress(TimeoutError):
                async with asyncio.timeout(None if delivered_all else RETRY):
                    await self._woken.wait()
            self._woken.clear()
            try:
                delivered_all = await self._round()
            except (IrisError, sqlite3.Error):
                logger.exception("the store could not say or note what the host has taken; it is tried again")
                delivered_all = False

    async def _round(self) -> bool:
        """Deliver what waits; False when something has to wait longer. A lane that was refused keeps its order."""
        refused: set[Lane] = set()
        for message, channel, context in await self._store.read(_waiting):
            if self._stopping:
                break
            lane = Lane(message.chat_id, message.thread_id)
            if lane in refused:
                continue
            if message.message_id not in self._taken and not await self._given(message, channel, context):
                refused.add(lane)
                continue
            self._taken.add(message.message_id)
            await self._store.write(partial(messages.hand_over, message_id=message.message_id))
            self._taken.discard(message.message_id)
        return not refused

    async def _given(self, message: Message, channel: Channel, context: Context) -> bool:
        """Whether the host has taken a message; whatever its own code raises, the message stays and is tried again."""
        try:
            await self._host.deliver(message, channel, context)
        except (Exception, asyncio.CancelledError):
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # it is the courier that was cancelled, nothing inside the host
                raise
            logger.exception("the host did not take message %s; it is tried again", message.message_id)
            return False
        return True


def _waiting(conn: sqlite3.Connection) -> list[tuple[Message, Channel, Context]]:
    return [
        (message, channels.get(conn, message.chat_id, message.thread_id), _context(conn, message))
        for message in messages.waiting(conn)
    ]


def _context(conn: sqlite3.Connection, message: Message) -> Context:
    reports = messages.unread_reports(conn, message)
    answered = messages.find(conn, message.reply_to)
    is_told = answered is None or any(report.message_id == answered.message_id for report in reports)
    return Context(reports, None if is_told else answered, messages.find(conn, message.replaces))
