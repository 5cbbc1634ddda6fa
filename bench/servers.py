"""The servers that are compared, each in a process of its own: `python -m bench.servers KIND OPTIONS`.

Prints one line of JSON when it listens. For each line of JSON on stdin it tells all devices something and answers with
what that took: `ns` of CPU until everything was handed to the network, and `longest`, the ns of one turn of the loop at
worst, if `watch` is asked for.
"""

import argparse
import asyncio
import contextlib
import functools
import json
import ssl
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from .kit import ROOT, many_files

sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

if TYPE_CHECKING:
    from hermes_iris.slices import Slices


class Server(ABC):
    """A server with many devices."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.port: int = given.port
        self.deflate: bool = given.deflate
        self.folder = Path(given.folder)
        self.certificate: tuple[str, str] | None = tuple(given.tls) if given.tls else None
        self.devices: list[Any] = []

    @property
    def context(self) -> ssl.SSLContext | None:
        """The server's side of TLS."""
        if self.certificate is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.certificate)
        return context

    @abstractmethod
    async def start(self) -> dict[str, Any]:
        """Listen; returns what the devices are to know."""

    @abstractmethod
    async def tell(self, frames: Sequence[dict[str, Any]]) -> None:
        """Tell every device; returns when all of it was handed to the network."""

    async def stop(self) -> None:  # noqa: B027 - most have nothing to do
        """Stop."""


class Iris(Server):
    """The real gateway of Iris with its socket; the host takes notes."""

    async def start(self) -> dict[str, Any]:
        from hermes_iris.server import listener
        from support import gateway

        listener.HEARTBEAT = 3600.0  # the devices of C answer no ping
        cert, key = self.certificate or ("", "")
        self._running = gateway(self.folder, port=self.port, tls_cert=cert, tls_key=key)
        self.gateway = await self._running.__aenter__()
        device = await self.gateway.pair()
        hello = msgspec.json.encode(device.hello(capabilities=["delta"])).decode()
        return {"hello": hello}

    async def tell(self, frames: Sequence[dict[str, Any]]) -> None:
        from hermes_iris.address import DEFAULT_LANE
        from hermes_iris.protocol.frames import Typing

        hub = self.gateway.service.hub
        for frame in frames:
            # A frame with room for a text, which is the same for all: as long as the others' frames are.
            text = frame["text"][: -len('"chat_id":"android:default",')]
            hub.show(DEFAULT_LANE, Typing(chat_id=DEFAULT_LANE.chat_id, thread_id=text, on=True, ttl=frame["ttl"]))
        await self.quiet()

    @property
    def slices(self) -> "Slices":
        """What the sockets do in small slices."""
        app: Any = self.gateway.service.listener._server.config.app  # to uvicorn it could be any application
        return cast("Slices", app.state.wire.slices)

    async def quiet(self) -> None:
        """Wait until everything was handed to the network."""
        hub, slices = self.gateway.service.hub, self.slices
        while hub._audience.busy or slices.busy:  # noqa: ASYNC110 - nothing is waited for: this gives way
            await asyncio.sleep(0)

    async def stop(self) -> None:
        await self._running.__aexit__(None, None, None)


class Naive(Server):
    """As one would write it first: `websockets`, and for each device the JSON made and sent."""

    async def start(self) -> dict[str, Any]:
        from websockets.asyncio.server import serve

        await serve(
            self._serve, "127.0.0.1", self.port, compression="deflate" if self.deflate else None,
            ping_interval=None, ssl=self.context, backlog=4096,
        )  # fmt: skip
        return {}

    async def _serve(self, connection: Any) -> None:
        from websockets.exceptions import ConnectionClosed

        await connection.send("{}")
        self.devices.append(connection)
        with contextlib.suppress(ConnectionClosed):
            async for _ in connection:
                pass

    async def tell(self, frames: Sequence[dict[str, Any]]) -> None:
        for frame in frames:
            for device in self.devices:
                await device.send(json.dumps(frame))


class Broadcast(Naive):
    """`websockets.broadcast`, which makes the frame once if nothing is compressed."""

    async def tell(self, frames: Sequence[dict[str, Any]]) -> None:
        from websockets.asyncio.server import broadcast

        for frame in frames:
            broadcast(self.devices, json.dumps(frame))


