"""What each request does to the directory, and why it is refused: on a database of its own, without a gateway."""

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hermes_iris import directory
from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.errors import Conflict, InvalidFrame, IrisError, NotFound, TooLarge, Unsupported
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
    DirectoryChange,
    DirectoryEvent,
)
from hermes_iris.store import channels, connect, messages, transaction
from support import CHAT, new_id

Change = Callable[[DirectoryChange], list[DirectoryEvent]]
NOWHERE = "android:chan_99"


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    conn = connect(tmp_path / "channels.db")
    with transaction(conn):
        channels.ensure_default(conn, 1.0)
    yield conn
    conn.close()


@pytest.fixture
def change(conn: sqlite3.Connection) -> Change:
    """Carry a request out and store what comes of it."""
    ticks = iter(range(64, 64_000_000, 64))

    def carry_out(request: DirectoryChange) -> list[DirectoryEvent]:
        order = next(ticks)
        with transaction(conn):
            events = directory.change(conn, request, Moment(order, order / 64))
            messages.record(conn, events)
        return events

    return carry_out


def create(name: str = "Reports", **more: Any) -> ChannelCreate:
    return ChannelCreate(client_id=new_id(), name=name, **more)


def ask(kind: type[Any], chat_id: str = CHAT, **more: Any) -> Any:
    return kind(client_id=new_id(), chat_id=chat_id, **more)


def made(change: Change, name: str = "Reports", **more: Any) -> Channel:
    (event,) = change(create(name, **more))
    return event.channel


def made_thread(change: Change, name: str = "Trip") -> Channel:
    return made(change, name, kind="thread", parent_chat_id=CHAT)


def entry(conn: sqlite3.Connection, chat_id: str = CHAT, thread_id: str | None = None) -> Channel:
    return channels.get(conn, chat_id, thread_id)


# ---------------------------------------------------------------- create


def test_a_channel_is_made(conn: sqlite3.Connection, change: Change) -> None:
    events = change(create("  Cron \n Reports "))
    known = Channel(chat_id="android:chan_1", name="Cron Reports", kind="channel", created=1.0)
    assert events == [ChannelCreated(channel=known)]
    assert channels.directory(conn) == [entry(conn), known]


def test_a_thread_is_made_under_the_default_channel(conn: sqlite3.Connection, change: Change) -> None:
    events = change(create("Trip", kind="thread", parent_chat_id=CHAT))
    known = Channel(
        chat_id=CHAT, thread_id="t_1", name="Trip", name_source="user", kind="thread", parent_chat_id=CHAT, created=1.0
    )
    assert events == [ChannelCreated(channel=known, auto=False)]
    assert entry(conn, CHAT, "t_1") == known


def test_ids_are_never_used_again(change: Change) -> None:
    first, thread = made(change), made_thread(change)
    change(ask(ChannelDelete, first.chat_id))
    change(ask(ChannelDelete, thread_id=thread.thread_id))
    assert made(change).chat_id == "android:chan_2"
    assert made_thread(change).thread_id == "t_2"


def test_ids_of_a_request_that_is_rolled_back_leave_no_hole(conn: sqlite3.Connection, change: Change) -> None:
    conn.execute("BEGIN IMMEDIATE")
    assert directory.change(conn, create(), Moment(1, 1.0))
    conn.execute("ROLLBACK")
    assert made(change).chat_id == "android:chan_1"


def test_threads_may_have_the_same_name_and_that_of_a_channel(change: Change) -> None:
    channel, one, other = made(change, "Trip"), made_thread(change), made_thread(change)
    assert channel.name == one.name == other.name


def test_a_name_is_free_again_once_its_channel_is_deleted(change: Change) -> None:
    change(ask(ChannelDelete, made(change).chat_id))
    assert made(change, "REPORTS").name == "REPORTS"


def test_a_thread_s_channel_is_the_default_one_of_now(change: Change) -> None:
    channel = made(change)
    change(ask(ChannelSetDefault, channel.chat_id))
    assert made(change, "Trip", kind="thread", parent_chat_id=channel.chat_id).parent_chat_id == channel.chat_id
    with pytest.raises(Unsupported, match=r"\$\.parent_chat_id"):
        change(create("Trip", kind="thread", parent_chat_id=CHAT))


# ---------------------------------------------------------------- rename


