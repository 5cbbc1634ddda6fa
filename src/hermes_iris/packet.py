"""A frame as the bytes that travel, made once for however many devices get it (RFC 6455, section 5.2).

Invariant: a packet never changes once it is on its way; its compressed form is made at most once.
"""

import struct
from typing import NamedTuple

_TEXT = 0x81
_COMPRESSED = 0x40


class Packed(NamedTuple):
    """The compressed form of a packet, and its place in a stream of such forms."""

    data: bytes
    number: int
    begins: bool
    """Whether it refers to nothing before it."""


class Packet:
    """An encoded frame.

    `shared`: it goes to every device, so that it can be compressed for all of them at once. `ephemeral`: a device that
    is slow can do without it.
    """

    __slots__ = ("body", "ephemeral", "packed", "plain", "shared")

    def __init__(
        self, body: bytes, *, shared: bool = False, ephemeral: bool = False, packed: Packed | None = None
    ) -> None:
        self.body = body
        self.plain = message(body)
        self.shared = shared
        self.ephemeral = ephemeral
        self.packed = packed


def message(body: bytes, *, compressed: bool = False) -> bytes:
    """A text message of one frame, as a server sends it."""
    first = _TEXT | _COMPRESSED if compressed else _TEXT
    size = len(body)
    if size < 126:
        return struct.pack("!BB", first, size) + body
    if size < 1 << 16:
        return struct.pack("!BBH", first, 126, size) + body
    return struct.pack("!BBQ", first, 127, size) + body
