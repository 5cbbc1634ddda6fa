"""What a client makes of frames: each applied once, what has ended stays ended, what is counted as unread."""

from typing import Any

import msgspec
import pytest

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.protocol.frames import (
    Channel,
    ChannelRenamed,
    Commentary,
    Event,
    HelloAck,
    HistoryPage,
    LaneStatus,
    Message,
    MessageHidden,
    MessageShown,
    MessageStart,
    MessageStop,
    MessageUpdate,
    Pong,
    Position,
    Question,
    ReadMarked,
    RequestCard,
    RequestClosed,
    RequestOpened,
    RoomState,
    ToolCard,
    ToolEnd,
    ToolStart,
    TurnEnded,
    TurnStarted,
    TurnSummary,
    Typing,
)
from hermes_iris.reducer import Bubble, Gap, State, apply, entries_of, id_of
from support import ack, texts

CHAT = DEFAULT_LANE.chat_id
HERE: dict[str, Any] = {"chat_id": CHAT, "ts": 1.0}
TURN: dict[str, Any] = {**HERE, "turn_id": "turn_1"}
TOOL: dict[str, Any] = {**TURN, "index": 1, "tool_call_id": "tc_1", "name": "terminal", "order": 3}
ASKED = Question(kind="question", title="Which?")
CARD: dict[str, Any] = {**HERE, "request_id": "r_1", "question": ASKED, "order": 9}
START = MessageStart(**TURN, message_id="m_1", role="assistant", order=5)
STOP = MessageStop(**TURN, message_id="m_1", role="assistant", kind="final", final_text="All of it.", order=5)


def greeting(mode: str = "reset", seq: int = 0, epoch: str = "e", **more: Any) -> HelloAck:
    told = msgspec.convert(ack(Position(epoch=epoch, seq=seq), mode), HelloAck)
    return msgspec.structs.replace(told, **more)


def after(*frames: Any, first: HelloAck | None = None) -> State:
    """A state after these frames; events are numbered as they come."""
    state, seq = State(), 0
    apply(state, first or greeting())
    for frame in frames:
        if isinstance(frame, Event):
            seq += 1
            frame = msgspec.structs.replace(frame, seq=seq)
        apply(state, frame)
    return state


def said(name: str, order: int, **more: Any) -> Message:
    return Message(**{**HERE, "message_id": name, "role": "assistant", "text": name, "order": order, **more})


def page(*entries: Any, **more: Any) -> HistoryPage:
    return HistoryPage(client_id="12345678", chat_id=CHAT, entries=list(entries), has_more=False, **more)


def test_a_text_grows_and_is_replaced_by_the_whole_of_it() -> None:
    update = MessageUpdate(message_id="m_1", text="All")
    state = after(START, update, MessageUpdate(message_id="m_1", offset=3, append=" of"))
    assert state.entries["m_1"] == Bubble("m_1", CHAT, None, "assistant", "turn_1", 1.0, 5, "All of")
    apply(state, MessageUpdate(message_id="m_1", offset=99, append="what does not fit"))
    apply(state, START)
    assert texts(state) == ["All of"]
    apply(state, msgspec.structs.replace(STOP, seq=1))
    apply(state, START)
    apply(state, update)
    assert texts(state) == ["All of it."]
    assert isinstance(state.entries["m_1"], Message)


def test_an_event_is_applied_once_and_in_its_turn() -> None:
    state = after(said("m_1", 1), said("m_2", 2))
    apply(state, said("m_2", 2, seq=2, text="again"))
    apply(state, page(said("m_1", 1)))
    assert texts(state) == ["m_1", "m_2"]
    assert state.unread == {DEFAULT_LANE: 2}
    with pytest.raises(Gap, match="4 came after 2"):
        apply(state, said("m_4", 4, seq=4))
    with pytest.raises(Gap, match="before the greeting"):
        apply(State(), said("m_1", 1, seq=1))


def test_a_connection_that_goes_on_keeps_what_is_known_but_not_what_is_told_anew() -> None:
    state = after(said("m_0", 1), START, Typing(chat_id=CHAT, on=True), RoomState(chat_id=CHAT, link="joined"))
    assert (state.typing, set(state.rooms)) == ({DEFAULT_LANE}, {CHAT})
    apply(state, greeting("resumed", 1, requests=[RequestCard(**CARD)]))
    assert (state.typing, state.rooms, list(state.entries)) == (set(), {}, ["m_0", "r_1"])
    with pytest.raises(Gap, match="epoch"):
        apply(state, greeting("resumed", 1, "another"))
    apply(state, greeting("reset", 7, "another"))
    assert (state.entries, state.position) == ({}, Position(epoch="another", seq=7))


def test_typing_ends() -> None:
    assert after(Typing(chat_id=CHAT, on=True), Typing(chat_id=CHAT, on=False)).typing == set()


def test_a_greeting_tells_directory_marks_and_turns() -> None:
    entry = Channel(chat_id=CHAT, name="Default", kind="default", created=0.0)
    lanes = [LaneStatus(chat_id=CHAT, turn_id="turn_1", read=4, unread=2), LaneStatus(chat_id="android:chan_1")]
    state = after(first=greeting(directory=[entry], lanes=lanes))
    assert (state.directory, state.read) == ({DEFAULT_LANE: entry}, {DEFAULT_LANE: 4})
    assert (state.unread, state.turns) == ({DEFAULT_LANE: 2}, {DEFAULT_LANE: "turn_1"})


