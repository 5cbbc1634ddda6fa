"""How far each lane was read: by the person, on whichever device. Marks only go forward."""

import sqlite3

from ..address import Lane
from ..protocol.frames import LaneStatus, ReadMarked
from ..protocol.types import Order

COUNTED = "live = 0 AND kind = 'final' AND role IN ('assistant', 'cron')"
"""What counts as unread: answers and reports. Remarks, notices and one's own words do not."""


AFTER = f"SELECT COUNT(*) FROM messages m WHERE m.chat_id = {{}} AND m.thread_id = {{}} AND m.ord > {{}} AND {COUNTED}"  # noqa: S608 - a constant
"""How much comes after a place in a lane."""

STATUSES = f"""SELECT l.chat_id, l.thread_id, COALESCE(r.ord, 0),
    ({AFTER.format("l.chat_id", "l.thread_id", "COALESCE(r.ord, 0)")})
    FROM channels l LEFT JOIN read_marks r ON r.chat_id = l.chat_id AND r.thread_id = l.thread_id"""  # noqa: S608 - a constant


def mark(conn: sqlite3.Connection, marked: ReadMarked) -> None:
    """Store a mark; one that lies further is kept."""
    conn.execute(
        "INSERT INTO read_marks (chat_id, thread_id, ord) VALUES (?, ?, ?)"
        " ON CONFLICT (chat_id, thread_id) DO UPDATE SET ord = MAX(ord, excluded.ord)",
        (marked.chat_id, marked.thread_id or "", marked.order),
    )


def place(conn: sqlite3.Connection, lane: Lane) -> Order:
    """How far a lane was read, 0 for not at all."""
    row = conn.execute(
        "SELECT ord FROM read_marks WHERE chat_id = ? AND thread_id = ?", (lane.chat_id, lane.thread_id or "")
    ).fetchone()
    return int(row[0]) if row else 0


def left(conn: sqlite3.Connection, lane: Lane, order: Order) -> int:
    """How much is unread of a lane that was read up to a place."""
    row = conn.execute(AFTER.format("?", "?", "?"), (lane.chat_id, lane.thread_id or "", order)).fetchone()
    return int(row[0])


def statuses(conn: sqlite3.Connection) -> dict[Lane, LaneStatus]:
    """Each lane that was read or has something unread, with its mark and count; a deleted one too: it may come back."""
    rows = conn.execute(STATUSES)
    return {
        Lane(chat_id, thread_id or None): LaneStatus(
            chat_id=chat_id, thread_id=thread_id or None, read=read, unread=count
        )
        for chat_id, thread_id, read, count in rows
        if read or count
    }
