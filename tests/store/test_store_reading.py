"""Read marks: they only go forward, and what is unread is answers and reports after them."""

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st
from search_kit import memory, record, said, start, stop

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.protocol.frames import Channel, Commentary, LaneStatus, ReadMarked
from hermes_iris.store import channels, reading

CHANNEL = Lane("android:chan_7")
THREAD = Lane("android:chan_7", "t_1")
LANES = (DEFAULT_LANE, CHANNEL, THREAD)


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    with memory() as conn:
        open_lanes(conn)
        yield conn


def open_lanes(conn: sqlite3.Connection) -> None:
    channels.ensure_default(conn, 0.0)
    put(conn, CHANNEL)
    put(conn, THREAD)


def put(conn: sqlite3.Connection, lane: Lane, *, archived: bool = False) -> None:
    kind = "thread" if lane.thread_id else "channel"
    entry = Channel(
        chat_id=lane.chat_id, thread_id=lane.thread_id, name="x", kind=kind, created=0.0, archived=archived
    )  # type: ignore[arg-type]  # fmt: skip
    channels.put(conn, entry)


def marked(order: int, lane: Lane = DEFAULT_LANE) -> ReadMarked:
    return ReadMarked(chat_id=lane.chat_id, thread_id=lane.thread_id, order=order, unread=0)


def answers(conn: sqlite3.Connection, *places: int, lane: Lane = DEFAULT_LANE) -> None:
    record(conn, *[said(n, "answer", lane, role="assistant") for n in places])


def status(lane: Lane, read: int, unread: int) -> LaneStatus:
    return LaneStatus(chat_id=lane.chat_id, thread_id=lane.thread_id, read=read, unread=unread)


def test_a_lane_that_was_never_read_is_read_up_to_nothing(conn: sqlite3.Connection) -> None:
    assert reading.place(conn, DEFAULT_LANE) == 0
    assert reading.statuses(conn) == {}


@given(st.lists(st.tuples(st.sampled_from(LANES), st.integers(0, 1 << 53)), max_size=12))
def test_marks_only_go_forward_each_lane_by_itself(marks: list[tuple[Lane, int]]) -> None:
    with memory() as conn:
        open_lanes(conn)
        furthest = dict.fromkeys(LANES, 0)
        for lane, order in marks:
            reading.mark(conn, marked(order, lane))
            furthest[lane] = max(furthest[lane], order)
            assert {lane: reading.place(conn, lane) for lane in LANES} == furthest
        assert reading.statuses(conn) == {lane: status(lane, read, 0) for lane, read in furthest.items() if read}


@given(
    st.lists(st.tuples(st.sampled_from(LANES), st.sampled_from(["user", "assistant", "cron", "notice"])), max_size=12),
    st.dictionaries(st.sampled_from(LANES), st.integers(0, 13)),
)
def test_answers_and_reports_after_the_mark_are_unread(told: list[tuple[Lane, str]], marks: dict[Lane, int]) -> None:
    with memory() as conn:
        open_lanes(conn)
        record(conn, *[said(n, "x", lane, role=role) for n, (lane, role) in enumerate(told, 1)])
        record(conn, *[marked(order, lane) for lane, order in marks.items()])  # type: ignore[arg-type]
        expected = {}
        for lane in LANES:
            read = marks.get(lane, 0)
            counted = [n for n, (at, role) in enumerate(told, 1) if at == lane and role in ("assistant", "cron")]
            unread = sum(n > read for n in counted)
            if read or unread:
                expected[lane] = status(lane, read, unread)
        assert reading.statuses(conn) == expected
        for lane in LANES:
            known = expected.get(lane, status(lane, 0, 0))
            assert reading.left(conn, lane, known.read) == known.unread


def test_only_what_is_final_is_counted(conn: sqlite3.Connection) -> None:
    remark = Commentary(chat_id=DEFAULT_LANE.chat_id, message_id="m_1", turn_id="t", text="hm", ts=1.0, order=1)
    record(conn, remark, said(2, "cut", role="assistant", kind="partial", state="aborted"), start(3))
    assert reading.statuses(conn) == {}
    record(conn, stop(3, "done"))
    assert reading.statuses(conn) == {DEFAULT_LANE: status(DEFAULT_LANE, 0, 1)}


def test_the_mark_itself_is_read(conn: sqlite3.Connection) -> None:
    answers(conn, 5, 6)
    record(conn, marked(5))  # type: ignore[arg-type]
    assert reading.statuses(conn) == {DEFAULT_LANE: status(DEFAULT_LANE, 5, 1)}


def test_an_archived_lane_keeps_its_status(conn: sqlite3.Connection) -> None:
    """A device that joins meanwhile needs it when the lane is restored."""
    answers(conn, 1, 2, lane=CHANNEL)
    record(conn, marked(1, CHANNEL))  # type: ignore[arg-type]
    put(conn, CHANNEL, archived=True)
    assert reading.statuses(conn) == {CHANNEL: status(CHANNEL, 1, 1)}
