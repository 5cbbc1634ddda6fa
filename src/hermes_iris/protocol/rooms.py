"""Frames about meeting rooms: who is there, who types, what is shared, who is silent, and the person's word on it."""

from typing import Annotated

from msgspec import Meta, field

from .base import Frame, Request
from .directory import Ack
from .parts import Limit, Member, SharedSession
from .types import ChatId, Jid, RoomFailure, RoomLink


class RoomState(Frame, frozen=True, kw_only=True, tag="room.state"):
    """All that goes on in a room besides what is said; each one replaces the one before. Told anew to whoever joins."""

    chat_id: ChatId
    link: RoomLink
    failure: Annotated[RoomFailure | None, Meta(description="Of link `failed`: what kind of failure.")] = None
    why: Annotated[str, Meta(description="The same for the person: what is wrong and what to do.", max_length=500)] = ""
    members: Annotated[list[Member], Meta(description="Who is here, and who is known but is not.", max_length=200)] = (
        field(default_factory=list)
    )
    leases: Annotated[
        list[SharedSession], Meta(description="Terminal sessions that agents share with the room.", max_length=50)
    ] = field(default_factory=list)
    limits: Annotated[
        list[Limit], Meta(description="Agents that are silent because a limit was reached.", max_length=50)
    ] = field(default_factory=list)
    stopped_by: Annotated[
        str | None, Meta(description="Who has stopped all agents, until somebody lets them go on.")
    ] = None


class RoomStop(Request[Ack], frozen=True, kw_only=True, tag="room.stop"):
    """Stop all agents of a room, or let them go on. Acknowledged when it is certain to reach the room."""

    chat_id: ChatId
    on: bool


class LeaseRevoke(Request[Ack], frozen=True, kw_only=True, tag="lease.revoke"):
    """End the sharing of an agent's terminal session. Acknowledged when it is certain to reach the room."""

    chat_id: ChatId
    agent: Annotated[Jid, Meta(description="As the lease names it.")]


class RoomTyping(Request[Ack], frozen=True, kw_only=True, tag="room.typing"):
    """The person writes something in a room, or does no more."""

    chat_id: ChatId
    on: bool