@pytest.mark.parametrize("name", ["Home", "default", "Default"])
def test_a_channel_is_renamed_also_to_its_own_name(conn: sqlite3.Connection, change: Change, name: str) -> None:
    before = entry(conn)
    assert change(ask(ChannelRename, name=f" {name} ")) == [
        ChannelRenamed(channel=replace(before, name=name, name_source="user"))
    ]
    assert entry(conn).name == name


def test_a_thread_is_renamed_and_then_its_name_is_a_person_s(conn: sqlite3.Connection, change: Change) -> None:
    with transaction(conn):
        opened = directory.open_thread(conn, entry(conn), "Derived", "derived", Moment(5, 5.0))
        messages.record(conn, [opened])
    (event,) = change(ask(ChannelRename, thread_id=opened.channel.thread_id, name="Default"))
    assert event == ChannelRenamed(channel=replace(opened.channel, name="Default", name_source="user"))


# ---------------------------------------------------------------- the default channel


def test_the_default_channel_moves(conn: sqlite3.Connection, change: Change) -> None:
    former, channel = entry(conn), made(change)
    assert change(ask(ChannelSetDefault, channel.chat_id)) == [
        ChannelRenamed(channel=replace(former, is_default=False)),
        ChannelRenamed(channel=replace(channel, is_default=True)),
    ]
    assert channels.default(conn).chat_id == channel.chat_id
    assert [each.chat_id for each in channels.directory(conn) if each.is_default] == [channel.chat_id]


def test_the_default_channel_stays_where_it_is(conn: sqlite3.Connection, change: Change) -> None:
    assert change(ask(ChannelSetDefault)) == [ChannelRenamed(channel=entry(conn))]
    assert channels.default(conn).chat_id == CHAT


def test_a_former_default_channel_is_like_any_other(conn: sqlite3.Connection, change: Change) -> None:
    change(ask(ChannelSetDefault, made(change).chat_id))
    change(ask(ChannelSetAutomation, on=True))
    (event,) = change(ask(ChannelDelete))
    assert event.channel.archived
    channels.ensure_default(conn, 9.0)
    assert [each.chat_id for each in channels.directory(conn) if each.is_default] == ["android:chan_1"]


# ---------------------------------------------------------------- automation and threads


def test_a_channel_is_read_only_until_it_is_opened_again(change: Change) -> None:
    channel = made(change)
    for on in (True, True, False):
        assert change(ask(ChannelSetAutomation, channel.chat_id, on=on)) == [
            ChannelRenamed(channel=replace(channel, automation=on))
        ]


def test_the_default_channel_is_split_in_threads(conn: sqlite3.Connection, change: Change) -> None:
    before = entry(conn)
    for on in (True, True, False):
        assert change(ask(ChannelSetThreads, on=on)) == [ChannelRenamed(channel=replace(before, threads=on))]


# ---------------------------------------------------------------- delete and restore


def test_a_channel_is_hidden_and_comes_back_as_it_was(conn: sqlite3.Connection, change: Change) -> None:
    channel = made(change)
    gone = ChannelDeleted(channel=replace(channel, archived=True))
    assert change(ask(ChannelDelete, channel.chat_id)) == [gone]
    assert entry(conn, channel.chat_id).archived
    assert change(ask(ChannelDelete, channel.chat_id)) == [gone], "twice is once"
    assert change(ask(ChannelRestore, channel.chat_id)) == [ChannelCreated(channel=channel)]
    assert entry(conn, channel.chat_id) == channel


def test_a_thread_is_hidden_and_comes_back_as_it_was(conn: sqlite3.Connection, change: Change) -> None:
    thread = made_thread(change)
    where = {"thread_id": thread.thread_id}
    assert change(ask(ChannelDelete, **where)) == [ChannelDeleted(channel=replace(thread, archived=True))]
    made_thread(change)  # of the same name: that does not matter for threads
    assert change(ask(ChannelRestore, **where)) == [ChannelCreated(channel=thread)]
    assert not entry(conn).archived


