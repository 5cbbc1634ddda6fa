"""What an account is to say in its rooms, and what it has heard there.

Invariants: what was taken to be said stays until the room's archive has it or the room refuses it; the place in an
archive is the last message that was told on, so whoever starts again misses none.
"""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from ..errors import Busy, NotFound
from ..protocol.types import Seconds, UnixTime

MAX_WAITING = 1_000
"""Messages of an account that may wait for its server."""

KEPT_HEARD = 500
"""Ids of a room that are remembered behind the place in its archive."""

KEPT_FOR: Seconds = 7 * 86_400.0
"""How long it is remembered what became of a message."""


class Outgoing(NamedTuple):
    """A message that is to be said."""

    origin_id: str
    room: str
    text: str
    hop: int
    reply_to: str
    notice: bool
    signal: bytes | None
    """Encoded; only the meeting knows how."""


class Fate(NamedTuple):
    """What became of a message; while it waits, both are empty."""

    archive_id: str
    refused: str
    """Why the room did not take it."""


def add(conn: sqlite3.Connection, account: str, message: Outgoing, now: UnixTime) -> None:
    """Take a message to be said; one with the same id that is there already stays as it is.

    Raises:
        Busy: too many wait.
    """
    waiting = "SELECT COUNT(*) FROM meeting_outbox WHERE account = ? AND archive_id = '' AND refused = ''"
    if conn.execute(waiting, (account,)).fetchone()[0] >= MAX_WAITING:
        raise Busy(f"{MAX_WAITING} messages of {account} wait for its server already; `iris meet doctor` says why")
    conn.execute(
        "INSERT OR IGNORE INTO meeting_outbox (account, origin_id, room, text, hop, reply_to, notice, signal, created)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (account, *message, now),
    )


def waiting(conn: sqlite3.Connection, account: str, room: str, limit: int) -> list[Outgoing]:
    """What an account has still to say in a room, oldest first."""
    rows = conn.execute(
        "SELECT origin_id, room, text, hop, reply_to, notice, signal FROM meeting_outbox"
        " WHERE account = ? AND room = ? AND archive_id = '' AND refused = '' ORDER BY n LIMIT ?",
        (account, room, limit),
    )
    return [Outgoing(*row)._replace(notice=bool(row["notice"])) for row in rows]


def fate(conn: sqlite3.Connection, account: str, origin_id: str) -> Fate:
    """What became of a message. Raises `NotFound` when there is none with this id."""
    row = conn.execute(
        "SELECT archive_id, refused FROM meeting_outbox WHERE account = ? AND origin_id = ?", (account, origin_id)
    ).fetchone()
    if row is None:
        raise NotFound(f"{origin_id} is no message that {account} was to say")
    return Fate(*row)


def settle(conn: sqlite3.Connection, account: str, fates: Sequence[tuple[str, Fate]]) -> None:
    """Note what became of messages, by their ids; the first fate counts, and ids of nobody are left alone."""
    conn.executemany(
        "UPDATE meeting_outbox SET archive_id = ?, refused = ?"
        " WHERE account = ? AND origin_id = ? AND archive_id = '' AND refused = ''",
        [(fate.archive_id, fate.refused, account, origin_id) for origin_id, fate in fates],
    )


def heard(conn: sqlite3.Connection, account: str, room: str) -> list[str]:
    """The archive ids that were told on, newest first; empty before the first join.

    An empty id stands for the beginning of the archive.
    """
    rows = conn.execute(
        "SELECT archive_id FROM meeting_heard WHERE account = ? AND room = ? ORDER BY n DESC", (account, room)
    )
    return [row[0] for row in rows]


def hear(conn: sqlite3.Connection, account: str, room: str, archive_id: str, own: str = "") -> None:
    """Move the place in the archive to a message that was told on.

    Args:
        conn: inside a transaction.
        account: who has heard it.
        room: where.
        archive_id: its id in the archive.
        own: its id among the account's own messages, if it is one: behind the place nobody would look for it again.
    """
    if own:
        settle(conn, account, [(own, Fate(archive_id, ""))])
    number = conn.execute(
        "INSERT OR IGNORE INTO meeting_heard (account, room, archive_id) VALUES (?, ?, ?)", (account, room, archive_id)
    ).lastrowid
    if number and number % KEPT_HEARD == 0:
        conn.execute(
            "DELETE FROM meeting_heard WHERE account = ? AND room = ? AND n <= (SELECT n FROM meeting_heard"
            " WHERE account = ? AND room = ? ORDER BY n DESC LIMIT 1 OFFSET ?)",
            (account, room, account, room, KEPT_HEARD),
        )


def forget_old(conn: sqlite3.Connection, now: UnixTime) -> None:
    """Drop messages that were settled long ago."""
    conn.execute(
        "DELETE FROM meeting_outbox WHERE created < ? AND (archive_id <> '' OR refused <> '')", (now - KEPT_FOR,)
    )
