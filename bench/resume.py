"""Resume: how many events a gateway can tell a device that was away, over its socket, in a second of its CPU.

Beside it the limits (SQLite reading the rows, a program in C that writes as many bytes to one socket), and the naive
way: each row sent by itself.
"""

import argparse
import asyncio
import json
import sqlite3
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from hermes_iris.address import DEFAULT_LANE
from hermes_iris.endpoints import free_port
from hermes_iris.protocol.frames import Message, Position
from hermes_iris.store import messages
from support import Gateway, gateway

from .crowd import crowd, masked, started
from .kit import Given, Ratio, Report, compiled, interleaved, many_files, p50, words
from .servers import Naive

TEXT = words(150)


async def missed(running: Gateway, count: int) -> Position:
    """Let so many events come; the place before them."""
    hub = running.service.hub
    before = hub.position
    for start in range(0, count, 1_000):
        said = [
            Message(
                chat_id=DEFAULT_LANE.chat_id, message_id=f"m_{n}", role="assistant", ts=float(n), order=n + 1,
                text=f"{n} {TEXT}",
            )
            for n in range(start, start + 1_000)
        ]  # fmt: skip
        await running.service.store.write(partial(messages.record, effects=said))
    await hub.catch_up()
    return before


async def by_iris(running: Gateway, before: Position, count: int, *, compressed: bool) -> float:
    """From the connection's beginning."""
    device = await running.pair()
    with tempfile.NamedTemporaryFile() as hello:
        Path(hello.name).write_bytes(masked(msgspec.json.encode(device.hello(before))))
        offer = ["deflate"] if compressed else []
        began = time.process_time()
        async with started(compiled("fanout"), "devices", running.port, 1, hello.name, *offer) as devices:
            await devices.hear()
            await devices.ask(str(count))
            return count / (time.process_time() - began)


async def by_naive(database: Path, after: int, count: int) -> float:
    """The same rows, each decoded, numbered, encoded and sent by itself."""
    port = free_port()
    server = Naive(argparse.Namespace(port=port, deflate=False, folder=".", tls=None))
    await server.start()
    with tempfile.NamedTemporaryFile() as hello:
        Path(hello.name).write_bytes(masked(b"{}"))
        began = time.process_time()
        async with started(compiled("fanout"), "devices", port, 1, hello.name) as devices:
            await devices.hear()
            reading = asyncio.create_task(devices.ask(str(count)))
            with closing(sqlite3.connect(database)) as conn:
                for seq, frame in conn.execute("SELECT seq, frame FROM events WHERE seq > ? ORDER BY seq", (after,)):
                    await server.devices[0].send(json.dumps({**json.loads(frame), "seq": seq}))
            await reading
            return count / (time.process_time() - began)


async def by_sqlite(database: Path, after: int, count: int) -> float:
    """Only the reading of the rows."""
    began = time.process_time()
    with closing(sqlite3.connect(database)) as conn:
        rows = conn.execute("SELECT seq, frame FROM events WHERE seq > ? ORDER BY seq", (after,)).fetchall()
    assert len(rows) == count  # noqa: S101 - else this measures something else
    return count / (time.process_time() - began)


async def by_loop(of: Any, count: int, size: int) -> float:
    """As many bytes from a program in C."""
    spent, _ = await asyncio.gather(of.server.ask(f"{count} {size}"), of.got(count))
    return count / (int(spent) / 1e9)


async def run(report: Report, given: Given) -> None:
    """Measure and print."""
    many_files()
    count = 5_000 if given.quick else 100_000
    with tempfile.TemporaryDirectory() as folder:
        async with gateway(Path(folder), log_events=2 * count) as running, crowd("c", 1) as loop:
            before = await missed(running, count)
            database = running.home.database
            with closing(sqlite3.connect(database)) as conn:
                size = int(conn.execute("SELECT AVG(LENGTH(frame)) FROM events").fetchone()[0])
            found = await interleaved(
                2 if given.quick else 5,
                {
                    "C, write() of as many bytes": partial(by_loop, loop, count, size),
                    "SQLite, reading alone": partial(by_sqlite, database, before.seq, count),
                    "Iris": partial(by_iris, running, before, count, compressed=False),
                    "Iris, compressed": partial(by_iris, running, before, count, compressed=True),
                    "naive": partial(by_naive, database, before.seq, count),
                },
            )
    limit = p50(found["SQLite, reading alone"])
    table = report.table(f"{count:,} events of {size} bytes", "frames a second of CPU", "x the reading")
    for name, values in found.items():
        table.row(name, p50(values), Ratio(p50(values) / limit))
