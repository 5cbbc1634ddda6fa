"""Devices in step: whoever comes, goes, is slow or is told something of its own gets all of it, in order, once."""

import asyncio
import zlib
from collections.abc import Iterator
from functools import partial

import pytest
from hypothesis import given, strategies as st

from hermes_iris import audience
from hermes_iris.audience import Audience, Told, Way, joined
from hermes_iris.outbox import MAX_FRAMES, Outbox
from hermes_iris.packet import Packet
from hermes_iris.server.deflate import Receiver, Stream, alone
from hermes_iris.slices import Slices


class Device:
    """A device at an audience, and the connection between them."""

    def __init__(self, here: Audience, slices: Slices, stream: Stream | None, *, deltas: bool) -> None:
        self.outbox = Outbox()
        self.outbox.deltas = deltas
        self.expected: list[bytes] = []
        self.writes = 0
        self.taking = True
        self._data = b""
        self._here = here
        self._receiver = Receiver(stream) if stream else None
        self._way = Way(self._write, self._receiver, slices)
        here.add(self.outbox)
        self.outbox.open(partial(slices.add, self.flush))
        self.flush()

    def flush(self) -> None:
        while self.outbox.size and self.taking:
            self._write(joined(self.outbox.take(100), self._receiver))
        if self.taking:
            self._here.gather(self.outbox, self._way)

    def pause(self) -> None:
        self.taking = False
        if self.outbox.apart:
            self.outbox.apart()

    def resume(self) -> None:
        self.taking = True
        self.flush()

    def tell(self, packet: Packet) -> None:
        self.expected.append(packet.body)
        self.outbox.put(packet)

    @property
    def compressed(self) -> int:
        """How many messages came compressed."""
        return sum(compressed for compressed, _ in self._messages())

    @property
    def got(self) -> list[bytes]:
        """The messages that came, as a client reads them."""
        inflater = zlib.decompressobj(-15)
        return [
            inflater.decompress(body + b"\0\0\xff\xff") if compressed else body for compressed, body in self._messages()
        ]

    def _messages(self) -> Iterator[tuple[bool, bytes]]:
        data = self._data
        while data:
            head, size = (2, data[1]) if data[1] < 126 else (4, int.from_bytes(data[2:4], "big"))
            yield bool(data[0] & 0x40), data[head : head + size]
            data = data[head + size :]

    def _write(self, data: bytes) -> None:
        self.writes += 1
        self._data += data


async def quiet(here: Audience, slices: Slices) -> None:
    while here.busy or slices.busy:  # noqa: ASYNC110 - nothing is waited for: this gives way
        await asyncio.sleep(0)


steps = st.one_of(
    st.tuples(st.just("join"), st.integers(0, 3)),
    st.tuples(st.sampled_from(["leave", "pause", "resume", "own"]), st.integers(0, 5)),
    st.tuples(st.just("all"), st.integers(1, 300)),
    st.just(("turn", 0)),
)


@given(st.lists(steps, max_size=60), st.integers(1, 3), st.booleans())
def test_each_device_gets_all_of_it_in_order_and_once(
    course: list[tuple[str, int]], members: int, sliced: bool
) -> None:
    """When very many are alone they are told in slices; what is for one alone may overtake that, and nothing else."""

    async def run() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(audience, "MEMBERS", members)
            patch.setattr(audience, "AT_ONCE", 1 if sliced else 100)
            patch.setattr(audience, "MAX_WRITE", 200)
            here, slices, stream = Audience(lambda _: True), Slices(), Stream()
            devices, gone = list[Device](), list[Device]()
            for count, (kind, n) in enumerate([*[("join", 0)] * 2, *course]):
                match kind:
                    case "join":
                        devices.append(Device(here, slices, stream if n & 1 else None, deltas=n > 1))
                    case "leave" if devices:
                        left = devices.pop(n % len(devices))
                        here.remove(left.outbox)
                        gone.append(left)
                    case "pause" if devices:
                        devices[n % len(devices)].pause()
                    case "resume" if devices:
                        devices[n % len(devices)].resume()
                    case "own" if devices:
                        body = b"own %d" % count
                        devices[n % len(devices)].tell(Packet(body, packed=alone([body]) if n & 1 else None))
                    case "all":
                        packet = Packet(b"all %d " % count + b"x" * n, shared=True)
                        here.each(partial(put, packet=packet))
                        for device in devices:
                            device.expected.append(packet.body)
                    case "turn":
                        await asyncio.sleep(0)
            for device in devices:
                device.resume()
            await quiet(here, slices)
            for device in devices:
                assert shared(device.got) == shared(device.expected)
                assert sorted(device.got) == sorted(device.expected)
            for device in [] if sliced else [*devices, *gone]:
                assert device.got == device.expected[: len(device.got)]

    asyncio.run(run())


def shared(bodies: list[bytes]) -> list[bytes]:
    return [body for body in bodies if body.startswith(b"all")]