class Bare(Naive):
    """The limit of asyncio: finished bytes written to each transport, and nothing else."""

    async def tell(self, frames: Sequence[dict[str, Any]]) -> None:
        from hermes_iris.packet import message

        data = b"".join(message(json.dumps(frame).encode()) for frame in frames)
        for device in self.devices:
            device.transport.write(data)


class Aiohttp(Server):
    """aiohttp, the JSON made once."""

    async def start(self) -> dict[str, Any]:
        from aiohttp import web

        async def serve(request: web.Request) -> web.WebSocketResponse:
            socket = web.WebSocketResponse(compress=self.deflate, autoping=False)
            await socket.prepare(request)
            await socket.send_str("{}")
            self.devices.append(socket)
            async for _ in socket:
                pass
            return socket

        app = web.Application()
        app.router.add_get("/ws", serve)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port, ssl_context=self.context, backlog=4096).start()
        return {}

    async def tell(self, frames: Sequence[dict[str, Any]]) -> None:
        for frame in frames:
            text = json.dumps(frame)
            for device in self.devices:
                await device.send_str(text)


class Starlette(Server):
    """uvicorn and starlette, the JSON made once."""

    async def start(self) -> dict[str, Any]:
        import uvicorn
        from starlette.applications import Starlette as App
        from starlette.routing import WebSocketRoute
        from starlette.websockets import WebSocket

        async def serve(socket: WebSocket) -> None:
            await socket.accept()
            await socket.send_text("{}")
            self.devices.append(socket)
            async for _ in socket.iter_text():
                pass

        cert, key = self.certificate or (None, None)
        config = uvicorn.Config(
            App(routes=[WebSocketRoute("/ws", serve)]), port=self.port, log_level="error", lifespan="off",
            ws="websockets-sansio", ws_per_message_deflate=self.deflate, ws_ping_interval=None, backlog=4096,
            ssl_certfile=cert, ssl_keyfile=key,
        )  # fmt: skip
        server = uvicorn.Server(config)
        self._serving = asyncio.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)
        return {}

    async def tell(self, frames: Sequence[dict[str, Any]]) -> None:
        for frame in frames:
            text = json.dumps(frame)
            for device in self.devices:
                await device.send_text(text)


KINDS: dict[str, type[Server]] = {
    "iris": Iris, "naive": Naive, "bare": Bare, "broadcast": Broadcast, "aiohttp": Aiohttp, "starlette": Starlette,
}  # fmt: skip


async def cost(server: Server, frames: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Tell all; nanoseconds of CPU."""
    before = time.process_time_ns()
    await server.tell(frames)
    return {"ns": time.process_time_ns() - before}


async def watched(server: Server, frames: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Tell all; the nanoseconds of CPU that one turn of the loop took at worst."""
    telling = asyncio.create_task(server.tell(frames))
    longest, last = 0, time.thread_time_ns()
    while not telling.done():
        await asyncio.sleep(0)
        now = time.thread_time_ns()
        longest, last = max(longest, now - last), now
    await telling
    return {"longest": longest}


async def serve(server: Server, answer: Any) -> None:
    """Do what stdin asks for until it ends."""
    many_files()
    print(json.dumps(await server.start()), flush=True)
    reader = asyncio.StreamReader(limit=1 << 24)
    await asyncio.get_running_loop().connect_read_pipe(
        functools.partial(asyncio.StreamReaderProtocol, reader), sys.stdin
    )
    async for line in reader:
        print(json.dumps(await answer(json.loads(line))), flush=True)
    await server.stop()


def options() -> argparse.ArgumentParser:
    """The options of a server's process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--deflate", action="store_true")
    parser.add_argument("--tls", nargs=2)
    return parser


async def main() -> None:
    """Run one of them."""
    parser = options()
    parser.add_argument("kind", choices=KINDS)
    given = parser.parse_args()
    server = KINDS[given.kind](given)

    async def answer(asked: dict[str, Any]) -> dict[str, int]:
        measure = watched if asked.get("watch") else cost
        return await measure(server, asked["frames"])

    await serve(server, answer)


if __name__ == "__main__":
    asyncio.run(main())