def test_a_changed_entry_of_the_directory_takes_the_place_of_the_old_one() -> None:
    entry = Channel(chat_id=CHAT, thread_id="t_1", name="New", kind="thread", created=0.0)
    assert after(ChannelRenamed(channel=entry)).directory == {Lane(CHAT, "t_1"): entry}


def test_a_tool_call_that_has_ended_never_runs_again() -> None:
    end = ToolEnd(**{k: v for k, v in TOOL.items() if k not in ("ts", "order")}, ok=True, state="ok", duration=2.0)
    state = after(ToolStart(**TOOL, preview="ls"), msgspec.structs.replace(end, output_preview="a b"))
    card = ToolCard(**TOOL, preview="ls", state="ok", duration=2.0, output_preview="a b")
    assert state.entries == {"tc_1": card}
    apply(state, page(ToolCard(**TOOL, state="running")))
    assert state.entries == {"tc_1": card}
    assert after(end).entries == {}, "a call that was never seen to begin"
    assert after(page(card)).entries == {"tc_1": card}


def test_a_request_that_was_closed_stays_closed() -> None:
    closed = RequestClosed(**HERE, request_id="r_1", outcome="answered", answer="This", by_name="Phone")
    state = after(RequestOpened(**CARD), closed, page(RequestCard(**CARD)))
    assert state.entries == {"r_1": RequestCard(**CARD, outcome="answered", answer="This", by_name="Phone")}
    assert after(page(*state.entries.values()), RequestOpened(**CARD)).entries == state.entries
    assert after(closed).entries == {}


def test_a_remark_is_a_message() -> None:
    state = after(Commentary(**TURN, message_id="m_1", text="Let me look.", order=2))
    assert state.entries["m_1"] == said("m_1", 2, turn_id="turn_1", text="Let me look.", kind="commentary")
    assert state.unread == {}


def test_entries_come_in_their_order() -> None:
    state = after(page(said("m_2", 20), said("m_1", 10)), said("m_3", 5, thread_id="t_1"))
    assert [id_of(entry) for entry in entries_of(state, DEFAULT_LANE)] == ["m_1", "m_2"]


def test_a_turn_runs_and_how_it_ended_is_kept() -> None:
    state = after(TurnStarted(**TURN))
    assert state.turns == {DEFAULT_LANE: "turn_1"}
    ended = TurnEnded(chat_id=CHAT, turn_id="turn_1", outcome="failure", error="no model", ts=4.0)
    apply(state, msgspec.structs.replace(ended, seq=2))
    summary = TurnSummary(turn_id="turn_1", started=1.0, ended=4.0, outcome="failure", error="no model")
    assert (state.turns, state.ended) == ({}, {"turn_1": summary})
    apply(state, page(turns=[TurnSummary(turn_id="turn_1", started=0.0, ended=0.0, outcome="success")]))
    assert state.ended == {"turn_1": summary}, "what was seen is known better"
    late = after(ended, first=greeting(lanes=[LaneStatus(chat_id=CHAT, turn_id="turn_2")]))
    assert (late.turns, late.ended["turn_1"].started) == ({DEFAULT_LANE: "turn_2"}, 4.0)


def test_answers_and_reports_are_unread_until_they_are_marked() -> None:
    old = page(said("m_old", 1))
    state = after(old, STOP, said("m_2", 6, role="cron"), said("m_3", 7, role="user"), said("m_4", 8, role="notice"))
    assert state.unread == {DEFAULT_LANE: 2}
    for seq, order, told, left in ((5, 5, 3, {DEFAULT_LANE: 3}), (6, 4, 9, {DEFAULT_LANE: 3}), (7, 8, 0, {})):
        apply(state, ReadMarked(chat_id=CHAT, order=order, unread=told, seq=seq))
        assert state.unread == left
    assert state.read == {DEFAULT_LANE: 8}
    assert after(ReadMarked(chat_id=CHAT, order=5, unread=0), STOP).unread == {}


def test_what_a_client_has_no_use_for_changes_nothing() -> None:
    state = after()
    apply(state, MessageUpdate(message_id="m_1", text="of a bubble that is not known"))
    apply(state, Pong())
    assert state.entries == {}
    with pytest.raises(AssertionError, match="unknown"):
        apply(state, Event(seq=1))


def test_a_hidden_message_is_gone_and_not_unread_until_it_is_shown_again() -> None:
    state = after(START, STOP)
    assert (texts(state), state.unread) == (["All of it."], {DEFAULT_LANE: 1})
    hidden = MessageHidden(message_id="m_1", chat_id=CHAT)
    state = after(START, STOP, hidden, hidden)
    assert (texts(state), state.unread) == ([], {})
    back = MessageShown(message=Message(**TURN, message_id="m_1", role="assistant", text="All of it.", order=5))
    state = after(START, STOP, hidden, back, back)
    assert (texts(state), state.unread) == (["All of it."], {DEFAULT_LANE: 1})
