"""Answers to a client's frames: one each, and a mutation happens once however often it is asked for."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes_iris.address import DEFAULT_LANE
from hermes_iris.commands import Commands, failure
from hermes_iris.errors import Busy, Conflict, InvalidFrame, NotFound, Unsupported
from hermes_iris.hub import Hub
from hermes_iris.protocol.frames import (
    Ack,
    DeviceInfo,
    Hello,
    History,
    HistoryPage,
    LevelRange,
    Message,
    MessageAccepted,
    MessageSend,
    Ping,
    Pong,
    TurnStop,
)
from hermes_iris.store import log, messages
from hermes_iris.turns import calls
from support import CHAT, FakeHost, Held, Seat, answers, handed, hub, new_id, texts, wait_until


@pytest.fixture
async def middle(tmp_path: Path) -> AsyncIterator[Hub]:
    async with hub(tmp_path / "channels.db") as middle:
        yield middle


@pytest.fixture
def host() -> FakeHost:
    return FakeHost()


@pytest.fixture
async def commands(middle: Hub, host: FakeHost) -> AsyncIterator[Commands]:
    async with answers(middle, host) as commands:
        yield commands


def send(text: str = "Hello", **more: str) -> MessageSend:
    return MessageSend(**{"client_id": new_id(), "chat_id": CHAT, "text": text, **more})


async def events(middle: Hub) -> int:
    """How many there are, once the host has everything too."""
    await middle.drain()
    await handed(middle.store)
    return (await middle.store.write(log.position)).seq


async def test_a_ping_is_answered(commands: Commands) -> None:
    assert await commands.answer(Ping()) == Pong()


async def test_a_second_hello_is_unsupported(commands: Commands) -> None:
    device = DeviceInfo(id="dev_1", name="Phone", kind="web")
    with pytest.raises(Unsupported):
        await commands.answer(Hello(level=LevelRange(min=1, max=1), device=device, token="t"))


async def test_a_message_is_stored_echoed_and_given_to_the_host(
    commands: Commands, middle: Hub, host: FakeHost
) -> None:
    seat = Seat(middle)
    await seat.join()
    request = send("Hello")
    answer = await commands.answer(request)
    assert isinstance(answer, MessageAccepted)
    assert (answer.client_id, answer.chat_id, answer.seq) == (request.client_id, CHAT, 1)
    await seat.settle()
    (echo,) = [frame for frame in seat.frames if frame["type"] == "message"]
    assert (echo["seq"], echo["client_id"], echo["message_id"]) == (1, request.client_id, answer.message_id)
    assert (echo["role"], echo["text"]) == ("user", "Hello")
    await handed(middle.store)
    assert [(told.message_id, told.text) for told in host.delivered] == [(answer.message_id, "Hello")]


async def test_the_same_client_id_gets_the_first_answer_again(commands: Commands, middle: Hub, host: FakeHost) -> None:
    request = send()
    first = await commands.answer(request)
    await commands.answer(send("another"))
    assert await commands.answer(request) == first
    assert (await events(middle), host.texts) == (2, ["Hello", "another"])


async def test_the_same_request_twice_at_once_is_carried_out_once(
    commands: Commands, middle: Hub, host: FakeHost
) -> None:
    request = send()
    first, second = await asyncio.gather(commands.answer(request), commands.answer(request))
    assert first == second
    assert (await events(middle), host.texts) == (1, ["Hello"])


async def test_the_same_client_id_with_another_text_is_a_conflict(
    commands: Commands, middle: Hub, host: FakeHost
) -> None:
    request = send()
    await commands.answer(request)
    with pytest.raises(Conflict):
        await commands.answer(send("another", client_id=request.client_id))
    assert (await events(middle), host.texts) == (1, ["Hello"])


async def test_a_message_to_a_channel_that_is_not_there_leaves_no_trace(
    commands: Commands, middle: Hub, host: FakeHost
) -> None:
    request = send(chat_id="android:nowhere")
    for _ in range(2):
        with pytest.raises(NotFound, match=r"^\$\.chat_id"):
            await commands.answer(request)
    with pytest.raises(NotFound, match=r"^\$\.thread_id"):
        await commands.answer(send(thread_id="t_9"))
    assert (await events(middle), host.texts) == (0, [])


async def test_messages_of_one_device_reach_the_host_in_their_order(
    commands: Commands, middle: Hub, host: FakeHost
) -> None:
    for text in "abc":
        await commands.answer(send(text))
    await handed(middle.store)
    assert host.texts == ["a", "b", "c"]


async def test_the_answer_does_not_wait_for_the_host(commands: Commands, middle: Hub, host: FakeHost) -> None:
    host.held = asyncio.Event()
    async with asyncio.timeout(5):
        first = await commands.answer(send("first"))
        await wait_until(lambda: host.delivered)
        second = await commands.answer(send("second"))
    assert isinstance(first, MessageAccepted)
    assert isinstance(second, MessageAccepted)
    assert [message.text for message in await middle.store.read(messages.waiting)] == ["first", "second"]
    host.held.set()
    await handed(middle.store)
    assert host.texts == ["first", "second"]


async def test_a_host_that_fails_is_no_error_of_the_request(
    commands: Commands, middle: Hub, host: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes_iris.courier.RETRY", 0.01)
    host.failures.append(RuntimeError("not now"))
    request = send()
    answer = await commands.answer(request)
    assert isinstance(answer, MessageAccepted)
    assert await commands.answer(request) == answer
    assert (await events(middle), host.texts) == (1, ["Hello"])


async def test_a_device_that_leaves_while_its_message_is_stored_has_still_sent_it(
    commands: Commands, middle: Hub, host: FakeHost
) -> None:
    """Dropping a connection is always safe: what was committed is told to everybody, the host included."""
    seat = Seat(middle)
    await seat.join()
    held = Held(middle.store)
    answering = asyncio.create_task(commands.answer(send()))
    await asyncio.sleep(0)
    answering.cancel()
    await asyncio.wait([answering])
    held.release()
    await asyncio.to_thread(held.future.result, 5)
    await wait_until(lambda: host.delivered)
    await handed(middle.store)
    assert host.texts == ["Hello"]
    assert texts((await seat.settle()).state) == ["Hello"]


async def test_stop_asks_the_host_for_that_lane(commands: Commands, host: FakeHost) -> None:
    stop = TurnStop(client_id=new_id(), chat_id=CHAT)
    assert await commands.answer(stop) == Ack(client_id=stop.client_id)
    assert host.stopped == [DEFAULT_LANE]


async def test_history_answers_with_a_page(commands: Commands, middle: Hub) -> None:
    for n in range(5):
        await middle.call(DEFAULT_LANE, calls.Sent(f"{n}"))
    ask = History(client_id=new_id(), chat_id=CHAT, limit=2)
    page = await commands.answer(ask)
    assert isinstance(page, HistoryPage)
    assert (page.client_id, page.chat_id, page.has_more) == (ask.client_id, CHAT, True)
    assert [entry.text for entry in page.entries if isinstance(entry, Message)] == ["3", "4"]
    older = History(client_id=new_id(), chat_id=CHAT, limit=9, before=page.entries[0].order)
    rest = await commands.answer(older)
    assert isinstance(rest, HistoryPage)
    assert [entry.text for entry in rest.entries if isinstance(entry, Message)] == ["0", "1", "2"]
    assert rest.has_more is False


async def test_history_of_a_channel_that_is_not_there_is_not_found(commands: Commands) -> None:
    with pytest.raises(NotFound, match=r"^\$\.chat_id"):
        await commands.answer(History(client_id=new_id(), chat_id="android:nowhere"))


@pytest.mark.parametrize(
    ("error", "code", "retryable"),
    [
        (InvalidFrame("$.text is missing"), "invalid_frame", False),
        (Busy("later"), "busy", True),
        (NotFound("nothing"), "not_found", False),
    ],
)
def test_an_error_of_ours_travels_with_its_code_and_text(error: Exception, code: str, retryable: bool) -> None:
    told = failure(error, "client-0001")
    assert (told.code, told.message, told.client_id, told.retryable) == (code, str(error), "client-0001", retryable)


def test_any_other_error_travels_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    told = failure(ValueError("/home/me/secret"), "client-0001")
    reference = told.message.rpartition(" ")[2]
    assert told.code == "internal"
    assert "secret" not in told.message
    assert reference in caplog.text
    assert "secret" in caplog.text
