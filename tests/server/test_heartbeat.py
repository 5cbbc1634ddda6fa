"""A connection over which nothing comes any more: both sides notice within two intervals."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from websockets.asyncio.client import connect

from hermes_iris import client as client_module
from hermes_iris.client import Client
from hermes_iris.protocol.frames import HelloAck
from hermes_iris.server import listener
from support import Gateway, Wire, gateway, wait_until

INTERVAL = 0.5
NOTICED = 2 * INTERVAL + 2.0
"""Two intervals, and what a busy machine may need."""


class Line:
    """A way to the gateway on which everything stops when it is `dead`, as on a network that went away."""

    def __init__(self, port: int) -> None:
        self.dead = False
        self.opened = 0
        self._port = port

    @asynccontextmanager
    async def up(self) -> AsyncIterator[str]:
        tasks: set[asyncio.Task[None]] = set()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.opened += 1
            there, back = await asyncio.open_connection("127.0.0.1", self._port)
            tasks.update(
                {asyncio.create_task(self._pass(reader, back)), asyncio.create_task(self._pass(there, writer))}
            )

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                if not self.dead:
                    writer.write(data)
        writer.close()


@pytest.fixture
async def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Gateway]:
    monkeypatch.setattr(listener, "HEARTBEAT", INTERVAL)
    async with gateway(tmp_path) as running:
        yield running


async def test_the_gateway_notices_a_device_that_is_gone(running: Gateway) -> None:
    line = Line(running.port)
    device = await running.pair()
    async with (
        line.up() as url,
        connect(url.replace("http", "ws") + "/ws", ping_interval=None, proxy=None, close_timeout=0.1) as way,
    ):
        wire = Wire(way)
        await wire.send(device.hello())
        await wire.until("hello.ack")
        assert running.service.hub.connected() == {device.info.id}
        line.dead, began = True, time.monotonic()
        await wait_until(lambda: not running.service.hub.connected())
        assert time.monotonic() - began < NOTICED


async def test_a_device_that_is_quiet_and_alive_stays(running: Gateway) -> None:
    async with running.wire() as wire:
        began = time.monotonic()
        while time.monotonic() - began < 3 * INTERVAL:
            assert running.service.hub.connected()
            with suppress(TimeoutError):
                async with asyncio.timeout(INTERVAL / 2):
                    await wire.connection.recv()


async def test_the_client_notices_a_gateway_that_is_gone_and_comes_back(
    running: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "HEARTBEAT", INTERVAL)
    line = Line(running.port)
    device = await running.pair()
    async with line.up() as url, Client(url, device.info, device.token) as client:
        frames = client.frames()
        assert isinstance(await anext(frames), HelloAck)
        line.dead, began = True, time.monotonic()
        await wait_until(lambda: client._connection is None)
        assert time.monotonic() - began < NOTICED
        line.dead = False
        async with asyncio.timeout(30):
            again = await anext(frames)
        assert isinstance(again, HelloAck)
        assert (again.mode, line.opened > 1) == ("resumed", True)
