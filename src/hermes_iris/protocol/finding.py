"""Frames about what was said before, and by which devices it is read: search, read marks, devices."""

from typing import Annotated

from msgspec import Meta

from .base import Event, Frame, Reply, Request
from .directory import Ack
from .parts import Device, Hit, SessionLine
from .types import (
    ChatId,
    Cursor,
    DeviceId,
    DeviceName,
    Order,
    SearchOrder,
    SearchScope,
    Seconds,
    SessionId,
    ThreadId,
)


class SearchResults(Reply, frozen=True, kw_only=True, tag="search.results"):
    """What was found."""

    hits: list[Hit]
    cursor: Annotated[Cursor | None, Meta(description="For the next page; without it there is none.")] = None


class Search(Request[SearchResults], frozen=True, kw_only=True, tag="search"):
    """Find what was said: words, "phrases in quotes", `role:user`, `channel:"Cron Reports"`."""

    query: Annotated[str, Meta(description="Plain text; nothing in it is an error.", max_length=500)]
    scope: SearchScope = "all"
    chat_id: Annotated[ChatId | None, Meta(description="Of scope `chat`.")] = None
    thread_id: ThreadId | None = None
    order: SearchOrder = "newest"
    cursor: Cursor | None = None
    limit: Annotated[int, Meta(description="Hits per page.", ge=1, le=100)] = 30


class SessionLines(Reply, frozen=True, kw_only=True, tag="session"):
    """A session of the host, to read."""

    title: str
    source: Annotated[str, Meta(description="Where it was held, e.g. `cli`.")]
    lines: Annotated[list[SessionLine], Meta(description="Its newest lines, oldest first.")]


class SessionGet(Request[SessionLines], frozen=True, kw_only=True, tag="session.get"):
    """Read a session of the host in which something was found."""

    session_id: SessionId


class ReadMark(Request[Ack], frozen=True, kw_only=True, tag="read.mark"):
    """The person has read a lane up to a place; marks only go forward."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    order: Order


class ReadMarked(Event, frozen=True, kw_only=True, tag="read.marked"):
    """A lane was read up to a place, on whichever device."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    order: Order
    unread: Annotated[int, Meta(ge=0, description="Answers and reports that come after it.")]


class Devices(Reply, frozen=True, kw_only=True, tag="device.list"):
    """The paired devices."""

    devices: list[Device]


class DeviceList(Request[Devices], frozen=True, kw_only=True, tag="device.list"):
    """Ask for the paired devices."""


class DeviceRename(Request[Ack], frozen=True, kw_only=True, tag="device.rename"):
    """Call a device something else."""

    device_id: DeviceId
    name: DeviceName


class DeviceRevoke(Request[Ack], frozen=True, kw_only=True, tag="device.revoke"):
    """Shut a device out; its open connections end at once."""

    device_id: DeviceId


class Invitation(Reply, frozen=True, kw_only=True, tag="device.invite"):
    """A pairing link for one more device."""

    url: Annotated[str, Meta(description="The link; it works once.")]
    ttl: Annotated[Seconds, Meta(description="For how long it works.")]
    local: Annotated[
        bool, Meta(description="Only the gateway's own machine reaches the address; a phone does not.")
    ] = False
    qr: Annotated[str, Meta(description="The link as a QR code: an SVG document. Empty when it is `local`.")] = ""


class DeviceInvite(Request[Invitation], frozen=True, kw_only=True, tag="device.invite"):
    """Ask for a pairing link. A device has one at a time: with a new one, and when it is revoked, the old one ends."""


class DevicePaired(Frame, frozen=True, kw_only=True, tag="device.paired"):
    """Another device was let in; everybody hears of it."""

    device: Device
    invited_by: Annotated[DeviceId | None, Meta(description="The device that had asked for the link.")] = None
