"""Parts of frames: structs without a `type` of their own."""

from typing import Annotated

from msgspec import Meta, Struct

from .types import (
    ChannelKind,
    ChatId,
    DeviceId,
    DeviceKind,
    Epoch,
    Jid,
    JobId,
    LimitRule,
    MediaId,
    MediaKind,
    MessageId,
    NameSource,
    Order,
    Outcome,
    Role,
    Seconds,
    Seq,
    SessionId,
    SpeakerKind,
    ThreadId,
    TurnId,
    UnixTime,
)


class LevelRange(Struct, frozen=True, kw_only=True):
    """The protocol levels that a client speaks."""

    min: Annotated[int, Meta(description="Lowest level.", ge=1)]
    max: Annotated[int, Meta(description="Highest level.", ge=1)]


class DeviceInfo(Struct, frozen=True, kw_only=True):
    """What a device says of itself."""

    id: DeviceId
    name: Annotated[str, Meta(description="Shown in the list of devices.", min_length=1, max_length=80)]
    kind: DeviceKind


class Position(Struct, frozen=True, kw_only=True):
    """How far a device has read the event log."""

    epoch: Epoch
    seq: Seq


class ServerInfo(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the gateway says of itself."""

    name: str
    version: Annotated[str, Meta(description="Version of Iris.")]
    host_version: Annotated[str, Meta(description="Version of the Hermes host.")]
    rehearsal: Annotated[
        bool, Meta(description="The agent's model is the rehearsal: a script that shows what there is.")
    ] = False


class Policy(Struct, frozen=True, kw_only=True):
    """Limits that a client must keep."""

    max_frame: Annotated[int, Meta(description="Bytes of one frame.")]
    max_text: Annotated[int, Meta(description="Characters of one message.")]
    max_history: Annotated[int, Meta(description="Messages of one page.")]
    max_upload: Annotated[int, Meta(description="Bytes of one file.")]


class Channel(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry of the directory: a channel or a thread."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    name: str
    name_source: NameSource = "user"
    kind: ChannelKind
    parent_chat_id: ChatId | None = None
    is_default: bool = False
    automation: Annotated[bool, Meta(description="Read-only for people.")] = False
    threads: Annotated[bool, Meta(description="Whether the channel is split in threads.")] = False
    archived: Annotated[bool, Meta(description="Deleted: hidden, but its history is kept.")] = False
    cron_jobs: Annotated[int, Meta(description="Cron jobs that report here.", ge=0)] = 0
    created: UnixTime


class JobRef(Struct, frozen=True, kw_only=True):
    """The cron job that a report is from."""

    id: JobId
    name: str


class Attachment(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file of a message; `GET /media/<id>` has its bytes."""

    id: MediaId
    name: Annotated[str, Meta(description="File name, without a folder.", min_length=1, max_length=120)]
    type: Annotated[str, Meta(description="Media type, e.g. `image/png`.", max_length=127)]
    size: Annotated[int, Meta(description="Bytes.", ge=0)]
    kind: Annotated[MediaKind, Meta(description="As what it is shown; `voice` is a recorded note.")]
    width: Annotated[int | None, Meta(description="Pixels, of an image as it is seen.")] = None
    height: Annotated[int | None, Meta(description="Pixels, of an image as it is seen.")] = None
    duration: Annotated[Seconds | None, Meta(description="Of a recorded note.")] = None


class Quote(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The message that another one of the same channel answers, in short."""

    message_id: MessageId
    thread_id: ThreadId | None = None
    order: Order
    role: Role
    name: Annotated[str, Meta(description="Of a report: its job; of a room: who said it.")] = ""
    text: Annotated[str, Meta(description="How it begins: one line, without marks.", max_length=200)]


class CronJob(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A cron job of the host, and where it reports."""

    id: JobId
    name: str
    schedule: Annotated[str, Meta(description="As a person reads it.")]
    enabled: bool
    chat_id: Annotated[ChatId | None, Meta(description="Where it reports; without it, nowhere in Iris.")] = None
    thread_id: ThreadId | None = None
    next_run: Annotated[UnixTime | None, Meta(description="When it runs next.")] = None
    last_run: Annotated[UnixTime | None, Meta(description="When it ran last.")] = None
    error: Annotated[str | None, Meta(description="What went wrong the last time.")] = None


class TurnSummary(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a turn went."""

    turn_id: TurnId
    started: UnixTime
    ended: UnixTime
    outcome: Outcome
    error: Annotated[str | None, Meta(description="Why it failed or was interrupted, for the person.")] = None


class LaneStatus(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is going on in one lane; lanes where nothing is are left out."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    turn_id: Annotated[TurnId | None, Meta(description="The turn that is running.")] = None
    read: Annotated[Order, Meta(description="How far the person has read.")] = 0
    unread: Annotated[int, Meta(description="Answers and reports after that.", ge=0)] = 0


class Device(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A paired device."""

    id: DeviceId
    name: str
    kind: DeviceKind
    created: UnixTime
    last_seen: UnixTime | None = None
    connected: bool = False
    this: Annotated[bool, Meta(description="The device that asks.")] = False


class SnippetPart(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A piece of a found text."""

    text: str
    hit: Annotated[bool, Meta(description="Whether it is what was looked for.")] = False


class Hit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that was found: a message of a lane, or a line of a session of the host that is no lane."""

    chat_id: ChatId | None = None
    thread_id: ThreadId | None = None
    message_id: MessageId | None = None
    order: Order | None = None
    session_id: Annotated[SessionId | None, Meta(description="Of a hit outside of Iris.")] = None
    session: Annotated[str, Meta(description="What that session is called.")] = ""
    role: Role
    sender: Annotated[str, Meta(description="Of a room: the name of who said it.")] = ""
    snippet: list[SnippetPart]
    ts: UnixTime


class SessionLine(Struct, frozen=True, kw_only=True):
    """Something said in a session of the host."""

    role: Role
    text: str
    ts: UnixTime


class Sender(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who said something in a room."""

    name: Annotated[str, Meta(description="The name in the room.", max_length=200)]
    kind: Annotated[SpeakerKind, Meta(description="By the address behind the name; `unknown` is in no configuration.")]
    own: Annotated[bool, Meta(description="The person of this gateway.")] = False


class Member(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Somebody of a room."""

    name: Annotated[str, Meta(description="The name in the room.", max_length=200)]
    kind: SpeakerKind
    own: Annotated[bool, Meta(description="The person of this gateway.")] = False
    here: Annotated[bool, Meta(description="In the room now.")] = False
    typing: bool = False


class SharedSession(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A terminal session that an agent knows of while it speaks in a room."""

    agent: Jid
    name: Annotated[str, Meta(description="The agent's name in the room.", max_length=200)]
    title: Annotated[str, Meta(description="What the session is called.", max_length=80)] = ""
    until: UnixTime


class Limit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An agent that is silent for a while."""

    agent: Jid
    name: Annotated[str, Meta(description="The agent's name in the room.", max_length=200)]
    rule: LimitRule
    until: Annotated[UnixTime, Meta(description="0 until a person speaks.")] = 0.0
