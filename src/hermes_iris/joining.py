"""What a device that joins is told before anything live: the snapshot, what it missed, what goes on just now."""

import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from .protocol import codec
from .protocol.frames import Frame, LaneStatus, Position, Typing
from .protocol.types import ResumeMode, Seq
from .store import log
from .turns import TYPING_TTL, LaneState
from .turns.frames import opening


class Joined(NamedTuple):
    """All of it; frames are encoded."""

    position: Position
    """Of a reset: up to here the snapshot goes. Else the last event of all that follows."""
    mode: ResumeMode
    snapshot: Any
    missed: list[bytes]
    lanes: list[LaneStatus]
    live: list[bytes]


def missed(conn: sqlite3.Connection, after: Seq, upto: Seq) -> list[bytes] | None:
    """The events after one number up to another; None when the log does not reach back that far."""
    return numbered(conn, after, upto) if log.reaches(conn, after) else None


def numbered(conn: sqlite3.Connection, after: Seq, upto: Seq) -> list[bytes]:
    """The events after one number up to another, as far as they are in the log."""
    return [codec.number(seq, body) for seq, body in log.between(conn, after, upto)]


def status(state: LaneState) -> LaneStatus:
    """How a lane stands, as far as its turn goes."""
    lane, turn = state.lane, state.turn
    return LaneStatus(chat_id=lane.chat_id, thread_id=lane.thread_id, turn_id=turn.turn_id if turn else None)


def open_frames(state: LaneState) -> Iterator[Frame]:
    """What is not stored and goes on in a lane."""
    lane, turn = state.lane, state.turn
    if state.typing_since is not None:
        yield Typing(chat_id=lane.chat_id, thread_id=lane.thread_id, on=True, ttl=TYPING_TTL)
    if turn and (bubble := turn.bubble):
        yield from opening(lane, turn, bubble)
