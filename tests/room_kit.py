"""A room without a server, for tests above the transport; `tests/meeting/test_link.py` holds it to the real one."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes_iris.meeting.config import Account, Agent, Meeting, Person, Room, Server
from hermes_iris.meeting.rooms import Plan
from hermes_iris.meeting.said import Said, Sender, SenderKind
from hermes_iris.meeting.signals import Signal
from hermes_iris.meeting.state import Phase, Reason, Refusal, RoomState
from hermes_iris.store import Store

ROOM = "core@rooms.example.org"
ADA = Sender("ada@example.org", "Ada", SenderKind.PERSON, own=True)
MOHE = Sender("mohe@example.org", "mohe", SenderKind.AGENT, own=False)
ZHIWEI = Sender("zhiwei@example.org", "zhiwei", SenderKind.AGENT, own=False)

MEETING = Meeting(
    rooms=(Room(jid=ROOM, name="Core group"),),
    agents=tuple(Agent(name=one.nick, jid=one.jid) for one in (MOHE, ZHIWEI)),
    person=Person(jid=ADA.jid, nick=ADA.nick),
)
PLAN = Plan(MEETING, Account(ADA.jid, ADA.nick, "secret", Server(), MEETING.kinds))


@dataclass
class FakeRoom:
    """The room and its archive: outlives the links to it, as a server outlives its clients."""

    name: str = ROOM
    archive: list[Said] = field(default_factory=list)
    here: list[Sender] = field(default_factory=list)
    refuses: str = ""
    """Why the room takes nothing, while it does not."""

    composed: list[bool] = field(default_factory=list)
    links: list["FakeLink"] = field(default_factory=list)

    def join(self, account: Account, rooms: Sequence[str], store: Store, *told: Any, **more: Any) -> "FakeLink":
        """How `Rooms` makes its connection."""
        self.links.append(FakeLink(self, account, *told, **more))
        return self.links[-1]

    @property
    def link(self) -> "FakeLink":
        return self.links[-1]

    def add(self, sender: Sender, text: str, **more: Any) -> Said:
        """Archive a message."""
        number = str(len(self.archive) + 1)
        told = {"origin_id": f"o-{number}", "ts": 1000.0 + len(self.archive), "hop": 0, "notice": False, "reply_to": ""}
        said = Said(room=self.name, archive_id=number, sender=sender, text=text, **{**told, "late": False, **more})
        self.archive.append(said)
        return said

    async def say(self, sender: Sender, text: str, **more: Any) -> Said:
        """Archive a message and tell the link of it."""
        said = self.add(sender, text, **more)
        await self.link.on_said(said)
        return said


@dataclass
class FakeLink:
    """A connection to a `FakeRoom`: a word that is posted is archived when `deliver` is called."""

    room: FakeRoom
    account: Account
    on_said: Callable[[Said], Awaitable[None]]
    on_state: Callable[[RoomState], None]
    on_occupants: Callable[[str], None] = lambda room: None
    on_composing: Callable[[str, Sender, bool], None] = lambda room, sender, on: None
    history: int = 0
    waiting: dict[str, tuple[str, Signal | None]] = field(default_factory=dict)
    fates: dict[str, "asyncio.Future[str]"] = field(default_factory=dict)
    closed: bool = False

    def start(self) -> None:
        self.on_state(RoomState(self.room.name, Phase.CONNECTING))

    async def close(self) -> None:
        self.closed = True

    async def enter(self) -> None:
        """Join, and hear what was said meanwhile."""
        self.room.here.append(ADA)
        self.on_occupants(self.room.name)
        self.on_state(RoomState(self.room.name, Phase.JOINED))

    def fail(self, reason: Reason, text: str) -> None:
        self.room.here.clear()
        self.on_state(RoomState(self.room.name, Phase.FAILED, reason, text))

    async def post(self, room: str, text: str, *, hop: int, signal: Signal | None = None, origin_id: str) -> str:
        if origin_id not in self.fates:
            self.fates[origin_id] = asyncio.get_running_loop().create_future()
            self.waiting[origin_id] = (text, signal)
        return origin_id

    async def posted(self, origin_id: str) -> str:
        return await asyncio.shield(self.fates[origin_id])

    async def deliver(self) -> None:
        """Let the room take, or refuse, what waits."""
        for origin_id, (text, signal) in list(self.waiting.items()):
            del self.waiting[origin_id]
            if self.room.refuses:
                self.fates[origin_id].set_exception(Refusal(Reason.REFUSED, self.room.refuses))
            else:
                said = await self.room.say(ADA, text, origin_id=origin_id, signal=signal)
                self.fates[origin_id].set_result(said.archive_id)

    def composing(self, room: str, on: bool) -> None:
        self.room.composed.append(on)

    def occupants(self, room: str) -> list[Sender]:
        return sorted(self.room.here, key=lambda sender: sender.nick)
