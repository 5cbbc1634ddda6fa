"""Rooms in the directory: the configuration says which there are, and the host has no business in them."""

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from hermes_iris import directory, jobs, reports
from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.errors import IrisError, NotFound
from hermes_iris.jobs import HostJob
from hermes_iris.moment import Moment
from hermes_iris.protocol.frames import (
    ChannelCreated,
    ChannelDelete,
    ChannelDeleted,
    ChannelRename,
    ChannelRenamed,
    ChannelRestore,
    ChannelSetAutomation,
    ChannelSetDefault,
    ChannelSetThreads,
    DirectoryEvent,
    Message,
    Sender,
)
from hermes_iris.reports import Report
from hermes_iris.store import channels, connect, messages, reading, search, transaction
from support import new_id

CORE, SIDE = "android:room_core", "android:room_side"
NOW = Moment(640, 10.0)


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    conn = connect(tmp_path / "channels.db")
    with transaction(conn):
        channels.ensure_default(conn, 1.0)
    furnish(conn, {CORE: "Core"})
    yield conn
    conn.close()


def furnish(conn: sqlite3.Connection, rooms: Mapping[str, str]) -> list[DirectoryEvent]:
    with transaction(conn):
        events = directory.furnish(conn, rooms, NOW)
        messages.record(conn, events)
    return events


def rename(conn: sqlite3.Connection, name: str) -> None:
    with transaction(conn):
        request = ChannelRename(client_id=new_id(), chat_id=CORE, name=name)
        messages.record(conn, directory.change(conn, request, NOW))


def test_the_configuration_says_which_rooms_there_are(conn: sqlite3.Connection) -> None:
    assert furnish(conn, {CORE: "Core"}) == [], "nothing new"
    [created] = furnish(conn, {CORE: "Core", SIDE: "Side"})
    assert isinstance(created, ChannelCreated)
    assert (created.channel.kind, created.channel.name) == ("room", "Side")
    [gone] = furnish(conn, {CORE: "Core"})
    assert isinstance(gone, ChannelDeleted)
    assert (gone.channel.chat_id, gone.channel.archived) == (SIDE, True)
    assert furnish(conn, {CORE: "Core"}) == []
    [back] = furnish(conn, {CORE: "Core", SIDE: "Side"})
    assert isinstance(back, ChannelCreated)
    assert not back.channel.archived


def test_a_name_of_the_configuration_is_taken_over_until_a_person_gives_one(conn: sqlite3.Connection) -> None:
    [renamed] = furnish(conn, {CORE: "Kernel"})
    assert isinstance(renamed, ChannelRenamed)
    rename(conn, "Our place")
    assert furnish(conn, {CORE: "Core"}) == []
    assert channels.get(conn, CORE, None).name == "Our place"


@pytest.mark.parametrize(
    "request_type", [ChannelDelete, ChannelRestore, ChannelSetAutomation, ChannelSetDefault, ChannelSetThreads]
)
def test_a_person_only_renames_a_room(conn: sqlite3.Connection, request_type: Any) -> None:
    more = {"on": True} if "on" in request_type.__struct_fields__ else {}
    with pytest.raises(IrisError, match=r"\$.chat_id is a room") as refused, transaction(conn):
        directory.change(conn, request_type(client_id=new_id(), chat_id=CORE, **more), NOW)
    assert refused.value.code == "unsupported"


@pytest.mark.parametrize("target", [CORE, "room_core", "Core"])
def test_a_report_for_a_room_is_told_of_where_it_harms_nobody(conn: sqlite3.Connection, target: str) -> None:
    with transaction(conn):
        delivered = reports.deliver(conn, Report(target, "# Rain"), NOW)
    assert {message.chat_id for message in delivered.frames} == {DEFAULT_LANE.chat_id}
    assert "was meant for" in delivered.frames[-1].text


def test_a_job_does_not_report_into_a_room(conn: sqlite3.Connection) -> None:
    job = HostJob(id="j", name="Weather", schedule="daily", enabled=True, deliver=("android:room_core",))
    assert jobs.targets(job, channels.directory(conn)) == []


def say(conn: sqlite3.Connection, place: int, role: str, sender: Sender, text: str) -> Message:
    message = Message(
        message_id=f"r_{place}", chat_id=CORE, role=role, sender=sender, text=text, ts=float(place), order=place
    )  # type: ignore[arg-type]
    with transaction(conn):
        messages.record(conn, [message])
    return message


def test_what_is_said_in_a_room_is_kept_found_and_counted_but_never_given_to_the_host(conn: sqlite3.Connection) -> None:
    own = say(conn, 1, "user", Sender(name="Lin", kind="person", own=True), "Shall we go to Oslo?")
    other = say(conn, 2, "assistant", Sender(name="墨荷", kind="agent"), "@Lin Oslo it is")
    assert messages.history(conn, Lane(CORE), 10).entries == [own, other]
    hits, _ = search.find(conn, search.parse("oslo"), Lane(CORE), "newest", None, 10)
    assert [(hit.message_id, hit.sender) for hit in hits] == [("r_2", "墨荷"), ("r_1", "Lin")]
    assert reading.statuses(conn)[Lane(CORE)].unread == 1
    assert messages.waiting(conn) == []


def test_a_room_that_left_the_configuration_takes_no_message(conn: sqlite3.Connection) -> None:
    furnish(conn, {})
    with pytest.raises(NotFound):
        directory.living(conn, Lane(CORE))
