"""The lease: for a while, an agent in the room knows what was said in a terminal session of its own. Pure.

Invariants: a lease belongs to one agent in one room; it is good for a terminal session only, for as long as that
session is open and the time is not over; what is not a lease in every field is none. In mode `switch` a room never
moves into a session that a terminal may still write into, nor into one that was leased when the mode was another, and
always finds back to its own.
"""

import enum
from dataclasses import dataclass
from typing import Literal, TypeVar

import msgspec
from msgspec.structs import replace

from ..errors import InvalidFrame
from ..protocol.types import Seconds, UnixTime
from . import rendering

T = TypeVar("T")

KEY = "active_xmpp_sender_session"

BOUND_KEY = "iris_room_session"

INSIDE = (
    "Private: this conversation is your own terminal session, from which your last message to the room came. Others in"
    " the room cannot see it; use it, but tell of it only what your user would want told."
)
"""What the agent is told while the room's turns run in its terminal session."""

TERMINAL = frozenset({"cli", "oneshot", "tui"})
"""Sources of sessions that may be leased: any other would tell the room what was said in another chat."""


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """What stands under the key, as JSON."""

    session_id: str
    timestamp: UnixTime
    """When it was last refreshed."""

    source: str
    profile: str
    room: str
    host: str
    pid: int
    """The process that has the session open; 0 when it is not known."""

    mode: Literal["prompt", "switch"] = "prompt"
    """The mode in which it was given: a mode that is set later does not let the room further into the session."""


class Bound(msgspec.Struct, frozen=True, kw_only=True):
    """That a room's turns run in a terminal session, and what there was before; stored as JSON."""

    own: str
    """The room's own session."""

    leased: str
    source: str
    """Of the leased session, as it was: the host writes another one over it."""

    since: UnixTime
    """The lease for which it was allowed, by its `timestamp`."""


@dataclass(frozen=True, slots=True)
class Session:
    """The host's session that a lease leads to, after compaction was followed."""

    session_id: str
    source: str
    ended: bool
    closed: bool = False
    """Whether it ended since its process did, so that nothing writes into it."""

    lines: tuple[tuple[str, str], ...] = ()
    """Role and text of what the user and the agent said; nothing of tools."""


class Standing(enum.Enum):
    """Whether a lease is good, and if not, why."""

    GOOD = "good"
    NONE = "there is none"
    EXPIRED = "its time is over"
    GONE = "its session does not exist"
    ENDED = "its session has ended"
    FOREIGN = "its session is none of a terminal"


def key(agent: str, room: str) -> str:
    """The name in the host's `state_meta`: one for each agent and room."""
    return f"{KEY}:{agent}:{room}"


def bound_key(agent: str, room: str) -> str:
    """The same for what is kept while a room is bound."""
    return f"{BOUND_KEY}:{agent}:{room}"


def encode(kept: Lease | Bound) -> str:
    """As it is stored."""
    return msgspec.json.encode(kept).decode()


def decode(stored: str | None) -> Lease | None:
    """The lease that is stored, None when there is none.

    Raises:
        InvalidFrame: something else is stored there.
    """
    return _decode(stored, Lease)


def decode_bound(stored: str | None) -> Bound | None:
    """What is kept while a room is bound, None when it is not. Raises as `decode` does."""
    return _decode(stored, Bound)


def standing(
    lease: Lease | None, session: Session | None, ttl: Seconds, now: UnixTime, *, outlives: bool = False
) -> Standing:
    """Whether a lease is good now, given the session that it leads to.

    Args:
        lease: which.
        session: that it leads to.
        ttl: for how long it is good.
        now: the time.
        outlives: whether the mode is `switch`, which waits until the terminal has closed; a lease that was given in it
            is good after that, too.
    """
    if lease is None:
        return Standing.NONE
    if abs(now - lease.timestamp) >= ttl:
        return Standing.EXPIRED
    if session is None:
        return Standing.GONE
    if session.source not in TERMINAL:
        return Standing.FOREIGN
    over = session.ended and not (outlives and lease.mode == "switch" and session.closed)
    return Standing.ENDED if over else Standing.GOOD


def obstacle(lease: Lease, session: Session, bound: Bound | None, runs: bool | None) -> str:
    """Why the room must not run in a session: a terminal may still write into it, or it was not leased for that.

    Args:
        lease: of the session.
        session: as the host's record has it.
        bound: what is kept, when the room is bound already: what was allowed for a lease stays so until it is renewed.
        runs: whether the process of the lease runs, None when that cannot be known.

    Returns:
        A sentence; empty when nothing is in the way.
    """
    if lease.mode != "switch":
        return f"it was leased in mode {lease.mode}; the next message from there leases it anew"
    if session.closed or runs is False or (bound is not None and bound.since == lease.timestamp):
        return ""
    if runs:
        return f"its terminal is still open (process {lease.pid})"
    return "its terminal may still be open: which process has it is not known here"


@dataclass(frozen=True, slots=True)
class Move:
    """What is to be done before a turn of a room."""

    target: str
    """The session to go to; empty to stay."""

    bound: Bound | None
    """What is to be kept: before going to a terminal session, and after coming back from one."""


def move(current: str, wanted: Bound | None, bound: Bound | None) -> Move:
    """Where a room has to go.

    Args:
        current: the session that its turns run in.
        wanted: the terminal session in which they should, if any; its `own` does not count.
        bound: what is kept, None too when the room is not in that session any more, since the host moved it.
    """
    own = bound.own if bound else current
    if wanted is None:
        return Move(bound.own if bound else "", None)
    return Move("" if current == wanted.leased else wanted.leased, replace(wanted, own=own))


def excerpt(session: Session, messages: int, chars: int) -> str | None:
    """What the agent is told of the session, so many messages and characters; None when nothing was said in it."""
    told = rendering.transcript(session.lines, messages, chars)
    if not told:
        return None
    return (
        "Private: the end of your own terminal session, from which your last message to the room came. Others in the"
        f" room cannot see it; use it, but tell of it only what your user would want told.\n{told}"
    )


def _decode(stored: str | None, kind: type[T]) -> T | None:
    if not stored:
        return None
    try:
        return msgspec.json.decode(stored, type=kind)
    except msgspec.MsgspecError as exc:
        raise InvalidFrame(f"what is stored of a lease is none: {exc}") from exc
