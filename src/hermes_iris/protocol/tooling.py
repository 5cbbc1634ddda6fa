"""Frames of tool calls: how they begin and end, how history tells them, and all of one."""

from typing import Annotated

from msgspec import Meta, field

from .base import Event, Frame, Reply, Request
from .types import ChatId, Order, Seconds, ThreadId, ToolArgs, ToolCallId, ToolOutput, ToolState, TurnId, UnixTime


class ToolStart(Event, frozen=True, kw_only=True, tag="tool.start"):
    """A tool call began."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    turn_id: TurnId
    index: Annotated[int, Meta(description="Counts from 1 within a turn.", ge=1)]
    tool_call_id: ToolCallId
    name: str
    preview: Annotated[str, Meta(description="One line that says what the call is about.")] = ""
    args: ToolArgs = field(default_factory=dict)
    truncated: Annotated[bool, Meta(description="Whether `args` were cut.")] = False
    ts: UnixTime
    order: Order


class ToolEnd(Event, frozen=True, kw_only=True, tag="tool.end"):
    """A tool call came to its end."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    turn_id: TurnId
    index: Annotated[int, Meta(description="That of its `tool.start`.", ge=1)]
    tool_call_id: ToolCallId
    name: str
    ok: bool
    state: ToolState
    duration: Seconds
    output_preview: ToolOutput = ""


class ToolCard(Frame, frozen=True, kw_only=True, tag="tool"):
    """A tool call as `history` tells it: `tool.start` and `tool.end` in one."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    turn_id: TurnId
    index: Annotated[int, Meta(description="Counts from 1 within a turn.", ge=1)]
    tool_call_id: ToolCallId
    name: str
    preview: Annotated[str, Meta(description="One line that says what the call is about.")] = ""
    args: ToolArgs = field(default_factory=dict)
    truncated: Annotated[bool, Meta(description="Whether `args` were cut.")] = False
    state: ToolState
    duration: Seconds = 0.0
    output_preview: ToolOutput = ""
    ts: UnixTime
    order: Order


class ToolData(Reply, frozen=True, kw_only=True, tag="tool.get"):
    """A tool call in full, as far as it is kept."""

    tool_call_id: ToolCallId
    args: Annotated[str, Meta(description="The arguments, JSON; cut where they are very long.")]
    output: Annotated[str, Meta(description="What the tool returned; of a very long text the last part.")]


class ToolGet(Request[ToolData], frozen=True, kw_only=True, tag="tool.get"):
    """Fetch all of a tool call: its frames carry no more than a preview."""

    tool_call_id: ToolCallId
