"""What people do with what was said: answer it, replace their last word, put it out of sight."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hermes_iris.address import DEFAULT_LANE
from hermes_iris.host import Context
from hermes_iris.protocol.frames import Channel, Message
from hermes_iris.store import messages
from hermes_iris.turns import calls
from support import CHAT, FakeHost, Gateway, Screen, Wire, gateway, handed, texts


@dataclass
class Listening(FakeHost):
    """Notes with what each message came."""

    contexts: dict[str, Context] = field(default_factory=dict)

    async def deliver(self, message: Message, channel: Channel, context: Context) -> None:
        self.contexts[message.text] = context
        await super().deliver(message, channel, context)


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with gateway(tmp_path, Listening()) as running:
        yield running


async def answer(running: Gateway, wire: Wire, text: str) -> str:
    """An answer of the agent in the default channel; its id."""
    await running.service.hub.store.write(
        lambda conn: messages.record(
            conn,
            [
                Message(
                    message_id=(moment := running.service.hub.clock.now()).name("m"),
                    chat_id=CHAT,
                    role="assistant",
                    text=text,
                    ts=moment.ts,
                    order=moment.order,
                )
            ],
        )
    )
    await running.service.hub.catch_up()
    return str((await wire.until("message", text=text))["message_id"])


async def echo_of(wire: Wire, text: str) -> dict[str, Any]:
    """The event of a message that was sent."""
    seen = await wire.settle()
    return next(frame for frame in seen if frame["type"] == "message" and frame["text"] == text)


async def history(wire: Wire) -> list[dict[str, object]]:
    entries: list[dict[str, object]] = (await wire.ask("history", chat_id=CHAT))["entries"]
    return entries


# ---------------------------------------------------------------- answering


async def test_an_answer_quotes_what_it_answers_live_and_later_and_the_agent_gets_all_of_it(running: Gateway) -> None:
    long = "## **The plan**: `du`.\n\n" + "word " * 100
    async with running.wire() as wire:
        answered = await answer(running, wire, long)
        await wire.say("Why?", reply_to=answered)
        echo = await echo_of(wire, "Why?")
        assert (echo["reply_to"], echo["quote"]["text"]) == (answered, "The plan: du.")
        assert (echo["quote"]["message_id"], echo["quote"]["role"]) == (answered, "assistant")
        stored = (await history(wire))[-1]
        assert stored["quote"] == echo["quote"]
        await handed(running.service.store)
    context = running.host.contexts["Why?"]
    assert context.answered.text == long
    assert (context.reports, context.replaced) == ([], None)


async def test_a_quote_is_one_short_line(running: Gateway) -> None:
    async with running.wire() as wire:
        answered = await answer(running, wire, "long " * 1000)
        await wire.say("Why?", reply_to=answered)
        quote = (await echo_of(wire, "Why?"))["quote"]["text"]
    assert len(quote) <= 160
    assert quote.endswith("…")


# ---------------------------------------------------------------- replacing


async def test_a_message_takes_the_place_of_the_last_one(running: Gateway) -> None:
    async with running.wire() as wire:
        first = await wire.say("Helo")
        await wire.say("Hello", replaces=first["message_id"])
        echo = await echo_of(wire, "Hello")
        assert echo["replaces"] == first["message_id"]
        await handed(running.service.store)
        assert (await history(wire))[-1]["replaces"] == first["message_id"]
    assert running.host.contexts["Hello"].replaced.text == "Helo"


async def test_what_is_replaced_before_the_host_has_it_is_never_given_to_it(tmp_path: Path) -> None:
    host = Listening(failures=[OSError("not yet")] * 2)
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        first = await wire.say("Helo")
        await wire.say("Hello", replaces=first["message_id"])
        await handed(running.service.store)
    assert host.texts == ["Hello"]


@pytest.mark.parametrize(
    ("fields", "code", "why"),
    [
        ({"text": "x", "replaces": "m_none"}, "conflict", "$.replaces"),
        ({"text": "x", "replaces": "first"}, "conflict", "$.replaces"),
        ({"text": "/new", "replaces": "last"}, "unsupported", "$.replaces"),
    ],
)
async def test_only_the_last_word_can_be_replaced(
    running: Gateway, fields: dict[str, str], code: str, why: str
) -> None:
    async with running.wire() as wire:
        ids = {name: (await wire.say(name))["message_id"] for name in ("first", "last")}
        replaces = ids.get(fields["replaces"], fields["replaces"])
        refused = await wire.ask("message.send", **{"chat_id": CHAT, **fields, "replaces": replaces})
        assert (refused["type"], refused["code"]) == ("error", code)
        assert why in refused["message"]
        assert [entry["text"] for entry in await history(wire)] == ["first", "last"]


async def test_a_hidden_last_word_is_still_the_last_and_a_command_cannot_be_taken_back(running: Gateway) -> None:
    async with running.wire() as wire:
        first = (await wire.say("first"))["message_id"]
        last = (await wire.say("last"))["message_id"]
        await wire.ask("message.set_hidden", message_id=last, on=True)
        assert (await wire.say("x", replaces=first))["code"] == "conflict"
        command = (await wire.say("/status"))["message_id"]
        assert (await wire.say("x", replaces=command))["code"] == "unsupported"


async def test_the_last_word_of_another_lane_is_not_this_one_s(running: Gateway) -> None:
    async with running.wire() as wire:
        other = (await wire.ask("channel.create", name="Other", kind="channel"))["chat_id"]
        said = (await wire.say("there", chat_id=other))["message_id"]
        assert (await wire.say("here", replaces=said))["code"] == "conflict"


# ---------------------------------------------------------------- out of sight


async def test_a_hidden_message_is_gone_on_every_device_and_for_good(running: Gateway) -> None:
    device = await running.pair()
    async with running.wire(device) as wire, running.wire() as other:
        answered = await answer(running, wire, "Something about apples.")
        await wire.say("Why?", reply_to=answered)
        assert (await wire.ask("message.set_hidden", message_id=answered, on=True))["type"] == "ack"
        hidden = next(f for f in await other.settle() if f["type"] == "message.hidden")
        assert (hidden["message_id"], hidden["chat_id"]) == (answered, CHAT)
        [left] = await history(wire)
        assert (left["text"], left.get("quote")) == ("Why?", None)
        assert (await wire.ask("search", query="apples"))["hits"] == []
    async with running.wire() as later:
        assert later.seen[0]["lanes"] == [], "what is hidden is not unread"
        refused = await later.say("And?", reply_to=answered)
        assert (refused["code"], "$.reply_to" in refused["message"]) == ("not_found", True)


async def test_what_was_hidden_comes_back_in_its_place(running: Gateway) -> None:
    async with running.wire() as wire, running.wire() as other:
        first = (await wire.say("apples"))["message_id"]
        await wire.say("pears")
        for on in (True, True, False, False):
            await wire.ask("message.set_hidden", message_id=first, on=on)
        shown = next(frame for frame in await other.settle() if frame["type"] == "message.shown")
        assert (shown["message"]["text"], shown["message"]["message_id"]) == ("apples", first)
        assert [frame["type"] for frame in other.seen].count("message.hidden") == 1, (
            "what is so already changes nothing"
        )
        assert [entry["text"] for entry in await history(wire)] == ["apples", "pears"]
        assert [hit["message_id"] for hit in (await wire.ask("search", query="apples"))["hits"]] == [first]
        screen = Screen()
        for frame in other.seen:
            screen.feed(frame)
        assert texts(screen.state) == ["apples", "pears"]
        await handed(running.service.store)
    assert running.host.texts == ["apples", "pears"], "the host is told nothing of it"


async def test_a_message_that_is_being_written_cannot_be_hidden(running: Gateway) -> None:
    hub = running.service.hub
    async with running.wire() as wire:
        await hub.call(DEFAULT_LANE, calls.TurnBegan("t"))
        await hub.call(DEFAULT_LANE, calls.Sent("Half", calls.Origin.PREVIEW))
        live = await wire.until("message.start")
        for message_id in (live["message_id"], "m_none"):
            refused = await wire.ask("message.set_hidden", message_id=message_id, on=True)
            assert (refused["code"], "$.message_id" in refused["message"]) == ("not_found", True)
