"""One delivery over HTTP.

Invariants: it goes to an address that was looked at, and to no other: no redirect is followed, no proxy asked, no
connection kept; the certificate is checked against the name of the host; an endpoint stands in no log, since who knows
one can call there.
"""

import asyncio
import logging
import ssl
import time
from collections.abc import Collection, Iterable
from typing import Any

import httpcore

from ..errors import InvalidFrame, IrisError
from ..protocol.types import Seconds
from ..store.pushes import Subscription
from . import cipher
from .endpoint import Resolve, place, resolve
from .sender import Letter, Verdict
from .vapid import Vapid

logger = logging.getLogger(__name__)

LIMIT: Seconds = 15.0
"""How long a delivery may take, looking its address up included."""

CONNECT: Seconds = 4.0
"""How long one address may take to answer."""

MOST_ADDRESSES = 3
"""Addresses of a host that are tried."""

UNREACHED = (OSError, httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException)


class Post:
    """Delivers; one for a gateway."""

    def __init__(
        self,
        vapid: Vapid,
        named: Collection[str] = (),
        look_up: Resolve = resolve,
        trusting: ssl.SSLContext | None = None,
    ) -> None:
        self._vapid = vapid
        self._named = named
        self._look_up = look_up
        self._trusting = trusting or httpcore.default_ssl_context()

    async def check(self, endpoint: str, p256dh: str, auth: str) -> None:
        """Find out whether something could be delivered there.

        Raises:
            InvalidFrame: it could not; the text names the field.
        """
        cipher.keys(p256dh, auth)
        try:
            await place(endpoint, self._named, self._look_up)
        except OSError as exc:
            raise InvalidFrame("$.endpoint has a host that the gateway cannot find") from exc

    async def __call__(self, subscription: Subscription, letter: Letter) -> Verdict:
        """Deliver a letter, or say what became of it."""
        try:
            async with asyncio.timeout(LIMIT):
                where = await place(subscription.endpoint, self._named, self._look_up)
                body = cipher.encrypt(letter.body, cipher.keys(subscription.p256dh, subscription.auth))
                return await self._deliver(subscription.endpoint, where, letter, body)
        except IrisError as exc:
            logger.warning("a device is not called: %s", exc)
            return Verdict("refused")
        except UNREACHED as exc:
            logger.info("a push service was not reached: %s", type(exc).__name__)
            return Verdict("later")

    async def _deliver(self, endpoint: str, addresses: list[str], letter: Letter, body: bytes) -> Verdict:
        url = httpcore.URL(endpoint)
        headers: dict[bytes | str, bytes | str] = {
            "authorization": self._vapid.authorization(endpoint, time.time()),
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": str(letter.ttl),
            "urgency": letter.urgency,
            "topic": letter.topic,
        }
        # A pool for this one connection: another endpoint of the same host is looked at by itself.
        async with (
            httpcore.AsyncConnectionPool(self._trusting, network_backend=_Only(addresses)) as pool,
            pool.stream("POST", url, headers=headers, content=body) as response,
        ):
            return _verdict(response, url.host.decode())  # what it says beyond its status is not read


class _Only(httpcore.AnyIOBackend):
    """Connects to the addresses that were looked at, whatever the name of their host leads to."""

    def __init__(self, addresses: list[str]) -> None:
        self._addresses = addresses[:MOST_ADDRESSES]

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface is httpcore's
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        *others, last = self._addresses
        for address in others:
            try:
                return await super().connect_tcp(address, port, CONNECT, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await super().connect_tcp(last, port, CONNECT, local_address, socket_options)


def _verdict(response: httpcore.Response, host: str) -> Verdict:
    match response.status:
        case 200 | 201 | 202 | 204:
            return Verdict("delivered")
        case 404 | 410:
            return Verdict("gone")
        case status if status == 429 or status >= 500:
            told = {name.lower(): value for name, value in response.headers}
            after = told.get(b"retry-after", b"")
            return Verdict("later", float(after) if after.isdigit() and len(after) < 6 else 0.0)
        case status:
            logger.warning("the push service %s refused a call with status %d", host, status)
            return Verdict("refused")
