"""Anything at the port and the socket: a frame gets an answer or an error, and nothing stays behind, nor grows.

`IRIS_FUZZ=100000` makes it last for hours instead of seconds; a failure prints its seed.
"""

import asyncio
import gc
import json
import logging
import math
import os
import random
import tracemalloc
from contextlib import suppress
from pathlib import Path

import pytest

from hermes_iris.server import attempts
from support import gateway, wait_until

VECTORS = [
    json.loads(line) for line in (Path(__file__).parents[1] / "vectors/client.jsonl").read_text("utf-8").splitlines()
]
ROUNDS = int(os.environ.get("IRIS_FUZZ", "250"))
JUNK = [
    '"',
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "-1",
    "1e999",
    "\\ud800",
    "\u0000",
    "鸭",
    "$",
    "android:",
    "true",
    "99999999999999999999",
]


def mangled(chance: random.Random) -> str:
    """A frame of the vectors, as it is or with some of its characters taken out, doubled or replaced."""
    vector = chance.choice(VECTORS)
    text = vector["raw"] if "raw" in vector else json.dumps(vector["frame"])
    for _ in range(chance.choice([0, 0, 1, 1, 2, 5])):
        at = chance.randrange(len(text) + 1)
        end = min(len(text), at + chance.randrange(6))
        text = text[:at] + chance.choice([*JUNK, "", text[at:end] * 2]) + text[end:]
    return text.encode("utf-8", "replace").decode()


@pytest.mark.parametrize("seed", [1, 2])
async def test_any_frames_in_any_order(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "BURST", math.inf)  # what is sent here is more than a connection may
    chance = random.Random(seed)
    async with gateway(tmp_path) as running:
        device = await running.pair()
        bystander = await running.pair("Bystander")
        async with running.wire(device) as wire, running.wire(bystander) as other:
            tasks = len(asyncio.all_tasks())
            for _ in range(ROUNDS):
                await wire.send(mangled(chance))
                if chance.random() < 0.1:
                    await wire.settle()
            seen = await wire.settle()
            assert all(frame["type"] != "error" or frame["code"] != "internal" for frame in seen), seed
            assert wire.connection.close_code is None
            assert not [frame for frame in await other.settle() if frame["type"] == "error"]
            assert len(asyncio.all_tasks()) <= tasks + 1, "a frame left a task behind"


@pytest.mark.parametrize("seed", [3, 4])
async def test_any_beginning_of_a_connection(tmp_path: Path, seed: int) -> None:
    """What is no `hello` of a paired device ends that connection with its reason, and no other one."""
    chance = random.Random(seed)
    async with gateway(tmp_path) as running:
        device = await running.pair()
        async with running.wire(device) as good:
            for _ in range(8):  # ten failures would end the attempts of this address
                async with running.open() as wire:
                    await wire.send(mangled(chance))
                    assert await wire.closed() in (4400, 4401)
            assert (await good.ask("device.list"))["type"] == "device.list"


HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def noise(chance: random.Random) -> bytes:
    """Bytes of any kind: none that make sense, HTTP that is spoilt, or frames of a WebSocket that are no frames."""
    junk = chance.randbytes(chance.choice([0, 1, 20, 3_000]))
    match chance.randrange(4):
        case 0:
            return junk
        case 1:
            at = chance.randrange(len(HANDSHAKE))
            return HANDSHAKE[:at] + junk + HANDSHAKE[at:]
        case 2:
            return HANDSHAKE + junk
        case _:  # a header of a frame with any flags, kind and length
            return HANDSHAKE + bytes([chance.randrange(256), chance.choice([0x80, 0xFE, 0xFF, 0x7E, 5])]) + junk


@pytest.mark.parametrize("seed", [5, 6])
async def test_any_bytes_at_the_port(tmp_path: Path, seed: int, caplog: pytest.LogCaptureFixture) -> None:
    chance = random.Random(seed)
    async with gateway(tmp_path) as running, running.wire(await running.pair()) as good:
        tasks = len(asyncio.all_tasks())
        for _ in range(ROUNDS):
            reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
            writer.write(noise(chance))
            if chance.random() < 0.5:
                writer.write_eof()
            if chance.random() < 0.5:
                with suppress(OSError, TimeoutError):
                    async with asyncio.timeout(0.01):
                        await reader.read(100)
            writer.transport.abort()
        assert (await good.ask("device.list"))["type"] == "device.list", seed
        await wait_until(lambda: len(asyncio.all_tasks()) <= tasks)
        await wait_until(lambda: len(running.service.listener._server.server_state.connections) == 1)
    gc.collect()  # a task that ended with an error nobody took is told of now
    faults = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert not [fault for fault in faults if "never retrieved" in fault or "Fatal" in fault or "Exception in" in fault]


async def test_what_was_refused_takes_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as much nonsense leaves no more behind: frames are mangled so that none of them is stored."""
    monkeypatch.setattr(attempts, "FRAMES_PER_SECOND", 1e9)
    chance = random.Random(7)
    async with gateway(tmp_path) as running:
        device = await running.pair()

        async def nonsense() -> int:
            for _ in range(5):
                async with running.wire(device) as wire:
                    for _ in range(ROUNDS // 5):
                        await wire.send("}" + mangled(chance))
                    await wire.settle()
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        tracemalloc.start()
        try:
            await nonsense()
            before = await nonsense()
            await nonsense()
            after = await nonsense()
        finally:
            tracemalloc.stop()
    assert after - before < 100_000 + 50 * ROUNDS, "each round keeps something"


async def test_a_flood_is_slowed_down_and_nobody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "BURST", 20.0)
    monkeypatch.setattr(attempts, "FRAMES_PER_SECOND", 0.001)
    async with (
        gateway(tmp_path) as running,
        running.wire(await running.pair()) as wire,
        running.wire(await running.pair("Other")) as other,
    ):
        answers = [await wire.ask("device.list") for _ in range(25)]
        assert [answer["type"] for answer in answers] == ["device.list"] * 20 + ["error"] * 5
        assert {answer["code"] for answer in answers[20:]} == {"rate_limited"}
        assert all(answer["retryable"] for answer in answers[20:])
        assert (await other.ask("device.list"))["type"] == "device.list"


async def test_a_handshake_that_is_no_text_leaves_no_connection_behind(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
        writer.write(HANDSHAKE.replace(b"Version: 13", b"Version: \xf013"))
        assert await reader.read() == b""
        writer.close()
        await wait_until(lambda: not running.service.listener._server.server_state.connections)
