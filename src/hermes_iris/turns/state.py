"""What is known of a lane between two calls of the host, and what may come of a call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..address import Lane
from ..moment import Moment
from ..protocol.frames import (
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
from ..protocol.types import Outcome


@dataclass(frozen=True, slots=True)
class ToolDetail:
    """What is kept of a tool call beyond its frames; `None` leaves what is there."""

    tool_call_id: str
    args: Mapping[str, Any] | None = None
    output: str | None = None


Effect = (
    Message
    | MessageStart
    | MessageUpdate
    | MessageStop
    | Commentary
    | ToolStart
    | ToolEnd
    | TurnStarted
    | TurnEnded
    | Typing
    | ToolDetail
)


@dataclass(frozen=True, slots=True)
class Reply:
    """Something the model said that the person has not been shown as a whole."""

    text: str
    more: bool
    reasoning: str


@dataclass(frozen=True, slots=True)
class Bubble:
    """The open preview of a segment."""

    message_id: str
    born: Moment
    text: str


@dataclass(frozen=True, slots=True)
class Shadow:
    """A preview of a text that a tool call has already settled: nothing to show, unless it turns out to be another."""

    message_id: str
    text: str


@dataclass(frozen=True, slots=True)
class OpenTool:
    """A tool call without its end."""

    host_call: str
    tool_call_id: str
    index: int
    name: str
    since: float


@dataclass(frozen=True, slots=True)
class Turn:
    """The turn that is running."""

    turn_id: str
    host_turn: str
    bubble: Bubble | None = None
    replies: tuple[Reply, ...] = ()
    shadow: Shadow | None = None
    shown: tuple[str, ...] = ()
    """Every whole text that was shown."""

    ahead: tuple[str, ...] = ()
    """Those of them that were shown before the host began to deliver them."""

    answered: bool = False
    open_tools: tuple[OpenTool, ...] = ()
    tool_count: int = 0
    model: str | None = None
    tokens: int = 0
    outcome: Outcome | None = None
    error: str | None = None
    """Why the last model call failed, if it did."""

    @property
    def said(self) -> Reply:
        """What waits to be shown, as one: a model that was asked to go on says one text in several replies."""
        return Reply(
            text="\n\n".join(reply.text for reply in self.replies if reply.text),
            more=bool(self.replies) and self.replies[-1].more,
            reasoning="\n\n".join(reply.reasoning for reply in self.replies if reply.reasoning),
        )


@dataclass(frozen=True, slots=True)
class LaneState:
    """All that the mapper knows of a lane."""

    lane: Lane
    turn: Turn | None = None
    typing_since: float | None = None
