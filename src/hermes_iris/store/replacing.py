"""A message that takes the place of the one before it: only the last word can be taken back."""

import sqlite3

from ..address import Lane
from ..errors import Conflict, Unsupported
from ..protocol.types import MessageId


def give_way(conn: sqlite3.Connection, message_id: MessageId, lane: Lane) -> None:
    """Let the person's last message of a lane be replaced: the host, if it has not taken it yet, gets it no more.

    Raises:
        Conflict: it is not the last one, or not in this lane.
        Unsupported: it is a command, which cannot be taken back.
    """
    found = [
        conn.execute(
            "SELECT message_id, ord, text FROM messages WHERE chat_id = ? AND thread_id = ?"  # noqa: S608 - constants
            f" AND role = 'user' AND sender IS NULL AND live = {live} ORDER BY ord DESC LIMIT 1",
            (lane.chat_id, lane.thread_id or ""),
        ).fetchone()
        for live in (0, 2)
    ]
    last = max((row for row in found if row), key=lambda row: row["ord"], default=None)
    if last is None or last["message_id"] != message_id:
        raise Conflict("$.replaces is not the last message of this lane: something was said after it")
    if last["text"].startswith("/"):
        raise Unsupported("$.replaces is a command, which cannot be taken back")
    conn.execute("UPDATE messages SET handed = 1 WHERE message_id = ?", (message_id,))
