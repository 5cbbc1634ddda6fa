"""What the agent and its host ask of a person, on real hosts: by cards, and by text as without Iris."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from hermes_iris.client import Client, Refused, new_id
from hermes_iris.protocol.frames import (
    CommandsList,
    Frame,
    History,
    Message,
    MessageSend,
    MessageStop,
    RequestAnswer,
    RequestCard,
    RequestClosed,
    RequestOpened,
    ToolEnd,
    ToolGet,
    ToolStart,
    TurnEnded,
    TurnStop,
)

from .gateway import Gateway, within
from .story import CHAT, play

pytestmark = pytest.mark.parametrize("mode", ["streaming", "whole"], indirect=True, scope="module")

LIMIT = 120.0


async def until(client: Client, running: Gateway, wanted: Callable[[Frame], bool]) -> Any:
    """The next frame that is wanted."""

    async def look() -> Frame:
        async for frame in client.frames():
            if wanted(frame):
                return frame
        raise AssertionError("the client ended")

    return await within(LIMIT, look(), running)


async def say(client: Client, text: str) -> None:
    await client.request(MessageSend(client_id=new_id(), chat_id=CHAT, text=text))


async def answer(client: Client, opened: RequestOpened | RequestCard, **fields: Any) -> None:
    await client.request(RequestAnswer(client_id=new_id(), request_id=opened.request_id, **fields))


async def play_asked(
    client: Client, running: Gateway, text: str, replies: list[Callable[[RequestOpened], Awaitable[None]]]
) -> list[Frame]:
    """Say something; reply to each thing that is asked; every frame up to the end of the turn."""
    frames: list[Frame] = []
    todo = list(replies)

    async def watch() -> None:
        async for frame in client.frames():
            frames.append(frame)
            if isinstance(frame, RequestOpened):
                await todo.pop(0)(frame)
            if isinstance(frame, TurnEnded):
                return

    watching = asyncio.create_task(watch())
    try:
        await say(client, text)
        await within(LIMIT, watching, running)
    finally:
        watching.cancel()
    assert not todo, "less was asked than expected"
    return frames


def of(frames: list[Frame], kind: type[Any]) -> list[Any]:
    return [frame for frame in frames if isinstance(frame, kind)]


def final_text(frames: list[Frame]) -> str:
    (text,) = [
        frame.final_text if isinstance(frame, MessageStop) else frame.text
        for frame in frames
        if isinstance(frame, Message | MessageStop) and frame.kind == "final" and frame.role == "assistant"
    ]
    return text


@pytest.mark.parametrize(("choice", "verdict"), [("once", "You let me"), ("deny", "The command did not run")])
async def test_an_approval_by_card(running: Gateway, choice: str, verdict: str) -> None:
    async with running.client("one") as client, running.client("other") as other:
        frames = await play_asked(
            client, running, "rehearse danger", [lambda opened: answer(client, opened, choices=[choice])]
        )
        closed = await until(other, running, lambda frame: isinstance(frame, RequestClosed))
    (opened,) = of(frames, RequestOpened)
    (started,) = of(frames, ToolStart)
    assert opened.question.kind == "approval"
    assert opened.question.detail.startswith("rm -rf")
    assert opened.question.expires_at is not None
    assert [option.value for option in opened.question.choices] == ["once", "session", "always", "deny"]
    assert started.order < opened.order, "the card stands before the call that it is about"
    assert (closed.outcome, closed.by_name) == ("answered", "one")
    assert verdict in final_text(frames)
    assert [frame for frame in frames if isinstance(frame, Message) and frame.role == "notice"] == []


async def test_an_approval_by_a_device_that_comes_later(running: Gateway) -> None:
    async with running.client("one") as client:
        await say(client, "rehearse danger")
        opened = await until(client, running, lambda frame: isinstance(frame, RequestOpened))
        async with running.client("late") as late:
            assert late.greeting is not None
            (card,) = late.greeting.requests
            assert card.request_id == opened.request_id
            await answer(late, card, choices=["once"])
        closed = await until(client, running, lambda frame: isinstance(frame, RequestClosed))
        assert closed.by_name == "late"
        with pytest.raises(Refused, match="answered before by late"):
            await answer(client, opened, choices=["deny"])
        await until(client, running, lambda frame: isinstance(frame, TurnEnded))
        page = await client.request(History(client_id=new_id(), chat_id=CHAT, limit=5))
        (kept,) = [e for e in page.entries if isinstance(e, RequestCard) and e.request_id == opened.request_id]
        assert (kept.outcome, kept.answer) == ("answered", "Allow once")


@pytest.mark.parametrize(("typed", "told"), [("/approve", "Allow once"), ("/deny", "Deny")])
async def test_an_approval_by_text_closes_the_card(running: Gateway, typed: str, told: str) -> None:
    async with running.client() as client:
        frames = await play_asked(client, running, "rehearse danger", [lambda _: say(client, typed)])
        (closed,) = of(frames, RequestClosed) or [
            await until(client, running, lambda frame: isinstance(frame, RequestClosed))
        ]
    assert (closed.outcome, closed.answer, closed.by_device) == ("answered", told, None)


async def test_stop_closes_an_approval(running: Gateway) -> None:
    async with running.client() as client:
        await say(client, "rehearse danger")
        await until(client, running, lambda frame: isinstance(frame, RequestOpened))
        await client.request(TurnStop(client_id=new_id(), chat_id=CHAT))
        closed = await until(client, running, lambda frame: isinstance(frame, RequestClosed))
        assert closed.outcome in ("answered", "withdrawn")  # 0.19 takes an interruption for a denial
        async with running.client("late") as late:
            assert late.greeting is not None
            assert late.greeting.requests == []


async def test_questions_by_card(running: Gateway, host: str) -> None:
    """0.22 asks two questions, the second of them with several choices; 0.19 asks the first."""
    async with running.client() as client:
        replies = [
            lambda opened: answer(client, opened, choices=[opened.question.choices[1].value]),
            lambda opened: answer(client, opened, choices=[c.value for c in opened.question.choices[:2]]),
        ]
        frames = await play_asked(client, running, "rehearse clarify", replies if host == "v22" else replies[:1])
    first, *more = of(frames, RequestOpened)
    assert first.question.prompt == "Which colour should the rehearsal have?"
    assert first.question.free_text
    assert [opened.question.multiple for opened in more] == ([True] if host == "v22" else [])
    assert "violet" in final_text(frames)
    assert [closed.outcome for closed in of(frames, RequestClosed)] == ["answered"] * (1 + len(more))


async def test_a_question_answered_with_a_text_of_one_s_own(running: Gateway, host: str) -> None:
    async with running.client() as client:
        by_card: list[Any] = [lambda opened: answer(client, opened, text="ochre")]
        typed: list[Any] = [lambda _: say(client, "S")] if host == "v22" else []
        frames = await play_asked(client, running, "rehearse clarify", by_card + typed)
        closings = of(frames, RequestClosed)
        while len(closings) < 1 + len(typed):
            closings.append(await until(client, running, lambda frame: isinstance(frame, RequestClosed)))
    assert "ochre" in final_text(frames)
    assert closings[0].answer == "ochre"
    assert all(closed.outcome == "answered" for closed in closings)


async def test_a_typed_text_answers_a_question_with_choices(running: Gateway, host: str) -> None:
    async with running.client() as client:
        typed: list[Any] = [lambda _: say(client, "something between blue and green")]
        skipped: list[Any] = [lambda opened: answer(client, opened, dismiss=True)] if host == "v22" else []
        frames = await play_asked(client, running, "rehearse clarify", typed + skipped)
        closed = next(iter(of(frames, RequestClosed)), None) or await until(
            client, running, lambda frame: isinstance(frame, RequestClosed)
        )
    assert closed.answer == "something between blue and green"
    assert "something between blue and green" in final_text(frames)


@pytest.mark.parametrize("by_card", [True, False])
async def test_a_confirmation(running: Gateway, by_card: bool) -> None:
    """`/new` asks first; the answer starts the session anew, and what the host says to it is a notice."""
    async with running.client() as client:
        await play(client, running, "rehearse plainnr")
        await say(client, "/new")
        opened = await until(client, running, lambda frame: isinstance(frame, RequestOpened))
        assert opened.question.kind == "confirm"
        assert [option.value for option in opened.question.choices] == ["once", "always", "cancel"]
        assert "gateway." not in opened.question.title + opened.question.prompt
        if by_card:
            await answer(client, opened, choices=["once"])
        else:
            await say(client, "/approve")
        closed = await until(client, running, lambda frame: isinstance(frame, RequestClosed))
        assert closed.outcome == "answered"
        story = await play(client, running, "rehearse echoctx")
        assert "rehearse plainnr" not in story.answer_text, "the session went on"


async def test_a_confirmation_that_is_cancelled(running: Gateway) -> None:
    async with running.client() as client:
        await play(client, running, "rehearse plainnr")
        await say(client, "/new")
        opened = await until(client, running, lambda frame: isinstance(frame, RequestOpened))
        await answer(client, opened, choices=["cancel"])
        story = await play(client, running, "rehearse echoctx")
        assert "rehearse plainnr" in story.answer_text, "the session was begun anew"


async def test_the_model_picker(running: Gateway) -> None:
    async with running.client() as client:
        await say(client, "/model")
        opened = await until(client, running, lambda frame: isinstance(frame, RequestOpened))
        assert opened.question.kind == "choice"
        current = [option for option in opened.question.choices if option.label == "iris-rehearsal"]
        assert current
        await answer(client, opened, choices=[current[0].value])
        closed = await until(client, running, lambda frame: isinstance(frame, RequestClosed))
        assert (closed.outcome, closed.answer) == ("answered", "iris-rehearsal")


async def test_a_picker_is_put_away(running: Gateway) -> None:
    async with running.client() as client:
        await say(client, "/reasoning")
        opened = await until(client, running, lambda frame: isinstance(frame, RequestOpened))
        assert {"low", "high"} <= {option.value for option in opened.question.choices}
        await answer(client, opened, dismiss=True)
        closed = await until(client, running, lambda frame: isinstance(frame, RequestClosed))
        assert (closed.outcome, closed.by_name) == ("dismissed", "test")


async def test_slash_commands_come_from_the_host(running: Gateway) -> None:
    async with running.client() as client:
        listed = await client.request(CommandsList(client_id=new_id()))
    known = {command.name: command for command in listed.commands}
    assert {"new", "stop", "model", "cron", "help"} <= known.keys()
    assert not {"clear", "start", "skin"} & known.keys(), "a command of the terminal is offered"
    assert "reset" in known["new"].aliases
    assert known["model"].args
    assert "low" in known["reasoning"].subcommands
    assert all(command.description for command in listed.commands)


async def test_cron_command(running: Gateway) -> None:
    async def told(text: str) -> str:
        await say(client, text)
        notice = await until(client, running, lambda frame: isinstance(frame, Message) and frame.role == "notice")
        return str(notice.text)

    async with running.client() as client:
        made = await told('/cron create "every 3h" "rehearse plainnr" --name "From the app"')
        assert "From the app" in made, made
        listed = await told("/cron")
        assert "From the app" in listed
        assert "android" in listed, "the job does not report to the lane that made it"
        assert "not closed" in await told('/cron create "every')


async def test_a_tool_call_in_full(running: Gateway) -> None:
    async with running.client() as client:
        story = await play(client, running, "rehearse tool")
        (started,), (ended,) = story.of(ToolStart), story.of(ToolEnd)
        whole = await client.request(ToolGet(client_id=new_id(), tool_call_id=started.tool_call_id))
    assert "pwd && ls" in whole.args
    assert whole.output.startswith("/")
    assert ended.output_preview == whole.output
