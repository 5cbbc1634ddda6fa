"""Answering and replacing with real hosts: the model is told what is meant, and what was taken back is gone."""

import json
import re
from collections.abc import AsyncIterator, Sequence

import pytest

from hermes_iris.client import Client, new_id
from hermes_iris.protocol.frames import ChannelCreate, History, Message, MessageSend, MessageUpdate, TurnStarted, Typing
from hermes_iris.protocol.types import ChatId

from .gateway import Gateway
from .story import Story, play

pytestmark = pytest.mark.parametrize("mode", ["streaming", "whole"], indirect=True, scope="module")

AT_WORK = {"streaming": [MessageUpdate], "whole": [TurnStarted, Typing]}
"""What comes, one after the other, once a slow turn has really begun."""


@pytest.fixture
async def client(running: Gateway) -> AsyncIterator[Client]:
    async with running.client() as client:
        yield client


@pytest.fixture
async def chat(client: Client) -> ChatId:
    """A channel in which nothing was said."""
    return (await client.request(ChannelCreate(client_id=new_id(), name=f"Said {new_id()[:8]}"))).chat_id


def told(story: Story) -> Sequence[str]:
    """The ends of the user messages that the model was sent, as it says itself."""
    listed = re.search(r"```json\n(.*)\n```", story.answer_text, re.DOTALL)
    assert listed, story.answer_text
    messages: list[str] = json.loads(listed[1])
    return messages


def ends(story: Story) -> list[str]:
    """The last word of each of them; to the very first one that it ever gets, a host adds a note of its own."""
    return ["one" if "[System note: " in text or text.endswith("]") else text.split()[-1] for text in told(story)]


def notices(story: Story) -> list[str]:
    """What the host said beside its answers."""
    return [frame.text for frame in story.of(Message) if frame.role == "notice"]


def said(story: Story) -> str:
    """The id of what the person said."""
    return next(frame.message_id for frame in story.of(Message) if frame.role == "user")


async def test_the_model_is_told_what_a_message_answers(client: Client, running: Gateway, chat: ChatId) -> None:
    first = await play(client, running, "rehearse plainnr", chat_id=chat)
    await play(client, running, "rehearse fasttool", chat_id=chat)
    for answered, words in ((first.answer.message_id, "without any thought before it."), (said(first), "plainnr")):
        story = await play(client, running, "rehearse echoctx", chat_id=chat, reply_to=answered)
        (echo,) = [frame for frame in story.of(Message) if frame.role == "user"]
        assert words in echo.quote.text
        own = "your previous message" if answered == first.answer.message_id else ""
        assert re.search(rf"{own}.*{re.escape(words)}\"\]\n\nrehearse echoctx\Z", told(story)[-1], re.DOTALL)


async def test_what_is_replaced_is_forgotten_with_its_answer(client: Client, running: Gateway, chat: ChatId) -> None:
    await play(client, running, "rehearse plainnr one", chat_id=chat)
    wrong = await play(client, running, "rehearse plainnr tow", chat_id=chat)
    right = await play(client, running, "rehearse echoctx two", chat_id=chat, replaces=said(wrong))
    assert ends(right) == ["one", "two"]
    assert right.kinds == ["user", "turn.started", "final", "turn.ended"], notices(right)
    again = await play(client, running, "rehearse echoctx three", chat_id=chat, replaces=said(right))
    assert ends(again) == ["one", "three"]


async def test_a_turn_that_runs_is_stopped_when_its_message_is_replaced(
    client: Client, running: Gateway, chat: ChatId, mode: str
) -> None:
    await play(client, running, "rehearse plainnr one", chat_id=chat)

    async def replace() -> None:
        page = await client.request(History(client_id=new_id(), chat_id=chat))
        last = next(e.message_id for e in page.entries[::-1] if isinstance(e, Message) and e.role == "user")
        await client.request(MessageSend(client_id=new_id(), chat_id=chat, text="rehearse echoctx two", replaces=last))

    async def nothing() -> None:
        pass

    *before, last = AT_WORK[mode]
    then = [*((kind, nothing) for kind in before), (last, replace)]
    story = await play(client, running, "rehearse slow", chat_id=chat, until=2, then=then)
    assert ends(story) == ["one", "two"]
    assert [line for line in story.told if line[0] == "turn.ended"] == [
        ("turn.ended", "cancelled"),
        ("turn.ended", "success"),
    ]
    assert notices(story) == [], "the person is asked and told nothing of it"
