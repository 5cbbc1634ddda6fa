"""A turn as a device saw it, told in short, after its form was checked."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hermes_iris.client import Client, new_id
from hermes_iris.protocol.frames import (
    Commentary,
    Message,
    MessageSend,
    MessageStart,
    MessageStop,
    MessageUpdate,
    ServerFrame,
    ToolEnd,
    ToolStart,
    TurnEnded,
    TurnStarted,
    Typing,
)

from .gateway import Gateway, within

CHAT = "android:default"
TURN = 60.0
"""Seconds that a turn may take."""


@dataclass(frozen=True)
class Story:
    """What a device received, in order."""

    frames: list[ServerFrame]

    @property
    def told(self) -> list[tuple[Any, ...]]:
        """The sequence in short: bubbles by their end, whether they were streamed or not."""
        return [line for frame in self.frames if (line := _line(frame))]

    @property
    def kinds(self) -> list[str]:
        """The first word of each line of the story."""
        return [line[0] for line in self.told]

    def of(self, kind: type[Any]) -> list[Any]:
        """The frames of one type."""
        return [frame for frame in self.frames if isinstance(frame, kind)]

    @property
    def answer(self) -> Message | MessageStop:
        """The final message."""
        (final,) = [
            f
            for f in self.frames
            if isinstance(f, Message | MessageStop) and f.kind == "final" and f.role == "assistant"
        ]
        return final

    @property
    def answer_text(self) -> str:
        answer = self.answer
        return answer.final_text if isinstance(answer, MessageStop) else answer.text

    def check(self) -> None:
        """The form that every turn has, whatever the host did."""
        live: dict[str, int] = {}
        tools: dict[str, int] = {}
        orders: list[int] = []
        for frame in self.frames:
            match frame:
                case MessageStart(message_id=message_id, order=order):
                    assert not live, "two bubbles are open"
                    live[message_id] = 0
                    orders.append(order)
                case MessageUpdate(message_id=message_id, text=text):
                    live[message_id] += 1
                    _check_text(text)
                case MessageStop(message_id=message_id, final_text=text):
                    assert live.pop(message_id) >= 1
                    _check_text(text)
                case ToolStart(tool_call_id=tool, index=index, order=order):
                    assert not live, "a tool card came before the text that announced it was complete"
                    tools[tool] = index
                    orders.append(order)
                case ToolEnd(tool_call_id=tool, index=index, state=state):
                    assert tools.pop(tool) == index
                    assert state != "running"
                case Message(order=order, text=text) | Commentary(order=order, text=text):
                    if getattr(frame, "role", "assistant") == "assistant":
                        _check_text(text)
                    orders.append(order)
                case TurnEnded():
                    assert not live
                    assert not tools
                case _:
                    pass
        assert orders == sorted(set(orders)), "entries came in another order than they are sorted in"
        seqs = [seq for frame in self.frames if (seq := getattr(frame, "seq", 0))]
        assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))
        typing = self.of(Typing)
        assert not typing or not typing[-1].on, "typing stays on"


async def play(
    client: Client,
    gateway: Gateway,
    text: str,
    *,
    until: int = 1,
    then: Sequence[tuple[type[Any], Any]] = (),
    **fields: Any,
) -> Story:
    """Say something and watch until `until` turns have ended and typing is off.

    `then` are things to do in the middle: each a frame type to wait for and a coroutine function to call at that point.
    `fields` are those of `message.send`.
    """
    frames: list[ServerFrame] = []
    todo = list(then)

    async def watch() -> None:
        ended, typing, said = 0, False, False
        async for frame in client.frames():
            said = said or (isinstance(frame, Message) and frame.role == "user")
            if not said:
                continue
            frames.append(frame)
            ended += isinstance(frame, TurnEnded)
            typing = frame.on if isinstance(frame, Typing) else typing
            if todo and isinstance(frame, todo[0][0]):
                await todo.pop(0)[1]()
            if ended >= until and not typing:
                return

    watching = asyncio.create_task(watch())
    try:
        await client.request(MessageSend(**{"client_id": new_id(), "chat_id": CHAT, "text": text, **fields}))
        await within(TURN, watching, gateway)
    finally:
        watching.cancel()
    story = Story(frames)
    story.check()
    return story


def _line(frame: ServerFrame) -> tuple[Any, ...] | None:
    match frame:
        case Message(role="user", text=text):
            return ("user", text)
        case Message(role="notice"):
            return ("notice",)
        case Message(kind=kind, text=text):
            return (kind, text)
        case MessageStop(kind=kind, final_text=text):
            return (kind, text)
        case Commentary(text="", reasoning=reasoning):
            return ("reasoning", reasoning)
        case Commentary(text=text):
            return ("commentary", text)
        case TurnStarted():
            return ("turn.started",)
        case TurnEnded(outcome=outcome):
            return ("turn.ended", outcome)
        case ToolStart(index=index, name=name):
            return ("tool.start", index, name)
        case ToolEnd(index=index, state=state):
            return ("tool.end", index, state)
        case _:
            return None


def _check_text(text: str) -> None:
    assert "▉" not in text
    assert "<think" not in text
    assert "💭" not in text
    assert "gateway." not in text
