"""Memory: what the server holds for each connection that is idle, plain and with TLS, beside other servers.

Private pages of the server's process, before and after so many devices have come and said hello.
"""

import contextlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .crowd import crowd, private
from .fanout import PEERS, kinds
from .kit import Given, Report, many_files

FEW = 10
"""Connections from which on is counted: the first ones load code."""


async def compare(report: Report, title: str, names: Sequence[str], count: int, **options: Any) -> None:
    """One table."""
    table = report.table(f"{title}, {count:,} connections", "KB each")
    for name in names:
        held = []
        for devices in (FEW, FEW + count):
            async with crowd(name, devices, **options) as running:
                held.append(await private(running.server))
        label = {"c": "C (the kernel's part is not counted)", "iris": "Iris"}.get(name) or PEERS[name]
        table.row(label, (held[1] - held[0]) / count / 1e3)


async def run(report: Report, given: Given) -> None:
    """Measure and print."""
    from server.certificates import certificate

    many_files()
    count = 200 if given.quick else 2_000
    names = [name for name in kinds(report) if name not in ("c", "bare", "broadcast")]  # the last two: `naive`
    await compare(report, "plain", names, count)
    await compare(report, "compression agreed", names, count, deflate=True)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        tls = certificate(folder / "tls", "localhost")
        await compare(report, "TLS", kinds(report, tls=True), 100 if given.quick else 500, tls=tls)
