"""The scalar types that frames are made of; each carries its unit and its limits."""

from typing import Annotated, Any, Literal

from msgspec import Meta

LEVEL = 1
"""The protocol level that this code speaks."""

MAX_FRAME = 1 << 20
"""Bytes of the largest frame that a client may send."""

MAX_NUMBER = (1 << 53) - 1
"""The largest whole number that JavaScript tells apart from its neighbours."""

MAX_TEXT = 100_000
"""Characters of the longest message that a person can send."""

MAX_ATTACHMENTS = 20
"""Files of one message."""

ChatId = Annotated[
    str,
    Meta(
        description="A channel, e.g. `android:default` or `android:chan_7`.",
        pattern=r"^android:[A-Za-z0-9_-]{1,64}$(?!\n)",
    ),
]
ThreadId = Annotated[
    str, Meta(description="A thread under a channel, e.g. `t_31`.", pattern=r"^[A-Za-z0-9_-]{1,64}$(?!\n)")
]
MessageId = Annotated[str, Meta(description="A message; minted by the server, sorts by age.", max_length=64)]
ToolCallId = Annotated[str, Meta(description="A tool call; minted by the server.", max_length=64)]
RequestId = Annotated[
    str, Meta(description="Something that the agent or its host asks; minted by the server.", max_length=64)
]
TurnId = Annotated[str, Meta(description="A turn; minted by the server.", max_length=64)]
SessionId = Annotated[str, Meta(description="A session of the host that is no lane of Iris.", max_length=128)]
Cursor = Annotated[str, Meta(description="Where the next page begins; opaque.", max_length=64)]
Jid = Annotated[str, Meta(description="A bare JID (XMPP).", min_length=1, max_length=1024)]
JobId = Annotated[str, Meta(description="A cron job of the host.", max_length=128)]
ChannelName = Annotated[str, Meta(description="One line, at most 80 characters.", min_length=1, max_length=80)]
DeviceName = Annotated[
    str,
    Meta(description="One line, at most 80 characters.", min_length=1, max_length=80),
]
DeviceId = Annotated[str, Meta(description="A paired device; minted at pairing.", max_length=64)]
ClientId = Annotated[
    str,
    Meta(
        description="A UUID minted by the client for one request; a retry carries the same one.",
        pattern=r"^[A-Za-z0-9_-]{8,64}$(?!\n)",
    ),
]
Epoch = Annotated[str, Meta(description="Names one life of the event log.", max_length=64)]
Seq = Annotated[
    int, Meta(description="Position in the event log of one epoch; counts up, without gaps.", ge=0, le=MAX_NUMBER)
]
Order = Annotated[
    int,
    Meta(
        description="Place in the lane, fixed at first sight; sorts every kind of entry of a lane.", ge=0, le=MAX_NUMBER
    ),
]
UnixTime = Annotated[float, Meta(description="Seconds since 1970, UTC.")]
Units = Annotated[int, Meta(description="Length in UTF-16 code units, as JavaScript counts.", ge=0, le=MAX_NUMBER)]
Seconds = Annotated[float, Meta(description="Seconds.", ge=0)]
Tokens = Annotated[int, Meta(description="Tokens of all model calls of the turn.", ge=0)]
MediaId = Annotated[
    str,
    Meta(description="A file; minted by the server, beyond guessing.", pattern=r"^[0-9a-f]{32}$(?!\n)"),
]
ToolArgs = Annotated[dict[str, Any], Meta(description="Arguments; long values are cut, and then `truncated` is set.")]
ToolOutput = Annotated[str, Meta(description="The last part of what the tool returned.")]

Role = Literal["user", "assistant", "cron", "notice"]
MessageKind = Literal["final", "commentary", "partial"]
MessageState = Literal["complete", "aborted", "error"]
MediaKind = Literal["image", "audio", "voice", "video", "document"]
ToolState = Literal["running", "ok", "error", "blocked", "cancelled"]
RequestKind = Literal["approval", "question", "confirm", "choice"]
AlertKind = Literal["final", "request", "report"]
RequestOutcome = Literal["answered", "dismissed", "expired", "withdrawn", "interrupted"]
ChoiceStyle = Literal["plain", "primary", "danger"]
ResumeMode = Literal["resumed", "reset"]
SearchScope = Literal["all", "chat"]
SearchOrder = Literal["newest", "best"]
Outcome = Literal["success", "failure", "cancelled", "interrupted"]
ChannelKind = Literal["default", "channel", "thread", "room"]
NameSource = Literal["derived", "llm", "user"]
DeviceKind = Literal["web", "cli", "script", "tui"]
SpeakerKind = Literal["person", "agent", "unknown"]
RoomLink = Literal["connecting", "joined", "failed"]
RoomFailure = Literal[
    "setup",
    "not_installed",
    "unreachable",
    "tls",
    "password",
    "not_member",
    "banned",
    "nick_taken",
    "no_room",
    "room_password",
    "room_full",
    "room_settings",
    "archive",
    "removed",
    "refused",
]
LimitRule = Literal["hops", "run", "pair", "room", "repeat"]
