"""Where a person's message goes: the lane it names, or a thread that is opened for it."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hermes_iris import directory
from hermes_iris.address import Lane
from hermes_iris.errors import IrisError, NotFound, TooLarge, Unsupported
from hermes_iris.moment import Moment
from hermes_iris.protocol.frames import Channel, ChannelCreated, DirectoryEvent, JobRef, Message, MessageSend
from hermes_iris.protocol.types import NameSource, Role
from hermes_iris.store import channels, connect, messages, transaction
from support import CHAT, new_id

NOW = Moment(1_000_000, 1_000.0)
AUTOMATION, FLAT, GONE = "android:chan_2", "android:chan_1", "android:chan_3"
JOB = JobRef(id="job_1", name="Weather report")


def channel(chat_id: str, name: str, **more: Any) -> Channel:
    return Channel(chat_id=chat_id, name=name, kind="channel", created=1.0, **more)


def thread(chat_id: str, thread_id: str, **more: Any) -> Channel:
    named = {"name": "Trip", "kind": "thread", "parent_chat_id": chat_id, "created": 1.0}
    return Channel(chat_id=chat_id, thread_id=thread_id, **named, **more)


def message(name: str, chat_id: str, role: Role = "cron", text: str = "# Rain\nall day", **more: Any) -> Message:
    return Message(message_id=name, chat_id=chat_id, role=role, text=text, ts=1.0, order=len(name), **more)


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A directory in which the default channel has threads on."""
    conn = connect(tmp_path / "channels.db")
    with transaction(conn):
        channels.ensure_default(conn, 1.0)
        for entry in (
            replace(channels.default(conn), threads=True),
            channel(FLAT, "Flat"),
            channel(AUTOMATION, "Reports", automation=True),
            channel(GONE, "Gone", archived=True),
            thread(CHAT, "t_51"),
            thread(CHAT, "t_52", archived=True),
            thread(AUTOMATION, "t_53"),
            thread(GONE, "t_54"),
        ):
            channels.put(conn, entry)
        reports = (
            message("m_report", AUTOMATION, job=JOB),
            message("m_nameless", AUTOMATION),
            message("m_threaded", AUTOMATION, thread_id="t_53", job=JOB),
            message("m_default", CHAT, job=JOB),
            message("m_said", AUTOMATION, role="user"),
            message("m_answer", AUTOMATION, role="assistant"),
            message("m_notice", AUTOMATION, role="notice"),
            message("m_inside", CHAT, role="assistant", thread_id="t_51"),
            message("m_open", CHAT, role="assistant"),
        )
        messages.record(conn, reports)
    yield conn
    conn.close()


def place(conn: sqlite3.Connection, text: str = "hi", **fields: Any) -> tuple[Lane, list[DirectoryEvent]]:
    request = MessageSend(**{"client_id": new_id(), "chat_id": CHAT, "text": text, **fields})
    with transaction(conn):
        return directory.place(conn, request, NOW)


def opened(chat_id: str, name: str, name_source: NameSource = "derived") -> tuple[Lane, list[DirectoryEvent]]:
    """What comes of a message for which a thread is opened."""
    entry = Channel(
        chat_id=chat_id,
        thread_id="t_1",
        name=name,
        name_source=name_source,
        kind="thread",
        parent_chat_id=chat_id,
        created=NOW.ts,
    )
    return Lane(chat_id, "t_1"), [ChannelCreated(channel=entry, auto=True)]


# ---------------------------------------------------------------- the lane it names


@pytest.mark.parametrize("answered", ["m_inside", "m_open"])
def test_a_message_of_its_lane_or_of_the_channel_is_answered_where_the_person_is(
    conn: sqlite3.Connection, answered: str
) -> None:
    assert place(conn, chat_id=CHAT, thread_id="t_51", reply_to=answered) == (Lane(CHAT, "t_51"), [])


@pytest.mark.parametrize(("chat_id", "thread_id"), [(CHAT, None), (CHAT, "t_51"), (FLAT, None), (AUTOMATION, "t_53")])
@pytest.mark.parametrize("text", ["hi", "/status"])
def test_a_message_goes_where_it_says(conn: sqlite3.Connection, text: str, chat_id: str, thread_id: str | None) -> None:
    assert place(conn, text, chat_id=chat_id, thread_id=thread_id) == (Lane(chat_id, thread_id), [])


