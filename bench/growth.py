"""Growth: what a message and a device cost in a small gateway and in a large one; both should stay as they are.

Messages: 10,000 to 1,000,000 in the store. Devices: 10 to 10,000 at the socket. CPU time and memory of the gateway; the
last column of each table holds the largest against the smallest.
"""

import contextlib
import itertools
import sqlite3
from collections.abc import Callable
from contextlib import closing

from hermes_iris.address import Lane
from hermes_iris.store import connect, log, messages, search

from . import corpus
from .crowd import crowd, private
from .fanout import frames
from .kit import Given, Ratio, Report, busy, interleaved, many_files, p50

TOGETHER = 100
"""Messages that share a transaction, so that the disk is left out."""


def stored(conn: sqlite3.Connection, numbers: "itertools.count[int]") -> None:
    """Store and index messages, and take them back."""
    conn.execute("BEGIN IMMEDIATE")
    for text in corpus.texts(TOGETHER, seed=next(numbers)):
        order = messages.last_order(conn) + 1
        messages.record(conn, [corpus.message(order, text)])
    conn.execute("ROLLBACK")


async def of_messages(report: Report, sizes: tuple[int, ...], rounds: int) -> None:
    """One table: µs of CPU by the size of the store."""
    figures: dict[str, list[float]] = {}
    lane, rare = Lane("android:chan_7"), search.parse(corpus.WORDS[400])
    with contextlib.ExitStack() as stack:
        conns = {size: stack.enter_context(closing(connect(corpus.store(report, size)))) for size in sizes}
        numbers = itertools.count()
        jobs: dict[str, Callable[[sqlite3.Connection], tuple[Callable[[], object], int]]] = {
            "a message is stored and indexed": lambda c: (lambda: stored(c, numbers), TOGETHER),
            "the newest page of history": lambda c: (lambda: messages.history(c, lane, 50), 1),
            "a search, newest first": lambda c: (lambda: search.find(c, rare, None, "newest", None, 30), 1),
            "the place in the log": lambda c: (lambda: (log.position(c), messages.last_order(c)), 1),
        }
        for name, job in jobs.items():
            found = await interleaved(rounds, {str(size): busy(*job(conn)) for size, conn in conns.items()})
            figures[name] = [p50(found[str(size)]) * 1e3 for size in sizes]
    table = report.table("µs of CPU by messages in the store", *(f"{size:,}" for size in sizes), "last / first")
    for name, values in figures.items():
        table.row(name, *values, Ratio(values[-1] / values[0]))


async def of_devices(report: Report, sizes: tuple[int, ...], rounds: int) -> None:
    """One table: by the number of devices."""
    held = []
    async with contextlib.AsyncExitStack() as stack:
        crowds = {}
        empty = await stack.enter_async_context(crowd("iris", 1))
        before = await private(empty.server)
        for size in sizes:
            running = crowds[str(size)] = await stack.enter_async_context(crowd("iris", size))
            held.append((await private(running.server) - before) / size / 1e3)

        async def told(name: str) -> float:
            return await crowds[name].cost(frames(300, 1))

        ways = {name: (lambda n=name: told(n)) for name in crowds}
        found = await interleaved(rounds, ways)
        costs = [p50(found[str(size)]) for size in sizes]
    table = report.table("by devices", *(f"{size:,}" for size in sizes), "last / first")
    for name, values in (
        ("a frame for each device, µs of CPU", costs),
        ("a device comes in, µs of CPU", [running.joining for running in crowds.values()]),
        ("a device that is there, KB", held),
    ):
        table.row(name, *values, Ratio(values[-1] / values[0]))


async def run(report: Report, given: Given) -> None:
    """Measure and print."""
    many_files()
    rounds = 20 if given.quick else 100
    await of_messages(report, (1_000, 10_000) if given.quick else (10_000, 100_000, 1_000_000), rounds)
    await of_devices(report, (10, 100) if given.quick else (10, 100, 1_000, 10_000), 5 if given.quick else 15)
