"""Every frame, declared once; this module is their door.

Decoding, validation, `schema.json`, the TypeScript types and the tables of `docs/protocol.md` come from these classes.

Invariants: a frame is immutable; a field that is unknown is ignored; a request names the type of its answer; an
`Event` is stored and numbered before any device sees it, every other frame is not stored.
"""

from typing import Annotated

from msgspec import Meta, field

from .asking import (
    Choice as Choice,
    Commands as Commands,
    CommandsList as CommandsList,
    Question as Question,
    RequestAnswer as RequestAnswer,
    RequestCard as RequestCard,
    RequestClosed as RequestClosed,
    RequestOpened as RequestOpened,
    SlashCommand as SlashCommand,
)
from .base import (
    Event as Event,
    Frame as Frame,
    Reply as Reply,
    Request as Request,
)
from .directory import (
    Ack as Ack,
    ChannelAccepted as ChannelAccepted,
    ChannelCreate as ChannelCreate,
    ChannelCreated as ChannelCreated,
    ChannelDelete as ChannelDelete,
    ChannelDeleted as ChannelDeleted,
    ChannelRename as ChannelRename,
    ChannelRenamed as ChannelRenamed,
    ChannelRestore as ChannelRestore,
    ChannelSetAutomation as ChannelSetAutomation,
    ChannelSetDefault as ChannelSetDefault,
    ChannelSetThreads as ChannelSetThreads,
    CronJobs as CronJobs,
    CronList as CronList,
    CronSetTarget as CronSetTarget,
)
from .finding import (
    DeviceInvite as DeviceInvite,
    DeviceList as DeviceList,
    DevicePaired as DevicePaired,
    DeviceRename as DeviceRename,
    DeviceRevoke as DeviceRevoke,
    Devices as Devices,
    Invitation as Invitation,
    ReadMark as ReadMark,
    ReadMarked as ReadMarked,
    Search as Search,
    SearchResults as SearchResults,
    SessionGet as SessionGet,
    SessionLines as SessionLines,
)
from .link import (
    Failure as Failure,
    Hello as Hello,
    HelloAck as HelloAck,
    Ping as Ping,
    Pong as Pong,
    ServerClosing as ServerClosing,
)
from .parts import (
    Attachment as Attachment,
    Channel as Channel,
    CronJob as CronJob,
    Device as Device,
    DeviceInfo as DeviceInfo,
    Hit as Hit,
    JobRef as JobRef,
    LaneStatus as LaneStatus,
    LevelRange as LevelRange,
    Limit as Limit,
    Member as Member,
    Policy as Policy,
    Position as Position,
    Quote as Quote,
    Sender as Sender,
    ServerInfo as ServerInfo,
    SessionLine as SessionLine,
    SharedSession as SharedSession,
    SnippetPart as SnippetPart,
    TurnSummary as TurnSummary,
)
from .pushing import (
    DeviceLook as DeviceLook,
    PushClose as PushClose,
    PushGet as PushGet,
    PushNote as PushNote,
    PushPreferences as PushPreferences,
    PushState as PushState,
    PushSubscribe as PushSubscribe,
    PushUnsubscribe as PushUnsubscribe,
)
from .rooms import (
    LeaseRevoke as LeaseRevoke,
    RoomState as RoomState,
    RoomStop as RoomStop,
    RoomTyping as RoomTyping,
)
from .tooling import (
    ToolCard as ToolCard,
    ToolData as ToolData,
    ToolEnd as ToolEnd,
    ToolGet as ToolGet,
    ToolStart as ToolStart,
)
from .turning import (
    TurnEnded as TurnEnded,
    TurnStarted as TurnStarted,
    TurnStop as TurnStop,
    Typing as Typing,
)
from .types import (
    MAX_ATTACHMENTS,
    MAX_TEXT,
    ChatId,
    ClientId,
    MediaId,
    MessageId,
    MessageKind,
    MessageState,
    Order,
    Role,
    Seq,
    ThreadId,
    Tokens,
    TurnId,
    Units,
    UnixTime,
)

# ---------------------------------------------------------------- client to server


