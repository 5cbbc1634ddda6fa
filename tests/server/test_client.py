"""The Python client against a real gateway, one that is cut off from it, and one that misbehaves."""

import asyncio
import itertools
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.asyncio.server import ServerConnection, serve

from hermes_iris.address import DEFAULT_LANE
from hermes_iris.client import Client, Closed, Refused
from hermes_iris.errors import IrisError, Unauthorized
from hermes_iris.protocol.frames import (
    DeviceInfo,
    DeviceList,
    Event,
    History,
    HistoryPage,
    Message,
    MessageAccepted,
    MessageSend,
    Position,
    ServerFrame,
    TurnStop,
)
from hermes_iris.server.attempts import MAX_FAILURES
from hermes_iris.turns import calls
from support import CHAT, LIMIT, Device, Gateway, Screen, ack, gateway, handed, new_id, texts, wait_until


@pytest.fixture(autouse=True)
def _no_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library waits up to five seconds before it connects again; a test does not."""
    monkeypatch.setattr("websockets.asyncio.client.backoff", lambda: itertools.repeat(0.01))


def send(text: str = "Hello", **more: str) -> MessageSend:
    return MessageSend(**{"client_id": new_id(), "chat_id": CHAT, "text": text, **more})


async def say(running: Gateway, *said: str) -> None:
    for text in said:
        await running.service.hub.call(DEFAULT_LANE, calls.Sent(text))


async def until(client: Client, condition: Callable[[ServerFrame], object]) -> list[ServerFrame]:
    """The client's frames up to the one that is waited for."""
    seen: list[ServerFrame] = []
    async with asyncio.timeout(LIMIT):
        async for frame in client.frames():
            seen.append(frame)
            if condition(frame):
                return seen
    raise AssertionError("the frames ended")


def is_message(text: str) -> Callable[[ServerFrame], bool]:
    return lambda frame: isinstance(frame, Message) and frame.text == text


def events(frames: list[ServerFrame]) -> list[int]:
    return [frame.seq for frame in frames if isinstance(frame, Event)]


# ---------------------------------------------------------------- one connection


