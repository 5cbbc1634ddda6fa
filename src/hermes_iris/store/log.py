"""The event log: numbered, bounded in number and age, the source of resume and of nothing else."""

import secrets
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

from ..protocol.frames import Position
from ..protocol.types import Epoch, Seq, UnixTime


class Logged(NamedTuple):
    """An event of the log."""

    seq: Seq
    body: bytes
    """The encoded frame without its number."""


def append(conn: sqlite3.Connection, body: bytes) -> Seq:
    """Append an encoded event; returns its number."""
    seq = conn.execute("INSERT INTO events (frame, ts) VALUES (?, strftime('%s', 'now'))", (body,)).lastrowid
    assert seq is not None  # noqa: S101 - an INSERT that did not raise has a rowid
    return seq


def position(conn: sqlite3.Connection) -> Position:
    """The end of the log; makes the first epoch where there is none."""
    row = conn.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
    return Position(epoch=row[0] if row else new_epoch(conn), seq=last(conn))


def new_epoch(conn: sqlite3.Connection) -> Epoch:
    """Begin a new life of the log: what devices remember of the old one counts no more."""
    epoch = secrets.token_hex(8)
    conn.execute("INSERT OR REPLACE INTO meta (key, value) VALUES ('epoch', ?)", (epoch,))
    return epoch


def reaches(conn: sqlite3.Connection, seq: Seq) -> bool:
    """Whether every event after `seq` is still here."""
    first = conn.execute("SELECT MIN(seq) FROM events").fetchone()[0]
    newest = last(conn)
    return seq <= newest and (seq == newest if first is None else seq >= first - 1)


def between(conn: sqlite3.Connection, after: Seq, upto: Seq) -> Iterator[Logged]:
    """The events after one number up to another, in order."""
    rows = conn.execute("SELECT seq, frame FROM events WHERE seq > ? AND seq <= ? ORDER BY seq", (after, upto))
    return (Logged(row[0], row[1]) for row in rows)


def prune(conn: sqlite3.Connection, keep: int, since: UnixTime = 0.0) -> None:
    """Forget all but the newest `keep` events, and of these what is older than `since`."""
    conn.execute("DELETE FROM events WHERE seq <= ?", (last(conn) - keep,))
    # Not by time alone: a clock that was set back must leave no hole.
    conn.execute("DELETE FROM events WHERE seq < (SELECT seq FROM events WHERE ts >= ? ORDER BY seq LIMIT 1)", (since,))
    if conn.execute("SELECT NOT EXISTS (SELECT 1 FROM events WHERE ts >= ?)", (since,)).fetchone()[0]:
        conn.execute("DELETE FROM events")


def last(conn: sqlite3.Connection) -> Seq:
    """The number of the newest event, 0 before the first."""
    row = conn.execute("SELECT seq FROM sqlite_sequence WHERE name = 'events'").fetchone()
    return int(row[0]) if row else 0
