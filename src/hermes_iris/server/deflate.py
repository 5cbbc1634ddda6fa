"""Compression of what devices are sent (RFC 7692): one compressor for all of them, since all belong to one person.

Invariants: a device gets a compressed message only if it got all that the message refers to: the one before it in the
shared stream, or a message that begins anew; else it gets the plain one, and the stream begins anew with the next; what
a device sends is inflated without a memory of what it sent before.
"""

import zlib
from collections.abc import Iterable, Sequence

from websockets.exceptions import NegotiationError
from websockets.extensions.base import Extension, ServerExtensionFactory
from websockets.extensions.permessage_deflate import PerMessageDeflate
from websockets.typing import ExtensionName, ExtensionParameter

from ..packet import Packed, Packet, message

LEVEL = 1
"""The fastest: streams of small frames gain nearly all they can by it."""

WORTH = 512
"""Bytes from which a message of its own is worth compressing."""

MOST = 256 << 10
"""Bytes up to which a message is compressed on the event loop."""

_TAIL = 4
"""Bytes of an empty block that end every message and do not travel."""


class Stream:
    """What goes to all devices that take pieces of texts, compressed once, with the memory of what went before."""

    def __init__(self) -> None:
        self._number = 0
        self._begin = True
        self._compressor = _compressor()

    def begin(self) -> None:
        """Let the next message refer to nothing before it, because somebody missed some."""
        self._begin = True

    def packed(self, packet: Packet) -> Packed | None:
        """The compressed form of a packet; None when it is better left as it is."""
        if packet.packed is None and len(packet.body) <= MOST:
            begins, self._begin = self._begin, False
            if begins:
                self._compressor = _compressor()
            self._number += 1
            packet.packed = Packed(_deflated(self._compressor, packet.body), self._number, begins)
        return packet.packed


class Receiver:
    """What one device has got of a stream; without one it gets compressed only what is for it alone."""

    def __init__(self, stream: Stream | None, last: int = -1) -> None:
        self._stream = stream
        self.last = last

    def twin(self) -> "Receiver":
        """Another device that has got the same."""
        return Receiver(self._stream, self.last)

    def form(self, packet: Packet) -> bytes:
        """The bytes in which this device gets a packet."""
        packed = packet.packed
        if packet.shared:
            packed = self._stream.packed(packet) if self._stream else None
        if packed is None:
            return packet.plain
        if not packed.begins and packed.number != self.last + 1:
            if self._stream:
                self._stream.begin()
            return packet.plain
        self.last = packed.number
        return packed.data

    def left(self) -> None:
        """The device got something compressed that is no part of the stream."""
        self.last = -1


def alone(bodies: Iterable[bytes]) -> Packed:
    """Messages for one device, compressed together; they are no part of the shared stream."""
    compressor = _compressor()
    return Packed(b"".join(_deflated(compressor, body) for body in bodies), 0, begins=True)


class Offer(ServerExtensionFactory):
    """Takes part in the handshake: agrees to compression if the client can follow a stream that remembers all of it."""

    name = ExtensionName("permessage-deflate")

    def process_request_params(
        self, params: Sequence[ExtensionParameter], accepted_extensions: Sequence[Extension]
    ) -> tuple[list[ExtensionParameter], Extension]:
        """Agree to an offer.

        Raises:
            NegotiationError: to this one not; the client may have another, and does without if it has none.
        """
        if accepted_extensions or not {name for name, _ in params} <= {
            "client_max_window_bits",
            "client_no_context_takeover",
        }:
            raise NegotiationError("only the whole window is of use here")
        inflating = PerMessageDeflate(
            remote_no_context_takeover=True,
            local_no_context_takeover=True,
            remote_max_window_bits=15,
            local_max_window_bits=15,
        )
        return [("client_no_context_takeover", None)], inflating


def _compressor() -> "zlib._Compress":
    return zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)


def _deflated(compressor: "zlib._Compress", body: bytes) -> bytes:
    data = compressor.compress(body) + compressor.flush(zlib.Z_SYNC_FLUSH)
    return message(data[:-_TAIL], compressed=True)
