"""Lanes on real hosts: each is a conversation of its own, whatever else runs."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from hermes_iris.client import Client, new_id
from hermes_iris.protocol.frames import (
    ChannelCreate,
    ChannelCreated,
    ChannelRename,
    ChannelRenamed,
    ChannelSetThreads,
    Event,
    Message,
    MessageSend,
    MessageStop,
    TurnEnded,
)

from .gateway import Gateway, within
from .story import CHAT

pytestmark = pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module")

LANES = 20


@pytest.fixture
async def client(running: Gateway) -> AsyncIterator[Client]:
    async with running.client() as client:
        yield client


async def events_until(client: Client, running: Gateway, done: object, seconds: float = 120) -> list[Event]:
    """The events up to the one with which a condition on all of them holds."""
    events: list[Event] = []

    async def collect() -> list[Event]:
        async for frame in client.frames():
            if isinstance(frame, Event):
                events.append(frame)
                if done(events):  # type: ignore[operator]
                    break
        return events

    return list(await within(seconds, collect(), running))


def answers(events: list[Event]) -> dict[tuple[str, str | None], str]:
    """The final answer of each lane."""
    told: dict[tuple[str, str | None], str] = {}
    for event in events:
        if isinstance(event, MessageStop) and event.kind == "final":
            told[event.chat_id, event.thread_id] = event.final_text
        elif isinstance(event, Message) and event.kind == "final" and event.role == "assistant":
            told[event.chat_id, event.thread_id] = event.text
    return told


def turns(count: int) -> object:
    return lambda events: sum(isinstance(event, TurnEnded) for event in events) >= count


async def test_twenty_lanes_at_once_never_see_each_other(client: Client, running: Gateway) -> None:
    """Ten channels and ten threads are told a secret each, then asked at the same time what they were told."""
    lanes: list[tuple[str, str | None]] = []
    for n in range(LANES // 2):
        made = await client.request(ChannelCreate(client_id=new_id(), name=f"Channel {n}"))
        lanes.append((made.chat_id, None))
        made = await client.request(
            ChannelCreate(client_id=new_id(), name=f"Topic {n}", kind="thread", parent_chat_id=CHAT)
        )
        lanes.append((made.chat_id, made.thread_id))
    secrets = {lane: f"secret-{n:02}-of-this-lane" for n, lane in enumerate(lanes)}

    async def say(lane: tuple[str, str | None], text: str) -> None:
        await client.request(MessageSend(client_id=new_id(), chat_id=lane[0], thread_id=lane[1], text=text))

    await asyncio.gather(*(say(lane, f"rehearse plainnr {secret}") for lane, secret in secrets.items()))
    await events_until(client, running, turns(LANES))
    await asyncio.gather(*(say(lane, "rehearse echoctx") for lane in lanes))
    told = answers(await events_until(client, running, turns(LANES)))

    assert set(told) == set(lanes)
    for lane, secret in secrets.items():
        assert secret in told[lane]
        assert not [other for other in secrets.values() if other != secret and other in told[lane]]


async def test_first_message_opens_a_thread_that_the_model_names(client: Client, running: Gateway) -> None:
    await client.request(ChannelSetThreads(client_id=new_id(), chat_id=CHAT, on=True))
    request = MessageSend(client_id=new_id(), chat_id=CHAT, text="rehearse plain, my first topic", auto_thread=True)
    accepted = await client.request(request)
    assert accepted.thread_id is not None
    assert await client.request(request) == accepted, "a retry opened another thread"

    def named(events: list[Event]) -> bool:
        return any(isinstance(e, ChannelRenamed) and e.channel.name_source == "llm" for e in events)

    events = await events_until(client, running, named)
    created = [event for event in events if isinstance(event, ChannelCreated)]
    assert [(e.channel.thread_id, e.auto, e.channel.name) for e in created] == [
        (accepted.thread_id, True, "rehearse plain, my first topic")
    ]
    lanes = {event.thread_id for event in events if isinstance(event, Message | MessageStop | TurnEnded)}
    assert lanes == {accepted.thread_id}, "something of the turn is outside its thread"
    renamed = next(e for e in events if isinstance(e, ChannelRenamed) and e.channel.name_source == "llm")
    assert renamed.channel.thread_id == accepted.thread_id

    again = ChannelRename(client_id=new_id(), chat_id=CHAT, thread_id=accepted.thread_id, name="Mine")
    await client.request(again)
    await client.request(
        MessageSend(client_id=new_id(), chat_id=CHAT, thread_id=accepted.thread_id, text="rehearse plainnr")
    )
    later = await events_until(client, running, turns(1))
    names = [
        e.channel.name for e in later if isinstance(e, ChannelRenamed) and e.channel.thread_id == accepted.thread_id
    ]
    assert names == ["Mine"]


async def test_background_notice_lands_in_its_thread(client: Client, running: Gateway) -> None:
    """What a process that was started in a thread reports later, as a turn of its own, belongs to that thread."""
    made = await client.request(
        ChannelCreate(client_id=new_id(), name="Background", kind="thread", parent_chat_id=CHAT)
    )
    await client.request(
        MessageSend(client_id=new_id(), chat_id=CHAT, thread_id=made.thread_id, text="rehearse bgterm")
    )
    events = await events_until(client, running, turns(2), 60)
    assert {(e.chat_id, e.thread_id) for e in events if isinstance(e, TurnEnded)} == {(CHAT, made.thread_id)}


async def test_the_agent_posts_into_a_channel_by_name(client: Client, running: Gateway) -> None:
    """Our own tool is offered to the agent beside the host's, and its message is in the channel for good."""
    made = await client.request(ChannelCreate(client_id=new_id(), name="Named Target"))
    await client.request(MessageSend(client_id=new_id(), chat_id=CHAT, text="rehearse post Named Target"))
    events = await events_until(client, running, turns(1), 60)
    posted = [event for event in events if isinstance(event, Message) and event.chat_id == made.chat_id]
    assert [(event.role, event.text) for event in posted] == [("assistant", "Posted by the rehearsal.")]
    await client.request(MessageSend(client_id=new_id(), chat_id=CHAT, text="rehearse post No Such Channel"))
    events = await events_until(client, running, turns(1), 60)
    assert "no channel has this name" in answers(events)[CHAT, None]
