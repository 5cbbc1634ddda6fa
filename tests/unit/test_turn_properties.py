"""What holds for any calls of a host in any order: the frames of a turn are well formed."""

import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings, strategies as st
from turn_kit import LANE, Client, Play, Wait, processed

from hermes_iris.protocol import codec
from hermes_iris.protocol.frames import (
    Attachment,
    Commentary,
    Frame,
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
from hermes_iris.turns import Effect, ToolDetail, calls
from hermes_iris.turns.calls import Origin

SAID = ("", "Look.", "Look around.", "OK", "Done.", "<think>inward</think>\n\nDone.", "<thinking>inward without end")
"""What a model says; texts begin alike and repeat."""

SHOWN = (*SAID, "L", "Look ▉", "\n\nLook aro▉", "gateway.reasoning.block", "> 💭 Hm.\n\nDone.", "Done.\n\nfooter · 1%")
"""What the host makes of it."""

TERMINAL = {"ok", "error", "blocked", "cancelled"}

turn_ids = st.sampled_from(["h1", "h2"])
call_ids = st.sampled_from(["a", "b", "c"])
said = st.sampled_from(SAID)
shown = st.sampled_from(SHOWN)
outcomes = st.sampled_from(["success", "failure", "cancelled", "interrupted"])
results = st.sampled_from(["", "text", '{"output": "x", "exit_code": 1}', '{"error": "no"}', "[1]", '"x"'])
arguments = st.dictionaries(
    st.sampled_from(["command", "path", "calls"]), st.text(max_size=5) | st.integers(), max_size=2
)
edited_ids = st.integers(1, 6).map(lambda number: f"#{number}") | st.just("m_unknown")

FILE = Attachment(id="0" * 32, name="a.png", type="image/png", size=1, kind="image")

any_call: st.SearchStrategy[calls.Call] = st.one_of(
    st.builds(calls.Sent, shown, st.sampled_from(Origin)),
    st.builds(calls.Attached, st.just((FILE,)), said),
    st.builds(calls.Edited, edited_ids, shown, st.booleans()),
    st.builds(calls.TurnBegan, turn_ids),
    st.builds(
        calls.ModelReplied, turn_ids, said, st.booleans(), st.sampled_from(["", "Hm."]), st.just("m"), st.just(1)
    ),
    st.builds(calls.ModelFailed, turn_ids, st.just("no")),
    st.builds(calls.ToolBegan, turn_ids, call_ids, st.sampled_from(["terminal", "tool_call"]), arguments),
    st.builds(calls.ToolDone, turn_ids, call_ids, st.sampled_from(["ok", "error", "blocked"]), st.just(0.1), results),
    st.builds(calls.TurnReported, turn_ids, outcomes),
    st.builds(calls.TypingSet, st.booleans()),
    st.builds(calls.Processed, outcomes),
)
in_one_turn = any_call.filter(lambda call: not isinstance(call, calls.Processed | calls.TurnBegan))
any_script = st.lists(any_call | st.builds(Wait, st.sampled_from([1.0, 5.0])), max_size=40)
long_turns = st.lists(in_one_turn, max_size=30).map(lambda script: [calls.TurnBegan("h1"), *script])
scripts = any_script | long_turns
many = settings(max_examples=100)


@dataclass
class WellFormed:
    """Checks each frame against those before it."""

    turn: str | None = None
    turns: set[str] = field(default_factory=set)
    bubble: MessageStart | None = None
    tools: dict[str, ToolStart] = field(default_factory=dict)
    count: int = 0
    last_order: int = 0
    ids: set[str] = field(default_factory=set)
    typing: bool = False

    def see(self, frame: Effect) -> None:
        if isinstance(frame, ToolDetail):
            assert frame.tool_call_id in self.ids
            return
        assert codec.decode_server(codec.encode(frame)) == frame
        assert isinstance(frame, MessageUpdate) or (frame.chat_id, frame.thread_id) == LANE
        self._in_its_turn(frame)
        self._clean(frame)
        match frame:
            case TurnStarted():
                assert self.turn is None
                assert frame.turn_id not in self.turns, "a turn begins once"
                self.turn = frame.turn_id
                self.turns.add(frame.turn_id)
                self.count = 0
            case TurnEnded():
                assert self.bubble is None, "a bubble survived its turn"
                assert not self.tools, "a tool survived its turn"
                assert frame.error is None or frame.outcome == "failure"
                self.turn = None
            case MessageStart():
                assert self.bubble is None, "two bubbles are open"
                assert self.turn is not None
                self._first_sight(frame.message_id, frame.order)
                self.bubble = frame
            case MessageUpdate():
                assert self.bubble is not None
                assert self.bubble.message_id == frame.message_id
            case MessageStop():
                assert self.bubble is not None
                same = ("message_id", "order", "ts", "role", "turn_id")
                assert all(getattr(frame, name) == getattr(self.bubble, name) for name in same)
                assert (frame.kind == "partial") == (frame.state != "complete")
                self.bubble = None
            case Message() | Commentary():
                self._first_sight(frame.message_id, frame.order)
            case ToolStart():
                assert self.bubble is None, "text comes before the tool calls that it announces"
                self.count += 1
                assert frame.index == self.count
                self._first_sight(frame.tool_call_id, frame.order)
                self.tools[frame.tool_call_id] = frame
            case ToolEnd():
                start = self.tools.pop(frame.tool_call_id)
                assert (frame.index, frame.name) == (start.index, start.name)
                assert frame.state in TERMINAL
                assert frame.ok == (frame.state == "ok")
            case Typing():
                assert frame.on or self.typing, "it stops only what it began"
                assert frame.on == (frame.ttl > 0)
                self.typing = frame.on

    def _in_its_turn(self, frame: Frame) -> None:
        """Frames that name a turn name the one that runs."""
        turn_id = getattr(frame, "turn_id", self.turn)
        assert turn_id == self.turn or isinstance(frame, TurnStarted)

    def _first_sight(self, name: str, order: int) -> None:
        assert order > self.last_order
        assert name not in self.ids
        self.last_order = order
        self.ids.add(name)

    def _clean(self, frame: Frame) -> None:
        """No cursor and no thinking is in a text that a person reads."""
        text = getattr(frame, "text", None) or getattr(frame, "final_text", None) or ""
        assert "▉" not in text
        assert "think" not in text.lower()
        assert "inward" not in text
        assert text == text.strip("\n")


def watched(script: list[calls.Call | Wait]) -> tuple[Play, WellFormed]:
    played, watch = Play().run(script), WellFormed()
    for effect in played.effects:
        watch.see(effect)
    return played, watch


@many
@given(scripts)
def test_any_script_brings_forth_well_formed_frames(script: list[calls.Call | Wait]) -> None:
    played, watch = watched(script)
    turn = played.state.turn
    assert (turn.turn_id if turn else None) == watch.turn
    assert (turn.bubble.message_id if turn and turn.bubble else None) == (watch.bubble and watch.bubble.message_id)
    assert [tool.tool_call_id for tool in (turn.open_tools if turn else ())] == list(watch.tools)


@many
@given(scripts, outcomes)
def test_nothing_is_open_after_the_end(script: list[calls.Call | Wait], outcome: str) -> None:
    played, watch = watched([*script, calls.TurnBegan("h9"), calls.Processed(outcome)])  # type: ignore[arg-type]
    assert played.state.turn is None
    assert played.state.typing_since is None
    assert (watch.turn, watch.bubble, watch.tools, watch.typing) == (None, None, {}, False)


@many
@given(scripts)
def test_a_client_that_applies_the_frames_in_order_ends_with_nothing_live(script: list[calls.Call | Wait]) -> None:
    client = Client()
    for effect in Play().run([*script, calls.TurnBegan("h9"), processed()]).effects:
        client.apply(effect)
    assert client.idle


@many
@given(scripts)
def test_a_client_that_missed_every_ephemeral_frame_has_the_same_texts(script: list[calls.Call | Wait]) -> None:
    """A `message.stop` carries everything; what is stored is what was seen at the end."""
    saw_all, saw_stored = Client(), Client()
    for effect in Play().run([*script, processed()]).effects:
        saw_all.apply(effect)
        if not isinstance(effect, MessageStart | MessageUpdate | Typing):
            saw_stored.apply(effect)
    assert saw_stored.texts == saw_all.texts
    assert saw_stored.tools == saw_all.tools


@many
@given(scripts, st.integers(0, 40))
def test_a_state_is_a_value(script: list[calls.Call | Wait], cut: int) -> None:
    """A script played in two parts brings forth what it does in one."""
    whole = Play().run(script)
    parts = Play().run(script[:cut])
    kept = parts.state
    assert parts.run(script[cut:]).effects == whole.effects
    assert Play(state=kept).state == kept


@many
@given(scripts)
def test_the_end_of_a_turn_that_is_over_changes_nothing(script: list[calls.Call | Wait]) -> None:
    """At startup the host tells the end of a turn twice."""
    played = Play().run([*script, processed()])
    before = (played.state, len(played.effects))
    played.run([processed(), processed("failure")])
    assert (played.state, len(played.effects)) == before


anything = st.text(st.characters(exclude_categories=()), max_size=8)
"""Texts with half surrogate pairs too: models write them as JSON escapes, terminals as undecodable bytes."""


@given(
    st.dictionaries(anything, anything | st.lists(anything, max_size=2) | st.integers(), max_size=3),
    anything | anything.map(lambda text: json.dumps({"output": text})),
)
def test_whatever_goes_through_a_tool_can_travel_and_be_stored(args: dict[str, Any], result: str) -> None:
    began, done = calls.ToolBegan("h", "a", "t", args), calls.ToolDone("h", "a", "ok", 0.1, result)
    for effect in Play().run([calls.TurnBegan("h"), began, done]).effects:
        if isinstance(effect, ToolDetail):
            codec.encode(effect)
        else:
            assert codec.decode_server(codec.encode(effect)) == effect
