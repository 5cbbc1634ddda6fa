"""How a room looks in the app: what is said as messages of a lane, how it stands as one frame. Pure.

Invariant: a message's id is made of what names it in the room, so that the same words never become two messages.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..address import PLATFORM, Lane
from ..moment import Moment
from ..protocol.frames import Member, Message, RoomState, Sender
from ..protocol.types import MAX_TEXT, ChatId, ClientId, MessageId, RoomFailure, RoomLink
from .floor import Floor
from .said import Said, Sender as Speaker
from .signals import Lease, Resume, Revoke, Stop, Tripped
from .state import Phase, RoomState as Standing

MAX_NAME = 200
"""Characters of a name that are shown."""

MAX_MEMBERS = 200

_LINKS: Mapping[Phase, RoomLink] = {
    Phase.CONNECTING: "connecting",
    Phase.ELSEWHERE: "connecting",
    Phase.JOINED: "joined",
    Phase.GAP: "joined",
    Phase.FAILED: "failed",
}


class Post(NamedTuple):
    """Something that the person said and that the room does not have yet."""

    origin_id: ClientId
    room: str
    nick: str
    text: str
    is_signal: bool


def lane_of(room: str) -> Lane:
    """The lane of a room, by the room's bare JID."""
    return Lane(f"{PLATFORM}:room_{_digest(room)[:12]}")


def own_id(origin_id: str) -> MessageId:
    """The id of a message of one's own, known before the room has it."""
    return f"r_{_digest(origin_id)}"


def message(said: Said, moment: Moment, client_id: ClientId | None) -> Message:
    """What was said as a message; its place is where the archive has it, its time the archive's."""
    sender = said.sender
    is_known = sender.own and said.origin_id != ""
    return Message(
        message_id=own_id(said.origin_id) if is_known else f"r_{_digest(said.room, said.archive_id)}",
        chat_id=lane_of(said.room).chat_id,
        role="notice" if is_notice(said) else "user" if sender.own else "assistant",
        sender=Sender(name=name_of(sender), kind=sender.kind.value, own=sender.own),
        text=said.text[:MAX_TEXT],
        client_id=client_id,
        ts=said.ts,
        order=moment.order,
    )


def refused(post: Post, why: str, moment: Moment) -> list[Message]:
    """A message that the room did not take, and why: it ends as what it is, not as if it were still on its way."""
    words = Message(
        message_id=own_id(post.origin_id),
        chat_id=lane_of(post.room).chat_id,
        role="user",
        sender=Sender(name=post.nick[:MAX_NAME], kind="person", own=True),
        text=post.text,
        state="error",
        client_id=post.origin_id,
        ts=moment.ts,
        order=moment.order,
    )
    told = remark(words.chat_id, f"The room did not take this: {why}", moment.at(1))
    return [told] if post.is_signal else [words, told]


def is_notice(said: Said) -> bool:
    """Whether nobody is to answer it: a remark about the room, not a word to its members."""
    match said.signal:
        case Stop() | Resume() | Revoke() | Tripped() | Lease(until=0):
            return True
        case _:
            return said.notice


def remark(chat_id: ChatId, text: str, moment: Moment) -> Message:
    """What the gateway itself has to say in a room's lane: to its person, not to the room."""
    return Message(
        message_id=moment.name("m"), chat_id=chat_id, role="notice", text=text, ts=moment.ts, order=moment.order
    )


def state(chat_id: ChatId, standing: Standing, members: Iterable[Member], floor: Floor) -> RoomState:
    """How a room stands."""
    failure: RoomFailure | None = standing.reason.value if standing.reason else None
    return RoomState(
        chat_id=chat_id,
        link=_LINKS[standing.phase],
        failure=failure,
        why=standing.text[:500],
        members=sorted(members, key=lambda member: (not member.here, member.name.casefold()))[:MAX_MEMBERS],
        leases=list(floor.leases),
        limits=list(floor.limits),
        stopped_by=floor.stopped_by,
    )


def name_of(speaker: Speaker) -> str:
    """What somebody is called."""
    return (speaker.nick or speaker.jid or "?")[:MAX_NAME]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]