def test_what_was_never_deleted_is_restored_as_it_is(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice is once, also where there is no room for another one."""
    channel, thread = made(change), made_thread(change)
    monkeypatch.setattr(channels, "MAX_CHANNELS", 2)
    monkeypatch.setattr(channels, "MAX_THREADS", 1)
    assert change(ask(ChannelRestore, channel.chat_id)) == [ChannelCreated(channel=channel)]
    assert change(ask(ChannelRestore, thread_id=thread.thread_id)) == [ChannelCreated(channel=thread)]


# ---------------------------------------------------------------- refusals

Prepare = Callable[[Change], DirectoryChange]


def _deleted(change: Change) -> str:
    channel = made(change)
    change(ask(ChannelDelete, channel.chat_id))
    return channel.chat_id


def _automation(change: Change) -> str:
    channel = made(change)
    change(ask(ChannelSetAutomation, channel.chat_id, on=True))
    return channel.chat_id


def _name_taken_meanwhile(change: Change) -> DirectoryChange:
    chat_id = _deleted(change)
    made(change, "REPORTS")
    return ask(ChannelRestore, chat_id)


def _two(change: Change) -> str:
    made(change, "Straße")
    return made(change).chat_id


REFUSED: dict[str, tuple[Prepare, type[IrisError], str]] = {
    "a name that is taken": (lambda _: create("Default"), Conflict, "$.name"),
    "a name that is taken in another case": (lambda _: create("DEFAULT"), Conflict, "$.name"),
    "a name that is taken but for white space": (lambda _: create(" default "), Conflict, "$.name"),
    "a name of spaces": (lambda _: create("   "), InvalidFrame, "$.name"),
    "a name with a hidden character": (lambda _: create("a\u202eb"), InvalidFrame, "$.name"),
    "a thread's name of spaces": (lambda _: create(" ", kind="thread", parent_chat_id=CHAT), InvalidFrame, "$.name"),
    "a thread under nothing": (lambda _: create(kind="thread"), NotFound, "$.parent_chat_id"),
    "a thread off the default channel": (
        lambda change: create("Trip", kind="thread", parent_chat_id=made(change).chat_id),
        Unsupported,
        "$.parent_chat_id",
    ),
    "a second default channel": (lambda _: create(kind="default"), Unsupported, "$.kind"),
    "a room": (lambda _: create(kind="room"), Unsupported, "$.kind"),
    "to rename to a name that is taken": (
        lambda change: ask(ChannelRename, _two(change), name="STRASSE"),
        Conflict,
        "$.name",
    ),
    "to rename to nothing": (lambda _: ask(ChannelRename, name=" "), InvalidFrame, "$.name"),
    "to rename a thread to nothing": (
        lambda change: ask(ChannelRename, thread_id=made_thread(change).thread_id, name="\u200b"),
        InvalidFrame,
        "$.name",
    ),
    "a default channel that is deleted": (
        lambda change: ask(ChannelSetDefault, _deleted(change)),
        NotFound,
        "$.chat_id",
    ),
    "a default channel that is read-only": (
        lambda change: ask(ChannelSetDefault, _automation(change)),
        Unsupported,
        "$.chat_id",
    ),
    "a read-only default channel": (lambda _: ask(ChannelSetAutomation, on=True), Unsupported, "$.chat_id"),
    "threads off the default channel": (
        lambda change: ask(ChannelSetThreads, made(change).chat_id, on=True),
        Unsupported,
        "$.chat_id",
    ),
    "to delete the default channel": (lambda _: ask(ChannelDelete), Unsupported, "$.chat_id"),
    "to restore what is called like another one now": (_name_taken_meanwhile, Conflict, "$.name"),
}
UNKNOWN: tuple[tuple[type[Any], dict[str, Any]], ...] = (
    (ChannelRename, {"name": "x"}),
    (ChannelSetDefault, {}),
    (ChannelSetAutomation, {"on": True}),
    (ChannelSetThreads, {"on": True}),
    (ChannelDelete, {}),
    (ChannelRestore, {}),
)


@pytest.mark.parametrize(("prepare", "error", "field"), REFUSED.values(), ids=REFUSED)
def test_a_request_is_refused_and_changes_nothing(
    conn: sqlite3.Connection, change: Change, prepare: Prepare, error: type[IrisError], field: str
) -> None:
    request = prepare(change)
    before = channels.directory(conn)
    with pytest.raises(error) as refused:
        change(request)
    assert type(refused.value) is error
    assert field in str(refused.value)
    assert channels.directory(conn) == before


@pytest.mark.parametrize(("kind", "fields"), UNKNOWN, ids=lambda value: getattr(value, "__name__", ""))
def test_an_unknown_channel_is_not_found(change: Change, kind: type[Any], fields: dict[str, Any]) -> None:
    with pytest.raises(NotFound, match=r"\$\.chat_id"):
        change(ask(kind, NOWHERE, **fields))


@pytest.mark.parametrize("kind", [ChannelRename, ChannelDelete, ChannelRestore])
def test_an_unknown_thread_is_not_found(change: Change, kind: type[Any]) -> None:
    fields = {"name": "x"} if kind is ChannelRename else {}
    with pytest.raises(NotFound, match=r"\$\.thread_id"):
        change(ask(kind, thread_id="t_99", **fields))


def test_a_thread_of_an_unknown_or_deleted_channel_is_not_found(change: Change) -> None:
    for parent in (NOWHERE, _deleted(change)):
        with pytest.raises(NotFound):
            change(create("Trip", kind="thread", parent_chat_id=parent))


# ---------------------------------------------------------------- limits


def test_there_are_so_many_channels_and_no_more(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "MAX_CHANNELS", 3)
    first, _ = made(change, "a"), made(change, "b")
    with pytest.raises(TooLarge, match="3 channels"):
        change(create("c"))
    made_thread(change)  # threads are counted apart
    change(ask(ChannelDelete, first.chat_id))
    assert made(change, "c").chat_id == "android:chan_3"


def test_there_are_so_many_threads_under_a_channel_and_no_more(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "MAX_THREADS", 2)
    first, _ = made_thread(change), made_thread(change)
    with pytest.raises(TooLarge, match="2 threads"):
        made_thread(change)
    change(ask(ChannelDelete, thread_id=first.thread_id))
    assert made_thread(change).thread_id == "t_3"


def test_what_comes_back_counts_too(change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else deleting, making and restoring in turns would get around the limit."""
    monkeypatch.setattr(channels, "MAX_CHANNELS", 3)
    monkeypatch.setattr(channels, "MAX_THREADS", 1)
    first, thread = made(change, "a"), made_thread(change)
    change(ask(ChannelDelete, first.chat_id))
    change(ask(ChannelDelete, thread_id=thread.thread_id))
    made(change, "b"), made(change, "c"), made_thread(change)
    with pytest.raises(TooLarge):
        change(ask(ChannelRestore, first.chat_id))
    with pytest.raises(TooLarge):
        change(ask(ChannelRestore, thread_id=thread.thread_id))


# ---------------------------------------------------------------- a model's names


@pytest.fixture
def opened(conn: sqlite3.Connection) -> Channel:
    """A thread with a derived name."""
    with transaction(conn):
        event = directory.open_thread(conn, entry(conn), "plan the trip", "derived", Moment(5, 5.0))
        messages.record(conn, [event])
    assert event.auto
    return event.channel


def test_a_model_s_name_replaces_a_derived_one(conn: sqlite3.Connection, opened: Channel) -> None:
    lane = Lane(opened.chat_id, opened.thread_id)
    named = replace(opened, name="Kyoto", name_source="llm")
    assert directory.retitle(conn, lane, '"Kyoto"') == [ChannelRenamed(channel=named)]
    channels.put(conn, named)
    again = replace(opened, name="Kyoto in May", name_source="llm")
    assert directory.retitle(conn, lane, "Kyoto in May") == [ChannelRenamed(channel=again)]


@pytest.mark.parametrize("title", ["", "  \n", '""', "plan the trip"])
def test_a_title_that_says_nothing_new_changes_nothing(conn: sqlite3.Connection, opened: Channel, title: str) -> None:
    assert directory.retitle(conn, Lane(opened.chat_id, opened.thread_id), title) == []


def test_a_model_s_name_never_replaces_a_person_s(conn: sqlite3.Connection, change: Change, opened: Channel) -> None:
    change(ask(ChannelRename, thread_id=opened.thread_id, name="Mine"))
    assert directory.retitle(conn, Lane(opened.chat_id, opened.thread_id), "Kyoto") == []


def test_the_default_channel_can_be_named_too(conn: sqlite3.Connection) -> None:
    (event,) = directory.retitle(conn, DEFAULT_LANE, "Home")
    assert (event.channel.name, event.channel.name_source) == ("Home", "llm")
