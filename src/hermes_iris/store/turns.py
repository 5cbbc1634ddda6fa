"""How turns ended, for the pages of a lane's history."""

import math
import sqlite3

from ..address import Lane
from ..protocol.frames import TurnSummary
from .messages import Page


def summaries(conn: sqlite3.Connection, lane: Lane, page: Page) -> list[TurnSummary]:
    """The ended turns that overlap a page in time: those of its entries, and those up to the next that left nothing."""
    if not page.entries:
        return []
    place = (lane.chat_id, lane.thread_id or "")
    upto = conn.execute(
        "SELECT MIN(ts) FROM messages WHERE chat_id = ? AND thread_id = ? AND ord > ? AND live = 0",
        (*place, page.entries[-1].order),
    ).fetchone()[0]
    rows = conn.execute(
        "SELECT turn_id, started, ended, outcome, error FROM turns"
        " WHERE chat_id = ? AND thread_id = ? AND ended >= ? AND started <= ? ORDER BY started",
        (*place, page.entries[0].ts, math.inf if upto is None else upto),
    )
    return [TurnSummary(**dict(row)) for row in rows]
