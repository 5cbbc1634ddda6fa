"""The person's side of the meeting: each room is a lane of the app, in which the person has a JID of their own.

Invariants: what the room's archive has is stored once, in the archive's order, together with what it leads to; a
message of the person is accepted when it stands in the outbox, and seen when the room has it, or refuses it; without a
set-up that works the rooms say why, and everything else goes on.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar

import msgspec

from .. import directory
from ..address import Lane
from ..config import Home, Settings
from ..errors import IrisError, NotFound, SetupError, Unsupported
from ..hub import Hub, Recorded
from ..moment import Moment
from ..protocol.frames import (
    Ack,
    LeaseRevoke,
    Member,
    Message,
    MessageAccepted,
    MessageSend,
    Reply,
    Request,
    RoomStop,
    RoomTyping,
)
from ..protocol.types import ChatId, Seconds
from ..store import channels, floors, meetings, messages, requests
from . import config, floor, shown
from .config import Account, Meeting
from .connection import Connection
from .floor import Floor
from .guard import Guard
from .said import Said, Sender
from .shown import Post
from .signals import Resume, Revoke, Signal, Stop
from .state import Phase, Reason, Refusal, RoomState as Standing

logger = logging.getLogger(__name__)

R = TypeVar("R", bound=Reply)

SETTLE: Seconds = 0.1
"""Changes of a room within this time are told as one."""

HISTORY = 50
"""Messages from before the first join that the lane begins with."""

STOP = "stop"
GO_ON = "go on"
"""What the signals say to those that do not know them."""


Join = Callable[..., Connection]
"""How a connection is made: with what `Connection` takes."""


class Plan(NamedTuple):
    """What the configuration says of the person's rooms."""

    meeting: Meeting | None = None
    account: Account | None = None
    problem: str = ""
    """Why there is no meeting, or no account."""


def plan(home: Home, settings: Settings) -> Plan:
    """Read the configuration; a meeting without a person here concerns the agents only."""
    file = config.path(home, settings)
    if not file.exists():
        return Plan()
    try:
        meeting = config.load(file)
    except SetupError as exc:
        return Plan(problem=str(exc))
    person = meeting.person_of(home)
    if person is None:
        return Plan()
    try:
        return Plan(meeting, meeting.account(person, file.parent))
    except SetupError as exc:
        return Plan(meeting, problem=str(exc))


@dataclass
class _Room:
    """What is known of a room."""

    chat_id: ChatId
    jid: str
    floor: Floor
    standing: Standing
    typing: set[str] = field(default_factory=set)
    """The nicks of those who write."""

    posts: asyncio.Queue[Post] = field(default_factory=lambda: asyncio.Queue(meetings.MAX_WAITING))
    """What the person said and the room does not have yet, oldest first."""

    timer: asyncio.TimerHandle | None = None
    """Shows the room anew."""


