"""What an agent knows of its rooms, kept in the home's database.

Invariant: every change is read, made and committed in one transaction, so that a gateway and a command that runs beside
it, or after it, never work on an old state.
"""

import logging
import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

import msgspec

from ..meeting import room as rules
from ..meeting.config import Agent, Meeting
from ..meeting.room import Heard, Seat, State, Turn
from ..meeting.said import Said
from ..store import Store, seats

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Presence(msgspec.Struct, frozen=True):
    """How an agent stands in a room, and who else is there."""

    phase: str
    text: str
    occupants: tuple[str, ...]


class Memory:
    """The rooms of one agent."""

    def __init__(self, store: Store, meeting: Meeting, me: Agent) -> None:
        self._store = store
        self._account = me.jid
        self._seats = {room.jid: _seat(meeting, me, room.jid) for room in meeting.rooms_of(me)}

    async def hear(self, said: Said) -> Heard:
        """Take in a message."""

        def change(state: State) -> tuple[State, Heard]:
            heard = rules.heard(state, said, self._seats[said.room], time.time())
            return heard.state, heard

        return await self._change(said.room, change)

    async def keep(self, said: Said) -> None:
        """Take in a message for a gateway that runs later."""
        await self.hear(said)

    async def begin(self, room: str) -> Turn | None:
        """The next turn, if there is one."""
        return await self._change(room, lambda state: rules.begin(state, self._seats[room]))

    async def ended(self, room: str) -> None:
        """The turn that ran is over."""
        await self._change(room, lambda state: (rules.ended(state), None))

    async def restored(self, room: str) -> None:
        """Nothing runs yet: what ran when the last gateway died is to be asked again."""
        await self._change(room, lambda state: (rules.restored(state), None))

    async def stopped(self, room: str) -> bool:
        """Whether a person has stopped the agents."""
        return (await self._store.read(lambda conn: _load(conn, self._account, room))).stopped

    async def see(self, room: str, presence: Presence) -> None:
        """Keep who is in a room."""
        seen = msgspec.json.encode(presence)
        await self._store.write(lambda conn: seats.see(conn, self._account, room, seen))

    async def _change(self, room: str, change: Callable[[State], tuple[State, T]]) -> T:
        def job(conn: sqlite3.Connection) -> T:
            before = _load(conn, self._account, room)
            after, result = change(before)
            if after != before:
                seats.save(conn, self._account, room, msgspec.json.encode(after))
            return result

        return await self._store.write(job)


def seen(conn: sqlite3.Connection, me: Agent, room: str) -> Presence | None:
    """Who was last seen in a room."""
    stored = seats.seen(conn, me.jid, room)
    return None if stored is None else msgspec.json.decode(stored, type=Presence)


def _load(conn: sqlite3.Connection, account: str, room: str) -> State:
    stored = seats.load(conn, account, room)
    try:
        return State() if stored is None else msgspec.json.decode(stored, type=State)
    except msgspec.MsgspecError:
        logger.exception("what %s knew of %s cannot be read, it begins afresh", account, room)
        return State()


def _seat(meeting: Meeting, me: Agent, room: str) -> Seat:
    """An agent's place in a room."""
    agents = [agent for agent in meeting.agents if room in {each.jid for each in meeting.rooms_of(agent)}]
    return Seat(
        me=me.name,
        names={agent.name: (agent.name, *agent.addressed) for agent in agents},
        guard=meeting.guard,
        always=meeting.room(room).policy == "always",
    )