def put(told: Told, packet: Packet) -> None:
    told.put(packet)


async def test_devices_in_step_are_written_to_once_in_a_turn_and_share_one_queue() -> None:
    here, slices = Audience(lambda _: True), Slices()
    devices = [Device(here, slices, None, deltas=True) for _ in range(3)]
    for n in range(4):
        here.each(partial(put, packet=Packet(b"frame %d" % n, shared=True)))
    assert all(not device.outbox.size for device in devices)
    await quiet(here, slices)
    assert [device.writes for device in devices] == [1, 1, 1]
    assert all(device.got == [b"frame 0", b"frame 1", b"frame 2", b"frame 3"] for device in devices)


async def test_a_device_that_takes_no_more_gets_the_rest_from_a_queue_of_its_own() -> None:
    here, slices = Audience(lambda _: True), Slices()
    slow, quick = (Device(here, slices, None, deltas=True) for _ in range(2))
    here.each(partial(put, packet=Packet(b"first", shared=True)))
    slow.pause()
    here.each(partial(put, packet=Packet(b"second", shared=True)))
    await quiet(here, slices)
    assert (slow.got, quick.got) == ([], [b"first", b"second"])
    assert slow.outbox.size > 0
    slow.resume()
    assert slow.got == [b"first", b"second"]
    assert slow.outbox.apart is not None


async def test_whoever_has_not_followed_what_streams_is_told_by_itself() -> None:
    follows = set[Outbox]()
    here, slices = Audience(follows.__contains__), Slices()
    device = Device(here, slices, None, deltas=True)
    assert device.outbox.apart is None
    follows.add(device.outbox)
    device.flush()
    assert device.outbox.apart is not None


async def test_too_much_in_one_turn_is_each_devices_own_affair() -> None:
    here, slices = Audience(lambda _: True), Slices()
    devices = [Device(here, slices, None, deltas=False) for _ in range(2)]
    for n in range(MAX_FRAMES + 1):
        here.each(partial(put, packet=Packet(b"%d" % n, shared=True, ephemeral=n > 0)))
    assert all(device.outbox.lost and device.outbox.end is None for device in devices)
    await quiet(here, slices)
    assert all(device.got == [b"0"] for device in devices)
    for n in range(MAX_FRAMES + 1):
        here.each(partial(put, packet=Packet(b"%d" % n, shared=True)))
    assert [device.outbox.end for device in devices] == ["slow", "slow"]


async def test_a_device_that_is_shut_out_leaves_its_group() -> None:
    here, slices = Audience(lambda _: True), Slices()
    device, other = (Device(here, slices, None, deltas=True) for _ in range(2))
    here.each(partial(put, packet=Packet(b"first", shared=True)))
    device.outbox.close("revoked")
    await quiet(here, slices)
    assert (device.got, other.got) == ([], [b"first"])


async def test_what_is_for_one_alone_does_not_begin_the_stream_anew() -> None:
    here, slices, stream = Audience(lambda _: True), Slices(), Stream()
    device, other = (Device(here, slices, stream, deltas=True) for _ in range(2))
    for n in range(5):
        here.each(partial(put, packet=Packet(b"said to all of them %d" % n, shared=True)))
        await quiet(here, slices)
        if n > 1:
            device.tell(Packet(b"an answer"))
            await quiet(here, slices)
    assert (device.compressed, other.compressed) == (5, 5)
    assert device.got[-2:] == [b"said to all of them 4", b"an answer"]


async def test_whoever_got_something_compressed_of_its_own_is_not_in_step() -> None:
    here, slices, stream = Audience(lambda _: True), Slices(), Stream()
    device, other = (Device(here, slices, stream, deltas=True) for _ in range(2))
    for n in range(6):
        here.each(partial(put, packet=Packet(b"said to all of them %d" % n, shared=True)))
        await quiet(here, slices)
        if n == 2:
            device.tell(Packet(b"a long answer", packed=alone([b"a long answer"])))
            await quiet(here, slices)
            assert device.outbox.apart is None
            assert other.outbox.apart is not None
    assert other.got == [b"said to all of them %d" % n for n in range(6)]
    assert device.got == [*other.got[:3], b"a long answer", *other.got[3:]]
    assert device.outbox.apart is not None


async def test_nobody_comes_in_while_something_is_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audience, "AT_ONCE", 1)
    here, slices = Audience(lambda _: True), Slices()
    steady, late, last = (Device(here, slices, None, deltas=True) for _ in range(3))
    late.pause()
    last.pause()
    here.each(partial(put, packet=Packet(b"first", shared=True)))
    late.resume()  # it has nothing yet, and all the same it is not in step
    here.each(partial(put, packet=Packet(b"second", shared=True)))
    last.resume()
    await quiet(here, slices)
    assert steady.got == late.got == last.got == [b"first", b"second"]
