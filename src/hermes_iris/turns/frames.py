"""The frames of a turn, built from its state; what they say is decided in `step.py`."""

from collections.abc import Sequence

from ..address import Lane
from ..moment import Moment
from ..protocol.frames import (
    Attachment,
    Commentary,
    Message,
    MessageStart,
    MessageStop,
    MessageUpdate,
    ToolEnd,
    ToolStart,
)
from ..protocol.types import MessageKind, MessageState, Role, Seconds, ToolArgs, ToolState
from .state import Bubble, OpenTool, Reply, Turn


def opening(lane: Lane, turn: Turn, bubble: Bubble) -> tuple[MessageStart, MessageUpdate]:
    """A bubble begins to stream."""
    start = MessageStart(
        chat_id=lane.chat_id,
        thread_id=lane.thread_id,
        message_id=bubble.message_id,
        role="assistant",
        turn_id=turn.turn_id,
        ts=bubble.born.ts,
        order=bubble.born.order,
    )
    return start, MessageUpdate(message_id=bubble.message_id, text=bubble.text)


def stop(
    lane: Lane, turn: Turn, bubble: Bubble, text: str, kind: MessageKind, state: MessageState, reasoned: str | None
) -> MessageStop:
    """A bubble is complete; model and tokens stand under answers only."""
    return MessageStop(
        chat_id=lane.chat_id,
        thread_id=lane.thread_id,
        message_id=bubble.message_id,
        role="assistant",
        turn_id=turn.turn_id,
        final_text=text,
        kind=kind,
        state=state,
        reasoning=reasoned,
        model=turn.model if kind == "final" else None,
        tokens=turn.tokens or None if kind == "final" else None,
        ts=bubble.born.ts,
        order=bubble.born.order,
    )


def comment(lane: Lane, turn: Turn, said: Reply, place: Moment) -> Commentary:
    """A remark that was not streamed."""
    return Commentary(
        chat_id=lane.chat_id,
        thread_id=lane.thread_id,
        message_id=place.name("m"),
        turn_id=turn.turn_id,
        text=said.text,
        reasoning=said.reasoning or None,
        ts=place.ts,
        order=place.order,
    )


def message(
    lane: Lane,
    turn: Turn | None,
    place: Moment,
    role: Role,
    text: str,
    reasoned: str | None,
    kind: MessageKind,
    state: MessageState,
) -> Message:
    """A whole message, in a turn or outside of one."""
    answer = turn if role == "assistant" and kind == "final" else None
    return Message(
        chat_id=lane.chat_id,
        thread_id=lane.thread_id,
        message_id=place.name("m"),
        role=role,
        text=text,
        kind=kind,
        state=state,
        reasoning=reasoned,
        model=answer.model if answer else None,
        tokens=answer.tokens or None if answer else None,
        turn_id=turn.turn_id if turn else None,
        ts=place.ts,
        order=place.order,
    )


def attached(lane: Lane, turn: Turn | None, place: Moment, attachments: Sequence[Attachment], text: str) -> Message:
    """Files of the agent; model and tokens stand under its answer."""
    return Message(
        chat_id=lane.chat_id,
        thread_id=lane.thread_id,
        message_id=place.name("m"),
        role="assistant",
        text=text,
        attachments=list(attachments),
        turn_id=turn.turn_id if turn else None,
        ts=place.ts,
        order=place.order,
    )


def tool_start(
    lane: Lane, turn: Turn, tool: OpenTool, place: Moment, preview: str, args: ToolArgs, truncated: bool
) -> ToolStart:
    """A tool call began."""
    return ToolStart(
        chat_id=lane.chat_id,
        thread_id=lane.thread_id,
        turn_id=turn.turn_id,
        index=tool.index,
        tool_call_id=tool.tool_call_id,
        name=tool.name,
        preview=preview,
        args=args,
        truncated=truncated,
        ts=place.ts,
        order=place.order,
    )


def tool_end(lane: Lane, turn: Turn, tool: OpenTool, state: ToolState, duration: Seconds, output: str) -> ToolEnd:
    """A tool call came to its end."""
    return ToolEnd(
        chat_id=lane.chat_id,
        thread_id=lane.thread_id,
        turn_id=turn.turn_id,
        index=tool.index,
        tool_call_id=tool.tool_call_id,
        name=tool.name,
        ok=state == "ok",
        state=state,
        duration=round(duration, 3),
        output_preview=output,
    )
