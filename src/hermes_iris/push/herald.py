"""Calls people who look at nothing of Iris: follows what happens, decides by `alerts`, leaves the rest to `sender`.

Invariants: without the libraries of the extra `push`, or without a key, everything else works and the app says why;
what was said leaves the machine only encrypted for one device, and its words only if that device wants them.
"""

import base64
import hashlib
import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from .. import address, alerts
from ..address import Lane
from ..alerts import Alert, Board, Call, Happening, Recipient, Settle
from ..config import Home, Settings
from ..errors import SetupError, Unsupported
from ..hub import Hub
from ..outbox import Outbox
from ..protocol import codec
from ..protocol.frames import (
    Ack,
    ChannelCreated,
    ChannelRenamed,
    DeviceLook,
    Event,
    PushClose,
    PushGet,
    PushState,
    PushSubscribe,
    PushUnsubscribe,
)
from ..protocol.types import AlertKind, DeviceId, UnixTime
from ..store import channels, pushes
from ..store.pushes import Subscription
from .sender import Deliver, Letter, Sender

logger = logging.getLogger(__name__)

FEATURE = "push"
"""In `hello.ack`: this gateway can call devices."""

DAY = 86_400
"""Seconds for which a push service keeps a call for a device that it cannot reach."""

NO_SILENCE = (".push.apple.com",)
"""Push services that take the permission away from an app that is called and shows nothing: no call is taken back."""

URGENCY: dict[AlertKind, Literal["normal", "high"]] = {"final": "high", "request": "high", "report": "normal"}
"""A phone that sleeps is woken by what somebody waits for."""


class Means(NamedTuple):
    """What calling takes."""

    key: str
    deliver: Deliver
    check: Callable[[str, str, str], Awaitable[None]]


