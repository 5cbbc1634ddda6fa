"""One account in its rooms, for as long as this process lives.

Invariants: `post` returns when the text is committed, and what is committed is said once, after whatever break, unless
the room refuses it; `on_said` gets each message of a room once, in the order of its archive, across breaks and starts –
only a process that is killed between its return and the commit of the place gets that one message again, with the same
`archive_id`; of all processes of a home one is in the rooms for an account, the others' words go out through it.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import logging
import random
import sqlite3
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from xml.etree.ElementTree import Element

import msgspec

from ..errors import IrisError, NotFound, TooLarge, Unsupported
from ..protocol.types import Seconds
from ..store import Store, meetings
from ..store.meetings import Outgoing
from . import stanza
from .attendance import Attendance
from .catchup import CatchUp
from .config import Account
from .said import Said, Sender
from .signals import Signal
from .state import Phase, Refusal, RoomState
from .stream import Stream
from .voice import Voice

logger = logging.getLogger(__name__)

MAX_BYTES = 48_000
"""Of a message; servers end the connection of who sends stanzas of more than about 64 KiB."""

FIRST_PAUSE: Seconds = 0.25
LONGEST_PAUSE: Seconds = 30.0
"""Between attempts; each failure doubles it, chance spreads it."""

PING: Seconds = 60.0

TURN: Seconds = 1.0
"""Between two looks whether another process is still in the rooms."""

GRACE: Seconds = 10.0
"""How long `on_said` may take at the end."""


class Connection:
    """An account in its rooms. Make, `start` and `close` it on one event loop.

    Args:
        account: who.
        rooms: bare JIDs.
        store: of the home; places in archives and messages to be said are kept there.
        on_said: gets what is said; it must not wait for `posted`.
        on_state: gets how the account stands in a room, whenever that changes.
        on_occupants: somebody came to a room or left it.
        on_composing: an occupant of a room composes a message, or no longer.
        history: how many messages from before the first join of all are told.
    """

    def __init__(
        self,
        account: Account,
        rooms: Sequence[str],
        store: Store,
        on_said: Callable[[Said], Awaitable[None]],
        on_state: Callable[[RoomState], None],
        *,
        on_occupants: Callable[[str], None] = lambda room: None,
        on_composing: Callable[[str, Sender, bool], None] = lambda room, sender, on: None,
        history: int = 0,
    ) -> None:
        self.account = account
        self.rooms = tuple(rooms)
        self._store = store
        self._on_said = on_said
        self._on_state = on_state
        self._on_occupants = on_occupants
        self._on_composing = on_composing
        self._history = history
        self._states: dict[str, RoomState] = {}
        self._stays: dict[str, Attendance] = {}
        self._voice = Voice(account.jid, store, self._stays)
        self._task: asyncio.Task[None] | None = None
        name = hashlib.sha256(f"{account.jid} {store.path}".encode()).hexdigest()[:12]
        self._lock = store.path.with_name(f"meeting-{name}.lock")
        self._resource = f"iris-{name}"

    def start(self) -> None:
        """Begin to join the rooms; what comes of it is told by `on_state`."""
        self._task = asyncio.create_task(self._run(), name=f"meeting {self.account.jid}")

    async def close(self) -> None:
        """Leave the rooms."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def post(
        self,
        room: str,
        text: str,
        *,
        hop: int,
        reply_to: str = "",
        notice: bool = False,
        signal: Signal | None = None,
        origin_id: str | None = None,
    ) -> str:
        """Take a message to be said; returns its id once that is committed. The same id is said once.

        Raises:
            Unsupported: there is no text.
            TooLarge: there is too much.
            NotFound: the account is in no such room.
            Busy: too many messages wait for the server.
        """
        text = stanza.clean(text)
        if not text.strip():
            raise Unsupported("there is no text to say")
        if len(text.encode()) > MAX_BYTES:
            raise TooLarge(f"a message to a room has at most {MAX_BYTES} bytes")
        if room not in self.rooms:
            raise NotFound(f"{self.account.jid} is in no room {room}; it is in: {', '.join(self.rooms)}")
        encoded = None if signal is None else msgspec.json.encode(signal)
        message = Outgoing(origin_id or uuid.uuid4().hex, room, text, hop, reply_to, notice, encoded)
        await self._store.write(partial(meetings.add, account=self.account.jid, message=message, now=time.time()))
        self._voice.wake()
        return message.origin_id

    async def posted(self, origin_id: str) -> str:
        """Wait until the room's archive has a message; returns its id there. The caller sets a limit.

        Raises:
            Refusal: the room does not take it.
            NotFound: there is no such message.
        """
        return await self._voice.settled(origin_id)

    def composing(self, room: str, on: bool) -> None:
        """Show that the account composes a message, or no longer; nothing happens while it is not in the room."""
        stay = self._stays.get(room)
        if stay is not None and stay.joined:
            stay.compose(on)

    def occupants(self, room: str) -> list[Sender]:
        """Who is in a room now, by nick; nobody while the account is not."""
        stay = self._stays.get(room)
        return [] if stay is None else [stay.sender(nick) for nick in sorted(stay.occupants)]

    def state(self, room: str) -> RoomState:
        """How the account stands in a room."""
        return self._states.get(room, RoomState(room, Phase.CONNECTING))

    async def _run(self) -> None:
        """Be in the rooms, again and again."""
        with self._lock.open("a") as lock:
            await self._alone(lock.fileno())
            self._tell_all(Phase.CONNECTING)
            pause = FIRST_PAUSE
            while True:
                began = time.monotonic()
                try:
                    await self._session()
                except Refusal as refusal:
                    for room in self.rooms:
                        self._failed(room, refusal)
                except Exception:  # whatever a connection dies of, the account comes back; only its end is told apart
                    logger.exception("the meeting of %s broke off; it is tried again", self.account.jid)
                pause = FIRST_PAUSE if time.monotonic() - began > LONGEST_PAUSE else min(pause * 2, LONGEST_PAUSE)
                await asyncio.sleep(_spread(pause))

    async def _alone(self, lock: int) -> None:
        """Wait until no other process of this home is in the rooms for the account."""
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._tell_all(Phase.ELSEWHERE)
                await asyncio.sleep(TURN)
            else:
                return

    async def _session(self) -> None:
        """One connection, to its end. Raises `Refusal`."""
        await self._store.write(partial(meetings.forget_old, now=time.time()))
        stream = await Stream.open(self.account, self._resource, self._hear)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(_until_closed(stream))
                tasks.create_task(self._voice.run())
                for room in self.rooms:
                    tasks.create_task(self._attend(stream, room))
        except BaseExceptionGroup as group:
            first = group.exceptions[0]
            raise first from None
        finally:
            await stream.close()

    def _hear(self, element: Element) -> None:
        """Give a stanza to the stay in the room that it is from."""
        stay = self._stays.get(stanza.bare(element.get("from", "")))
        if stay is not None:
            (stay.hear_presence if element.tag.endswith("}presence") else stay.hear_message)(element)

    async def _attend(self, stream: Stream, room: str) -> None:
        """Stay in a room, again and again, while the connection lasts."""
        pause = FIRST_PAUSE
        while True:
            began = time.monotonic()
            try:
                await self._stay(stream, room)
            except Refusal as refusal:
                if stream.closed.done():
                    return  # the whole connection's end is told at once
                self._failed(room, refusal)
            pause = FIRST_PAUSE if time.monotonic() - began > LONGEST_PAUSE else min(pause * 2, LONGEST_PAUSE)
            await asyncio.sleep(_spread(pause))

    async def _stay(self, stream: Stream, room: str) -> None:
        """One stay in a room, to its end. Raises `Refusal`."""
        account = self.account.jid
        await self._voice.recall(room)
        catch_up: CatchUp[Said] = CatchUp(
            await self._store.read(partial(meetings.heard, account=account, room=room)), self._history
        )
        stay = Attendance(
            stream,
            self.account,
            room,
            self._voice.mine,
            self._voice.reflected,
            self._voice.refused,
            self._on_occupants,
            self._on_composing,
        )
        stay.start_holding(catch_up)
        self._stays[room] = stay
        telling = asyncio.create_task(self._tell(stay))
        try:
            await stay.enter()
            await stay.catch_up(catch_up, partial(self._move, room))
            if catch_up.gap:
                self._say(RoomState(room, Phase.GAP, text=_gap(room)))
            self._say(RoomState(room, Phase.JOINED))
            self._voice.wake()
            while not stay.gone.done():
                await asyncio.wait({stay.gone}, timeout=PING)
                if not stay.gone.done():
                    await stay.ping()
            raise stay.gone.result()
        finally:
            self._stays.pop(room)
            stay.leave()
            await _finish(telling, stay)

    async def _tell(self, stay: Attendance) -> None:
        """Tell on what is heard in a stay, one after the other."""
        while True:
            said = await stay.to_tell.get()
            await self._told(said)
            stay.to_tell.task_done()

    async def _told(self, said: Said) -> None:
        pause = FIRST_PAUSE
        while True:
            try:
                await self._on_said(said)
                await self._move(said.room, said.archive_id, said.origin_id if said.sender.own else "")
            except (IrisError, sqlite3.Error):
                logger.exception("message %s of %s could not be kept; it is tried again", said.archive_id, said.room)
                pause = min(pause * 2, LONGEST_PAUSE)
                await asyncio.sleep(pause)
            except Exception:  # the handler is the caller's; one message must not keep the following from being told
                logger.exception("message %s of %s could not be handled", said.archive_id, said.room)
                return
            else:
                return

    async def _move(self, room: str, archive_id: str, own: str = "") -> None:
        """Commit a place in the archive; with it, that an own message is there."""
        account = self.account.jid
        await self._store.write(partial(meetings.hear, account=account, room=room, archive_id=archive_id, own=own))

    def _failed(self, room: str, refusal: Refusal) -> None:
        self._say(RoomState(room, Phase.FAILED, refusal.reason, str(refusal)))

    def _tell_all(self, phase: Phase) -> None:
        for room in self.rooms:
            self._say(RoomState(room, phase))

    def _say(self, state: RoomState) -> None:
        """Tell how the account stands in a room, once for each change."""
        if self._states.get(state.room) == state:
            return
        self._states[state.room] = state
        level = logging.WARNING if state.text else logging.INFO
        logger.log(level, "%s in %s: %s %s", self.account.jid, state.room, state.phase.value, state.text)
        self._on_state(state)


async def _until_closed(stream: Stream) -> None:
    """Wait for the end of a connection. Raises `Refusal`."""
    raise await asyncio.shield(stream.closed)


async def _finish(telling: "asyncio.Task[None]", stay: Attendance) -> None:
    """End the telling after the message that it is at; what follows is read from the archive next time."""
    while not stay.to_tell.empty():
        stay.to_tell.get_nowait()
        stay.to_tell.task_done()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(GRACE):
            await stay.to_tell.join()
    telling.cancel()
    await asyncio.gather(telling, return_exceptions=True)


def _spread(pause: Seconds) -> Seconds:
    return pause * random.uniform(0.5, 1.0)  # noqa: S311 - so that not all come back at once


def _gap(room: str) -> str:
    return (
        f"the archive of {room} no longer reaches back to the last message that was heard here; what came between is"
        " lost to this account, other members may have it"
    )