class MessageAccepted(Reply, frozen=True, kw_only=True, tag="message.accepted"):
    """The message will not be lost; its echo follows as a `message` event: of a room, once the room has it."""

    message_id: MessageId
    chat_id: ChatId
    thread_id: ThreadId | None = None
    seq: Annotated[Seq | None, Meta(description="Number of the echo; of a room not known yet.")] = None


class MessageSend(Request[MessageAccepted], frozen=True, kw_only=True, tag="message.send"):
    """A person says something in a lane."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    text: Annotated[
        str, Meta(description="Markdown or a slash command; may be empty beside files.", max_length=MAX_TEXT)
    ]
    attachments: Annotated[
        list[MediaId], Meta(description="Files that were uploaded before.", max_length=MAX_ATTACHMENTS)
    ] = field(default_factory=list)
    auto_thread: Annotated[
        bool, Meta(description="Begin a thread with this message, where the default channel has threads on.")
    ] = False
    reply_to: Annotated[
        MessageId | None,
        Meta(
            description="A message of this lane or of its channel that this answers; that to a report is in a thread."
        ),
    ] = None
    replaces: Annotated[
        MessageId | None,
        Meta(description="The person's last message in this lane; the agent is to forget it and what it led to."),
    ] = None


class Message(Event, frozen=True, kw_only=True, tag="message"):
    """A whole message: what a person sent, an answer that was not streamed, a cron report, a notice of the host."""

    message_id: MessageId
    chat_id: ChatId
    thread_id: ThreadId | None = None
    role: Annotated[Role, Meta(description="In a room, `user` is this gateway's person, `assistant` everybody else.")]
    sender: Annotated[Sender | None, Meta(description="Of a room: who said it.")] = None
    text: Annotated[str, Meta(description="Markdown.")]
    attachments: Annotated[list[Attachment], Meta(description="Its files.")] = field(default_factory=list)
    kind: MessageKind = "final"
    state: MessageState = "complete"
    reasoning: Annotated[str | None, Meta(description="What the model thought before this text.")] = None
    model: Annotated[str | None, Meta(description="Model that wrote it.")] = None
    tokens: Tokens | None = None
    client_id: Annotated[ClientId | None, Meta(description="Of the `message.send` that this echoes.")] = None
    reply_to: Annotated[MessageId | None, Meta(description="The message that it answers.")] = None
    quote: Annotated[Quote | None, Meta(description="That message, unless it is hidden.")] = None
    replaces: Annotated[MessageId | None, Meta(description="The message whose place it took.")] = None
    job: Annotated[JobRef | None, Meta(description="Of role `cron`: the job.")] = None
    turn_id: TurnId | None = None
    ts: UnixTime
    order: Order


class MessageSetHidden(Request[Ack], frozen=True, kw_only=True, tag="message.set_hidden"):
    """Take a message out of the person's sight, on every device and for good; or bring it back.

    What the agent knows of it stays as it is.
    """

    message_id: MessageId
    on: bool


class MessageHidden(Event, frozen=True, kw_only=True, tag="message.hidden"):
    """A message is shown no more, and found no more."""

    message_id: MessageId
    chat_id: ChatId
    thread_id: ThreadId | None = None


class MessageShown(Event, frozen=True, kw_only=True, tag="message.shown"):
    """A message that was hidden stands in its place again."""

    message: Annotated[Message, Meta(description="All of it; its `seq` means nothing here.")]


class HistoryPage(Reply, frozen=True, kw_only=True, tag="history"):
    """A page of a lane, oldest first."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    entries: Annotated[
        list[Message | ToolCard | RequestCard],
        Meta(description="Messages, the tool calls between them, and what was asked."),
    ]
    has_more: Annotated[bool, Meta(description="Whether there is anything older.")]
    has_newer: Annotated[bool, Meta(description="Whether there is anything newer.")] = False
    turns: Annotated[list[TurnSummary], Meta(description="How the turns of this page ended.")] = field(
        default_factory=list
    )


