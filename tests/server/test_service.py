"""A whole service over real sockets: messages, restarts, slow devices, and its end."""

import asyncio
import gc
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from hermes_iris import service
from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.config import Home, Settings
from hermes_iris.errors import SetupError
from hermes_iris.hub import Hub
from hermes_iris.outbox import Outbox
from hermes_iris.protocol.frames import Message
from hermes_iris.server import Listener, socket as socket_module, transport
from hermes_iris.service import Service
from hermes_iris.store import Store, messages
from hermes_iris.turns import calls
from hermes_iris.turns.calls import Origin
from support import (
    CHAT,
    FakeHost,
    Gateway,
    Screen,
    Seat,
    Wire,
    gateway,
    handed,
    new_id,
    shown,
    texts,
    wait_until,
)


def echoes(wire: Wire) -> list[dict[str, Any]]:
    return [frame for frame in wire.seen if frame["type"] == "message"]


async def turn(hub: Hub, text: str, lane: Lane = DEFAULT_LANE) -> None:
    """A whole turn of the host: a streamed answer with one tool call before it."""
    await hub.call(lane, calls.TypingSet(True))
    hub.post(lane, calls.TurnBegan("t1"))
    hub.post(lane, calls.ToolBegan("t1", "c1", "terminal", {"command": "ls"}))
    hub.post(lane, calls.ToolDone("t1", "c1", "ok", 0.5, "files"))
    bubble = (await hub.call(lane, calls.Sent(text[:3], Origin.PREVIEW))).name("m")
    await hub.call(lane, calls.Edited(bubble, text[:6], final=False))
    hub.post(lane, calls.ModelReplied("t1", text, more=False))
    await hub.call(lane, calls.Edited(bubble, text, final=True))
    await hub.call(lane, calls.Processed("success"))


