"""Whom to call for what, as a person would tell it."""

from typing import Any

import pytest
from msgspec.structs import replace

from hermes_iris import alerts
from hermes_iris.address import Lane
from hermes_iris.alerts import Answered, Board, Call, Gone, Looked, Lost, Raised, Read, Recipient, Settle, Subscribed
from hermes_iris.protocol.frames import (
    Attachment,
    Channel,
    ChannelDeleted,
    Commentary,
    Event,
    Message,
    MessageStop,
    PushNote,
    PushPreferences,
    Question,
    ReadMarked,
    RequestClosed,
    RequestOpened,
    Sender,
)

HOME = Lane("android:default")
THREAD = Lane("android:default", "t_1")
OTHER = Lane("android:chan_7")
PHONE, DESK = "phone", "desk"


def said(seq: int, lane: Lane = HOME, text: str = "Done.", **fields: Any) -> Message:
    plain = {"role": "assistant", "ts": float(seq), "order": seq * 10, "message_id": f"m_{seq}"}
    return Message(chat_id=lane.chat_id, thread_id=lane.thread_id, text=text, seq=seq, **{**plain, **fields})


def asked(seq: int, lane: Lane = HOME, **fields: Any) -> RequestOpened:
    question = Question(kind="approval", title="Run this?", detail="rm  -r\nbuild", **fields)
    return RequestOpened(
        request_id=f"ask_{seq}",
        chat_id=lane.chat_id,
        thread_id=lane.thread_id,
        question=question,
        seq=seq,
        ts=float(seq),
        order=seq * 10,
    )


class Story:
    """What happens one after another, and the calls that came of the last thing."""

    def __init__(self, *devices: str, **preferences: PushPreferences) -> None:
        self.recipients = [Recipient(name, preferences.get(name, PushPreferences())) for name in devices]
        self.board = Board()
        self.settled: list[Settle] = []
        self.calls: list[Call] = []

    def tell(self, *happened: alerts.Happening | Event) -> "Story":
        self.settled, self.calls = [], []
        for each in happened:
            known = alerts.happening(each) if isinstance(each, Event) else each
            assert known is not None
            self.board, settled, calls = alerts.step(self.board, known, self.recipients)
            self.settled += settled
            self.calls += calls
        return self

    @property
    def called(self) -> list[tuple[str, int, int]]:
        """Device, number of the alert, how many wait."""
        return [(call.device_id, call.alert.seq, call.waiting) for call in self.calls]


def test_everybody_is_called_once_while_nobody_looks() -> None:
    story = Story(PHONE, DESK).tell(said(1))
    assert story.called == [(PHONE, 1, 1), (DESK, 1, 1)]
    assert story.tell(said(2)).called == [(PHONE, 2, 2), (DESK, 2, 2)]
    assert story.tell(Lost("nobody knows it")).called == []


def test_nobody_is_called_for_a_lane_that_somebody_looks_at() -> None:
    story = Story(PHONE, DESK).tell(Looked("tab", DESK, HOME, 0), said(1))
    assert story.called == []
    assert story.tell(said(2, OTHER)).called == [(PHONE, 2, 1)], "a device that shows the app shows what is new"
    assert story.tell(said(3, THREAD)).called == [(PHONE, 3, 1)], "a thread is another lane"


def test_what_was_in_front_of_somebody_calls_nobody_later() -> None:
    story = Story(PHONE, DESK).tell(Looked("tab", DESK, HOME, 0), said(1), said(2, OTHER))
    story.tell(Looked("tab", DESK, None, 2))
    assert story.called == []
    assert story.tell(said(3)).called == [(PHONE, 3, 1), (DESK, 3, 1)]


def test_what_came_after_the_last_that_it_had_calls_after_all() -> None:
    """A phone that is locked says so before it has what is on its way."""
    story = Story(PHONE, DESK).tell(Looked("app", PHONE, HOME, 0), said(1), said(2))
    assert story.tell(Looked("app", PHONE, None, 1)).called == [(PHONE, 2, 1), (DESK, 2, 1)]