class Herald:
    """Whom a gateway calls; lives on the event loop of its hub. Made by `open`, ended by `stop`."""

    def __init__(self, hub: Hub, means: Means | None, why: str) -> None:
        self._hub = hub
        self._means = means
        self._why = why
        self._board = Board()
        self._names: dict[Lane, str] = {}
        self._subscriptions: dict[DeviceId, Subscription] = {}
        self._sender = Sender(means.deliver, self._gone) if means else None

    @classmethod
    async def open(cls, hub: Hub, home: Home, settings: Settings) -> "Herald":
        """Begin, as far as it can be done here."""
        means, why = None, ""
        try:
            means = _means(home, settings)
        except ImportError as exc:
            why = f"{exc.name} is missing; run: pip install 'hermes-iris[push]'"
        except SetupError as exc:
            why = str(exc)
        herald = cls(hub, means, why)
        if means is None:
            logger.warning("no device can be called: %s", why)
        else:
            await herald._load()
            directory = await hub.store.read(channels.directory)
            herald._names = {Lane(entry.chat_id, entry.thread_id): entry.name for entry in directory}
            hub.listen(herald._heard)
        return herald

    @property
    def features(self) -> list[str]:
        """What a device is told of it."""
        return [FEATURE] if self._means else []

    async def stop(self) -> None:
        """Call nobody any more."""
        if self._sender is not None:
            await self._sender.stop()

    # -- what devices say

    def state(self, request: PushGet, device_id: DeviceId) -> PushState:
        """Whether, and how, a device is called."""
        own = self._subscriptions.get(device_id)
        return PushState(
            client_id=request.client_id,
            available=self._means is not None,
            why=self._why,
            key=self._means.key if self._means else "",
            endpoint=own.endpoint if own else None,
            preferences=own.preferences if own else None,
        )

    async def subscribe(self, request: PushSubscribe, device_id: DeviceId) -> Ack:
        """Call a device from now on, or for something else.

        Raises:
            Unsupported: this gateway can call nobody.
            InvalidFrame: it may or can not be called there.
        """
        if self._means is None:
            raise Unsupported(self._why)
        await self._means.check(request.endpoint, request.p256dh, request.auth)
        await self._hub.store.write(lambda conn: pushes.subscribe(conn, device_id, request))
        await self._load()
        self._happened(alerts.Subscribed(device_id))
        return Ack(client_id=request.client_id)

    async def unsubscribe(self, request: PushUnsubscribe, device_id: DeviceId) -> Ack:
        """Call a device no more."""
        await self._hub.store.write(lambda conn: pushes.unsubscribe(conn, device_id))
        self.forget(device_id)
        return Ack(client_id=request.client_id)

    def look(self, request: DeviceLook, outbox: Outbox) -> Ack:
        """Somebody has a lane in front of them, or none any more."""
        lane = Lane(request.chat_id, request.thread_id) if request.chat_id else None
        self._happened(alerts.Looked(outbox, outbox.device_id, lane, request.seq))
        return Ack(client_id=request.client_id)

    def left(self, outbox: Outbox) -> None:
        """A connection has ended."""
        self._happened(alerts.Lost(outbox))

    def forget(self, device_id: DeviceId) -> None:
        """A device was shut out, or wants to be called no more."""
        self._subscriptions.pop(device_id, None)
        if self._sender is not None:
            self._sender.drop(device_id)

    # -- inside

    async def _load(self) -> None:
        listed = await self._hub.store.read(pushes.listing)
        for device_id in self._subscriptions.keys() - {subscription.device_id for subscription in listed}:
            self.forget(device_id)  # it was paired anew, and is called under its new name
        self._subscriptions = {subscription.device_id: subscription for subscription in listed}

    def _heard(self, event: Event) -> None:
        if isinstance(event, ChannelCreated | ChannelRenamed):
            self._names[Lane(event.channel.chat_id, event.channel.thread_id)] = event.channel.name
        happened = alerts.happening(event)
        if happened is not None:
            self._happened(happened)

    def _happened(self, happened: Happening) -> None:
        recipients = [Recipient(own.device_id, own.preferences) for own in self._subscriptions.values()]
        self._board, settled, calls = alerts.step(self._board, happened, recipients)
        for settle in settled:
            self._take_back(settle)
        for call in calls:
            self._call(call)

    def _call(self, call: Call) -> None:
        own = self._subscriptions[call.device_id]
        note = alerts.note(call, own.preferences, self._name(call.alert.lane))
        ttl = _ttl(call.alert, time.time())
        letter = Letter(codec.encode(note), ttl, URGENCY[call.alert.kind], _topic(call.alert.lane))
        if self._sender is not None and ttl > 0:
            self._sender.put(own, call.alert.lane, letter)

    def _take_back(self, settle: Settle) -> None:
        own = self._subscriptions.get(settle.device_id)
        if own is None or self._sender is None:
            return
        lane = settle.lane
        note = PushClose(chat_id=lane.chat_id, thread_id=lane.thread_id, order=settle.order)
        is_silent = (urlsplit(own.endpoint).hostname or "").endswith(NO_SILENCE)
        closing = Letter(codec.encode(note), DAY, "normal", _topic(lane), closes=True)
        self._sender.take_back(own, lane, None if is_silent else closing)

    def _name(self, lane: Lane) -> str:
        channel = self._names.get(Lane(lane.chat_id), "")
        return channel if lane.thread_id is None else f"{channel} / {self._names.get(lane, '')}"

    def _gone(self, subscription: Subscription) -> None:
        """A push service knows a place no more."""
        if self._subscriptions.get(subscription.device_id) == subscription:
            self.forget(subscription.device_id)
        self._hub.store.submit(lambda conn: pushes.forget(conn, subscription.endpoint), lasting=True)
        logger.info("a device is called no more: its push service has forgotten it")


def _means(home: Home, settings: Settings) -> Means:
    """What calling takes. Raises `ImportError` without the extra, `SetupError` without a key."""
    from .post import Post
    from .vapid import Vapid

    vapid = Vapid.at(home.push_key, settings.contact)
    post = Post(vapid, settings.push_hosts)
    return Means(vapid.public, post, post.check)


def _ttl(alert: Alert, now: UnixTime) -> int:
    """Seconds for which a call is worth anything."""
    return DAY if alert.until is None else min(DAY, math.ceil(alert.until - now))


def _topic(lane: Lane) -> str:
    """Names a lane to push services, which keep the newest call of it only: 32 characters at most (RFC 8030, 5.4)."""
    return base64.urlsafe_b64encode(hashlib.sha256(address.spell(lane).encode()).digest()[:24]).decode()
