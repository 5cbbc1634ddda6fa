"""What the host's calls mean: `step(state, call, moment) -> (state, effects)` for one lane. Pure.

The model's replies (hook `post_api_request`) say what is said; bubbles (`send`, `edit_message`) are the host's previews
and deliveries of them. `docs/turns.md` has the table of states.

Invariants, for any sequence of calls:

- at most one bubble is open, and only inside a turn;
- text comes before the tool calls that it announces: a tool call first settles what the model has said;
- a closed bubble is never touched again, a text is never shown twice for one reply;
- when a turn ends, its bubble is closed, its tools have a terminal state, and typing is off.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, assert_never

from .. import reasoning, tools
from ..moment import Moment
from ..protocol.frames import (
    Attachment,
    MessageUpdate,
    ToolEnd,
    TurnEnded,
    TurnStarted,
    Typing,
)
from ..protocol.types import MessageKind, MessageState, Outcome, Role, Seconds, ToolState
from . import frames
from .calls import (
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
from .state import Bubble, Effect, LaneState, OpenTool, Reply, Shadow, ToolDetail, Turn

TYPING_TTL: Seconds = 8.0


def step(state: LaneState, call: Call, moment: Moment) -> tuple[LaneState, list[Effect]]:
    """Apply one call of the host at its moment. Total: any call is legal in any state."""
    work = _Step(state, moment)
    turn = state.turn
    match call:
        case TurnBegan(host_turn=host_turn):
            work.begin(host_turn)
        case Sent():
            work.sent(call)
        case Attached(attachments=attachments, text=text):
            work.attached(attachments, text)
        case TypingSet(on=on):
            work.typing(on)
        case Processed(outcome=outcome):
            if turn:
                work.end(turn.outcome or outcome if outcome == "success" else outcome)
        case Edited():
            if turn:
                work.edited(turn, call)
        case ModelReplied() | ModelFailed() | ToolBegan() | ToolDone() | TurnReported():
            if turn and turn.host_turn == call.host_turn:
                work.hooked(turn, call)
        case _:
            assert_never(call)
    return work.state, work.out


class _Step:
    """One step under construction: the state so far and what came of it."""

    def __init__(self, state: LaneState, moment: Moment) -> None:
        self.state = state
        self.out: list[Effect] = []
        self._moment = moment
        self._places = 0

    # -- turns

    def begin(self, host_turn: str) -> None:
        if self.state.turn:
            if self.state.turn.host_turn == host_turn:
                return
            self._end_turn(self.state.turn.outcome or "interrupted")
        turn = Turn(turn_id=self._moment.name("turn"), host_turn=host_turn)
        self.state = replace(self.state, turn=turn)
        self.out.append(TurnStarted(**self._lane, turn_id=turn.turn_id, ts=self._moment.ts))

    def end(self, outcome: Outcome) -> None:
        self._end_turn(outcome)
        self.typing(False)

    def _end_turn(self, outcome: Outcome) -> None:
        turn = self._turn
        if outcome == "success" and turn.error is not None:
            outcome = "failure"  # the host reports its own error message as an answer
        self._abandon("error" if outcome == "failure" else "aborted")
        for tool in turn.open_tools:
            self.out.append(self._tool_end(tool, "cancelled", max(0.0, self._moment.ts - tool.since), ""))
        error = turn.error if outcome == "failure" else None
        self.out.append(TurnEnded(**self._lane, turn_id=turn.turn_id, outcome=outcome, error=error, ts=self._moment.ts))
        self.state = replace(self.state, turn=None)

    def hooked(self, turn: Turn, call: ModelReplied | ModelFailed | ToolBegan | ToolDone | TurnReported) -> None:
        match call:
            case ModelReplied():
                text, inline = reasoning.split(call.text)
                thought = call.reasoning.strip() or inline
                reply = (Reply(text, call.more, thought),) if text or thought else ()
                self._set(
                    replies=turn.replies + reply,
                    model=call.model or turn.model,
                    tokens=turn.tokens + call.tokens,
                    error=None,
                )
            case ModelFailed(error=error):
                self._set(error=error)
            case ToolBegan():
                self.settle()
                self._tool_began(call)
            case ToolDone():
                self._tool_done(call)
            case TurnReported(outcome=outcome):
                self._set(outcome=outcome)
            case _:
                assert_never(call)

    # -- text

    def sent(self, call: Sent) -> None:
        turn = self.state.turn
        if call.origin in (Origin.PROGRESS, Origin.OWN_COMMAND):
            pass
        elif turn is None:
            self._message("notice", reasoning.clean(call.text))
        elif call.origin is Origin.PREVIEW:
            self._preview(turn, self._moment.name("m"), reasoning.preview(call.text))
        else:
            self._deliver(turn, call)

    def attached(self, attachments: Sequence[Attachment], text: str) -> None:
        self.out.append(
            frames.attached(self.state.lane, self.state.turn, self._place(), attachments, reasoning.clean(text))
        )

    def edited(self, turn: Turn, call: Edited) -> None:
        text = (reasoning.clean if call.final else reasoning.preview)(call.text)
        if turn.shadow and turn.shadow.message_id == call.message_id:
            if not reasoning.begins(text, turn.shadow.text):
                self._preview(turn, call.message_id, text)
                turn = self._turn
            if turn.shadow:
                if call.final and turn.replies and reasoning.same(text, turn.said.text):
                    # The host may have left the settled one out; equal texts are interchangeable.
                    self._show_ahead(turn.said)
                return
        bubble = turn.bubble
        if bubble is None or bubble.message_id != call.message_id:
            return
        if not call.final:
            if text != bubble.text:
                self._set(bubble=replace(bubble, text=text))
                self.out.append(MessageUpdate(message_id=bubble.message_id, text=text))
        elif turn.replies:
            self._close_with_replies(bubble, call.text)
        else:
            self._close(bubble, text, "partial", "aborted")

    def settle(self) -> None:
        """Show all that the model has said, since a tool call comes after it."""
        turn = self._turn
        said = replace(turn.said, more=True)
        if turn.bubble:
            self._set(replies=())
            self._close(turn.bubble, said.text or turn.bubble.text, "commentary", reasoned=said.reasoning)
        elif turn.replies:
            self._show_ahead(said)

    def _show_ahead(self, said: Reply) -> None:
        """Show what the host has yet to deliver."""
        self._show(said)
        if said.text:
            self._set(ahead=(*self._turn.ahead, said.text))

    def _preview(self, turn: Turn, message_id: str, text: str) -> None:
        settled = next((place for place, shown in enumerate(turn.ahead) if reasoning.begins(text, shown)), None)
        if settled is None:
            self._open(message_id, text)
        else:
            self._set(shadow=Shadow(message_id, turn.ahead[settled]), ahead=_without(turn.ahead, settled))

    def _open(self, message_id: str, text: str) -> None:
        self._abandon("aborted")
        born = self._place()
        bubble = Bubble(message_id, born, text)
        self._set(bubble=bubble, shadow=None)
        self.out += frames.opening(self.state.lane, self._turn, bubble)

    def _deliver(self, turn: Turn, call: Sent) -> None:
        """A whole text inside a turn: the delivery of what the model said, or a notice."""
        whole, text = reasoning.bare(call.text), reasoning.clean(call.text)
        said = turn.said
        expected = call.origin is Origin.SEGMENT or (call.origin is Origin.ANSWER and not turn.answered)
        settled = next((place for place, shown in enumerate(turn.ahead) if reasoning.same(whole, shown)), None)
        if settled is not None:
            self._set(ahead=_without(turn.ahead, settled))
        if turn.replies and reasoning.same(whole, said.text):
            # Equal texts are interchangeable: was this the settled one, then the reply's own delivery is yet to come.
            (self._show if settled is None else self._show_ahead)(said)
        elif any(reasoning.same(whole, shown) for shown in turn.shown):
            pass
        elif said.text and expected:
            self._show(replace(said, text=reasoning.delivered(call.text, said.text)))
        elif call.origin is Origin.SEGMENT:
            self._message("assistant", text, kind="partial", state="aborted")
        else:
            self._set(shown=(*turn.shown, text))
            self._message("notice", text)

    def _show(self, said: Reply) -> None:
        """Show all that the model has said, in the open bubble if there is one."""
        turn = self._turn
        if turn.bubble:
            self._close_with_replies(turn.bubble, said.text)
            return
        self._set(
            replies=(),
            shown=(*turn.shown, said.text) if said.text else turn.shown,
            answered=turn.answered or not said.more,
        )
        if said.more:
            self._comment(said)
        else:
            self._message("assistant", said.text, said.reasoning or None)

    def _abandon(self, state: MessageState) -> None:
        """Close the open bubble, if there is one, although the host has not finished it."""
        turn = self._turn
        if turn.bubble and turn.replies:
            said = turn.said.text
            self._close_with_replies(
                turn.bubble, said if reasoning.begins(turn.bubble.text, said) else turn.bubble.text
            )
        elif turn.bubble:
            self._close(turn.bubble, turn.bubble.text, "partial", state)

    def _close_with_replies(self, bubble: Bubble, host_text: str) -> None:
        said = self._turn.said
        self._set(replies=(), answered=self._turn.answered or not said.more)
        text = reasoning.delivered(host_text, said.text)
        self._close(bubble, text, "commentary" if said.more else "final", reasoned=said.reasoning)

    def _close(
        self, bubble: Bubble, text: str, kind: MessageKind, state: MessageState = "complete", reasoned: str = ""
    ) -> None:
        turn = self._turn
        self._set(bubble=None, shown=(*turn.shown, text) if text else turn.shown)
        self.out.append(frames.stop(self.state.lane, turn, bubble, text, kind, state, reasoned or None))

    def _comment(self, said: Reply) -> None:
        self.out.append(frames.comment(self.state.lane, self._turn, said, self._place()))

    def _message(
        self,
        role: Role,
        text: str,
        reasoned: str | None = None,
        kind: MessageKind = "final",
        state: MessageState = "complete",
    ) -> None:
        turn, place = self.state.turn, self._place()
        self.out.append(frames.message(self.state.lane, turn, place, role, text, reasoned, kind, state))

    # -- tools

    def _tool_began(self, call: ToolBegan) -> None:
        turn = self._turn
        if any(tool.host_call == call.host_call for tool in turn.open_tools):
            return
        name, args = tools.unwrap(call.name, call.args)
        place = self._place()
        tool = OpenTool(call.host_call, place.name("tool"), turn.tool_count + 1, name, place.ts)
        self._set(open_tools=(*turn.open_tools, tool), tool_count=tool.index)
        travelling, truncated = tools.capped(args)
        self.out += [
            frames.tool_start(self.state.lane, turn, tool, place, tools.preview(args), travelling, truncated),
            ToolDetail(tool.tool_call_id, args=args),
        ]

    def _tool_done(self, call: ToolDone) -> None:
        turn = self._turn
        for tool in turn.open_tools:
            if tool.host_call == call.host_call:
                self._set(open_tools=tuple(other for other in turn.open_tools if other is not tool))
                state = tools.outcome(call.status, call.result)
                self.out += [
                    self._tool_end(tool, state, call.duration, tools.output_preview(call.result)),
                    ToolDetail(tool.tool_call_id, output=tools.output(call.result)),
                ]

    def _tool_end(self, tool: OpenTool, state: ToolState, duration: Seconds, output: str) -> ToolEnd:
        return frames.tool_end(self.state.lane, self._turn, tool, state, duration, output)

    # -- typing

    def typing(self, on: bool) -> None:
        """The host says "typing" every two seconds and "stopped" in the middle of turns; devices hear less."""
        since, now = self.state.typing_since, self._moment.ts
        if on and (since is None or not 0 <= now - since < TYPING_TTL / 2):
            self.state = replace(self.state, typing_since=now)
            self.out.append(Typing(**self._lane, on=True, ttl=TYPING_TTL))
        elif not on and since is not None and self.state.turn is None:
            self.state = replace(self.state, typing_since=None)
            self.out.append(Typing(**self._lane, on=False))

    # -- parts

    @property
    def _turn(self) -> Turn:
        turn = self.state.turn
        assert turn is not None  # noqa: S101 - every caller is inside a turn
        return turn

    @property
    def _lane(self) -> dict[str, Any]:
        return {"chat_id": self.state.lane.chat_id, "thread_id": self.state.lane.thread_id}

    def _set(self, **changes: Any) -> None:
        self.state = replace(self.state, turn=replace(self._turn, **changes))

    def _place(self) -> Moment:
        place = self._moment.at(self._places)
        self._places += 1
        return place


def _without(texts: tuple[str, ...], place: int) -> tuple[str, ...]:
    return texts[:place] + texts[place + 1 :]
