"""The directory: which channels and threads there are."""

import sqlite3

from ..address import DEFAULT_LANE, MINTED, PLATFORM, Lane
from ..errors import Conflict, NotFound, TooLarge
from ..protocol.frames import Channel
from ..protocol.types import UnixTime

MAX_CHANNELS = 500
"""Channels that are not archived."""

MAX_THREADS = 2_000
"""Threads under one channel that are not archived."""


def ensure_default(conn: sqlite3.Connection, now: UnixTime) -> None:
    """Make the default channel where there is none."""
    conn.execute(
        "INSERT OR IGNORE INTO channels (chat_id, name, name_source, kind, is_default, created)"
        " VALUES (?, 'Default', 'derived', 'default', 1, ?)",
        (DEFAULT_LANE.chat_id, now),
    )


def directory(conn: sqlite3.Connection) -> list[Channel]:
    """Every entry, the default channel first, then by age."""
    rows = conn.execute("SELECT * FROM channels ORDER BY is_default DESC, created, chat_id, thread_id")
    return [_channel(row) for row in rows]


def get(conn: sqlite3.Connection, chat_id: str, thread_id: str | None) -> Channel:
    """One entry.

    Raises:
        NotFound: there is no such channel or thread.
    """
    row = conn.execute(
        "SELECT * FROM channels WHERE chat_id = ? AND thread_id = ?", (chat_id, thread_id or "")
    ).fetchone()
    if row is None:
        raise NotFound("$.thread_id names no thread of this channel" if thread_id else "$.chat_id names no channel")
    return _channel(row)


def default(conn: sqlite3.Connection) -> Channel:
    """The default channel."""
    return _channel(conn.execute("SELECT * FROM channels WHERE is_default = 1 AND thread_id = ''").fetchone())


def put(conn: sqlite3.Connection, channel: Channel) -> None:
    """Store an entry, new or changed."""
    conn.execute(
        "INSERT OR REPLACE INTO channels (chat_id, thread_id, name, name_source, kind, parent_chat_id, is_default,"
        " automation, threads, archived, cron_jobs, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            channel.chat_id,
            channel.thread_id or "",
            channel.name,
            channel.name_source,
            channel.kind,
            channel.parent_chat_id,
            channel.is_default,
            channel.automation,
            channel.threads,
            channel.archived,
            channel.cron_jobs,
            channel.created,
        ),
    )


def mint(conn: sqlite3.Connection, parent_chat_id: str | None) -> Lane:
    """An address that was never used: of a channel, or of a thread under one.

    Raises:
        TooLarge: there are as many as there may be.
    """
    check_room(conn, parent_chat_id)
    if parent_chat_id is None:
        return Lane(f"{PLATFORM}:{MINTED}{_next(conn, 'next_channel')}")
    return Lane(parent_chat_id, f"t_{_next(conn, 'next_thread')}")


def check_room(conn: sqlite3.Connection, parent_chat_id: str | None) -> None:
    """Raise `TooLarge` when there is no room for one more channel, or for one more thread under a channel."""
    if parent_chat_id is None:
        count = "SELECT COUNT(*) FROM channels WHERE thread_id = '' AND archived = 0"
        if conn.execute(count).fetchone()[0] >= MAX_CHANNELS:
            raise TooLarge(f"there are {MAX_CHANNELS} channels already; delete one first")
        return
    count = "SELECT COUNT(*) FROM channels WHERE chat_id = ? AND thread_id <> '' AND archived = 0"
    if conn.execute(count, (parent_chat_id,)).fetchone()[0] >= MAX_THREADS:
        raise TooLarge(f"this channel has {MAX_THREADS} threads already; delete one first")


def check_free(conn: sqlite3.Connection, name: str, but: Channel | None = None) -> None:
    """Raise `Conflict` when another channel that is not archived has this name: names are targets, too."""
    rows = conn.execute("SELECT * FROM channels WHERE thread_id = '' AND archived = 0")
    for other in map(_channel, rows):
        if other.name.casefold() == name.casefold() and (but is None or other.chat_id != but.chat_id):
            raise Conflict("$.name is the name of another channel; choose another one")


def _next(conn: sqlite3.Connection, counter: str) -> int:
    row = conn.execute("SELECT value FROM meta WHERE key = ?", (counter,)).fetchone()
    number = int(row[0]) if row else 1
    conn.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (counter, str(number + 1)))
    return number


def _channel(row: sqlite3.Row) -> Channel:
    return Channel(
        chat_id=row["chat_id"],
        thread_id=row["thread_id"] or None,
        name=row["name"],
        name_source=row["name_source"],
        kind=row["kind"],
        parent_chat_id=row["parent_chat_id"],
        is_default=bool(row["is_default"]),
        automation=bool(row["automation"]),
        threads=bool(row["threads"]),
        archived=bool(row["archived"]),
        cron_jobs=row["cron_jobs"],
        created=row["created"],
    )
