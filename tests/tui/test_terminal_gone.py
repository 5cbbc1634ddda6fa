"""A terminal that is closed: the program goes with it, instead of reading from it for ever."""

import asyncio
import contextlib
import os
import pty
import sys
from pathlib import Path

from support import gateway, wait_until


def drawn(terminal: int) -> bytes:
    with contextlib.suppress(BlockingIOError):
        return os.read(terminal, 1 << 16)
    return b""


async def test_it_leaves_with_its_terminal(tmp_path: Path) -> None:
    async with gateway(tmp_path / "home") as running:
        await leaves(running.home.root)


async def leaves(home: Path) -> None:
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    process = await asyncio.create_subprocess_exec(
        *[sys.executable, "-m", "hermes_iris.cli", "chat", "--home", str(home)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(theirs)
    try:
        seen = bytearray()

        def is_there() -> bool:
            seen.extend(drawn(ours))
            return b"connected" in seen

        await wait_until(is_there, 30)
        os.close(ours)
        assert await asyncio.wait_for(process.wait(), 30) == 0
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
