"""For tests of turns: calls of a host in short words, frames as short lines, and a client that applies frames."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from hermes_iris.address import Lane
from hermes_iris.moment import SPAN, Moment
from hermes_iris.protocol.frames import (
    Attachment,
    Commentary,
    Message,
    MessageStart,
    MessageStop,
    MessageUpdate,
    ToolEnd,
    ToolStart,
    TurnEnded,
    TurnStarted,
    Typing,
)
from hermes_iris.protocol.types import Outcome
from hermes_iris.turns import Effect, LaneState, ToolDetail, step
from hermes_iris.turns.calls import (
    Attached,
    Call,
    Edited,
    ModelFailed,
    ModelReplied,
    Origin,
    Processed,
    Sent,
    ToolBegan,
    ToolDone,
    TurnBegan,
    TurnReported,
    TypingSet,
)

LANE = Lane("android:chan_7", "t_31")


@dataclass(frozen=True)
class Wait:
    """Time passes without a call."""

    seconds: float


Script = list[Call | Wait]

Example = tuple[Script, list[str]]
"""The calls of a host, and the lines of the frames that come of them."""


def cases(tables: dict[str, dict[str, Example]]) -> list[Any]:
    """The examples of some tables, each with its name."""
    return [
        pytest.param(*example, id=f"{table}: {name}")
        for table, examples in tables.items()
        for name, example in examples.items()
    ]


# ---------------------------------------------------------------- the host's calls


def began(turn: str = "h1") -> Call:
    return TurnBegan(turn)


def preview(text: str) -> Call:
    return Sent(text, Origin.PREVIEW)


def segment(text: str) -> Call:
    return Sent(text, Origin.SEGMENT)


def answer(text: str) -> Call:
    return Sent(text, Origin.ANSWER)


def other(text: str) -> Call:
    return Sent(text)


def attached(name: str, text: str = "") -> Call:
    return Attached((Attachment(id="0" * 32, name=name, type="image/png", size=1, kind="image"),), text)


def edit(sent: int | str, text: str, *, last: bool = False) -> Call:
    """An edit of the `sent`-th text of the script, counted from 1, or of an id."""
    return Edited(f"#{sent}" if isinstance(sent, int) else sent, text, last)


def final(sent: int | str, text: str) -> Call:
    return edit(sent, text, last=True)


def says(text: str, think: str = "", *, turn: str = "h1", model: str | None = "mod", tokens: int = 10) -> Call:
    """The model's last reply."""
    return ModelReplied(turn, text, more=False, reasoning=think, model=model, tokens=tokens)


def asks(text: str, think: str = "", *, turn: str = "h1") -> Call:
    """A reply of the model that asks for a tool."""
    return ModelReplied(turn, text, more=True, reasoning=think, model="mod", tokens=10)


def fails(error: str, *, turn: str = "h1") -> Call:
    """A try of a model call that failed."""
    return ModelFailed(turn, error)


def tool(call: str, name: str = "terminal", *, turn: str = "h1", **args: Any) -> Call:
    return ToolBegan(turn, call, name, args)


def done(call: str, result: str = "", status: str = "ok", *, turn: str = "h1", duration: float = 0.25) -> Call:
    return ToolDone(turn, call, status, duration, result)


def reported(outcome: Outcome, turn: str = "h1") -> Call:
    return TurnReported(turn, outcome)


def typing(on: bool) -> Call:
    return TypingSet(on)


def processed(outcome: Outcome = "success") -> Call:
    return Processed(outcome)


# ---------------------------------------------------------------- playing a script


