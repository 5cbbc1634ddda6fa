"""Changes of the directory: what each request does to it, and the threads that messages open.

Every function runs inside a transaction and returns the events that the change consists of; nothing is stored here.
Rules: threads are offered to people on the default channel only, but the gateway may open one anywhere; the default
channel is neither deleted nor read-only; a name that a person gave is never replaced by a model's; which rooms there
are is said by the configuration, people only rename them.
"""

import sqlite3
from collections.abc import Mapping
from typing import assert_never

from msgspec.structs import replace

from . import names
from .address import Lane
from .errors import Conflict, NotFound, Unsupported
from .moment import Moment
from .protocol.frames import (
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
    MessageSend,
)
from .protocol.types import ChatId, NameSource
from .store import channels, messages


def change(conn: sqlite3.Connection, request: DirectoryChange, moment: Moment) -> list[DirectoryEvent]:
    """What a request does; the last event is about the entry that was asked for.

    Raises:
        NotFound, Unsupported, Conflict, InvalidFrame, TooLarge: it is refused; the text names the field.
    """
    if isinstance(request, ChannelCreate):
        return [_create(conn, request, moment)]
    entry = channels.get(conn, request.chat_id, getattr(request, "thread_id", None))
    if entry.kind == "room" and not isinstance(request, ChannelRename):
        raise Unsupported("$.chat_id is a room: it comes from meeting.toml, and can only be renamed")
    match request:
        case ChannelRename(name=name):
            name = names.checked(name)
            if entry.thread_id is None:
                channels.check_free(conn, name, but=entry)
            return [ChannelRenamed(channel=replace(entry, name=name, name_source="user"))]
        case ChannelSetDefault():
            return _set_default(conn, entry)
        case ChannelSetAutomation(on=on):
            if entry.is_default:
                raise Unsupported("$.chat_id is the default channel, which cannot be read-only")
            return [ChannelRenamed(channel=replace(entry, automation=on))]
        case ChannelSetThreads(on=on):
            if not entry.is_default:
                raise Unsupported("$.chat_id is not the default channel; only that one can be split in threads")
            return [ChannelRenamed(channel=replace(entry, threads=on))]
        case ChannelDelete():
            if entry.is_default:
                raise Unsupported("$.chat_id is the default channel, which cannot be deleted")
            return [ChannelDeleted(channel=replace(entry, archived=True))]
        case ChannelRestore():
            if entry.archived:
                channels.check_room(conn, entry.parent_chat_id)
            if entry.thread_id is None:
                channels.check_free(conn, entry.name, but=entry)
            return [ChannelCreated(channel=replace(entry, archived=False))]
        case _:
            assert_never(request)


def furnish(conn: sqlite3.Connection, rooms: Mapping[ChatId, str], moment: Moment) -> list[DirectoryEvent]:
    """Let the directory have these rooms, by their names, and no other; one that a person named keeps that name."""
    events: list[DirectoryEvent] = []
    known = {entry.chat_id: entry for entry in channels.directory(conn) if entry.kind == "room"}
    for chat_id, name in rooms.items():
        entry = known.get(chat_id)
        if entry is None:
            room = Channel(chat_id=chat_id, name=name, name_source="derived", kind="room", created=moment.ts)
            events.append(ChannelCreated(channel=room))
        elif entry.archived:
            events.append(ChannelCreated(channel=replace(entry, archived=False)))
        elif entry.name != name and names.outranks("derived", entry.name_source):
            events.append(ChannelRenamed(channel=replace(entry, name=name)))
    gone = [entry for entry in known.values() if entry.chat_id not in rooms and not entry.archived]
    return [*events, *(ChannelDeleted(channel=replace(entry, archived=True)) for entry in gone)]