class History(Request[HistoryPage], frozen=True, kw_only=True, tag="history"):
    """Fetch the last page of a lane, or the one before, after or around a place; one of the three at most."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    before: Annotated[Order | None, Meta(description="Only what is older than this place.")] = None
    after: Annotated[Order | None, Meta(description="Only what is newer than this place.")] = None
    around: Annotated[Order | None, Meta(description="What is on both sides of this place.")] = None
    limit: Annotated[int, Meta(description="Messages per page.", ge=1, le=200)] = 50


# ---------------------------------------------------------------- server to client


class MessageStart(Frame, frozen=True, kw_only=True, tag="message.start"):
    """A bubble begins to stream. Sent again to a device that joins midway."""

    message_id: MessageId
    chat_id: ChatId
    thread_id: ThreadId | None = None
    role: Role
    turn_id: TurnId
    ts: UnixTime
    order: Order


class MessageUpdate(Frame, frozen=True, kw_only=True, tag="message.update"):
    """A streaming bubble says something new: `text` is all of it so far, and may be shorter or another than before.

    A device with the capability `delta` gets `offset` and `append` instead, when its text only grew.
    """

    message_id: MessageId
    text: Annotated[str | None, Meta(description="The whole text so far.")] = None
    offset: Annotated[Units | None, Meta(description="How long the text was before.")] = None
    append: Annotated[str | None, Meta(description="What comes behind that.")] = None

    def __post_init__(self) -> None:
        if (self.offset is None) != (self.append is None) or (self.text is None) == (self.append is None):
            raise ValueError("either `text`, or `offset` and `append`")


class MessageStop(Event, frozen=True, kw_only=True, tag="message.stop"):
    """A bubble is complete. It carries everything, so that it also creates a bubble that a device never saw start."""

    message_id: MessageId
    chat_id: ChatId
    thread_id: ThreadId | None = None
    role: Role
    turn_id: TurnId
    final_text: Annotated[str, Meta(description="Markdown; what is stored.")]
    kind: MessageKind
    state: MessageState = "complete"
    reasoning: str | None = None
    model: str | None = None
    tokens: Tokens | None = None
    ts: UnixTime
    order: Order


class Commentary(Event, frozen=True, kw_only=True, tag="commentary"):
    """An interim remark that was not streamed. With an empty text it only carries the reasoning before a tool call."""

    message_id: MessageId
    chat_id: ChatId
    thread_id: ThreadId | None = None
    turn_id: TurnId
    text: str
    reasoning: str | None = None
    ts: UnixTime
    order: Order


DirectoryChange = (
    ChannelCreate
    | ChannelRename
    | ChannelSetDefault
    | ChannelSetAutomation
    | ChannelSetThreads
    | ChannelDelete
    | ChannelRestore
)
ClientFrame = (
    Hello
    | Ping
    | MessageSend
    | MessageSetHidden
    | TurnStop
    | RequestAnswer
    | ToolGet
    | CommandsList
    | History
    | DirectoryChange
    | CronList
    | CronSetTarget
    | Search
    | SessionGet
    | ReadMark
    | DeviceList
    | DeviceRename
    | DeviceRevoke
    | DeviceInvite
    | DeviceLook
    | PushGet
    | PushSubscribe
    | PushUnsubscribe
    | RoomStop
    | RoomTyping
    | LeaseRevoke
)
TurnEvent = Message | MessageStop | Commentary | TurnStarted | TurnEnded | ToolStart | ToolEnd
DirectoryEvent = ChannelCreated | ChannelRenamed | ChannelDeleted
RequestEvent = RequestOpened | RequestClosed
SightEvent = MessageHidden | MessageShown
StoredEvent = TurnEvent | RequestEvent | DirectoryEvent | ReadMarked | SightEvent
Ephemeral = MessageStart | MessageUpdate | Typing | RoomState | DevicePaired
ServerFrame = (
    StoredEvent
    | Ephemeral
    | HelloAck
    | MessageAccepted
    | ChannelAccepted
    | CronJobs
    | Ack
    | ToolData
    | Commands
    | HistoryPage
    | SearchResults
    | SessionLines
    | Devices
    | Invitation
    | PushState
    | PushNote
    | PushClose
    | Pong
    | Failure
    | ServerClosing
)
