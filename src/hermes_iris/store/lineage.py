"""Whether the database is the one that the last gateway left, or a copy from before that was put back.

Each gateway that starts leaves a mark beside the database and the same mark inside. A copy holds an older one, has
events fewer than the mark knows, or is another file; a home that was put back whole has its database as another file
too. Where the two do not agree, what devices remember may never have happened here. Not noticed: a copy that was made
while the last gateway ran and is written over the file in place after that one was killed.
"""

import sqlite3
from pathlib import Path

import msgspec

from .. import atomic
from ..protocol.frames import Position
from ..protocol.types import Seq
from . import log


class Mark(msgspec.Struct, frozen=True):
    """What stands beside the database."""

    start: str
    """Names the start of the gateway that wrote it."""

    seq: Seq
    """The newest event that devices may know of."""

    file: int
    """The database's inode."""


def read(path: Path) -> Mark | None:
    """The mark that the last gateway left; None when there is none to be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Mark)
    except (OSError, msgspec.DecodeError):
        return None


def write(path: Path, mark: Mark) -> None:
    """Leave a mark. Raises `OSError`."""
    atomic.write(path, msgspec.json.encode(mark))


def begun(conn: sqlite3.Connection, found: Mark | None, start: str, file: int) -> Position:
    """The end of the log as a gateway finds it when it starts, in a new epoch if the database was put back.

    Args:
        conn: of a transaction.
        found: what stood beside the database.
        start: names this start; its mark is to be written after the commit.
        file: the database's inode.
    """
    # A gateway that was killed between its commit and its mark left the mark of the one before it.
    known = {row[0] for row in conn.execute("SELECT value FROM meta WHERE key IN ('start', 'start_before')")}
    fits = found is not None and found.start in known and found.file == file and found.seq <= log.last(conn)
    if known and not fits:
        log.new_epoch(conn)
    rows = [("start", start), ("start_before", found.start if found else "")]
    conn.executemany("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", rows)
    return log.position(conn)
