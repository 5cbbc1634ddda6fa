"""History: a page of 50 messages, of small and large stores, from the newest end and from the middle.

Times of CPU. The limit is SQLite reading 50 rows by their numbers; the naive way numbers pages (`LIMIT … OFFSET`)
without an index.
"""

import sqlite3
from contextlib import closing
from functools import partial

from hermes_iris.address import Lane
from hermes_iris.store import connect, messages

from . import corpus
from .kit import Given, Ratio, Report, busy, interleaved, p50, p99

PAGE = 50
LANE = Lane("android:chan_7")


async def run(report: Report, given: Given) -> None:
    """Measure and print."""
    rounds = 50 if given.quick else 300
    for count in (10_000,) if given.quick else (10_000, 100_000, 1_000_000):
        path = corpus.store(report, count)
        with closing(connect(path)) as conn:
            middle = count // 2
            found = await interleaved(
                rounds,
                {
                    "SQLite, rows by number": busy(partial(_rows, conn, middle)),
                    "Iris, newest page": busy(partial(messages.history, conn, LANE, PAGE)),
                    "Iris, page in the middle": busy(partial(messages.history, conn, LANE, PAGE, before=middle)),
                    "Iris, around a message": busy(partial(messages.history, conn, LANE, PAGE, around=middle)),
                },
            )
            naive = await interleaved(10, {"naive, page in the middle": busy(partial(_naive, conn, count))})
        limit = p50(found["SQLite, rows by number"])
        table = report.table(f"a page of {PAGE} of {count:,} messages", "p50 ms", "p99 ms", "x")
        for name, values in {**found, **naive}.items():
            table.row(name, p50(values), p99(values), Ratio(p50(values) / limit))


def _rows(conn: sqlite3.Connection, first: int) -> None:
    rows = conn.execute("SELECT * FROM messages WHERE id >= ? ORDER BY id LIMIT ?", (first, PAGE)).fetchall()
    assert len(rows) == PAGE  # noqa: S101 - else this measures something else


def _naive(conn: sqlite3.Connection, count: int) -> None:
    offset = count // corpus.CHANNELS // 2
    conn.execute(
        "SELECT * FROM messages NOT INDEXED WHERE chat_id = ? ORDER BY ts DESC LIMIT ? OFFSET ?",
        (LANE.chat_id, PAGE, offset),
    ).fetchall()
