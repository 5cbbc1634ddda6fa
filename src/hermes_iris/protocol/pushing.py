"""Frames about calling a person who looks at nothing of Iris: what a device shows, where it is called, and the call.

Invariant: a note travels through a push service, encrypted for the device, and on no socket.
"""

from typing import Annotated

from msgspec import Meta, Struct, field

from .base import Frame, Reply, Request
from .directory import Ack
from .types import AlertKind, ChatId, Order, Seq, ThreadId, UnixTime


class PushPreferences(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a device is called for, and how much the call says."""

    finals: Annotated[bool, Meta(description="Answers of the agent.")] = True
    requests: Annotated[bool, Meta(description="What the agent or its host asks.")] = True
    reports: Annotated[bool, Meta(description="Reports of cron jobs.")] = True
    muted: Annotated[
        list[ChatId], Meta(description="Channels of which, threads included, it is called for nothing.", max_length=500)
    ] = field(default_factory=list)
    details: Annotated[
        bool,
        Meta(description="Whether a call says where something was said, and what; locked screens show it."),
    ] = False
    language: Annotated[
        str, Meta(description="Of the words of a call; comes back in it.", pattern=r"^[A-Za-z-]{2,16}$(?!\n)")
    ] = "en"


class PushState(Reply, frozen=True, kw_only=True, tag="push.state"):
    """Whether the gateway can call devices, and whether it calls this one."""

    available: bool
    why: Annotated[str, Meta(description="For the person: why it cannot, and what to do.")] = ""
    key: Annotated[str, Meta(description="Public key of the gateway (VAPID), for the browser's subscription.")] = ""
    endpoint: Annotated[str | None, Meta(description="Where this device is called.")] = None
    preferences: PushPreferences | None = None


class PushGet(Request[PushState], frozen=True, kw_only=True, tag="push.get"):
    """Ask how this device is called."""


class PushSubscribe(Request[Ack], frozen=True, kw_only=True, tag="push.subscribe"):
    """Call this device from now on, there and for this; takes the place of what held before."""

    endpoint: Annotated[
        str, Meta(description="Address of the device at its push service (Web Push, UnifiedPush).", max_length=1024)
    ]
    p256dh: Annotated[
        str, Meta(description="Public key of the device, base64url.", pattern=r"^[A-Za-z0-9_-]{87}=?$(?!\n)")
    ]
    auth: Annotated[
        str,
        Meta(description="Secret of device and gateway, base64url.", pattern=r"^[A-Za-z0-9_-]{22}(==)?$(?!\n)"),
    ]
    preferences: PushPreferences


class PushUnsubscribe(Request[Ack], frozen=True, kw_only=True, tag="push.unsubscribe"):
    """Call this device no more."""


class DeviceLook(Request[Ack], frozen=True, kw_only=True, tag="device.look"):
    """What the person has in front of them on this device: a lane, or without one nothing of Iris.

    Nobody is called for what they look at. A connection that says nothing shows nothing.
    """

    chat_id: Annotated[ChatId | None, Meta(description="The lane; without it the app is in the background.")] = None
    thread_id: ThreadId | None = None
    seq: Annotated[Seq, Meta(description="The last event that the device has: it shows nothing newer.")] = 0


class PushNote(Frame, frozen=True, kw_only=True, tag="push.note"):
    """A call through a push service, encrypted (RFC 8291); never on a socket. A newer one of its lane replaces it."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    kind: AlertKind
    count: Annotated[int, Meta(description="What waits in this lane, this one included.", ge=1)] = 1
    title: Annotated[str | None, Meta(description="Name of the lane, if the device wants details.")] = None
    text: Annotated[str | None, Meta(description="How it begins, if the device wants details.")] = None
    language: str = "en"
    order: Order
    ts: UnixTime


class PushClose(Frame, frozen=True, kw_only=True, tag="push.close"):
    """Through a push service as well: what was called for in a lane, up to a place, is settled elsewhere."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    order: Order