def test_a_connection_that_is_lost_has_shown_nothing() -> None:
    story = Story(PHONE).tell(Looked("app", PHONE, HOME, 0), said(1), said(2, OTHER))
    assert story.called == []
    assert story.tell(Lost("app")).called == [(PHONE, 1, 1), (PHONE, 2, 1)]


def test_another_lane_of_the_same_page_shows_the_one_before() -> None:
    story = Story(PHONE, DESK).tell(Looked("tab", DESK, HOME, 0), said(1))
    assert story.tell(Looked("tab", DESK, OTHER, 1)).called == []
    assert story.tell(said(2)).called == [(PHONE, 2, 1)]


def test_one_of_two_pages_is_enough() -> None:
    story = Story(PHONE).tell(Looked("a", DESK, HOME, 0), Looked("b", DESK, HOME, 0), said(1), Lost("a"))
    assert story.called == []
    assert story.tell(Lost("b")).called == [(PHONE, 1, 1)]


def test_what_is_read_anywhere_is_settled_on_all_that_were_called() -> None:
    story = Story(PHONE, DESK).tell(said(1), said(2, OTHER))
    story.tell(ReadMarked(chat_id=HOME.chat_id, order=10, unread=0))
    assert story.settled == [Settle(DESK, HOME, 10), Settle(PHONE, HOME, 10)]
    assert story.tell(Read(HOME, 10)).settled == []


def test_what_came_after_the_mark_stays() -> None:
    story = Story(PHONE).tell(said(1), said(2))
    assert story.tell(Read(HOME, 10)).settled == []
    assert story.tell(said(3)).called == [(PHONE, 3, 2)]
    assert story.tell(Read(HOME, 30)).settled == [Settle(PHONE, HOME, 30)]


def test_a_device_that_shows_the_app_closes_its_calls_itself() -> None:
    story = Story(PHONE, DESK).tell(said(1), Looked("app", PHONE, HOME, 1), Read(HOME, 10))
    assert story.settled == [Settle(DESK, HOME, 10)]


def test_what_is_read_before_anybody_was_called_calls_nobody() -> None:
    story = Story(PHONE).tell(Looked("tab", DESK, HOME, 0), said(1), Read(HOME, 10), Lost("tab"))
    assert (story.calls, story.settled) == ([], [])


def test_a_request_calls_until_it_is_answered() -> None:
    story = Story(PHONE).tell(said(1), asked(2))
    assert story.calls[-1].alert.text == "Run this? rm -r build"
    closed = RequestClosed(request_id="ask_2", chat_id=HOME.chat_id, outcome="answered", ts=3.0)
    assert story.tell(closed).settled == [Settle(PHONE, HOME, 20)], "it is what the device shows"
    assert story.tell(said(3)).called == [(PHONE, 3, 2)]


def test_a_request_below_a_newer_answer_is_not_what_the_device_shows() -> None:
    assert Story(PHONE).tell(asked(1), said(2), Answered("ask_1")).settled == []


def test_a_deleted_channel_takes_its_calls_along() -> None:
    story = Story(PHONE).tell(said(1), said(2, THREAD), said(3, OTHER))
    gone = Channel(chat_id=HOME.chat_id, name="Default", kind="default", created=0.0)
    story.tell(ChannelDeleted(channel=gone))
    assert story.settled == [Settle(PHONE, HOME, 10), Settle(PHONE, THREAD, 20)]
    assert [entry.alert.lane for entry in story.board.open] == [OTHER]
    assert Story(PHONE).tell(said(1), said(2, THREAD), Gone(THREAD)).settled == [Settle(PHONE, THREAD, 20)]


