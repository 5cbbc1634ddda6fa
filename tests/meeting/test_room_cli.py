"""The command line in a room."""

import asyncio
import sys
from pathlib import Path

from hermes_iris.config import child_environment
from support import LIMIT, Gateway

from .app import NAME, in_room
from .presence import present
from .server import XmppServer


async def iris(running: Gateway, *words: str) -> tuple[int | None, str]:
    """Run a command; its exit code and what it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "hermes_iris.cli", *words,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT, env=child_environment(running.home),
    )  # fmt: skip
    async with asyncio.timeout(LIMIT):
        out, _ = await process.communicate()
    return process.returncode, out.decode()


async def test_something_is_said_read_and_found(server: XmppServer, tmp_path: Path) -> None:
    async with in_room(tmp_path / "home", server) as running, present(server.account("mohe"), tmp_path / "m") as mohe:
        await mohe.until_joined()
        assert await iris(running, "send", "--to", NAME, "Who knows Oslo?") == (0, "")
        await mohe.until(lambda: mohe.texts == ["Who knows Oslo?"])
        await mohe.say("I know Oslo.", hop=1)
        code, told = await iris(running, "search", "oslo")
        assert code == 0
        assert "mohe: I know Oslo." in told
        assert "Ada: Who knows Oslo?" in told
        code, told = await iris(running, "tail", "--to", NAME, "--no-follow")
        assert [line[9:] for line in told.splitlines()] == ["Ada: Who knows Oslo?", "mohe: I know Oslo."]
