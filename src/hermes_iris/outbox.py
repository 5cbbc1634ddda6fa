"""What waits to be sent to one device: bounded, so that a slow device costs itself and nobody else.

Invariants: events leave in the order in which they came; when it is full ephemerals are dropped first, then the
connection (`end`), never an event alone.
"""

from collections.abc import Callable
from typing import Literal

from .packet import Packet
from .protocol.types import DeviceId

MAX_FRAMES = 2_000
MAX_BYTES = 8 << 20


class Outbox:
    """The queue of one connection; filled and emptied on the event loop."""

    def __init__(self, max_frames: int = MAX_FRAMES, max_bytes: int = MAX_BYTES, device_id: DeviceId = "") -> None:
        self.device_id = device_id
        self.deltas = False
        """Whether the device adds pieces to texts itself."""

        self.lost = False
        """Whether ephemerals were dropped since somebody last looked."""

        self.whole_since = 0
        """Of the bubbles, this device has all that was told after this place; counted by `Bubbles`."""

        self.end: Literal["slow", "revoked"] | None = None
        """Why the connection is to be closed."""

        self.apart: Callable[[], None] | None = None
        """While the device is told together with others: gives it a queue of its own again."""

        self._max_frames = max_frames
        self._max_bytes = max_bytes
        self.size = 0
        """Bytes that wait."""

        self._queue: list[Packet] = []
        self._filled: Callable[[], None] | None = None
        self._told = False

    def open(self, filled: Callable[[], None]) -> None:
        """From here on `filled` is called when something waits that was not taken yet, once until the next `take`."""
        self._filled = filled
        if self._queue or self.end:
            self._tell()

    def put(self, packet: Packet) -> None:
        """Queue a frame. Never blocks."""
        if self.end:
            return
        if self.apart:
            self.apart()
        self._queue.append(packet)
        self.size += len(packet.plain)
        if len(self._queue) > self._max_frames or self.size > self._max_bytes:
            self._relieve()
        if not self._told:
            self._tell()

    def close(self, why: Literal["slow", "revoked"]) -> None:
        """Send nothing more, and end the connection."""
        if self.apart:
            self.apart()
        self._queue = []
        self.size = 0
        self.end = why
        self._tell()

    def take(self, most: int = MAX_BYTES) -> list[Packet]:
        """What waits, about `most` bytes of it; nothing when nothing does, or when the connection is to be closed."""
        self._told = False
        packets, self._queue = split(self._queue, most)
        self.size = sum(len(packet.plain) for packet in self._queue)
        return packets

    def _tell(self) -> None:
        if self._filled is not None:
            self._told = True
            self._filled()

    def _relieve(self) -> None:
        kept = [packet for packet in self._queue if not packet.ephemeral]
        self.lost = self.lost or len(kept) < len(self._queue)
        self._queue = kept
        self.size = sum(len(packet.plain) for packet in kept)
        if len(kept) > self._max_frames or self.size > self._max_bytes:
            self.close("slow")


def split(packets: list[Packet], most: int) -> tuple[list[Packet], list[Packet]]:
    """The first packets, about `most` bytes of them and one at least, and the rest."""
    size = 0
    for count, packet in enumerate(packets):
        if size >= most:
            return packets[:count], packets[count:]
        size += len(packet.plain)
    return packets, []
