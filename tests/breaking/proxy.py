"""A bad network: a TCP proxy whose connections are cut, torn inside a frame, half-closed, stalled and delayed.

What a fault does is real: sockets are reset or shut down, bytes are held back or thrown away in the middle of a frame.
The port stays open while the gateway is down; a connection is then refused late, as a reverse proxy does it.
"""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Literal

Fault = Literal["cut", "torn", "half", "stall", "delay"]
FAULTS: tuple[Fault, ...] = ("cut", "cut", "torn", "torn", "half", "stall", "delay")
"""As often as each is to happen."""

PIECE = 65_536


class Link:
    """One connection through the proxy: a device on one side, the gateway on the other."""

    def __init__(self, device: asyncio.StreamWriter, gateway: asyncio.StreamWriter) -> None:
        self._device = device
        self._gateway = gateway
        self._open = asyncio.Event()
        self._open.set()
        self._delay = 0.0
        self._torn = False

    async def pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry bytes one way until that way ends."""
        while piece := await reader.read(PIECE):
            await self._open.wait()
            if self._delay:
                await asyncio.sleep(self._delay)
            if self._torn:
                writer.write(piece[: len(piece) // 2])
                await writer.drain()
                self.cut()
                return
            writer.write(piece)
            await writer.drain()
        writer.write_eof()

    def cut(self) -> None:
        """Reset both sides."""
        self._device.transport.abort()
        self._gateway.transport.abort()

    async def suffer(self, fault: Fault, seconds: float, chance: random.Random) -> None:
        """Go through a fault; all of them end with the connection cut, but for a delay."""
        match fault:
            case "torn":
                self._torn = True  # the next piece, whichever way it goes, arrives by half
                await asyncio.sleep(seconds)
            case "half":
                with suppress(OSError, RuntimeError):  # it may be closed already
                    chance.choice((self._device, self._gateway)).write_eof()
                await asyncio.sleep(seconds)
            case "stall":
                self._open.clear()
                await asyncio.sleep(seconds)
                self._open.set()
            case "delay":
                self._delay = seconds / 10
                await asyncio.sleep(seconds)
                self._delay = 0.0
                return
        self.cut()


class Proxy:
    """Listens on a port of its own for as long as `open_proxy` lasts."""

    def __init__(self) -> None:
        self.links: list[Link] = []
        self.port = 0
        self.to = 0
        """Port of the gateway."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        try:
            from_gateway, to_gateway = await asyncio.open_connection("127.0.0.1", self.to)
        except OSError:
            writer.transport.abort()
            return
        link = Link(writer, to_gateway)
        self.links.append(link)
        try:
            async with asyncio.TaskGroup() as ways:
                ways.create_task(link.pump(reader, to_gateway))
                ways.create_task(link.pump(from_gateway, writer))
        except* (OSError, RuntimeError):
            pass  # what a fault did, e.g. closed the side that was to be written to, or a gateway that was killed
        finally:
            self.links.remove(link)
            link.cut()


@asynccontextmanager
async def open_proxy(to: int) -> AsyncIterator[Proxy]:
    """A proxy before a gateway's port."""
    proxy = Proxy()
    proxy.to = to
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        for link in list(proxy.links):
            link.cut()
        await server.wait_closed()
