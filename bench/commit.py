"""Commit: how long an acknowledgement that survives a crash takes, and how many there are in a second.

The limit is fdatasync of as much as SQLite writes for a row. Beside it the ways one would write first: one transaction
for each row, and aiosqlite. Every way keeps the same row on the same disk with `synchronous = FULL`.
"""

import asyncio
import contextlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import aiosqlite

from hermes_iris.protocol.frames import Message
from hermes_iris.store import Store, log, messages
from support import gateway

from .kit import Given, Ratio, Report, interleaved, p50, p99, words

HERTZ = 200
BODY = words(300).encode()
PAGE = b"x" * (4096 + 24)
"""What SQLite appends to its log for a page (sqlite.org/walformat.html)."""

INSERT = "INSERT INTO events (frame, ts) VALUES (?, strftime('%s', 'now'))"


class Synced:
    """A file that is written and synced."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)

    def write(self) -> None:
        """Append a page and wait for the disk."""
        os.write(self._fd, PAGE)
        os.fdatasync(self._fd)


def paced(job: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[float]]:
    """Milliseconds of a job, with a pause after it as there is between rows."""

    async def timed() -> float:
        began = time.perf_counter()
        await job()
        took = time.perf_counter() - began
        await asyncio.sleep(1 / HERTZ)
        return took * 1e3

    return timed


def append(conn: sqlite3.Connection) -> int:
    """One row of the log."""
    return log.append(conn, BODY)


def message(conn: sqlite3.Connection) -> None:
    """A whole message: its row, its place in the index of the search, its event."""
    order = messages.last_order(conn) + 1
    said = Message(
        message_id=f"m{order}", chat_id="android:default", role="assistant", text=BODY.decode(), ts=1.0, order=order
    )
    messages.record(conn, [said])


async def latency(report: Report, store: Store, other: aiosqlite.Connection, synced: Synced, rounds: int) -> None:
    """One row after the other."""

    async def by_aiosqlite() -> None:
        await other.execute(INSERT, (BODY,))
        await other.commit()

    ways = {
        "fdatasync of a page": paced(partial(asyncio.to_thread, synced.write)),
        "Iris, a row": paced(partial(store.write, append)),
        "Iris, a whole message": paced(partial(store.write, message)),
        "aiosqlite, a row": paced(by_aiosqlite),
    }
    found = await interleaved(rounds, ways)
    limit = p50(found["fdatasync of a page"])
    table = report.table("one row after the other: until it is safe", "p50 ms", "p99 ms", "x")
    for name, values in found.items():
        table.row(name, p50(values), p99(values), Ratio(p50(values) / limit))


async def flow(report: Report, store: Store, other: aiosqlite.Connection, path: Path, rounds: int, rows: int) -> None:
    """As many as there can be in a second."""
    single = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    single.execute("PRAGMA synchronous = FULL")

    def one_by_one(count: int) -> None:
        for _ in range(count):
            single.execute("BEGIN IMMEDIATE")
            single.execute(INSERT, (BODY,))
            single.execute("COMMIT")

    async def rate(count: int, job: Callable[[], Awaitable[object]]) -> float:
        began = time.perf_counter()
        await job()
        return count / (time.perf_counter() - began)

    async def by_iris() -> None:
        futures = [store.submit(append) for _ in range(rows)]
        await asyncio.wrap_future(futures[-1])

    async def by_aiosqlite() -> None:
        for _ in range(rows // 20):
            await other.execute(INSERT, (BODY,))
            await other.commit()

    found = await interleaved(
        rounds,
        {
            "single commits": partial(rate, rows // 20, partial(asyncio.to_thread, one_by_one, rows // 20)),
            "aiosqlite": partial(rate, rows // 20, by_aiosqlite),
            "Iris": partial(rate, rows, by_iris),
        },
    )
    single.close()
    limit = p50(found["single commits"])
    table = report.table("rows that come faster than the disk", "rows a second", "x")
    for name, values in found.items():
        table.row(name, p50(values), Ratio(p50(values) / limit))


async def requests(report: Report, folder: Path, rounds: int) -> None:
    """The whole way, and whether the loop waits for the disk: from `message.send` to `message.accepted`."""
    took: list[float] = []
    waits: list[float] = []
    async with gateway(folder) as running, running.wire() as wire:
        watching = asyncio.create_task(_watch(waits))
        for n in range(rounds):
            began = time.perf_counter()
            await wire.say(f"Number {n}")
            took.append((time.perf_counter() - began) * 1e3)
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
    table = report.table("a message of a device, over its socket", "p50 ms", "p99 ms")
    table.row("message.send to message.accepted", p50(took), p99(took))
    table.row("a turn of the loop meanwhile", p50(waits), p99(waits))


async def _watch(waits: list[float]) -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0)
        waits.append((time.perf_counter() - began) * 1e3)
        await asyncio.sleep(0.001)


async def run(report: Report, given: Given) -> None:
    """Measure and print."""
    rounds = 50 if given.quick else 400
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:  # not in memory, as /tmp may be
        path = Path(folder) / "channels.db"
        store = await asyncio.to_thread(Store, path)
        other = await aiosqlite.connect(path)
        await other.execute("PRAGMA synchronous = FULL")
        await latency(report, store, other, Synced(Path(folder) / "synced"), rounds)
        await flow(report, store, other, path, 2 if given.quick else 7, 2_000 if given.quick else 8_000)
        await other.close()
        await asyncio.to_thread(store.close)
        await requests(report, Path(folder) / "home", rounds)