def place(conn: sqlite3.Connection, request: MessageSend, moment: Moment) -> tuple[Lane, list[DirectoryEvent]]:
    """The lane that a person's message goes to, and the thread that is opened for it, if one is.

    Raises:
        NotFound: there is no such lane (any more), or nothing to answer.
        Unsupported: people do not write there.
    """
    lane = Lane(request.chat_id, request.thread_id)
    entry = living(conn, lane)
    if entry.kind == "room":
        raise Unsupported("$.chat_id is a room that this gateway is not in")
    is_command = request.text.startswith("/")
    if request.reply_to is not None and not is_command:
        answered = messages.get(conn, request.reply_to)
        is_report = answered.role == "cron"
        if answered.chat_id != lane.chat_id or (not is_report and answered.thread_id not in (None, lane.thread_id)):
            raise Unsupported("$.reply_to must be a message of this lane or of its channel")
        if is_report and lane.thread_id is None:
            name = names.derived(answered.job.name if answered.job else answered.text)
            opened = open_thread(conn, entry, name, "user", moment)  # a person has named the job
            return Lane(lane.chat_id, opened.channel.thread_id), [opened]
    if entry.automation:
        raise Unsupported("$.chat_id is an automation channel: it is read-only; reply to a report to talk about it")
    begins = bool(request.text.strip()) and not is_command  # files alone begin no subject, and could not name it
    if request.auto_thread and begins and lane.thread_id is None and entry.is_default and entry.threads:
        opened = open_thread(conn, entry, names.derived(request.text), "derived", moment)
        return Lane(lane.chat_id, opened.channel.thread_id), [opened]
    return lane, []


def open_thread(
    conn: sqlite3.Connection, parent: Channel, name: str, source: NameSource, moment: Moment, *, auto: bool = True
) -> ChannelCreated:
    """A new thread under any channel."""
    lane = channels.mint(conn, parent.chat_id)
    return ChannelCreated(
        channel=Channel(
            chat_id=lane.chat_id,
            thread_id=lane.thread_id,
            name=name,
            name_source=source,
            kind="thread",
            parent_chat_id=parent.chat_id,
            created=moment.ts,
        ),
        auto=auto,
    )


def living(conn: sqlite3.Connection, lane: Lane) -> Channel:
    """The entry of a lane that is not deleted, nor its channel.

    Raises:
        NotFound: it is.
    """
    channel = channels.get(conn, lane.chat_id, None)
    entry = channels.get(conn, *lane) if lane.thread_id else channel
    if channel.archived:
        raise NotFound("$.chat_id names a channel that was deleted")
    if entry.archived:
        raise NotFound("$.thread_id names a thread that was deleted")
    return entry


def retitle(conn: sqlite3.Connection, lane: Lane, title: str) -> list[DirectoryEvent]:
    """A model's name for a lane; nothing when somebody has named it meanwhile, or another channel is called so."""
    entry = channels.get(conn, *lane)
    name = names.from_model(title)
    if name is None or name == entry.name or not names.outranks("llm", entry.name_source):
        return []
    if lane.thread_id is None:
        try:
            channels.check_free(conn, name, but=entry)
        except Conflict:
            return []
    return [ChannelRenamed(channel=replace(entry, name=name, name_source="llm"))]


def _create(conn: sqlite3.Connection, request: ChannelCreate, moment: Moment) -> ChannelCreated:
    name = names.checked(request.name)
    if request.kind == "thread":
        if request.parent_chat_id is None:
            raise NotFound("$.parent_chat_id must name the channel that the thread is under")
        parent = living(conn, Lane(request.parent_chat_id))
        if not parent.is_default:
            raise Unsupported("$.parent_chat_id is not the default channel; people open threads only there")
        return open_thread(conn, parent, name, "user", moment, auto=False)
    if request.kind != "channel":
        raise Unsupported("$.kind must be channel or thread")
    channels.check_free(conn, name)
    lane = channels.mint(conn, None)
    return ChannelCreated(channel=Channel(chat_id=lane.chat_id, name=name, kind="channel", created=moment.ts))


def _set_default(conn: sqlite3.Connection, entry: Channel) -> list[DirectoryEvent]:
    if entry.archived:
        raise NotFound("$.chat_id names a channel that was deleted")
    if entry.automation:
        raise Unsupported("$.chat_id is an automation channel, which cannot be the default one")
    former = channels.default(conn)
    if former.chat_id == entry.chat_id:
        return [ChannelRenamed(channel=entry)]
    return [
        ChannelRenamed(channel=replace(former, is_default=False)),
        ChannelRenamed(channel=replace(entry, is_default=True)),
    ]