@pytest.mark.parametrize(
    ("fields", "error", "field"),
    [
        ({"chat_id": "android:chan_99"}, NotFound, "$.chat_id"),
        ({"thread_id": "t_99"}, NotFound, "$.thread_id"),
        ({"chat_id": "android:chan_99", "thread_id": "t_51"}, NotFound, "$.chat_id"),
        ({"chat_id": FLAT, "thread_id": "t_51"}, NotFound, "$.thread_id"),
        ({"chat_id": GONE}, NotFound, "$.chat_id"),
        ({"chat_id": GONE, "thread_id": "t_54"}, NotFound, "$.chat_id"),
        ({"thread_id": "t_52"}, NotFound, "$.thread_id"),
        ({"chat_id": AUTOMATION}, Unsupported, "$.chat_id"),
        ({"chat_id": AUTOMATION, "auto_thread": True}, Unsupported, "$.chat_id"),
        ({"chat_id": AUTOMATION, "text": "/status"}, Unsupported, "$.chat_id"),
        ({"chat_id": AUTOMATION, "text": "/status", "reply_to": "m_report"}, Unsupported, "$.chat_id"),
        ({"reply_to": "m_none"}, NotFound, "$.reply_to"),
        ({"chat_id": AUTOMATION, "reply_to": "m_none"}, NotFound, "$.reply_to"),
        ({"chat_id": AUTOMATION, "thread_id": "t_53", "reply_to": "m_none"}, NotFound, "$.reply_to"),
        ({"chat_id": AUTOMATION, "reply_to": "m_default"}, Unsupported, "$.reply_to"),
        ({"chat_id": FLAT, "reply_to": "m_report"}, Unsupported, "$.reply_to"),
        ({"chat_id": AUTOMATION, "reply_to": "m_said"}, Unsupported, "$.chat_id"),
        ({"chat_id": AUTOMATION, "reply_to": "m_answer"}, Unsupported, "$.chat_id"),
        ({"chat_id": AUTOMATION, "reply_to": "m_notice"}, Unsupported, "$.chat_id"),
        ({"chat_id": FLAT, "reply_to": "m_said"}, Unsupported, "$.reply_to"),
        ({"reply_to": "m_inside"}, Unsupported, "$.reply_to"),
        ({"chat_id": GONE, "reply_to": "m_report"}, NotFound, "$.chat_id"),
    ],
)
def test_a_message_is_refused_and_mints_nothing(
    conn: sqlite3.Connection, fields: dict[str, Any], error: type[IrisError], field: str
) -> None:
    with pytest.raises(error) as refused:
        place(conn, **fields)
    assert type(refused.value) is error
    assert field in str(refused.value)
    assert place(conn, auto_thread=True)[0] == Lane(CHAT, "t_1"), "the first thread that is ever opened"


# ---------------------------------------------------------------- a thread of its own


@pytest.mark.parametrize(
    ("text", "name"),
    [("Plan the trip", "Plan the trip"), ("## Plan\nall of it", "Plan"), ("**", "New topic"), ("你好", "你好")],
)
def test_a_message_begins_a_thread_that_is_called_by_its_words(conn: sqlite3.Connection, text: str, name: str) -> None:
    assert place(conn, text, auto_thread=True) == opened(CHAT, name)


@pytest.mark.parametrize(
    "fields",
    [
        {"auto_thread": False},
        {"thread_id": "t_51"},
        {"chat_id": FLAT},
        {"text": "/status"},
        {"text": "/"},
        {"text": " \n "},
        {"chat_id": AUTOMATION, "thread_id": "t_53"},
    ],
)
def test_a_message_begins_no_thread_elsewhere(conn: sqlite3.Connection, fields: dict[str, Any]) -> None:
    lane = Lane(fields.get("chat_id", CHAT), fields.get("thread_id"))
    assert place(conn, **{"auto_thread": True, **fields}) == (lane, [])


def test_a_message_begins_no_thread_while_threads_are_off(conn: sqlite3.Connection) -> None:
    channels.put(conn, replace(channels.default(conn), threads=False))
    assert place(conn, auto_thread=True) == (Lane(CHAT), [])


def test_only_the_default_channel_of_now_begins_threads(conn: sqlite3.Connection) -> None:
    """Threads stay on in a channel that is the default one no more."""
    channels.put(conn, replace(channels.default(conn), is_default=False))
    channels.put(conn, channel(FLAT, "Flat", is_default=True))
    assert place(conn, auto_thread=True) == (Lane(CHAT), [])
    channels.put(conn, channel(FLAT, "Flat", is_default=True, threads=True))
    assert place(conn, chat_id=FLAT, auto_thread=True) == opened(FLAT, "hi")


def test_a_thread_over_the_limit_is_refused(conn: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "MAX_THREADS", 1)
    with pytest.raises(TooLarge):
        place(conn, auto_thread=True)
    with pytest.raises(TooLarge):
        place(conn, chat_id=AUTOMATION, reply_to="m_report")


# ---------------------------------------------------------------- an answer to a report


@pytest.mark.parametrize(
    ("chat_id", "report", "name"),
    [
        (AUTOMATION, "m_report", "Weather report"),
        (AUTOMATION, "m_nameless", "Rain"),
        (AUTOMATION, "m_threaded", "Weather report"),
        (CHAT, "m_default", "Weather report"),
    ],
)
@pytest.mark.parametrize("auto_thread", [False, True])
def test_an_answer_opens_a_thread_that_is_called_like_the_job(
    conn: sqlite3.Connection, chat_id: str, report: str, name: str, auto_thread: bool
) -> None:
    """A person has named the job, so the model does not name the thread anew."""
    assert place(conn, chat_id=chat_id, reply_to=report, auto_thread=auto_thread) == opened(chat_id, name, "user")


@pytest.mark.parametrize("report", ["m_report", "m_threaded"])
def test_an_answer_within_a_thread_stays_there(conn: sqlite3.Connection, report: str) -> None:
    lane = Lane(AUTOMATION, "t_53")
    assert place(conn, chat_id=lane.chat_id, thread_id=lane.thread_id, reply_to=report) == (lane, [])


def test_a_command_is_no_answer(conn: sqlite3.Connection) -> None:
    assert place(conn, "/status", reply_to="m_default") == (Lane(CHAT), [])


def test_a_job_with_a_long_or_odd_name_gives_its_thread_a_name_all_the_same(conn: sqlite3.Connection) -> None:
    odd = JobRef(id="job_2", name="x" * 200 + "\n\u202e")
    with transaction(conn):
        messages.record(conn, [message("m_odd", AUTOMATION, job=odd)])
    _, (event,) = place(conn, chat_id=AUTOMATION, reply_to="m_odd")
    assert len(event.channel.name) <= 80
    assert event.channel.name.splitlines() == [event.channel.name]
    assert "\u202e" not in event.channel.name
