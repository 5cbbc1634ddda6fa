"""A gateway that calls devices, against a push service that checks signatures and reads what comes."""

import asyncio
import stat
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import push_service
from hermes_iris.address import Lane
from hermes_iris.clock import Clock
from hermes_iris.config import Home
from hermes_iris.host import Waiting
from hermes_iris.hub import Recorded
from hermes_iris.protocol.frames import JobRef, Message, Question
from hermes_iris.reports import Report, deliver
from hermes_iris.store import connect, messages, pushes, transaction
from push_service import Browser, PushService
from support import CHAT, Device, Gateway, Wire, gateway, wait_until

HOME = Lane(CHAT)
NAMED = {"push_hosts": ["127.0.0.1"]}


@pytest.fixture
def service() -> Iterator[PushService]:
    with push_service.running() as service:
        yield service


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with gateway(tmp_path, **NAMED) as running:
        yield running


@asynccontextmanager
async def subscribed(
    running: Gateway, service: PushService, **preferences: Any
) -> AsyncIterator[tuple[Device, Wire, Browser]]:
    """A device that is connected, in the background, and called."""
    device, browser = await running.pair(), service.subscribe()
    async with running.wire(device) as wire:
        await subscribe(wire, browser, **preferences)
        yield device, wire, browser


async def subscribe(wire: Wire, browser: Browser, **preferences: Any) -> None:
    answer = await wire.ask("push.subscribe", **{**browser.subscription, "preferences": preferences})
    assert answer["type"] == "ack", answer


async def answer(running: Gateway, text: str, lane: Lane = HOME, **fields: Any) -> Message:
    """Something that the agent says."""
    moment = running.service.hub.clock.now()
    said = {"role": "assistant", "ts": moment.ts, "order": moment.order, **fields}
    event = Message(message_id=moment.name("m"), chat_id=lane.chat_id, thread_id=lane.thread_id, text=text, **said)
    await running.service.hub.transact(lambda conn: Recorded([event], messages.record(conn, [event])))
    return event


async def read(wire: Wire, event: Message) -> None:
    await wire.ask("read.mark", chat_id=event.chat_id, order=event.order)


async def test_an_answer_calls_a_device_that_shows_nothing(running: Gateway, service: PushService) -> None:
    async with subscribed(running, service) as (_, _, browser):
        said = await answer(running, "The secret is 42.")
        await wait_until(lambda: browser.received)
    (received,) = browser.received
    assert received.note == {"type": "push.note", "chat_id": CHAT, "kind": "final", "order": said.order, "ts": said.ts}
    assert received.headers["urgency"] == "high"
    assert service.refused == []


async def test_a_device_that_wants_words_gets_them(running: Gateway, service: PushService) -> None:
    async with subscribed(running, service, details=True, language="zh") as (_, wire, browser):
        accepted = await wire.ask("channel.create", kind="channel", name="Plans")
        await wire.ask("channel.rename", chat_id=accepted["chat_id"], name="Great plans")
        thread = await wire.ask("channel.create", kind="thread", parent_chat_id=CHAT, name="Tea")
        await answer(running, "The secret\nis **42**.", Lane(accepted["chat_id"]))
        await answer(running, "Milk first.", Lane(CHAT, thread["thread_id"]))
        await wait_until(lambda: len(browser.received) == 2)
    told = {(note["title"], note["text"], note["language"]) for note in browser.notes}
    assert told == {("Great plans", "The secret is **42**.", "zh"), ("Default / Tea", "Milk first.", "zh")}


async def test_answers_of_one_lane_call_once_and_say_how_many(running: Gateway, service: PushService) -> None:
    async with subscribed(running, service) as (_, _, browser):
        for text in ("one", "two", "three"):
            await answer(running, text)
        await wait_until(lambda: browser.received)
        await answer(running, "elsewhere", Lane(CHAT, "t_9"))
        await wait_until(lambda: len(browser.received) == 2)
    first, second = browser.received
    assert (first.note["count"], "count" in second.note) == (3, False)
    assert first.headers["topic"] != second.headers["topic"], "a push service keeps one of each lane"


async def test_nobody_is_called_for_what_somebody_looks_at(running: Gateway, service: PushService) -> None:
    async with subscribed(running, service) as (_, _, browser), running.wire() as desk:
        await desk.ask("device.look", chat_id=CHAT, seq=0)
        await answer(running, "in front of somebody")
        elsewhere = await answer(running, "elsewhere", Lane(CHAT, "t_9"))
        await wait_until(lambda: browser.received)
        assert [note["order"] for note in browser.notes] == [elsewhere.order]
        position = running.service.hub.position.seq
        await desk.ask("device.look", seq=position)
        later = await answer(running, "in front of nobody")
        await wait_until(lambda: len(browser.received) == 2)
        assert browser.notes[-1]["order"] == later.order