async def test_requests_are_answered_and_the_rest_comes_as_frames(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.client(await running.pair()) as client:
        request = send("Hello")
        accepted = await client.request(request)
        page = await client.request(History(client_id=new_id(), chat_id=CHAT))
        assert isinstance(accepted, MessageAccepted)
        assert isinstance(page, HistoryPage)
        assert [entry.text for entry in page.entries if isinstance(entry, Message)] == ["Hello"]
        frames = await until(client, is_message("Hello"))
        assert [type(frame).__name__ for frame in frames] == ["HelloAck", "Message"]
        assert client.position == Position(epoch=client.greeting.epoch if client.greeting else "", seq=1)


async def test_many_requests_at_once_each_get_their_own_answer(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.client(await running.pair()) as client:
        requests = [send(f"{n}") for n in range(50)]
        answers = await asyncio.gather(*(client.request(request) for request in requests))
        assert [answer.client_id for answer in answers] == [request.client_id for request in requests]
        await handed(running.service.store)
        assert running.host.texts == [f"{n}" for n in range(50)]


async def test_a_refusal_is_raised_with_its_code_and_the_client_goes_on(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.client(await running.pair()) as client:
        with pytest.raises(Refused, match=r"\$\.chat_id") as caught:
            await client.request(send(chat_id="android:nowhere"))
        assert (caught.value.failure.code, caught.value.failure.retryable) == ("not_found", False)
        assert await client.request(send())


async def test_a_frame_that_is_too_large_is_not_sent(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.client(await running.pair()) as client:
        with pytest.raises(IrisError, match="bytes"):
            await client.request(send("x" * (1 << 20)))
        assert await client.request(send())


async def test_a_wrong_token_is_told_at_once(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        device = await running.pair()
        with pytest.raises(Unauthorized, match=r"\$\.token"):
            async with Client(running.url, device.info, "wrong"):
                pass


async def test_a_gateway_that_is_not_there_is_told_at_once() -> None:
    info = DeviceInfo(id="dev_1", name="Test", kind="script")
    with socket.socket() as bound:  # bound, but nothing listens
        bound.bind(("127.0.0.1", 0))
        with pytest.raises(OSError):  # noqa: PT011 - which one is the system's business
            async with Client(f"http://127.0.0.1:{bound.getsockname()[1]}", info, "token"):
                pass


async def test_too_many_failures_are_told_instead_of_tried_again_without_end(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        device = await running.pair()
        for _ in range(MAX_FAILURES):
            with pytest.raises(Unauthorized):
                await Client(running.url, device.info, "wrong").__aenter__()
        async with asyncio.timeout(3):
            with pytest.raises(Refused) as caught:
                async with running.client(device):
                    pass
        assert (caught.value.failure.code, caught.value.failure.retryable) == ("rate_limited", True)


async def test_a_level_that_the_gateway_does_not_speak_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes_iris.client.LEVEL", 2)
    async with gateway(tmp_path) as running:
        device = await running.pair()
        async with asyncio.timeout(3):
            with pytest.raises(Refused, match=r"\$\.level") as caught:
                async with running.client(device):
                    pass
        assert caught.value.failure.code == "unsupported"


# ---------------------------------------------------------------- over several connections


async def test_after_a_restart_every_event_comes_once(tmp_path: Path) -> None:
    async with gateway(tmp_path) as first:
        device, port = await first.pair(), first.port
        client = first.client(device)
        await client.__aenter__()
        await say(first, "a", "b")
    try:
        async with gateway(tmp_path, port=port) as second:
            await say(second, "c")
            seen = await until(client, is_message("c"))
            await say(second, "d")
            seen += await until(client, is_message("d"))
            assert events(seen) == [1, 2, 3, 4]
            modes = [msgspec.to_builtins(frame)["mode"] for frame in seen if type(frame).__name__ == "HelloAck"]
            assert modes == ["reset", "resumed"]
    finally:
        await client.__aexit__(None, None, None)


async def test_the_next_client_goes_on_where_this_one_was(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        device = await running.pair()
        async with running.client(device) as client:
            await say(running, "a")
            await until(client, is_message("a"))
        await say(running, "b")
        async with running.client(device, client.position) as again:
            assert events(await until(again, is_message("b"))) == [2]


async def test_a_request_made_while_there_is_no_gateway_goes_out_with_the_next_connection(tmp_path: Path) -> None:
    async with gateway(tmp_path) as first:
        device, port = await first.pair(), first.port
        client = first.client(device)
        await client.__aenter__()
    try:
        await wait_until(lambda: client._connection is None)
        asking = asyncio.create_task(client.request(send("while it was away")))
        async with gateway(tmp_path, port=port) as second:
            async with asyncio.timeout(LIMIT):
                assert isinstance(await asking, MessageAccepted)
            await handed(second.service.store)
            assert second.host.texts == ["while it was away"]
    finally:
        await client.__aexit__(None, None, None)


class Cable:
    """Between a client and a gateway; can be deaf (what the gateway says is lost) and can be cut."""

    def __init__(self, port: int) -> None:
        self.deaf = False
        self.lost = 0
        self.connections = 0
        self._port = port
        self._writers: list[asyncio.StreamWriter] = []

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers += [writer, far_writer]
        self.connections += 1  # not before it can be cut
        await asyncio.gather(self._pump(reader, far_writer, up=True), self._pump(far_reader, writer, up=False))

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, up: bool) -> None:
        try:
            while data := await source.read(65536):
                if self.deaf and not up:
                    self.lost += len(data)
                else:
                    sink.write(data)
        except OSError:
            pass
        sink.close()

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()


@asynccontextmanager
async def cable(running: Gateway) -> AsyncIterator[tuple[Cable, str]]:
    cable = Cable(running.port)
    server = await asyncio.start_server(cable.carry, "127.0.0.1", 0)
    try:
        yield cable, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        cable.cut()
        await server.wait_closed()


async def test_an_answer_that_was_lost_is_got_again_and_nothing_happens_twice(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, cable(running) as (wire, url):
        device = await running.pair()
        async with Client(url, device.info, device.token) as client:
            wire.deaf = True
            asking = asyncio.create_task(client.request(send("Hello")))
            await wait_until(lambda: running.host.delivered and wire.lost)
            assert not asking.done()
            wire.deaf = False
            wire.cut()
            async with asyncio.timeout(LIMIT):
                accepted = await asking
            assert accepted.seq == 1
            await say(running, "after")
            assert events(await until(client, is_message("after"))) == [1, 2]
            await handed(running.service.store)
            assert running.host.texts == ["Hello"]


async def test_a_connection_that_is_cut_again_and_again_loses_nothing(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, cable(running) as (wire, url):
        device = await running.pair()
        async with Client(url, device.info, device.token) as client:
            screen = Screen()

            async def read() -> None:
                async for frame in client.frames():
                    screen.feed(frame)
                    if is_message("the last")(frame):
                        return

            reading = asyncio.create_task(read())
            answers = []
            for n in range(10):
                answers.append(asyncio.create_task(client.request(send(f"request {n}"))))
                await say(running, f"{n}")
                wire.cut()
                await wait_until(lambda before=wire.connections: wire.connections > before)
            async with asyncio.timeout(LIMIT):
                await asyncio.gather(*answers)
                await say(running, "the last")
                await reading
        assert screen.events == list(range(1, 22))
        await handed(running.service.store)
        assert sorted(running.host.texts) == [f"request {n}" for n in range(10)]
        assert texts(screen.state)[-1] == "the last"


async def test_a_device_that_is_revoked_learns_it_everywhere(tmp_path: Path) -> None:
    """Whoever waits for an answer or a frame is told, and so is whoever asks later."""
    async with gateway(tmp_path) as running, cable(running) as (wire, url):
        device = await running.pair()
        async with Client(url, device.info, device.token) as client:
            reading = asyncio.create_task(until(client, lambda frame: False))
            wire.deaf = True
            asking = asyncio.create_task(client.request(send()))
            await wait_until(lambda: running.host.delivered)
            await running.service.store.write(lambda conn: conn.execute("UPDATE devices SET revoked = 1"))
            wire.deaf = False
            wire.cut()
            for waiting in (asking, reading):
                with pytest.raises(Unauthorized):
                    await asyncio.wait_for(waiting, LIMIT)
            with pytest.raises(Unauthorized):
                await asyncio.wait_for(client.request(send()), 2)


# ---------------------------------------------------------------- a gateway that misbehaves

Script = Callable[[ServerConnection, int], Awaitable[None]]
DEVICE = Device(DeviceInfo(id="dev_1", name="Test", kind="script"), "token")


@asynccontextmanager
async def scripted(script: Script) -> AsyncIterator[Client]:
    """A client of a gateway that greets, then does what the script says with its n-th connection."""
    count = itertools.count()

    async def serving(connection: ServerConnection) -> None:
        hello = msgspec.json.decode(await connection.recv())
        position = Position(**hello.get("resume", {"epoch": "e", "seq": 0}))
        mode = "resumed" if "resume" in hello else "reset"
        await connection.send(msgspec.json.encode(ack(position, mode)).decode())
        await script(connection, next(count))
        await connection.wait_closed()

    async with serve(serving, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with Client(f"http://127.0.0.1:{port}", DEVICE.info, DEVICE.token) as client:
            yield client


def event(seq: int) -> str:
    told: dict[str, Any] = {"message_id": f"m_{seq}", "chat_id": CHAT, "role": "notice", "text": f"{seq}"}
    return msgspec.json.encode({"type": "message", "seq": seq, **told, "ts": 1.0, "order": seq}).decode()


async def test_an_event_that_comes_twice_is_yielded_once() -> None:
    async def script(connection: ServerConnection, n: int) -> None:
        for seq in (1, 2, 1, 2, 3):
            await connection.send(event(seq))

    async with scripted(script) as client:
        assert events(await until(client, is_message("3"))) == [1, 2, 3]


async def test_a_gap_makes_the_client_resume() -> None:
    async def script(connection: ServerConnection, n: int) -> None:
        for seq in (1, 3) if n == 0 else (2, 3):
            await connection.send(event(seq))

    async with scripted(script) as client:
        assert events(await until(client, is_message("3"))) == [1, 2, 3]


@pytest.mark.parametrize(
    "strange",
    ['{"type": "of.the.future"}', '{"type": "message", "seq": 1}', "{", "null", '{"type": "pong", "more": 1}'],
)
async def test_a_frame_that_is_not_understood_is_passed_over(strange: str) -> None:
    """Both sides ignore what they do not know; a client that stopped silently would wait for ever."""

    async def script(connection: ServerConnection, n: int) -> None:
        await connection.send(strange)
        await connection.send(event(1))

    async with scripted(script) as client:
        async with asyncio.timeout(3):
            assert events(await until(client, is_message("1"))) == [1]


async def test_an_error_without_a_request_is_a_frame() -> None:
    async def script(connection: ServerConnection, n: int) -> None:
        await connection.send('{"type": "error", "code": "busy", "message": "later"}')

    async with scripted(script) as client:
        (_, told) = await until(client, lambda frame: type(frame).__name__ == "Failure")
        assert msgspec.to_builtins(told)["code"] == "busy"


@pytest.mark.parametrize(("retryable", "more"), [(True, 1), (False, 0)])
async def test_a_client_that_was_greeted_once_comes_again_only_after_a_refusal_for_now(
    retryable: bool, more: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes_iris.client.PAUSE", 0.3)
    times: list[float] = []
    refusal = {"type": "error", "code": "busy", "message": "later", "retryable": retryable}

    async def serving(connection: ServerConnection) -> None:
        await connection.recv()
        n = len(times)
        times.append(asyncio.get_running_loop().time())
        greeting = refusal if n == 1 else ack(Position(epoch="e", seq=0), "reset")
        await connection.send(msgspec.json.encode(greeting).decode())
        if n == 2:
            await connection.send(event(1))
            await connection.wait_closed()

    async with serve(serving, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        async with Client(f"http://127.0.0.1:{port}", DEVICE.info, DEVICE.token) as client:
            if retryable:
                assert events(await until(client, is_message("1"))) == [1]
            else:
                with pytest.raises(Refused, match="later"):
                    await until(client, is_message("1"))
    assert len(times) == 2 + more
    assert all(later - earlier > 0.25 for earlier, later in itertools.pairwise(times[1:])), "it came again at once"


async def test_a_request_that_is_given_up_is_not_sent_again() -> None:
    got: list[dict[str, Any]] = []
    forgotten = asyncio.Event()

    async def script(connection: ServerConnection, n: int) -> None:
        if n == 0:
            got.append(msgspec.json.decode(await connection.recv()))
            await forgotten.wait()
            await connection.close()
            return
        async for raw in connection:
            got.append(msgspec.json.decode(raw))
            await connection.send(msgspec.json.encode({"type": "ack", "client_id": got[-1]["client_id"]}).decode())

    async with scripted(script) as client:
        given_up = asyncio.create_task(client.request(send("given up")))
        await wait_until(lambda: got)
        given_up.cancel()
        await asyncio.wait([given_up])
        forgotten.set()
        stop = TurnStop(client_id=new_id(), chat_id=CHAT)
        async with asyncio.timeout(LIMIT):
            assert (await client.request(stop)).client_id == stop.client_id
        assert [frame["type"] for frame in got] == ["message.send", "turn.stop"]


async def test_what_was_not_read_comes_again_from_the_next_client(tmp_path: Path) -> None:
    """`position` is what the reader was given, not what has arrived and died with the client."""
    async with gateway(tmp_path) as running:
        device = await running.pair()
        async with running.client(device) as client:
            await say(running, "a", "b")
            await until(client, is_message("a"))
            await client.request(DeviceList(client_id=new_id()))  # answered after "b", which has arrived then
        async with running.client(device, client.position) as again:
            assert events(await until(again, is_message("b"))) == [2]


async def test_who_waits_when_the_client_is_closed_is_told() -> None:
    async def script(connection: ServerConnection, n: int) -> None:
        pass

    async with scripted(script) as client:
        asking = asyncio.create_task(client.request(send()))
        reading = asyncio.create_task(until(client, is_message("never")))
        await wait_until(lambda: client.position)  # the greeting was read
    async with asyncio.timeout(LIMIT):
        for waiting in (asking, reading):
            with pytest.raises(Closed):
                await waiting


async def test_a_connecting_that_is_given_up_leaves_nothing_behind() -> None:
    async def silent(connection: ServerConnection) -> None:
        await connection.wait_closed()

    def running() -> list[asyncio.Task[Any]]:
        return [task for task in asyncio.all_tasks() if task.get_name() == "iris-client"]

    async with serve(silent, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}"
        connecting = asyncio.create_task(Client(url, DEVICE.info, DEVICE.token).__aenter__())
        await wait_until(running)
        connecting.cancel()
        await asyncio.gather(connecting, return_exceptions=True)
        assert not running()


async def test_a_port_that_hangs_up_during_the_handshake_is_a_gateway_that_is_not_there() -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(OSError, match="no gateway answers"):
            await Client(url, DEVICE.info, DEVICE.token).__aenter__()
