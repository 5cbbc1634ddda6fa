"""Who is told: devices in step share one queue, so that a frame costs each of them a write; all others have their own.

A device is in step when nothing waits for it and it may be told what the others of its group are told. Invariants:

- the devices of a group have been told the same, up to what is on its tape, which all of them are told next;
- what is for one of them alone, or comes while it takes nothing, makes it leave first, with what is on the tape;
- nobody comes in while frames are still being handed out: then there is no order in which it could have missed one.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple, Protocol, Self

from .outbox import MAX_BYTES, MAX_FRAMES, Outbox, split
from .packet import Packet
from .slices import Slices

MAX_WRITE = 128 << 10
"""Bytes that are joined to one write."""

MEMBERS = 128
"""Devices of one group: they are written to in one go, and nothing else has its turn meanwhile."""

AT_ONCE = 256
"""Devices with a queue of their own that are handed a frame in one go; more of them in as many slices as it takes."""


class Receiver(Protocol):
    """What a device has got of a stream, and thus in which form it can take a packet."""

    last: int
    """Whoever got the same has the same number here."""

    def form(self, packet: Packet) -> bytes:
        """The bytes in which it takes a packet."""

    def twin(self) -> Self:
        """Another one that has got the same."""


class Way(NamedTuple):
    """How bytes get to a device that is in step."""

    write: Callable[[bytes], None]
    receiver: Receiver | None
    slices: Slices
    """Where the group waits for its turn."""


class Told(Protocol):
    """Who can be handed frames: a device, or a group as if it were one."""

    deltas: bool
    lost: bool
    whole_since: int

    def put(self, packet: Packet) -> None:
        """Queue a frame."""


def joined(packets: Sequence[Packet], receiver: Receiver | None) -> bytes:
    """The bytes of packets, in the form that a device can take."""
    if receiver is not None:
        return b"".join(map(receiver.form, packets))
    return packets[0].plain if len(packets) == 1 else b"".join([packet.plain for packet in packets])


class _Group:
    """Devices in step."""

    lost = False
    whole_since = 0
    """Whoever comes in follows every bubble that is open."""

    def __init__(self, first: Outbox, way: Way, left: Callable[["_Group", Outbox], None]) -> None:
        self.deltas = first.deltas
        self._receiver = way.receiver.twin() if way.receiver else None
        self._slices = way.slices
        self._left = left
        self._members: dict[Outbox, Way] = {}
        self._tape: list[Packet] = []
        self._size = 0

    def __len__(self) -> int:
        return len(self._members)

    def fits(self, outbox: Outbox, way: Way) -> bool:
        """Whether a device is told the same in the same form; whether it has got the same, `enter` says."""
        return self.deltas == outbox.deltas and (self._receiver is None) == (way.receiver is None)

    def enter(self, outbox: Outbox, way: Way) -> bool:
        """Let a device in, if it is in step."""
        if self._tape or (self._receiver and way.receiver and self._receiver.last != way.receiver.last):
            return False
        self._members[outbox] = way
        outbox.apart = partial(self.leave, outbox)
        return True

    def leave(self, outbox: Outbox) -> None:
        """Give a device a queue of its own again, and into it what it was not told yet."""
        way = self._members.pop(outbox)
        outbox.apart = None
        if self._receiver and way.receiver:
            way.receiver.last = self._receiver.last
        self._left(self, outbox)
        for packet in self._tape:
            outbox.put(packet)

    def put(self, packet: Packet) -> None:
        """Queue a frame for all of them; too many, and each of them has to see to itself."""
        if not self._tape:
            self._slices.add(self._flush)
        self._tape.append(packet)
        self._size += len(packet.plain)
        if len(self._tape) > MAX_FRAMES or self._size > MAX_BYTES:
            for outbox in list(self._members):
                self.leave(outbox)
            self._tape, self._size = [], 0

    def _flush(self) -> None:
        packets, self._tape = split(self._tape, MAX_WRITE)
        if not packets:
            return
        self._size -= sum(len(packet.plain) for packet in packets)
        data = joined(packets, self._receiver)
        for write in [way.write for way in self._members.values()]:  # one that takes no more leaves meanwhile
            write(data)
        if self._tape:
            self._slices.add(self._flush)


class Audience:
    """All devices that are here."""

    def __init__(self, follows: Callable[[Outbox], bool]) -> None:
        """`follows` says whether a device was told enough of all that streams to be told what others are told."""
        self.devices: set[Outbox] = set()
        self._follows = follows
        self._alone: set[Outbox] = set()
        self._groups: list[_Group] = []
        self._slices = Slices()

    @property
    def busy(self) -> bool:
        """Whether something is still being handed out."""
        return self._slices.busy

    def add(self, outbox: Outbox) -> None:
        """A device comes; it has a queue of its own."""
        self.devices.add(outbox)
        self._alone.add(outbox)

    def remove(self, outbox: Outbox) -> None:
        """A device is gone."""
        if outbox.apart:
            outbox.apart()
        self.devices.discard(outbox)
        self._alone.discard(outbox)

    def gather(self, outbox: Outbox, way: Way) -> None:
        """Nothing waits for a device: let it be told together with others, if it is in step with them."""
        if outbox not in self._alone or outbox.end or self.busy or not self._follows(outbox):
            return
        fitting = [group for group in self._groups if group.fits(outbox, way) and len(group) < MEMBERS]
        if not fitting:
            self._groups.append(_Group(outbox, way, self._apart))
            fitting = self._groups[-1:]
        if any(group.enter(outbox, way) for group in fitting):
            self._alone.discard(outbox)

    def each(self, hand: Callable[[Told], None]) -> None:
        """Hand something to every device that is here now; to very many of them not in one go, but in order."""
        alone = list(self._alone)  # taken first: a group that has too much falls apart, and its devices have it then
        for group in list(self._groups):
            hand(group)
        if len(alone) <= AT_ONCE and not self.busy:
            _hand_all(hand, alone)
            return
        for start in range(0, len(alone), AT_ONCE):
            self._slices.add(partial(_hand_all, hand, alone[start : start + AT_ONCE]))

    def _apart(self, group: _Group, outbox: Outbox) -> None:
        self._alone.add(outbox)
        if not group:
            self._groups.remove(group)


def _hand_all(hand: Callable[[Told], None], told: Iterable[Told]) -> None:
    for one in told:
        hand(one)