async def test_a_connection_that_breaks_has_shown_nothing(running: Gateway, service: PushService) -> None:
    async with subscribed(running, service) as (_, _, browser):
        async with running.wire() as desk:
            await desk.ask("device.look", chat_id=CHAT, seq=0)
            said = await answer(running, "on its way to a device that is gone")
        await wait_until(lambda: browser.received)
    assert browser.notes[0]["order"] == said.order


async def test_a_call_is_taken_back_when_it_is_read_elsewhere(running: Gateway, service: PushService) -> None:
    async with subscribed(running, service) as (_, _, browser), running.wire() as desk:
        said = await answer(running, "read me")
        await wait_until(lambda: browser.received)
        await read(desk, said)
        await wait_until(lambda: len(browser.received) == 2)
    first, second = browser.received
    assert second.note == {"type": "push.close", "chat_id": CHAT, "order": said.order}
    assert first.headers["topic"] == second.headers["topic"], "it takes the place of a call that waits"


async def test_what_is_read_at_once_calls_nobody(running: Gateway, service: PushService) -> None:
    async with subscribed(running, service) as (_, _, browser), running.wire() as desk:
        await read(desk, await answer(running, "read at once"))
        last = await answer(running, "elsewhere", Lane(CHAT, "t_9"))
        await wait_until(lambda: browser.received)
    assert [note["order"] for note in browser.notes] == [last.order]


async def test_a_service_that_takes_silence_amiss_is_left_alone(running: Gateway, service: PushService) -> None:
    async with subscribed(running, service) as (device, _, browser), running.wire() as desk:
        herald = running.service.herald
        known = herald._subscriptions[device.info.id]
        herald._subscriptions[device.info.id] = known._replace(endpoint="https://web.push.apple.com/x")
        said = await answer(running, "read me")
        await read(desk, said)
        herald._subscriptions[device.info.id] = known
        last = await answer(running, "elsewhere", Lane(CHAT, "t_9"))
        await wait_until(lambda: browser.received)
    assert [(note["type"], note["order"]) for note in browser.notes] == [("push.note", last.order)]


class Consent(Waiting):
    """Something of the host that waits."""

    async def settle(self, answer: Any) -> str:
        return ""

    def ending(self) -> None:
        return None


async def test_a_request_calls_until_it_is_answered(running: Gateway, service: PushService) -> None:
    async with subscribed(running, service, finals=False) as (_, _, browser), running.wire() as desk:
        await answer(running, "not wanted")
        now = running.service.hub.clock.now().ts
        question = Question(kind="confirm", title="Delete it?", dismissible=True, expires_at=now + 100)
        request_id = await running.service.desk.open(HOME, question, Consent())
        await wait_until(lambda: browser.received)
        assert browser.notes[0]["kind"] == "request"
        assert 90 <= int(browser.received[0].headers["ttl"]) <= 100
        await desk.ask("request.answer", request_id=request_id, dismiss=True)
        await wait_until(lambda: len(browser.received) == 2)
    assert browser.notes[1]["type"] == "push.close"


async def test_a_report_of_another_process_calls_too(running: Gateway, service: PushService) -> None:
    async with subscribed(running, service, details=True) as (_, _, browser):
        conn = connect(running.home.database)
        with transaction(conn):
            report = Report(CHAT, "Rain.", JobRef(id="j1", name="Weather"))
            delivered = deliver(conn, report, Clock(messages.last_order(conn)).now())
            messages.record(conn, delivered.frames)
        conn.close()
        await wait_until(lambda: browser.received)
    (note,) = browser.notes
    assert (note["kind"], note["text"], browser.received[0].headers["urgency"]) == ("report", "Rain.", "normal")


@pytest.mark.parametrize("status", [404, 410])
async def test_a_place_that_is_gone_is_forgotten(running: Gateway, service: PushService, status: int) -> None:
    async with subscribed(running, service) as (_, wire, browser):
        service.statuses.append(status)
        await answer(running, "one")
        while (state := await wire.ask("push.get")).get("endpoint"):  # noqa: ASYNC110 - the gateway tells nobody
            await asyncio.sleep(0.005)
        assert "preferences" not in state
        await running.service.store.write(lambda conn: None)  # behind what was queued
        assert await running.service.store.read(pushes.listing) == []
        await subscribe(wire, browser)
        await answer(running, "two")
        await wait_until(lambda: browser.received)
    assert len(browser.received) == 1