@dataclass
class Play:
    """A lane under a script; `lines` tells the frames, `effects` holds them."""

    state: LaneState = field(default_factory=lambda: LaneState(LANE))
    moment: Moment = field(default_factory=lambda: Moment(1_000_000, 1_000.0))
    effects: list[Effect] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)

    def run(self, script: Iterable[Call | Wait]) -> "Play":
        for call in script:
            if isinstance(call, Wait):
                self.moment = Moment(self.moment.order, self.moment.ts + call.seconds)
                continue
            self.moment = Moment(self.moment.order + SPAN, self.moment.ts + 0.125)
            if isinstance(call, Sent):
                self.sent.append(self.moment.name("m"))
            self.state, effects = step(self.state, self._with_ids(call), self.moment)
            self.effects += effects
        return self

    def _with_ids(self, call: Call) -> Call:
        if isinstance(call, Edited) and call.message_id.startswith("#"):
            place = int(call.message_id[1:]) - 1
            return replace(call, message_id=self.sent[place] if place < len(self.sent) else "m_unknown")
        return call

    @property
    def lines(self) -> list[str]:
        return [line for effect in self.effects if (line := self._line(effect))]

    def _name(self, message_id: str) -> str:
        """The id that the host knows a text by, as its number in the script."""
        return f"#{self.sent.index(message_id) + 1}" if message_id in self.sent else "own"

    def _line(self, effect: Effect) -> str:
        match effect:
            case TurnStarted():
                return "turn"
            case TurnEnded():
                return f"end {effect.outcome}" + (f": {effect.error}" if effect.error else "")
            case MessageStart():
                return f"start {self._name(effect.message_id)}"
            case MessageUpdate():
                return f"update {self._name(effect.message_id)} {effect.text!r}"
            case MessageStop():
                return f"stop {self._name(effect.message_id)} {effect.kind} {effect.final_text!r}{_details(effect)}"
            case Commentary():
                return f"comment {effect.text!r}{_details(effect)}"
            case Message():
                kind = effect.kind if effect.role == "assistant" else effect.role
                return f"message {kind} {effect.text!r}{_details(effect)}"
            case ToolStart():
                return f"tool {effect.index} {effect.name} {effect.preview}".rstrip()
            case ToolEnd():
                return f"tool {effect.index} is {effect.state}"
            case Typing():
                return f"typing {'on' if effect.on else 'off'}"
            case ToolDetail():
                return ""


def _details(frame: Message | MessageStop | Commentary) -> str:
    details = ""
    if not isinstance(frame, Commentary):
        details += "".join(f" with {file.name}" for file in getattr(frame, "attachments", ()))
        details += "" if frame.state == "complete" else f" {frame.state}"
        details += "" if frame.model is None else f" by {frame.model}/{frame.tokens}"
    return details + ("" if frame.reasoning is None else f" because {frame.reasoning!r}")


def play(*script: Call | Wait) -> list[str]:
    """The lines that a script brings forth."""
    return Play().run(script).lines


# ---------------------------------------------------------------- a client


@dataclass
class Client:
    """What a device makes of the frames of a lane: the plainest model that can show them."""

    texts: dict[str, str] = field(default_factory=dict)
    live: dict[str, str] = field(default_factory=dict)
    tools: dict[str, str] = field(default_factory=dict)
    turn: str | None = None
    typing: bool = False

    def apply(self, frame: Effect) -> None:
        match frame:
            case MessageStart():
                self.live[frame.message_id] = ""
            case MessageUpdate():
                assert frame.message_id in self.live
                self.live[frame.message_id] = frame.text
            case MessageStop():
                self.live.pop(frame.message_id, None)
                self.texts[frame.message_id] = frame.final_text
            case Message() | Commentary():
                self.texts[frame.message_id] = frame.text
            case ToolStart():
                self.tools[frame.tool_call_id] = "running"
            case ToolEnd():
                self.tools[frame.tool_call_id] = frame.state
            case TurnStarted():
                self.turn = frame.turn_id
            case TurnEnded():
                assert self.turn == frame.turn_id
                self.turn = None
            case Typing():
                self.typing = frame.on
            case ToolDetail():
                pass

    @property
    def idle(self) -> bool:
        """Whether nothing moves on the screen."""
        return not (self.live or self.turn or self.typing or "running" in self.tools.values())
