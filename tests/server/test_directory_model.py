"""Whatever is asked of the directory: a snapshot and the events after it say what a fresh snapshot says."""

import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
from hypothesis import given, settings, strategies as st

from hermes_iris import directory, names, reports
from hermes_iris.address import PLATFORM, Lane, living, resolve, spell
from hermes_iris.errors import InvalidFrame, IrisError
from hermes_iris.moment import Moment
from hermes_iris.protocol.frames import (
    Channel,
    ChannelCreate,
    ChannelCreated,
    ChannelDelete,
    ChannelDeleted,
    ChannelRename,
    ChannelRenamed,
    ChannelRestore,
    ChannelSetAutomation,
    ChannelSetDefault,
    ChannelSetThreads,
    Message,
    MessageSend,
)
from hermes_iris.reports import Report
from hermes_iris.store import channels, connect, log, messages, transaction

CLIENT = "c-123456"
chats = st.sampled_from(["android:default", *(f"android:chan_{number}" for number in (1, 2, 3, 9))])
threads = st.none() | st.sampled_from(["t_1", "t_2", "t_3"])
words = st.sampled_from(["Default", "a", "A", "b", "Straße", "STRASSE", "  ", "x\u202e", "字"])
flags = st.booleans()


def request(kind: type[Any], /, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(kind, client_id=st.just(CLIENT), **fields)


steps = st.one_of(
    request(ChannelCreate, name=words),
    request(
        ChannelCreate, name=words, kind=st.sampled_from(["channel", "thread", "room"]), parent_chat_id=st.none() | chats
    ),
    request(ChannelRename, chat_id=chats, thread_id=threads, name=words),
    request(ChannelSetDefault, chat_id=chats),
    request(ChannelSetAutomation, chat_id=chats, on=flags),
    request(ChannelSetThreads, chat_id=chats, on=flags),
    request(ChannelDelete, chat_id=chats, thread_id=threads),
    request(ChannelRestore, chat_id=chats, thread_id=threads),
    request(
        MessageSend,
        chat_id=chats,
        thread_id=threads,
        text=st.sampled_from(["hi", "/status", "**"]),
        auto_thread=flags,
        reply_to=st.none() | st.sampled_from(["m_report", "m_none"]),
    ),
    st.tuples(chats, threads, st.sampled_from(["Kyoto", "", "a"])),
    st.builds(
        Report,
        target=st.sampled_from(["android", "a", "android:1", "nowhere"]),
        text=st.just("# Report"),
        attachments=st.just(()),
    ),
)
View = dict[tuple[str, str | None], Channel]


@settings(max_examples=60)
@given(st.lists(steps, max_size=25))
def test_a_snapshot_and_its_events_are_a_fresh_snapshot(asked: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder, closing(connect(Path(folder) / "channels.db")) as conn:
        with transaction(conn):
            channels.ensure_default(conn, 1.0)
            first = Message(message_id="m_report", chat_id="android:default", role="cron", text="Rain", ts=1.0, order=1)
            messages.record(conn, [first])
        view: View = snapshot(conn)
        with patch.object(channels, "MAX_CHANNELS", 3), patch.object(channels, "MAX_THREADS", 2):
            for number, step in enumerate(asked, 1):
                seen = log.last(conn)
                before = snapshot(conn)
                try:
                    with transaction(conn):
                        DEEDS[type(step)](conn, step, Moment(number * 64, float(number)))
                except IrisError:
                    assert snapshot(conn) == before, "what is refused changes nothing"
                for _, body in log.between(conn, seen, 1 << 62):
                    apply(view, body)
                assert view == snapshot(conn)
                check(list(view.values()))


def snapshot(conn: Any) -> View:
    return {(entry.chat_id, entry.thread_id): entry for entry in channels.directory(conn)}


def apply(view: View, body: bytes) -> None:
    event = msgspec.json.decode(body, type=ChannelCreated | ChannelRenamed | ChannelDeleted | Message)
    if isinstance(event, Message):
        assert (event.chat_id, event.thread_id) in view, "a message comes after its lane"
    else:
        view[event.channel.chat_id, event.channel.thread_id] = event.channel


def check(entries: list[Channel]) -> None:
    """What holds of every directory."""
    (default,) = [entry for entry in entries if entry.is_default]
    assert (default.archived, default.automation, default.thread_id) == (False, False, None)
    open_channels = [entry for entry in entries if entry.thread_id is None and not entry.archived]
    assert len({entry.name.casefold() for entry in open_channels}) == len(open_channels)
    for entry in entries:
        assert (entry.kind == "thread") == (entry.thread_id is not None)
        assert entry.parent_chat_id == (entry.chat_id if entry.thread_id else None)
        assert _is_name(entry.name)
    for entry in living(entries):
        lane = Lane(entry.chat_id, entry.thread_id)
        assert resolve(spell(lane), entries) == lane
    assert resolve(PLATFORM, entries) == Lane(default.chat_id)


def _is_name(name: str) -> bool:
    try:
        return names.checked(name) == name
    except InvalidFrame:
        return False


def _change(conn: Any, asked: Any, moment: Moment) -> None:
    events = directory.change(conn, asked, moment)
    last = events[-1].channel
    if not isinstance(asked, ChannelCreate):
        assert (last.chat_id, last.thread_id) == (asked.chat_id, getattr(asked, "thread_id", None))
    messages.record(conn, events)


def _say(conn: Any, asked: MessageSend, moment: Moment) -> None:
    lane, opened = directory.place(conn, asked, moment)
    assert all(Lane(event.channel.chat_id, event.channel.thread_id) == lane for event in opened)
    said = Message(
        message_id=moment.name("m"),
        chat_id=lane.chat_id,
        thread_id=lane.thread_id,
        role="user",
        text=asked.text,
        ts=moment.ts,
        order=moment.order,
    )
    messages.record(conn, [*opened, said])


def _title(conn: Any, asked: tuple[str, str | None, str], moment: Moment) -> None:
    messages.record(conn, directory.retitle(conn, Lane(*asked[:2]), asked[2]))


def _report(conn: Any, asked: Report, moment: Moment) -> None:
    messages.record(conn, reports.deliver(conn, asked, moment).frames)


CHANGES = (
    ChannelCreate,
    ChannelRename,
    ChannelSetDefault,
    ChannelSetAutomation,
    ChannelSetThreads,
    ChannelDelete,
    ChannelRestore,
)
DEEDS: dict[type[Any], Callable[[Any, Any, Moment], None]] = {
    **dict.fromkeys(CHANGES, _change),
    MessageSend: _say,
    tuple: _title,
    Report: _report,
}