class Rooms:
    """The person's rooms; lives on the event loop of its hub. Made by `open`, ended by `close`."""

    def __init__(self, hub: Hub, plan: Plan, rooms: Sequence[_Room]) -> None:
        self._hub = hub
        self._plan = plan
        self._rooms = {room.chat_id: room for room in rooms}
        self._by_jid = {room.jid: room for room in rooms}
        self._link: Connection | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    async def open(cls, hub: Hub, plan: Plan, join: Join = Connection) -> "Rooms":
        """Let the directory have the rooms, and join them."""
        rooms = cls(hub, plan, await hub.transact(partial(_furnished, plan, hub.clock.now())))
        if plan.problem:
            logger.error("the app is not in the meeting: %s", plan.problem)
        for room in rooms._rooms.values():
            rooms._show(room)
        if plan.account is not None:
            await rooms._join(plan.account, join)
        return rooms

    async def close(self) -> None:
        """Leave the rooms."""
        if self._link is not None:
            await self._link.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for room in self._rooms.values():
            if room.timer is not None:
                room.timer.cancel()

    def __contains__(self, chat_id: ChatId) -> bool:
        """Whether a lane is one of the rooms."""
        return chat_id in self._rooms

    # -- what devices ask

    async def send(self, request: MessageSend) -> MessageAccepted:
        """Say something.

        Raises:
            NotFound, Unsupported, TooLarge, Busy: it cannot be said there.
        """
        if request.thread_id is not None:
            raise NotFound("$.thread_id names no thread: rooms have none")
        if request.reply_to is not None:
            raise Unsupported("$.reply_to is for your own agent; in a room, mention who is meant")
        if request.replaces is not None:
            raise Unsupported("$.replaces is for your own agent: what a room has heard stays said")
        if request.attachments:
            raise Unsupported("$.attachments is for your own agent: a room takes text")
        if request.text.startswith("/"):
            raise Unsupported("$.text begins with a slash: commands are for your own agent, a room has none")
        message_id = shown.own_id(request.client_id)
        answer = MessageAccepted(client_id=request.client_id, message_id=message_id, chat_id=request.chat_id)
        return await self._post(self._room(request.chat_id), request, answer, request.text)

    async def stop(self, request: RoomStop) -> Ack:
        """Stop the agents, or let them go on. Raises as `send` does."""
        text, signal = (STOP, Stop()) if request.on else (GO_ON, Resume())
        return await self._post(self._room(request.chat_id), request, Ack(client_id=request.client_id), text, signal)

    async def revoke(self, request: LeaseRevoke) -> Ack:
        """Ask an agent to end its lease. Raises as `send` does."""
        room = self._room(request.chat_id)
        name = next((lease.name for lease in room.floor.leases if lease.agent == request.agent), request.agent)
        text = f"{name}, do not share your terminal session here any longer."
        return await self._post(room, request, Ack(client_id=request.client_id), text, Revoke(request.agent))

    async def composing(self, request: RoomTyping) -> Ack:
        """Show the room that the person writes. Raises `NotFound`."""
        room = self._room(request.chat_id)
        if self._link is not None:
            self._link.composing(room.jid, request.on)
        return Ack(client_id=request.client_id)

    # -- inside

    def _room(self, chat_id: ChatId) -> _Room:
        try:
            return self._rooms[chat_id]
        except KeyError:
            raise NotFound("$.chat_id names no room") from None

    async def _post(self, room: _Room, request: Request[R], answer: R, text: str, signal: Signal | None = None) -> R:
        """Commit words to the outbox, then the answer: the same id is said once, however often it is tried."""
        link, store = self._link, self._hub.store
        if link is None:
            raise Unsupported(f"$.chat_id is a room that this gateway is not in: {self._plan.problem}")
        if earlier := await store.read(lambda conn: requests.earlier(conn, request, type(answer))):
            return earlier
        await link.post(room.jid, text, hop=0, signal=signal, origin_id=request.client_id)
        moment = self._hub.clock.now()
        await store.write(lambda conn: requests.remember(conn, request, answer, moment.ts))
        await room.posts.put(Post(request.client_id, room.jid, self._nick, text, signal is not None))
        return answer

    @property
    def _nick(self) -> str:
        return self._plan.account.nick if self._plan.account else ""

    async def _join(self, account: Account, join: Join) -> None:
        rooms = list(self._rooms.values())
        for room in rooms:
            waiting = partial(meetings.waiting, account=account.jid, room=room.jid, limit=meetings.MAX_WAITING)
            for message in await self._hub.store.read(waiting):
                post = Post(message.origin_id, room.jid, account.nick, message.text, message.signal is not None)
                room.posts.put_nowait(post)
        self._link = join(
            account,
            [room.jid for room in rooms],
            self._hub.store,
            self._said,
            self._stands,
            on_occupants=self._came_or_went,
            on_composing=self._writes,
            history=HISTORY,
        )
        self._link.start()
        for room in rooms:
            self._begin(self._follow(room, self._link))

    async def _follow(self, room: _Room, link: Connection) -> None:
        """See what becomes of the person's words: the room's echo comes by itself, a refusal has to be told."""
        while True:
            post = await room.posts.get()
            try:
                await self._settled(post, link)
            except (IrisError, sqlite3.Error):
                logger.exception("what became of message %s to %s is not known", post.origin_id, room.jid)

    async def _settled(self, post: Post, link: Connection) -> None:
        try:
            await link.posted(post.origin_id)
        except Refusal as refusal:
            await self._tell(shown.refused(post, str(refusal), self._hub.clock.now()))

    async def _said(self, said: Said) -> None:
        """Store what was said; raises when that fails, and then it is told again."""
        room = self._by_jid[said.room]
        after = floor.after(room.floor, said, self._guard)
        await self._hub.transact(partial(_taken, said, self._hub.clock.now(), after))
        room.floor = after
        room.typing.discard(said.sender.nick)
        self._changed(room)

    def _stands(self, standing: Standing) -> None:
        room = self._by_jid[standing.room]
        if standing.phase is Phase.GAP:
            self._begin(self._tell([shown.remark(room.chat_id, standing.text, self._hub.clock.now())]))
            return
        room.standing = standing
        if standing.phase is not Phase.JOINED:
            room.typing.clear()
        self._changed(room)

    def _came_or_went(self, jid: str) -> None:
        room = self._by_jid[jid]
        room.typing &= {occupant.nick for occupant in self._occupants(room)}
        self._changed(room)

    def _writes(self, jid: str, sender: Sender, on: bool) -> None:
        room = self._by_jid[jid]
        (room.typing.add if on else room.typing.discard)(sender.nick)
        self._changed(room)

    async def _tell(self, told: list[Message]) -> None:
        await self._hub.transact(lambda conn: Recorded(told, messages.record(conn, told)))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work, name="iris-rooms")
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("a room's lane lacks something that was to be told there", exc_info=error)

    @property
    def _guard(self) -> Guard:
        return self._plan.meeting.guard if self._plan.meeting else Guard()

    def _occupants(self, room: _Room) -> list[Sender]:
        return self._link.occupants(room.jid) if self._link else []

    def _members(self, room: _Room) -> list[Member]:
        """Who is here, and who of the configuration is not."""
        here = self._occupants(room)
        members = [
            Member(name=shown.name_of(one), kind=one.kind.value, own=one.own, here=True, typing=one.nick in room.typing)
            for one in here
        ]
        present = {one.jid for one in here}
        meeting = self._plan.meeting
        for agent in meeting.agents if meeting else ():
            if agent.jid not in present and (agent.rooms is None or room.jid in agent.rooms):
                members.append(Member(name=agent.shown, kind="agent"))
        return members

    def _changed(self, room: _Room) -> None:
        """Show a room soon; what changes meanwhile is shown with it."""
        if room.timer is not None and room.timer.when() <= self._hub.loop.time() + SETTLE:
            return
        self._show_in(room, SETTLE)

    def _show_in(self, room: _Room, delay: Seconds) -> None:
        if room.timer is not None:
            room.timer.cancel()
        room.timer = self._hub.loop.call_later(delay, self._show, room)

    def _show(self, room: _Room) -> None:
        room.timer = None
        now = self._hub.clock.now().ts
        current = floor.at(room.floor, now)
        self._hub.show(Lane(room.chat_id), shown.state(room.chat_id, room.standing, self._members(room), current))
        if (end := floor.next_end(current)) is not None:
            self._show_in(room, max(end - now, SETTLE) + SETTLE)