async def test_a_message_is_accepted_echoed_to_every_device_and_given_to_the_host_once(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire, running.wire() as other:
        request = {"type": "message.send", "client_id": new_id(), "chat_id": CHAT, "text": "Hello"}
        await wire.send(request)
        accepted = await wire.until("message.accepted")
        await wire.send(request)
        again = await wire.until("message.accepted")
        await wire.send({**request, "text": "another"})
        conflict = await wire.until("error")
        await asyncio.gather(wire.settle(), other.settle())
        assert accepted == again
        assert (conflict["code"], conflict["client_id"]) == ("conflict", request["client_id"])
        await handed(running.service.store)
        assert running.host.texts == ["Hello"]
        for each in (wire, other):
            (echo,) = echoes(each)
            assert (echo["seq"], echo["client_id"]) == (accepted["seq"], request["client_id"])
            assert (echo["message_id"], echo["text"]) == (accepted["message_id"], "Hello")


async def test_stop_history_and_ping_have_one_answer_each(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        for text in "abc":
            await wire.say(text)
        assert (await wire.ask("turn.stop", chat_id=CHAT))["type"] == "ack"
        assert running.host.stopped == [DEFAULT_LANE]
        page = await wire.ask("history", chat_id=CHAT, limit=2)
        older = await wire.ask("history", chat_id=CHAT, limit=2, before=page["entries"][0]["order"])
        assert [[entry["text"] for entry in each["entries"]] for each in (older, page)] == [["a"], ["b", "c"]]
        assert (older["has_more"], page["has_more"]) == (False, True)
        assert (await wire.settle())[-1] == {"type": "pong"}


async def test_a_turn_reaches_every_device_and_history_tells_the_same(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        await turn(running.service.hub, "The answer.")
        live, later = Screen(), Screen()
        for frame in await wire.settle():
            live.feed(frame)
        async with running.wire() as other:
            await other.ask("history", chat_id=CHAT)
            for frame in other.seen:
                later.feed(frame)
        assert shown(live.state) == shown(later.state)
        assert texts(live.state) == ["The answer."]


async def test_a_device_that_comes_back_gets_what_it_missed(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        device, screen = await running.pair(), Screen()
        async with running.wire(device) as wire:
            await turn(running.service.hub, "First.")
            for frame in await wire.settle():
                screen.feed(frame)
        await turn(running.service.hub, "Second.")
        async with running.wire(device, screen.state.position) as wire:
            for frame in await wire.settle():
                screen.feed(frame)
            assert wire.seen[0]["mode"] == "resumed"
        assert texts(screen.state) == ["First.", "Second."]
        assert screen.events == list(range(1, running.service.hub.position.seq + 1))


async def test_a_lane_of_long_messages_comes_in_short_pages(tmp_path: Path) -> None:
    """Else a lane with long messages could not be opened: the device would be dropped as too slow, again and again."""
    async with gateway(tmp_path) as running:
        hub, long = running.service.hub, "x" * 100_000
        await asyncio.gather(*(hub.call(DEFAULT_LANE, calls.Sent(f"{n} {long}")) for n in range(90)))
        async with running.wire() as other:
            pages: list[dict[str, Any]] = []
            before = None
            while not pages or pages[-1]["has_more"]:
                place = {} if before is None else {"before": before}
                pages.append(await other.ask("history", chat_id=CHAT, limit=200, **place))
                before = pages[-1]["entries"][0]["order"]
        assert all(sum(len(entry["text"]) for entry in page["entries"]) <= messages.MAX_PAGE for page in pages)
        told = [entry["text"].split()[0] for page in reversed(pages) for entry in page["entries"]]
        assert told == [f"{n}" for n in range(90)]


# ---------------------------------------------------------------- its end, and the next one


async def test_the_end_is_told_and_open_turns_are_ended(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        hub = running.service.hub
        await hub.call(DEFAULT_LANE, calls.TurnBegan("t1"))
        await hub.call(DEFAULT_LANE, calls.Sent("so far", Origin.PREVIEW))
        stopping = asyncio.create_task(running.service.stop())
        code = await wire.closed()
        await stopping
        kinds = [frame["type"] for frame in wire.seen]
        assert "server.closing" in kinds
        assert code == 1012
        async with gateway(tmp_path) as again:
            seat = Seat(again.service.hub)
            await seat.join()
            (entry,) = seat.state.entries.values()
            assert (entry.text, entry.state, seat.state.turns) == ("so far", "aborted", {})


async def test_the_last_events_come_before_the_end(tmp_path: Path) -> None:
    """`server.closing` is the last word: a device that reads it knows how every turn ended."""
    async with gateway(tmp_path) as running, running.wire() as wire:
        await running.service.hub.call(DEFAULT_LANE, calls.TurnBegan("t1"))
        stopping = asyncio.create_task(running.service.stop())
        await wire.closed()
        await stopping
        assert [frame["type"] for frame in wire.seen][1:] == ["turn.started", "turn.ended", "server.closing"]


async def test_a_taken_port_is_one_clear_line(tmp_path: Path) -> None:
    async with gateway(tmp_path / "one") as running:
        with pytest.raises(SetupError, match=rf"127\.0\.0\.1:{running.port}.*IRIS_PORT") as caught:
            await Service.start(Home(tmp_path / "two"), Settings(port=running.port), FakeHost(), "0")
        assert "\n" not in str(caught.value)
        assert not Home(tmp_path / "two").endpoint.exists()
    async with gateway(tmp_path / "two"):
        pass  # what failed to start has let go of its database


async def test_a_restart_keeps_the_epoch_and_devices_resume(tmp_path: Path) -> None:
    screen = Screen()
    async with gateway(tmp_path) as first:
        device = await first.pair()
        async with first.wire(device) as wire:
            await turn(first.service.hub, "Before.")
            await wire.settle()
            for frame in wire.seen:
                screen.feed(frame)
        epoch = first.service.hub.position.epoch
    async with gateway(tmp_path) as second:
        await turn(second.service.hub, "After.")
        async with second.wire(device, screen.state.position) as wire:
            for frame in await wire.settle():
                screen.feed(frame)
            assert (wire.seen[0]["mode"], wire.seen[0]["epoch"]) == ("resumed", epoch)
        assert screen.events == list(range(1, second.service.hub.position.seq + 1))
    assert texts(screen.state) == ["Before.", "After."]
    orders = [entry.order for entry in screen.state.entries.values()]
    assert orders == sorted(set(orders))


async def crash(running: Gateway) -> None:
    """End a service as a kill does: nothing is tidied up."""
    await running.service.hub.drain()
    running.service.hub._lanes.clear()


async def test_after_a_crash_no_spinner_survives(tmp_path: Path) -> None:
    async with gateway(tmp_path) as first:
        hub = first.service.hub
        device, screen = await first.pair(), Screen()
        async with first.wire(device) as wire:
            hub.post(DEFAULT_LANE, calls.TurnBegan("t1"))
            hub.post(DEFAULT_LANE, calls.ToolBegan("t1", "c1", "terminal", {"command": "ls"}))
            await hub.call(DEFAULT_LANE, calls.Sent("so far", Origin.PREVIEW))
            for frame in await wire.settle():
                screen.feed(frame)
        await crash(first)
    assert screen.state.turns
    async with gateway(tmp_path) as second, second.wire(device, screen.state.position) as wire:
        for frame in await wire.settle():
            screen.feed(frame)
        newcomer = Seat(second.service.hub)
        await newcomer.join()
    assert shown(screen.state) == shown(newcomer.state)
    tool, bubble = sorted(screen.state.entries.values(), key=lambda entry: entry.order)
    assert (tool.state, bubble.state, bubble.kind) == ("cancelled", "aborted", "partial")
    assert screen.state.turns == {}
    (ended,) = [frame for frame in screen.frames if frame["type"] == "turn.ended"]
    assert ended["outcome"] == "interrupted"


async def test_messages_that_the_host_did_not_take_are_given_to_the_next_one_once(tmp_path: Path) -> None:
    broken = FakeHost(failures=[RuntimeError("not connected")] * 100)
    async with gateway(tmp_path, broken) as first, first.wire() as wire:
        for text in ("one", "two"):
            assert (await wire.say(text))["type"] == "message.accepted"
    assert broken.texts == []
    for expected in (["one", "two"], []):
        async with gateway(tmp_path) as again, again.wire() as wire:
            await wire.say("later")
            await handed(again.service.store)
            assert again.host.texts == [*expected, "later"]


async def test_a_message_that_comes_while_the_gateway_ends_is_given_by_the_next_one(tmp_path: Path) -> None:
    """The host is only given what it was being given already; a device that is still connected may still speak."""
    async with gateway(tmp_path) as first, first.wire() as wire:
        first.host.held = asyncio.Event()
        await wire.say("before")
        await wait_until(lambda: first.host.delivered)
        stopping = asyncio.create_task(first.service.stop())
        assert (await wire.say("meanwhile"))["type"] == "message.accepted"
        first.host.held.set()
        await stopping
        assert first.host.texts == ["before"]
    async with gateway(tmp_path) as second:
        await handed(second.service.store)
        assert second.host.texts == ["meanwhile"]


async def test_what_waited_is_given_when_the_service_is_known_to_its_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The host's hooks of that turn reach Iris through it."""
    async with gateway(tmp_path) as first:
        await first.service.courier.stop()
        message = Message(message_id="m_1", chat_id=CHAT, role="user", text="Hello", client_id=new_id(), ts=1, order=1)
        await first.service.store.write(lambda conn: messages.record(conn, [message]))
    known: list[Service] = []
    stores: list[Store] = []

    class Ready(FakeHost):
        async def deliver(self, *args: Any) -> None:
            assert known
            await super().deliver(*args)

    class Observed(Store):
        def __init__(self, path: Path) -> None:
            super().__init__(path)
            stores.append(self)

    async def slow(*args: Any, start: Any = Listener.start) -> Listener:
        await stores[0].read(lambda conn: None)  # reads come one after the other: a courier's would be done as well
        return cast(Listener, await start(*args))

    monkeypatch.setattr(service, "Store", Observed)
    monkeypatch.setattr(service.Listener, "start", slow)
    host = Ready()
    known.append(await Service.start(Home(tmp_path), Settings(port=0), host, "0"))
    try:
        await wait_until(lambda: host.texts == ["Hello"])
    finally:
        await known[0].stop()
    assert not caplog.records


async def test_a_start_that_failed_leaves_nothing_behind(tmp_path: Path) -> None:
    """Neither a task that goes on, nor one that has failed and nobody looked at."""
    unseen: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unseen.append(context))
    async with gateway(tmp_path / "one") as running:
        before = asyncio.all_tasks()
        for _ in range(5):
            with pytest.raises(SetupError):
                await Service.start(Home(tmp_path / "two"), Settings(port=running.port), FakeHost(), "0")
        gc.collect()
        assert unseen == []
        assert asyncio.all_tasks() <= before


# ---------------------------------------------------------------- slow and lost devices


def narrow() -> socket.socket:
    """A socket that takes little before it stops taking more."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.setblocking(False)
    return sock


async def flood(hub: Hub, count: int = 60, size: int = 200_000) -> None:
    for n in range(count):
        await hub.call(DEFAULT_LANE, calls.Sent(f"{n} " + "x" * size))


async def connected(running: Gateway) -> socket.socket:
    sock = narrow()
    await asyncio.get_running_loop().sock_connect(sock, ("127.0.0.1", running.port))
    return sock


async def test_a_slow_device_is_dropped_and_resumes_and_nobody_else_notices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_module, "Outbox", lambda: Outbox(max_frames=20, max_bytes=3_000_000))
    async with gateway(tmp_path) as running, running.wire() as quick:
        device, screen = await running.pair(), Screen()
        async with running.wire(device, sock=await connected(running), max_queue=1, compression=None) as slow:

            async def keep_up() -> None:
                while len(echoes(quick)) < 60:
                    await quick.receive()

            await asyncio.gather(flood(running.service.hub), keep_up())
            assert await slow.closed() == 1013
            for frame in slow.seen:
                screen.feed(frame)
        assert 0 < len(screen.events) < 60
        async with running.wire(device, screen.state.position) as again:
            for frame in await again.settle():
                screen.feed(frame)
        assert screen.events == list(range(1, 61))
        assert [frame["seq"] for frame in echoes(quick)] == list(range(1, 61))


async def test_a_device_that_never_reads_again_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "STALL", 0.1)
    async with gateway(tmp_path) as running:
        hub = running.service.hub
        async with running.wire(sock=await connected(running), max_queue=1, compression=None) as stuck:
            assert len(hub.connected()) == 1
            await flood(hub, 40)
            await wait_until(lambda: not hub.connected())
            stuck.connection.transport.abort()


async def test_a_lost_connection_is_forgotten(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        hub = running.service.hub
        async with running.wire() as wire:
            assert len(hub.connected()) == 1
            wire.connection.transport.abort()
        await hub.call(DEFAULT_LANE, calls.Sent("to nobody"))
        await wait_until(lambda: not hub.connected())


async def test_a_message_of_a_device_that_is_lost_at_once_still_reaches_the_host(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as other:
        async with running.wire() as wire:
            await wire.send({"type": "message.send", "client_id": new_id(), "chat_id": CHAT, "text": "Hello"})
            wire.connection.transport.close()
        await other.until("message", text="Hello")
        await wait_until(lambda: running.host.texts == ["Hello"])


@pytest.mark.parametrize("put_back", [os.replace, shutil.copyfile], ids=["another file", "written over it"])
async def test_a_database_that_was_put_back_sends_every_device_to_the_beginning(
    tmp_path: Path, put_back: Callable[[Path, Path], object]
) -> None:
    """Also one that has meanwhile grown past the place of a device: what it knows came about elsewhere."""
    copy = tmp_path / "copy.db"
    async with gateway(tmp_path / "home") as running:
        device = await running.pair()
    shutil.copy(running.home.database, copy)
    async with gateway(tmp_path / "home") as running, running.wire(device) as wire:
        await wire.ask("message.send", chat_id="android:default", text="lost with the file")
        await wire.settle()
        told = wire.seen[0]["epoch"], max(frame.get("seq", 0) for frame in wire.seen)
    put_back(copy, running.home.database)
    async with gateway(tmp_path / "home") as running:
        async with running.wire(device) as wire:
            for text in ("one", "two", "three"):
                await wire.ask("message.send", chat_id="android:default", text=text)
        async with running.wire(device, told) as wire:
            assert wire.seen[0]["mode"] == "reset"
            assert wire.seen[0]["seq"] > told[1]
            here = wire.seen[0]["epoch"], wire.seen[0]["seq"]
    async with gateway(tmp_path / "home") as running, running.wire(device, here) as wire:
        assert wire.seen[0]["mode"] == "resumed"
