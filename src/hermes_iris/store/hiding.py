"""Messages that the person has put out of sight: on every device, for good, until they are brought back.

A hidden row has `live` 2, so that history, search, quotes and unread counts pass it over by the same condition as one
that still streams. What the host knows of it is not touched.
"""

import sqlite3

from ..address import Lane
from ..protocol.frames import MessageHidden, MessageShown
from ..protocol.types import MessageId
from . import media, search


def is_hidden(conn: sqlite3.Connection, message_id: MessageId) -> bool:
    """Whether a message is hidden."""
    row = conn.execute("SELECT 1 FROM messages WHERE message_id = ? AND live = 2", (message_id,)).fetchone()
    return row is not None


def put(conn: sqlite3.Connection, event: MessageHidden | MessageShown) -> None:
    """Store that a message is hidden, or shown again."""
    hidden = isinstance(event, MessageHidden)
    message_id = event.message_id if isinstance(event, MessageHidden) else event.message.message_id
    row = conn.execute("SELECT * FROM messages WHERE message_id = ?", (message_id,)).fetchone()
    conn.execute("UPDATE messages SET live = ? WHERE id = ?", (2 if hidden else 0, row["id"]))
    text = search.findable(row["text"], media.told(row["attachments"]))
    place = Lane(row["chat_id"], row["thread_id"] or None)
    (search.drop if hidden else search.index)(conn, row["id"], text, place, row["role"])