def _furnished(plan: Plan, moment: Moment, conn: sqlite3.Connection) -> Recorded:
    """Let the directory have the rooms of the plan, and give what is known of them."""
    if plan.meeting is None and plan.problem:  # which rooms there are is not known: those that were stay
        known = [entry.chat_id for entry in channels.directory(conn) if entry.kind == "room" and not entry.archived]
        failed = Standing("", Phase.FAILED, Reason.SETUP, plan.problem)
        return Recorded([], [], [_Room(chat_id, "", Floor(), failed) for chat_id in known])
    rooms = plan.meeting.rooms_of(plan.meeting.person) if plan.meeting and plan.meeting.person else []
    events = directory.furnish(conn, {shown.lane_of(room.jid).chat_id: room.name for room in rooms}, moment)
    return Recorded(events, messages.record(conn, events), [_known(conn, plan, room.jid) for room in rooms])


def _known(conn: sqlite3.Connection, plan: Plan, jid: str) -> _Room:
    failed = Standing(jid, Phase.FAILED, Reason.SETUP, plan.problem)
    standing = failed if plan.problem else Standing(jid, Phase.CONNECTING)
    kept = floors.get(conn, jid)
    return _Room(shown.lane_of(jid).chat_id, jid, msgspec.json.decode(kept, type=Floor) if kept else Floor(), standing)


def _taken(said: Said, moment: Moment, after: Floor, conn: sqlite3.Connection) -> Recorded:
    """Store what was said, unless it is stored already, with what it has led to."""
    sent_here = said.sender.own and requests.is_known(conn, said.origin_id)
    message = shown.message(said, moment, said.origin_id if sent_here else None)
    if messages.is_known(conn, message.message_id):
        return Recorded([], [])
    floors.put(conn, said.room, msgspec.json.encode(after))
    return Recorded([message], messages.record(conn, [message]))
