"""What the app is shown of a room."""

from typing import Any, get_args

import pytest

from hermes_iris.meeting import shown
from hermes_iris.meeting.floor import Floor
from hermes_iris.meeting.said import Said, Sender, SenderKind
from hermes_iris.meeting.shown import Post
from hermes_iris.meeting.signals import Lease, Resume, Revoke, Rule, Signal, Stop, Tripped
from hermes_iris.meeting.state import Phase, Reason, RoomState as Standing
from hermes_iris.moment import Moment
from hermes_iris.protocol import codec
from hermes_iris.protocol.frames import Member
from hermes_iris.protocol.types import MAX_TEXT, RoomFailure, SpeakerKind

ROOM = "core@rooms.example.org"
LIN = Sender("lin@example.org", "Lin", SenderKind.PERSON, own=True)
MOHE = Sender("mohe@example.org", "mohe", SenderKind.AGENT, own=False)
MOMENT = Moment(64, 9.0)


def said(sender: Sender, **more: Any) -> Said:
    told = {"archive_id": "a1", "origin_id": "o1", "text": "Hello", "ts": 5.0, "hop": 0, "notice": False}
    return Said(room=ROOM, sender=sender, **{"reply_to": "", "late": False, **told, **more})


def test_a_word_of_another_is_an_answer_with_its_sender_in_the_archives_time_and_order() -> None:
    message = shown.message(said(MOHE), MOMENT, None)
    assert (message.role, message.text, message.ts, message.order) == ("assistant", "Hello", 5.0, 64)
    assert message.sender is not None
    assert (message.sender.name, message.sender.kind, message.sender.own) == ("mohe", "agent", False)
    assert message.chat_id == shown.lane_of(ROOM).chat_id


def test_an_own_word_has_the_id_that_was_told_before_the_room_had_it() -> None:
    message = shown.message(said(LIN, origin_id="client-1"), MOMENT, "client-1")
    assert (message.role, message.client_id, message.message_id) == ("user", "client-1", shown.own_id("client-1"))
    assert message.sender is not None
    assert message.sender.own


def test_ids_come_from_the_archive_and_nobody_can_take_anothers_by_its_origin_id() -> None:
    one = shown.message(said(MOHE), MOMENT, None).message_id
    assert shown.message(said(MOHE, origin_id="other", text="x"), Moment(128, 1.0), None).message_id == one
    assert shown.message(said(MOHE, archive_id="a2"), MOMENT, None).message_id != one
    own = shown.message(said(LIN), MOMENT, None).message_id
    assert shown.message(said(MOHE), MOMENT, None).message_id != own
    assert shown.message(said(LIN, origin_id=""), MOMENT, None).message_id == one, "a client without ids"


@pytest.mark.parametrize(
    ("signal", "notice", "expected"),
    [
        (None, False, "assistant"),
        (None, True, "notice"),
        (Stop(), False, "notice"),
        (Resume(), False, "notice"),
        (Revoke("mohe@example.org"), False, "notice"),
        (Tripped(Rule.RUN), False, "notice"),
        (Lease(0.0), False, "notice"),
        (Lease(60.0), False, "assistant"),
        (Lease(60.0), True, "notice"),
    ],
)
def test_a_word_to_the_members_is_told_from_a_remark(signal: Signal | None, notice: bool, expected: str) -> None:
    assert shown.message(said(MOHE, signal=signal, notice=notice), MOMENT, None).role == expected


def test_what_strangers_make_long_is_cut() -> None:
    stranger = Sender("", "n" * 500, SenderKind.UNKNOWN, own=False)
    message = shown.message(said(stranger, text="x" * (MAX_TEXT + 5)), MOMENT, None)
    assert len(message.text) == MAX_TEXT
    assert codec.decode_server(codec.encode(message)) == message
    assert shown.name_of(Sender("", "", SenderKind.UNKNOWN, own=False)) == "?"


def test_the_state_names_its_failure_and_its_members_those_first_who_are_here() -> None:
    members = [
        Member(name="b", kind="agent"),
        Member(name="C", kind="agent", here=True),
        Member(name="a", kind="person", here=True),
    ]
    frame = shown.state(
        "android:room_1",
        Standing(ROOM, Phase.FAILED, Reason.PASSWORD, "wrong " * 200),
        members,
        Floor(stopped_by="Lin"),
    )
    assert (frame.link, frame.failure, frame.stopped_by) == ("failed", "password", "Lin")
    assert [member.name for member in frame.members] == ["a", "C", "b"]
    assert codec.decode_server(codec.encode(frame)) == frame


@pytest.mark.parametrize("phase", Phase)
def test_every_phase_can_be_shown(phase: Phase) -> None:
    frame = shown.state("android:room_1", Standing(ROOM, phase), [], Floor())
    assert codec.decode_server(codec.encode(frame)) == frame


def test_the_protocol_has_every_reason_and_kind() -> None:
    assert set(get_args(RoomFailure)) == {reason.value for reason in Reason}
    assert set(get_args(SpeakerKind)) == {kind.value for kind in SenderKind}


def test_what_a_room_refused_ends_where_it_was_to_be_with_the_reason_under_it() -> None:
    post = Post("client-1", ROOM, "Lin", "Hello", is_signal=False)
    words, why = shown.refused(post, "members may not speak", MOMENT)
    assert (words.message_id, words.client_id, words.state) == (shown.own_id("client-1"), "client-1", "error")
    assert (why.role, why.sender) == ("notice", None)
    assert words.order < why.order
    assert "members may not speak" in why.text
    assert [message.role for message in shown.refused(post._replace(is_signal=True), "no", MOMENT)] == ["notice"]


def test_each_room_has_a_lane_of_its_own() -> None:
    assert shown.lane_of(ROOM) != shown.lane_of("other@rooms.example.org")
