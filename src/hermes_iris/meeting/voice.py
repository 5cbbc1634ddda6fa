"""What an account says in its rooms, from its commit to what became of it.

Invariants: what is committed is said once, oldest first, whatever breaks meanwhile; it counts as said when the room's
archive has it, which its reflection tells; a message that a room never reflects is given up after `MAX_TRIES`.
"""

import asyncio
import contextlib
import logging
import sqlite3
import time
from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from ..protocol.types import Seconds
from ..store import Store, meetings
from ..store.meetings import Fate, Outgoing
from .attendance import Attendance
from .signals import Signal
from .state import Reason, Refusal

logger = logging.getLogger(__name__)

WINDOW = 50
"""Messages on their way to a room at once."""

REFLECTION_LIMIT: Seconds = 30.0
"""How long a room may take to reflect a message before the connection counts as dead."""

MAX_TRIES = 3
"""Times that a message may go unreflected before it is given up."""

LOOK: Seconds = 1.0
"""Between two looks for what other processes have posted, and for what became of a message."""


class Voice:
    """What is to be said by one account.

    Args:
        account: its bare JID.
        store: of the home.
        stays: the rooms that it is in.
    """

    def __init__(self, account: str, store: Store, stays: Mapping[str, Attendance]) -> None:
        self.mine: set[str] = set()
        """Ids of messages that are to be said or were just said."""

        self._account = account
        self._store = store
        self._stays = stays
        self._fates: list[tuple[str, Fate]] = []
        self._tries: dict[str, int] = {}
        self._wake = asyncio.Event()
        self._settled = asyncio.Event()

    def wake(self) -> None:
        """There may be something to say."""
        self._wake.set()

    async def recall(self, room: str) -> None:
        """Know again what is still to be said in a room that the account is about to enter."""
        waiting = await self._store.read(self._waiting(room, meetings.MAX_WAITING))
        self.mine.update(message.origin_id for message in waiting)

    def reflected(self, origin_id: str, archive_id: str) -> None:
        """The room's archive has a message."""
        self._fates.append((origin_id, Fate(archive_id, "")))
        self.wake()

    def refused(self, origin_id: str, text: str) -> None:
        """A room does not take a message, for this reason."""
        logger.warning("%s", text)
        self._fates.append((origin_id, Fate("", text)))
        self.wake()

    async def settled(self, origin_id: str) -> str:
        """Wait until it is known what became of a message; returns its id in the archive.

        Raises:
            Refusal: the room does not take it.
            NotFound: there is no such message.
        """
        while True:
            settled = self._settled
            fate = await self._store.read(partial(meetings.fate, account=self._account, origin_id=origin_id))
            if fate.refused:
                raise Refusal(Reason.REFUSED, fate.refused)
            if fate.archive_id:
                return fate.archive_id
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await settled.wait()

    async def run(self) -> None:
        """Say what is to be said in the rooms that the account is in, while a connection lasts. Raises `Refusal`."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK):
                    await self._wake.wait()
            self._wake.clear()
            await self._settle()
            for stay in [stay for stay in self._stays.values() if stay.joined]:
                waiting = await self._store.read(self._waiting(stay.room, WINDOW))
                # What was reflected since it was read still waits there.
                underway = stay.sent.keys() | {origin_id for origin_id, _ in self._fates}
                for message in waiting:
                    if message.origin_id not in underway:
                        signal = None if message.signal is None else msgspec.json.decode(message.signal, type=Signal)
                        stay.say(message, signal)
            self._check_reflections()

    def _waiting(self, room: str, limit: int) -> Callable[[sqlite3.Connection], list[Outgoing]]:
        """Reads what is still to be said in a room."""
        return partial(meetings.waiting, account=self._account, room=room, limit=limit)

    async def _settle(self) -> None:
        """Commit what became of messages, and tell those who wait for it."""
        fates, self._fates = self._fates, []
        if fates:
            try:
                await self._store.write(partial(meetings.settle, account=self._account, fates=fates))
            except BaseException:  # also when it is cancelled: the next connection tells of it
                self._fates = fates + self._fates
                raise
            for origin_id, _ in fates:
                self.mine.discard(origin_id)
                self._tries.pop(origin_id, None)
            self._settled.set()
            self._settled = asyncio.Event()

    def _check_reflections(self) -> None:
        """Raise `Refusal` when a message has been on its way for too long."""
        limit = time.monotonic() - REFLECTION_LIMIT
        for room, stay in self._stays.items():
            for origin_id, sent in stay.sent.items():
                if sent < limit:
                    self._tries[origin_id] = self._tries.get(origin_id, 0) + 1
                    if self._tries[origin_id] >= MAX_TRIES:
                        self.refused(origin_id, f"{room} did not take the message in {MAX_TRIES} tries")
                    raise Refusal(Reason.UNREACHABLE, f"{room} did not take a message within {REFLECTION_LIMIT:.0f} s")
