"""The socket's door and its manners: who may come in, and what a bad frame costs (an error, and nothing else)."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from hermes_iris.address import Lane
from hermes_iris.protocol.types import MAX_FRAME, MAX_TEXT
from hermes_iris.server import socket as socket_module
from hermes_iris.server.attempts import MAX_FAILURES
from support import CHAT, Device, Gateway, gateway, new_id

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with gateway(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def device(running: Gateway) -> Device:
    return await running.pair()


async def refused(running: Gateway, first: Any) -> tuple[dict[str, Any], int | None]:
    """The error and the close code that a first frame gets."""
    async with running.open() as wire:
        await wire.send(first)
        error = await wire.receive()
        code = await wire.closed()
        assert len(wire.seen) == 1
        return error, code


# ---------------------------------------------------------------- hello


async def test_a_device_is_greeted_with_all_it_needs(running: Gateway, device: Device) -> None:
    async with running.wire(device) as wire:
        greeting = wire.seen[0]
    assert (greeting["type"], greeting["level"], greeting["mode"]) == ("hello.ack", 1, "reset")
    assert greeting["server"]["host_version"] == "0.0.0"
    assert greeting["epoch"] == running.service.hub.position.epoch
    assert [entry["chat_id"] for entry in greeting["directory"]] == [CHAT]
    assert greeting["policy"] == {
        "max_frame": MAX_FRAME,
        "max_text": MAX_TEXT,
        "max_history": 200,
        "max_upload": 100 << 20,
    }


@pytest.mark.parametrize(
    ("first", "code", "named"),
    [
        ({"type": "ping"}, "unsupported", "$.type"),
        ({"type": "message.send", "client_id": new_id(), "chat_id": CHAT, "text": "hi"}, "unsupported", "$.type"),
        ({"type": "no.such"}, "unsupported", "$.type"),
        ({"type": "hello"}, "invalid_frame", "level"),
        ("{", "invalid_frame", ""),
        ("", "invalid_frame", ""),
        ("[" * 100_000, "invalid_frame", ""),
        (b'{"type": "ping"}', "invalid_frame", "text"),
    ],
)
async def test_without_a_hello_first_the_door_stays_shut(running: Gateway, first: Any, code: str, named: str) -> None:
    error, closed = await refused(running, first)
    assert (error["type"], error["code"], closed) == ("error", code, 4400)
    assert named in error["message"]


async def test_who_says_nothing_is_sent_away(running: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_module, "HELLO_TIMEOUT", 0.05)
    async with running.open() as wire:
        assert await wire.closed() == 4400


@pytest.mark.parametrize("field", ["level", "device", "token"])
async def test_hello_needs_all_its_fields(running: Gateway, device: Device, field: str) -> None:
    hello = device.hello()
    del hello[field]
    error, closed = await refused(running, hello)
    assert (error["code"], closed) == ("invalid_frame", 4400)
    assert field in error["message"]


async def test_a_wrong_token_is_unauthorized(running: Gateway, device: Device) -> None:
    error, closed = await refused(running, device.hello(token="wrong"))
    assert (error["code"], closed) == ("unauthorized", 4401)
    assert error["message"].startswith("$.token")


async def test_a_revoked_device_is_unauthorized(running: Gateway) -> None:
    lost = await running.pair()
    await running.service.store.write(
        lambda conn: conn.execute("UPDATE devices SET revoked = 1 WHERE device_id = ?", (lost.info.id,))
    )
    error, closed = await refused(running, lost.hello())
    assert (error["code"], closed) == ("unauthorized", 4401)


async def test_a_token_under_another_devices_name_is_unauthorized(running: Gateway, device: Device) -> None:
    other = await running.pair()
    error, closed = await refused(running, device.hello(device=other.hello()["device"]))
    assert (error["code"], closed) == ("unauthorized", 4401)
    assert error["message"].startswith("$.device.id")


@pytest.mark.parametrize("level", [{"min": 2, "max": 9}, {"min": 1, "max": 1}, {"min": 1, "max": 7}])
async def test_the_level_must_be_one_that_both_speak(running: Gateway, device: Device, level: dict[str, int]) -> None:
    if level["min"] == 1:
        async with running.open() as wire:
            await wire.send(device.hello(level=level))
            assert (await wire.receive())["level"] == 1
    else:
        error, closed = await refused(running, device.hello(level=level))
        assert (error["code"], closed) == ("unsupported", 4400)
        assert error["message"].startswith("$.level")


async def test_unknown_fields_are_ignored(running: Gateway, device: Device) -> None:
    async with running.open() as wire:
        await wire.send(device.hello(later={"a": 1}, capabilities=["of the future"]))
        assert (await wire.receive())["type"] == "hello.ack"
        await wire.send({"type": "ping", "later": True})
        assert await wire.receive() == {"type": "pong"}


async def test_guessing_tokens_is_cut_off_also_for_a_right_one(tmp_path: Path) -> None:
    async with gateway(tmp_path) as own:
        device = await own.pair()
        for _ in range(MAX_FAILURES):
            assert (await refused(own, device.hello(token="wrong")))[0]["code"] == "unauthorized"
        async with own.open() as wire:
            error = await wire.receive()
            assert (error["code"], error["retryable"]) == ("rate_limited", True)
            assert await wire.closed() == 1013, "later, and not never: the token may be right"


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://127.0.0.1:1", "null", "http://127.0.0.1.evil.example"]
)
async def test_a_page_of_another_origin_may_not_connect(running: Gateway, origin: str) -> None:
    with pytest.raises(InvalidStatus) as caught:
        async with running.open(origin=origin):
            pass
    assert caught.value.response.status_code == 403


async def test_our_own_page_may_connect(running: Gateway, device: Device) -> None:
    async with running.wire(device, origin=running.url) as wire:
        assert wire.seen


async def test_a_foreign_host_header_may_not_connect(running: Gateway) -> None:
    with pytest.raises(InvalidStatus) as caught:
        async with connect(f"ws://evil.example:{running.port}/ws", host="127.0.0.1", port=running.port, proxy=None):
            pass
    assert caught.value.response.status_code == 400


# ---------------------------------------------------------------- bad frames


BAD: list[tuple[Any, str, str]] = [
    ("{", "invalid_frame", "JSON"),
    ("", "invalid_frame", "JSON"),
    ("null", "invalid_frame", ""),
    ("[1, 2]", "invalid_frame", ""),
    ("{}", "invalid_frame", "type"),
    ('{"type": 5}', "invalid_frame", "$.type"),
    ("[" * 200_000, "invalid_frame", ""),
    (b'{"type": "ping"}', "invalid_frame", "text message"),
    ({"type": "no.such"}, "unsupported", "$.type"),
    ({"type": "pong"}, "unsupported", "$.type"),
    ({"type": "message.send", "chat_id": CHAT, "text": "hi"}, "invalid_frame", "client_id"),
    ({"type": "message.send", "client_id": "short", "chat_id": CHAT, "text": "hi"}, "invalid_frame", "$.client_id"),
    ({"type": "turn.stop", "client_id": new_id()}, "invalid_frame", "chat_id"),
]


@pytest.mark.parametrize(("frame", "code", "named"), BAD, ids=[f"{n}" for n in range(len(BAD))])
async def test_a_bad_frame_gets_an_error_and_nobody_else_notices(
    running: Gateway, device: Device, frame: Any, code: str, named: str
) -> None:
    async with running.wire(device) as wire, running.wire() as other:
        await wire.send(frame)
        error = await wire.receive()
        assert (error["type"], error["code"]) == ("error", code)
        assert named in error["message"]
        assert "\n" not in error["message"]
        assert [told["type"] for told in (await wire.settle())[2:]] == ["pong"]
        assert [told["type"] for told in (await other.settle())[1:]] == ["pong"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"text": 5}, "$.text"),
        ({"text": ""}, "$.text"),
        ({"text": "x" * (MAX_TEXT + 1)}, "$.text"),
        ({"text": None}, "$.text"),
        ({"chat_id": "default"}, "$.chat_id"),
        ({"chat_id": "android:no colon: in it"}, "$.chat_id"),
        ({"thread_id": ""}, "$.thread_id"),
    ],
)
async def test_the_error_of_a_request_names_the_field_and_the_request(
    running: Gateway, device: Device, fields: dict[str, Any], named: str
) -> None:
    async with running.wire(device) as wire:
        error = await wire.say("hi", **fields)
        assert (error["type"], error["code"]) == ("error", "invalid_frame")
        assert named in error["message"]
        assert (await wire.ask("history", chat_id=CHAT))["type"] == "history"


@pytest.mark.parametrize(
    ("kind", "fields", "named"),
    [
        ("message.send", {"text": "hi"}, "$.chat_id"),
        ("history", {}, "$.chat_id"),
        ("turn.stop", {}, "$.chat_id"),
    ],
)
async def test_a_chat_that_is_not_there_is_not_found(
    running: Gateway, device: Device, kind: str, fields: dict[str, Any], named: str
) -> None:
    async with running.wire(device) as wire:
        error = await wire.ask(kind, chat_id="android:nowhere", **fields)
        assert (error["type"], error.get("code")) == ("error", "not_found")
        assert error["message"].startswith(named)


async def test_the_host_is_not_asked_to_stop_what_is_not_there(running: Gateway, device: Device) -> None:
    """A stop is a command in the host's lane, and would make a session where there was none."""
    async with running.wire(device) as wire:
        await wire.ask("turn.stop", chat_id=CHAT, thread_id="t_nowhere")
    assert Lane(CHAT, "t_nowhere") not in running.host.stopped


