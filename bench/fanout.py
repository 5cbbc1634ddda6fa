"""Fan-out: CPU of the server for each frame and device, against a loop of write() in C and other servers.

Every server runs beside the others and takes its turn in every round; the devices are programs of their own. What is
counted is the CPU time of the server's process from the frame to its last hand-over to the network: medians. The loop
in C writes what is made already, so it is the limit of anything that writes to each socket by itself.
"""

import contextlib
import itertools
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .crowd import Crowd, crowd, node
from .kit import Given, Ratio, Report, interleaved, many_files, p50, words

TEXT = words(200_000)
PEERS = {
    "bare": "asyncio, bytes to each transport",
    "naive": "JSON and send for each device",
    "broadcast": "websockets, broadcast",
    "aiohttp": "aiohttp",
    "starlette": "uvicorn + starlette",
    "node": "node ws",
}
SHAPES = ((300, 1), (8_000, 1), (300, 4))
"""Bytes of a frame, and frames in one turn of the loop."""

_moments = itertools.count()


def frames(size: int, together: int) -> list[dict[str, Any]]:
    """Frames that were never sent before, of a size."""
    made = []
    for moment in itertools.islice(_moments, together):
        start = moment * 131 % (len(TEXT) - size)
        frame = {"type": "typing", "text": "", "on": True, "ttl": 100_000.5 + moment}
        made.append({**frame, "text": TEXT[start : start + size - 62]})
    return made


def kinds(report: Report, *, tls: bool = False) -> list[str]:
    """The servers that can be run here; those of no use with TLS left out."""
    peers = [peer for peer in PEERS if not (tls and peer in ("node", "broadcast", "bare"))]
    if "node" in peers:
        try:
            node()
        except (ImportError, OSError) as exc:
            report.note(f"node's ws cannot be installed here: {exc}")
            peers.remove("node")
    return ["iris", *peers] if tls else ["c", "iris", *peers]


async def compare(report: Report, title: str, names: Sequence[str], count: int, rounds: int, **options: Any) -> None:
    """One table: each server with so many devices."""
    first = names[0]
    columns = [f"{size} B, {together}" for size, together in SHAPES]
    table = report.table(f"{title}, {count:,} devices: µs of CPU per frame and device", *columns, *["x"] * len(SHAPES))
    async with contextlib.AsyncExitStack() as stack:
        crowds = {name: await stack.enter_async_context(crowd(name, count, **options)) for name in names}
        medians: dict[str, list[float]] = {name: [] for name in names}
        for size, together in SHAPES:
            found = await interleaved(rounds, {name: _turn(crowds[name], size, together) for name in names})
            for name, values in found.items():
                medians[name].append(p50(values))
    # Four frames are held against one write of the loop for each of them.
    limits = [medians[first][0], medians[first][1], medians[first][0]]
    for name in names:
        label = {"c": "C, write() to each", "iris": "Iris"}.get(name) or PEERS[name]
        ratios = [Ratio(value / limit) for value, limit in zip(medians[name], limits, strict=True)]
        table.row(label, *medians[name], *ratios)


def _turn(of: Crowd, size: int, together: int) -> Callable[[], Awaitable[float]]:
    async def turn() -> float:
        return await of.cost(frames(size, together))

    return turn


async def many(report: Report, count: int, rounds: int) -> None:
    """Very many devices: the cost, and how long everything else waits for its turn on the loop."""
    table = report.table(f"{count:,} devices, 300 B", "µs a frame", "x", "longest turn of the loop, ms")
    names = ("c", "iris", "bare", "broadcast", "starlette")
    async with contextlib.AsyncExitStack() as stack:
        crowds = {name: await stack.enter_async_context(crowd(name, count)) for name in names}
        costs = await interleaved(rounds, {name: _turn(crowds[name], 300, 1) for name in names})
        waits = await interleaved(rounds, {name: partial(_longest, crowds[name]) for name in names if name != "c"})
    for name in names:
        cost, limit = p50(costs[name]), p50(costs["c"])
        label = {"c": "C, write() to each", "iris": "Iris"}.get(name) or PEERS[name]
        table.row(label, cost, Ratio(cost / limit), p50(waits[name]) if name in waits else None)


async def _longest(of: Crowd) -> float:
    return await of.longest(frames(300, 1)[0])


async def run(report: Report, given: Given) -> None:
    """Measure and print."""
    from server.certificates import certificate

    many_files()
    names = kinds(report)
    for count, rounds in ((10, 60),) if given.quick else ((10, 400), (100, 200), (1_000, 40)):
        await compare(report, "plain", names, count, rounds)
    count, rounds = (10, 20) if given.quick else (100, 60)
    compressing = [name for name in names if name != "bare"]
    await compare(report, "compressed", compressing, count, rounds, deflate=True)
    with tempfile.TemporaryDirectory() as folder:
        await compare(
            report, "TLS", kinds(report, tls=True), count, rounds, tls=certificate(Path(folder) / "tls", "localhost")
        )
    if not given.quick:
        await many(report, 10_000, 10)
