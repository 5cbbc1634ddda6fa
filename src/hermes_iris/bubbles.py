"""What devices were told of the texts that stream, so that the next update goes out as small as each can take it.

Invariants: a device gets a delta only to the text that it was last told; after a loss it gets the bubble as a whole;
each form is encoded once.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from .audience import Told
from .outbox import Outbox
from .packet import Packet
from .protocol import codec, deltas
from .protocol.frames import MessageStart, MessageUpdate
from .protocol.types import MessageId


class _Told(NamedTuple):
    start: Packet
    text: str
    number: int
    """Counts what was told of all bubbles."""


class Bubbles:
    """The bubbles that are open for the devices."""

    def __init__(self) -> None:
        self._told: dict[MessageId, _Told] = {}
        self._count = 0

    def joined(self, outbox: Outbox) -> None:
        """A device is told the bubbles of this moment; it has followed none of them."""
        outbox.whole_since = self._count

    def started(self, start: MessageStart) -> Packet:
        """A bubble begins; returns what devices are told."""
        packet = Packet(codec.encode(start), shared=True, ephemeral=True)
        self._count += 1
        self._told[start.message_id] = _Told(packet, "", self._count)
        return packet

    def stopped(self, message_id: MessageId) -> None:
        """A bubble is complete."""
        self._told.pop(message_id, None)

    def forget(self) -> None:
        """Something was not told: whatever comes next is told as a whole."""
        self._told.clear()

    def follows(self, outbox: Outbox) -> bool:
        """Whether a device was told all bubbles that are open, so that it can be told what goes on in short."""
        return not outbox.lost and all(outbox.whole_since < told.number for told in self._told.values())

    def updated(self, update: MessageUpdate) -> Callable[[Told], None]:
        """A text streams on; returns what hands that to one device."""
        self._count += 1
        number, told = self._count, self._told.get(update.message_id)
        delta = told and deltas.delta(told.text, update)
        if told:
            self._told[update.message_id] = _Told(told.start, update.text or "", number)

        @cache
        def whole() -> Packet:
            return Packet(codec.encode(update), shared=True, ephemeral=True)

        @cache
        def short() -> Packet:
            return Packet(codec.encode(delta), shared=True, ephemeral=True)

        def hand(outbox: Told) -> None:
            if outbox.lost:
                outbox.lost, outbox.whole_since = False, number - 1
            follows = told is not None and outbox.whole_since < told.number
            if told and not follows:
                outbox.put(told.start)
            outbox.put(short() if delta and outbox.deltas and follows else whole())

        return hand