async def test_a_second_hello_is_unsupported_and_the_connection_goes_on(running: Gateway, device: Device) -> None:
    async with running.wire(device) as wire:
        await wire.send(device.hello())
        assert (await wire.receive())["code"] == "unsupported"
        assert (await wire.settle())[-1] == {"type": "pong"}


async def test_a_fault_of_ours_is_internal_and_the_connection_goes_on(
    running: Gateway, device: Device, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(lane: object) -> None:
        raise ValueError("/home/me/secret")

    monkeypatch.setattr(running.host, "stop", fails)
    async with running.wire(device) as wire:
        error = await wire.ask("turn.stop", chat_id=CHAT)
        assert (error["code"], "secret" in error["message"]) == ("internal", False)
        assert "secret" in caplog.text
        assert (await wire.settle())[-1] == {"type": "pong"}


async def test_a_frame_over_the_transports_limit_closes_with_1009(running: Gateway, device: Device) -> None:
    async with running.wire(device) as wire, running.wire() as other:
        await wire.send("x" * (MAX_FRAME + 1))
        assert await wire.closed() == 1009
        assert (await other.settle())[-1] == {"type": "pong"}


async def test_a_frame_at_the_limit_is_read(running: Gateway, device: Device) -> None:
    async with running.wire(device) as wire:
        await wire.send('{"type": "ping", "pad": "' + "x" * (MAX_FRAME - 27) + '"}')
        assert await wire.receive() == {"type": "pong"}


async def test_a_frame_in_pieces_is_one_frame(running: Gateway, device: Device) -> None:
    async def pieces() -> AsyncIterator[str]:
        for piece in ('{"type": ', '"ping"', "}"):
            yield piece

    async with running.wire(device) as wire:
        await wire.connection.send(pieces())
        assert await wire.receive() == {"type": "pong"}


async def test_requests_in_a_row_are_answered_in_their_order(running: Gateway, device: Device) -> None:
    async with running.wire(device) as wire:
        for _ in range(20):
            await wire.send({"type": "ping"})
            await wire.send({"type": "no.such"})
        kinds = [(await wire.receive())["type"] for _ in range(40)]
        assert kinds == ["pong", "error"] * 20


async def test_a_device_may_have_several_connections(running: Gateway, device: Device) -> None:
    async with running.wire(device) as first, running.wire(device) as second:
        text = new_id()
        await first.say(text)
        await asyncio.gather(first.settle(), second.settle())
        for wire in (first, second):
            assert [frame["text"] for frame in wire.seen if frame["type"] == "message"] == [text]
