"""Limits in time: failed logins per address, so that guessing is hopeless, and frames per connection."""

import time
from collections import deque
from ipaddress import ip_address, ip_network

from ..errors import RateLimited
from ..protocol.types import Seconds

MAX_FAILURES = 10
WINDOW: Seconds = 60.0
MAX_ADDRESSES = 10_000


class Attempts:
    """Failures of the last minute, per address."""

    def __init__(self) -> None:
        self._failures: dict[str, deque[float]] = {}

    def check(self, address: str) -> None:
        """Raise `RateLimited` when the address has failed too often."""
        address = _network(address)
        failures = self._failures.get(address)
        if failures is None:
            return
        now = time.monotonic()
        while failures and failures[0] < now - WINDOW:
            failures.popleft()
        if not failures:
            del self._failures[address]
        elif len(failures) >= MAX_FAILURES:
            raise RateLimited("too many failed attempts; wait a minute and try again")

    def failed(self, address: str) -> None:
        """Note a failure."""
        address = _network(address)
        if address not in self._failures and len(self._failures) >= MAX_ADDRESSES:
            self._failures.pop(next(iter(self._failures)))
        self._failures.setdefault(address, deque(maxlen=MAX_FAILURES)).append(time.monotonic())


def _network(address: str) -> str:
    """What one person has: of IPv6 that is a whole network, whose addresses are as good as endless."""
    try:
        known = ip_address(address)
    except ValueError:
        return address
    if known.version == 4:
        return address
    return str(known.ipv4_mapped or ip_network((known, 64), strict=False))


FRAMES_PER_SECOND = 50.0
BURST = 300.0
"""Frames that may come at once, after a while of silence."""


class Pace:
    """How fast one connection may send: a bucket that fills with time."""

    def __init__(self) -> None:
        self._left = BURST
        self._since = time.monotonic()

    def take(self) -> None:
        """Count a frame; raises `RateLimited` when there were too many."""
        now = time.monotonic()
        self._left = min(BURST, self._left + (now - self._since) * FRAMES_PER_SECOND)
        self._since = now
        if self._left < 1:
            raise RateLimited(f"a connection sends at most {FRAMES_PER_SECOND:.0f} frames a second; wait a moment")
        self._left -= 1
