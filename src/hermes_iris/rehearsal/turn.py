"""Where a scenario stands in its turn, and the shapes that scenarios are made of; pure."""

from collections.abc import Callable
from typing import Any

import msgspec

from .host import CJK, ToolResult, fence
from .wire import HUMAN, Call, Failure, Pace, Reply


class Turn(msgspec.Struct, frozen=True):
    """What a scenario may look at."""

    said: str
    """The words of the person alone."""

    heard: str
    """The whole last user message, with what the host added."""

    rounds: int = 0
    """Tool rounds since the person spoke."""

    results: list[ToolResult] = []
    """What the tools of those rounds returned, oldest first."""

    everything: list[str] = []
    """Every user message of the conversation."""

    given: list[str] = []
    """Every line that the model was sent, instructions and own answers too, oldest first."""

    tools: dict[str, dict[str, Any]] = {}
    """The offered tools: name to JSON schema of the arguments."""

    picture: bool = False
    """The last user message came with an image."""

    @property
    def in_chinese(self) -> bool:
        """Whether the person writes Chinese."""
        return bool(CJK.search(self.said))

    def takes(self, tool: str, argument: str) -> bool:
        """Whether an offered tool has that argument."""
        return argument in self.tools.get(tool, {}).get("properties", {})


class Step(msgspec.Struct, frozen=True):
    """One tool round: what is said before the calls, and the calls."""

    text: str
    calls: tuple[Call, ...]
    reasoning: str = ""


class Scenario(msgspec.Struct, frozen=True):
    """Something that can be asked for."""

    name: str
    about: str
    """One line for the menu."""

    play: Callable[[Turn], Reply | Failure]
    chip: str = ""
    """The suggestion of the app that asks for it."""

    words: tuple[str, ...] = ()
    """What people say in a short message when they mean it; lower case."""


def steps(turn: Turn, plan: tuple[Step, ...], last: Callable[[Turn], Reply], pace: Pace = HUMAN) -> Reply:
    """The tool round that is due, or what is said after the last one."""
    if turn.rounds >= len(plan):
        return last(turn)
    step = plan[turn.rounds]
    return Reply(step.text, step.reasoning, step.calls, pace)


def shell(command: str, **more: object) -> Call:
    """A call of the terminal tool."""
    return Call("terminal", {"command": command, **more})


def quoted(result: ToolResult, lines: int = 8) -> str:
    """A tool result as it came back, or that there was nothing in it."""
    return fence(result.text, lines) if result.text else "*(no output)*"


def outcome(turn: Turn) -> ToolResult:
    """The newest tool result; an empty one if the host lost it."""
    return turn.results[-1] if turn.results else ToolResult("")
