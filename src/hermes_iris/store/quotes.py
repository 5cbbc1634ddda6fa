"""What a message answers, told together with it: looked up when read, so that a hidden message is quoted nowhere."""

import re
import sqlite3
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from .. import names
from ..protocol.frames import Message, Quote, Sender
from . import media

_EMPHASIS = re.compile(r"[*`~]+")
"""Marks that stand at words, where a space in their place would part them."""

LENGTH = 160
"""Characters of what is quoted."""


def filled(conn: sqlite3.Connection, messages: Sequence[Message]) -> list[Message]:
    """The messages, each with what it answers, as far as that can be seen."""
    known = _quotes(conn, {message.reply_to for message in messages if message.reply_to})
    return [replace(m, quote=known[m.reply_to]) if m.reply_to in known else m for m in messages]


def _quotes(conn: sqlite3.Connection, ids: Iterable[str]) -> dict[str | None, Quote]:
    wanted = list(ids)
    if not wanted:
        return {}
    rows = conn.execute(
        "SELECT message_id, thread_id, ord, role, text, job_name, sender, attachments FROM messages"  # noqa: S608 - marks
        f" WHERE live = 0 AND message_id IN ({', '.join('?' * len(wanted))})",
        wanted,
    )
    return {row["message_id"]: _quote(row) for row in rows}


def _quote(row: sqlite3.Row) -> Quote:
    sender = msgspec.json.decode(row["sender"], type=Sender).name if row["sender"] else ""
    files = " ".join(file.name for file in media.told(row["attachments"]))
    return Quote(
        message_id=row["message_id"],
        thread_id=row["thread_id"] or None,
        order=row["ord"],
        role=row["role"],
        name=row["job_name"] or sender,
        text=names.opening(_EMPHASIS.sub("", row["text"]), LENGTH) or names.opening(files, LENGTH),
    )