async def test_a_device_asks_how_it_is_called(running: Gateway, service: PushService) -> None:
    device = await running.pair()
    async with running.wire(device) as wire:
        assert wire.seen[0]["features"] == ["push"]
        before = await wire.ask("push.get")
        assert before["available"]
        assert "endpoint" not in before
        browser = service.subscribe()
        await subscribe(wire, browser, reports=False)
        after = await wire.ask("push.get")
        assert (after["endpoint"], after["preferences"]) == (browser.endpoint, {"reports": False})
        await wire.ask("push.unsubscribe")
        assert "endpoint" not in await wire.ask("push.get")
        await answer(running, "nobody hears of this")
    async with subscribed(running, service) as (_, _, other):
        await answer(running, "but of this")
        await wait_until(lambda: other.received)
    assert browser.received == []


async def test_a_browser_that_is_paired_anew_is_called_once(running: Gateway, service: PushService) -> None:
    async with subscribed(running, service) as (_, _, browser), running.wire() as anew:
        await subscribe(anew, browser)
        await answer(running, "one")
        await wait_until(lambda: browser.received)
        async with subscribed(running, service) as (_, _, other):
            await answer(running, "two", Lane(CHAT, "t_9"))
            await wait_until(lambda: other.received and len(browser.received) == 2)
    assert [note["type"] for note in browser.notes] == ["push.note"] * 2


async def test_a_device_that_is_shut_out_is_called_no_more(running: Gateway, service: PushService) -> None:
    async with subscribed(running, service) as (device, _, browser), running.wire() as desk:
        await answer(running, "too late")
        await desk.ask("device.revoke", device_id=device.info.id)
        assert await running.service.store.read(pushes.listing) == []
    async with subscribed(running, service) as (_, _, other):
        await answer(running, "for the other one")
        await wait_until(lambda: other.received)
    assert browser.received == []


async def test_it_goes_on_with_the_same_key_after_a_restart(tmp_path: Path, service: PushService) -> None:
    async with gateway(tmp_path, **NAMED) as running, subscribed(running, service) as (device, wire, browser):
        key = (await wire.ask("push.get"))["key"]
    assert stat.S_IMODE(Home(tmp_path).push_key.stat().st_mode) == 0o600
    async with gateway(tmp_path, **NAMED) as running:
        async with running.wire(device) as wire:
            assert (await wire.ask("push.get"))["key"] == key
        await answer(running, "still here")
        await wait_until(lambda: browser.received)
    assert service.refused == []


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:9/x", "https://127.0.0.1/x", "https://10.0.0.1/x", "https://[::1]/x", "nonsense"]
)
async def test_a_device_cannot_make_the_gateway_knock_at_its_own_network(
    tmp_path: Path, service: PushService, endpoint: str
) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        refused = await wire.ask("push.subscribe", **{**service.subscribe().subscription, "endpoint": endpoint})
        assert (refused["type"], refused["code"]) == ("error", "invalid_frame")
        assert "$.endpoint" in refused["message"]
        assert await running.service.store.read(pushes.listing) == []


async def test_a_key_that_is_no_point_is_refused(running: Gateway, service: PushService) -> None:
    async with running.wire() as wire:
        refused = await wire.ask("push.subscribe", **{**service.subscribe().subscription, "p256dh": "A" * 87})
    assert "$.p256dh" in refused["message"]


async def test_without_the_libraries_everything_else_works(
    tmp_path: Path, service: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("post", "vapid"):
        monkeypatch.delitem(sys.modules, f"hermes_iris.push.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "httpcore", None)
    async with gateway(tmp_path) as running, running.wire() as wire:
        assert wire.seen[0]["features"] == []
        state = await wire.ask("push.get")
        assert not state["available"]
        assert "pip install 'hermes-iris[push]'" in state["why"]
        refused = await wire.ask("push.subscribe", **service.subscribe().subscription)
        assert (refused["code"], refused["message"]) == ("unsupported", state["why"])
        assert (await wire.ask("push.unsubscribe"))["type"] == "ack"
        assert (await wire.ask("device.look", chat_id=CHAT, seq=0))["type"] == "ack"
        assert (await wire.say("Hello"))["type"] == "message.accepted"


async def test_with_a_key_that_is_broken_everything_else_works(tmp_path: Path) -> None:
    Home(tmp_path).iris.mkdir(parents=True)
    Home(tmp_path).push_key.write_text("nonsense")
    async with gateway(tmp_path) as running, running.wire() as wire:
        state = await wire.ask("push.get")
        assert "push-key.pem" in state["why"]
        assert (await wire.say("Hello"))["type"] == "message.accepted"
