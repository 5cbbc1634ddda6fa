"""Speaking in a room from a process that is not the gateway: `iris meet send`, `hermes send`, jobs.

Invariants: the text is committed before anything else happens, and goes out through the gateway if one is in the rooms;
what this process hears while it is in the rooms itself is kept for the agent.
"""

import asyncio
import logging
import sqlite3
from dataclasses import dataclass
from typing import Any

from ..config import Home, Settings, variable
from ..errors import Busy, IrisError, NotFound, Unsupported
from ..meeting import signals
from ..meeting.config import Account, Agent, Meeting
from ..meeting.connection import Connection
from ..meeting.lease import Lease
from ..meeting.state import Phase
from ..protocol.types import Seconds
from ..store import Store
from . import rooms
from .leases import Leases
from .memory import Memory
from .terminals import SESSION

logger = logging.getLogger(__name__)

LIMIT: Seconds = 20.0
"""How long the room may take; after it the message stays committed and goes out as soon as it can."""


@dataclass(frozen=True, slots=True)
class Words:
    """What is to be posted, and where."""

    room: str
    text: str
    signal: signals.Lease | None
    notice: bool = False


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message that is in the room."""

    room: str
    archive_id: str
    lease: Lease | None
    refused: str
    """Why the session is not leased; empty when it is, or when there is none."""


async def speak(
    home: Home,
    meeting: Meeting,
    me: Agent,
    account: Account,
    text: str,
    *,
    room: str = "",
    session_id: str | None = None,
) -> Spoken:
    """Say something as an agent, and lease the terminal session that it is said from.

    Args:
        home: of the agent.
        meeting: in which.
        me: the agent.
        account: of the agent.
        text: what.
        room: JID or name; without one, the agent's first.
        session_id: the session; None takes the one that this process runs in.

    Raises:
        NotFound: the agent is in no such room.
        Busy: it is committed, but not in the room yet.
        Refusal: the room does not take it.
    """
    jid = rooms.named(meeting, me, room)
    given, refused = await asyncio.to_thread(
        _lease, home, meeting, me, jid, variable(SESSION) if session_id is None else session_id
    )
    signal = signals.Lease(until=given.timestamp + meeting.lease.ttl) if given else None
    archive_id = await _post(home, meeting, me, account, Words(jid, text, signal))
    return Spoken(jid, archive_id, given, refused)


async def tell_cleared(home: Home, meeting: Meeting, me: Agent, account: Account, room: str) -> None:
    """Tell a room that its agent no longer knows a terminal session. Raises as `speak` does."""
    text = f"({me.shown} no longer knows its terminal session here.)"
    await _post(home, meeting, me, account, Words(room, text, signals.Lease(until=0), notice=True))


async def send(home: Home, settings: Settings, room: str, text: str) -> dict[str, Any]:
    """`PlatformEntry.standalone_sender_fn`; the result is what the host expects."""
    try:
        meeting, me, base = await asyncio.to_thread(rooms.attending, home, settings)
        spoken = await speak(home, meeting, me, meeting.account(me, base), text, room=room)
    except (IrisError, sqlite3.Error) as exc:
        return {"success": False, "error": str(exc)}
    return {"success": True, "message_id": spoken.archive_id}


def _lease(home: Home, meeting: Meeting, me: Agent, room: str, session_id: str) -> tuple[Lease | None, str]:
    """The lease of a session, or why there is none."""
    if not session_id:
        return None, ""
    try:
        return Leases(home, me, meeting.lease).take(room, session_id), ""
    except (NotFound, Unsupported) as exc:
        return None, str(exc)


async def _post(home: Home, meeting: Meeting, me: Agent, account: Account, words: Words) -> str:
    """Commit a message and wait until the room has it; returns its id there. Raises as `speak` does."""
    store = await asyncio.to_thread(Store, home.database)
    try:
        heard = Memory(store, meeting, me).keep
        mine = [room.jid for room in meeting.rooms_of(me)]
        connection = Connection(account, mine, store, heard, lambda state: None)
        origin_id = await connection.post(words.room, words.text, hop=0, notice=words.notice, signal=words.signal)
        connection.start()
        try:
            async with asyncio.timeout(LIMIT):
                return await connection.posted(origin_id)
        except TimeoutError:
            raise Busy(
                f"it is kept and goes out later; {words.room} does not have it yet: {_why(connection, words.room)}"
            ) from None
        finally:
            await connection.close()
    finally:
        await asyncio.to_thread(store.close)


def _why(connection: Connection, room: str) -> str:
    state = connection.state(room)
    if state.text:
        return state.text
    return "the gateway has not sent it" if state.phase is Phase.ELSEWHERE else f"it is {state.phase.value}"
