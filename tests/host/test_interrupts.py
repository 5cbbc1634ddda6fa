"""What a person does in the middle of a turn, and what a failing provider does to it."""

import pytest

from hermes_iris.client import Client, new_id
from hermes_iris.protocol.frames import (
    Frame,
    Message,
    MessageSend,
    MessageStop,
    MessageUpdate,
    TurnEnded,
    TurnStarted,
    TurnStop,
    Typing,
)

from .gateway import Gateway
from .story import CHAT, Story, play

pytestmark = pytest.mark.parametrize("mode", ["streaming", "whole"], indirect=True, scope="module")


async def slow_turn(client: Client, running: Gateway, mode: str, request: Frame, until: int = 1) -> Story:
    """A slow turn into which a request is sent once the agent is really at work.

    Streaming, that is the first text; else the first refresh of the typing indicator after the turn began.
    """

    async def act() -> None:
        await client.request(request)

    async def nothing() -> None:
        pass

    at_work = [(MessageUpdate, act)] if mode == "streaming" else [(TurnStarted, nothing), (Typing, act)]
    return await play(client, running, "rehearse slow", until=until, then=at_work)


async def test_stop(running: Gateway, mode: str) -> None:
    """The Stop button cancels the turn; what was said stays; the host's reply to the command is not shown."""
    async with running.client() as client:
        story = await slow_turn(client, running, mode, TurnStop(client_id=new_id(), chat_id=CHAT))
    if mode == "streaming":
        assert story.kinds == ["user", "turn.started", "partial", "turn.ended"]
        (stopped,) = story.of(MessageStop)
        assert stopped.state == "aborted"
        assert stopped.final_text.startswith("This")
    else:
        assert story.kinds == ["user", "turn.started", "turn.ended"]
    assert story.told[-1] == ("turn.ended", "cancelled")


async def test_second_message_is_answered(running: Gateway, host: str, mode: str) -> None:
    """0.19 interrupts the turn and begins another, 0.22 redirects it; either way the second message gets its answer."""
    interjection = MessageSend(client_id=new_id(), chat_id=CHAT, text="rehearse plainnr")
    async with running.client() as client:
        story = await slow_turn(client, running, mode, interjection, until=2 if host == "v19" else 1)
    interrupted = ["partial"] if mode == "streaming" else []
    said = [line for line in story.told if line[0] != "notice"]
    assert [line[0] for line in said] == [
        "user",
        "turn.started",
        "user",
        *([*interrupted, "turn.ended", "turn.started"] if host == "v19" else []),
        "final",
        "turn.ended",
    ]
    assert said[2] == ("user", "rehearse plainnr")
    assert story.answer_text.startswith("A plain answer") or "plain" in story.answer_text
    assert [ended.outcome for ended in story.of(TurnEnded)] == (
        ["interrupted", "success"] if host == "v19" else ["success"]
    )


async def test_provider_error(running: Gateway) -> None:
    """The turn ends as a failure that says why; what the host says of it is a notice, once, and never an answer."""
    async with running.client() as client:
        story = await play(client, running, "rehearse error")
    assert set(story.kinds[2:-1]) == {"notice"}
    texts = [notice.text for notice in story.of(Message) if notice.role == "notice"]
    assert len(texts) == len(set(texts))
    (ended,) = story.of(TurnEnded)
    assert ended.outcome == "failure"
    assert "500" in (ended.error or "")