@pytest.mark.parametrize(
    ("preferences", "expected"),
    [
        (PushPreferences(), [1, 2, 3, 4]),
        (PushPreferences(finals=False), [2, 3]),
        (PushPreferences(requests=False), [1, 3, 4]),
        (PushPreferences(reports=False), [1, 2, 4]),
        (PushPreferences(muted=[OTHER.chat_id]), [1, 2]),
        (PushPreferences(muted=[HOME.chat_id]), [3, 4]),
    ],
)
def test_a_device_is_called_for_what_it_wants(preferences: PushPreferences, expected: list[int]) -> None:
    story = Story(PHONE, **{PHONE: preferences})
    story.tell(said(1), asked(2, THREAD), said(3, OTHER, role="cron"), said(4, Lane(OTHER.chat_id, "t_2")))
    assert [call.alert.seq for call in story.calls] == expected


def test_who_turns_calls_on_is_not_called_for_what_was_there() -> None:
    story = Story(PHONE).tell(said(1))
    story.recipients.append(Recipient(DESK, PushPreferences()))
    assert story.tell(Subscribed(DESK)).called == []
    assert story.tell(said(2)).called == [(PHONE, 2, 2), (DESK, 2, 1)]


def test_what_nobody_can_be_called_for_is_not_remembered() -> None:
    story = Story().tell(said(1))
    assert story.board == Board()


def test_the_board_is_bounded() -> None:
    story = Story(PHONE).tell(*(said(seq) for seq in range(1, alerts.MAX_OPEN + 3)))
    assert [entry.alert.seq for entry in story.board.open] == list(range(3, alerts.MAX_OPEN + 3))


NOBODY = [
    said(1, role="user"),
    said(1, role="notice"),
    said(1, kind="commentary"),
    said(1, kind="partial", state="aborted"),
    said(1, state="aborted"),
    said(1, sender=Sender(name="mohe", kind="agent")),
    Commentary(message_id="m", chat_id=HOME.chat_id, turn_id="t", text="I look first.", ts=1.0, order=1),
    MessageStop(
        message_id="m",
        chat_id=HOME.chat_id,
        role="assistant",
        turn_id="t",
        final_text="half",
        kind="final",
        state="aborted",
        ts=1.0,
        order=1,
    ),
]


@pytest.mark.parametrize("event", NOBODY, ids=lambda event: type(event).__name__)
def test_what_calls_nobody(event: Event) -> None:
    assert alerts.happening(event) is None


def test_a_streamed_answer_calls_when_it_is_complete() -> None:
    stop = MessageStop(
        message_id="m",
        chat_id=HOME.chat_id,
        role="assistant",
        turn_id="t",
        final_text="It is\n\n*done*.",
        kind="final",
        seq=4,
        ts=1.0,
        order=7,
    )
    assert alerts.happening(stop) == Raised(alerts.Alert(HOME, "final", 4, 7, 1.0, "It is *done*."))
    assert alerts.happening(replace(stop, kind="commentary")) is None
    failed = alerts.happening(replace(stop, state="error"))
    assert isinstance(failed, Raised)


def test_a_file_is_told_by_its_name() -> None:
    file = Attachment(id="0" * 32, name="plan.pdf", type="application/pdf", size=1, kind="document")
    happened = alerts.happening(said(1, text="", attachments=[file]))
    assert isinstance(happened, Raised)
    assert happened.alert.text == "plan.pdf"


def test_a_note_has_no_words_unless_they_are_wanted() -> None:
    (call,) = Story(PHONE).tell(said(1, THREAD, "secret " * 100)).calls
    plain = alerts.note(call, PushPreferences(language="zh"), "Default / Plans")
    assert plain == PushNote(chat_id=HOME.chat_id, thread_id="t_1", kind="final", language="zh", order=10, ts=1.0)
    told = alerts.note(call, PushPreferences(details=True), "Default / Plans")
    assert told.title == "Default / Plans"
    assert told.text is not None
    assert told.text.startswith("secret secret")
    assert len(told.text) == alerts.MAX_TEXT
