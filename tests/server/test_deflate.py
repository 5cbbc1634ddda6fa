"""Compression shared by all devices: whoever inflates what it got has what was sent, whatever it missed."""

import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory

from hermes_iris.address import DEFAULT_LANE
from hermes_iris.packet import Packet
from hermes_iris.protocol.types import MAX_FRAME
from hermes_iris.server import deflate
from hermes_iris.server.deflate import Receiver, Stream, alone
from hermes_iris.turns import calls
from support import CHAT, gateway


class Peer:
    """What a client does with the messages of one connection."""

    def __init__(self, stream: Stream) -> None:
        self.receiver = Receiver(stream)
        self.inflater = zlib.decompressobj(-15)
        self.compressed = 0

    def got(self, data: bytes) -> bytes:
        """The one message in these bytes."""
        first, size = data[0], data[1]
        head = 2 if size < 126 else 4 if size == 126 else 10
        assert len(data) - head == (size if head == 2 else int.from_bytes(data[2:head], "big"))
        if not first & 0x40:
            return data[head:]
        self.compressed += 1
        return self.inflater.decompress(data[head:] + b"\x00\x00\xff\xff")


PIECES = ["delta"]

texts = st.text("ab 你", max_size=300).map(str.encode)


@given(st.lists(st.tuples(texts, st.sets(st.integers(0, 2)), st.booleans()), max_size=30))
def test_every_device_reads_what_it_is_sent(course: list[tuple[bytes, set[int], bool]]) -> None:
    """Each step: a text, the devices that get it, and whether it is for each of them alone."""
    stream = Stream()
    peers = [Peer(stream) for _ in range(3)]
    for body, to, own in course:
        shared = Packet(body, shared=True)
        for n in sorted(to):
            packet = Packet(body, packed=alone([body])) if own else shared
            assert peers[n].got(peers[n].receiver.form(packet)) == body


def test_a_device_that_missed_some_is_back_in_the_stream_with_the_next_but_one() -> None:
    stream = Stream()
    steady, late = Peer(stream), Peer(stream)
    for n in range(6):
        packet = Packet(b"something that is said again and again %d" % n, shared=True)
        for peer in (steady,) if n < 3 else (steady, late):
            peer.got(peer.receiver.form(packet))
    assert (steady.compressed, late.compressed) == (6, 2)


def test_what_repeats_costs_little() -> None:
    stream = Stream()
    receiver = Receiver(stream)
    bodies = [b'{"type":"typing","on":true,"ttl":8.0,"n":%d}' % n for n in range(9)]
    sizes = [len(receiver.form(Packet(body, shared=True))) for body in bodies]
    assert max(sizes[2:]) < 20


def test_very_large_ones_are_left_as_they_are_and_disturb_nothing() -> None:
    stream = Stream()
    peer = Peer(stream)
    for body in (b"a" * 100, b"b" * (deflate.MOST + 1), b"a" * 100):
        assert peer.got(peer.receiver.form(Packet(body, shared=True))) == body
    assert peer.compressed == 2


def test_messages_that_are_compressed_together_are_told_apart() -> None:
    bodies = [b"one message", b"another message", b""]
    data, inflater = alone(bodies).data, zlib.decompressobj(-15)
    for body in bodies:
        assert data[0] == 0xC1
        assert inflater.decompress(data[2 : 2 + data[1]] + b"\x00\x00\xff\xff") == body
        data = data[2 + data[1] :]
    assert data == b""


# ---------------------------------------------------------------- with a real client


@pytest.mark.parametrize(
    ("offer", "agreed"),
    [
        ({}, True),
        ({"client_max_window_bits": True}, True),
        ({"client_no_context_takeover": True}, True),
        ({"server_no_context_takeover": True}, False),
        ({"server_max_window_bits": 10}, False),
    ],
)
async def test_only_offers_that_can_be_kept_are_taken(tmp_path: Path, offer: dict[str, Any], agreed: bool) -> None:
    extensions = [ClientPerMessageDeflateFactory(**offer)]
    async with (
        gateway(tmp_path) as running,
        running.wire(compression=None, extensions=extensions, capabilities=PIECES) as wire,
        running.wire(compression=None, capabilities=PIECES) as plain,
    ):
        assert bool(wire.connection.protocol.extensions) is agreed
        assert not plain.connection.protocol.extensions
        for n in range(5):
            await wire.say(f"Hello {n}")
        await plain.settle()
        for each in (wire, plain):
            assert [frame["text"] for frame in each.seen if frame["type"] == "message"] == [
                f"Hello {n}" for n in range(5)
            ]


async def test_history_and_what_streams_arrive_whole_side_by_side(tmp_path: Path) -> None:
    """Pages are compressed for one device, events for all: neither disturbs the other."""
    async with gateway(tmp_path) as running, running.wire(capabilities=PIECES) as one, running.wire() as two:
        hub = running.service.hub
        for n in range(20):
            await hub.call(DEFAULT_LANE, calls.Sent(f"{n} " + "an answer of some length " * 100))
            if n % 3 == 0:
                await one.ask("history", chat_id=CHAT)
        for wire in (one, two):
            await wire.settle()
            said = [frame["text"].split()[0] for frame in wire.seen if frame["type"] == "message"]
            assert said == [str(n) for n in range(20)]
        page = await two.ask("history", chat_id=CHAT)
        assert len(page["entries"]) == 20


async def test_what_was_missed_arrives_compressed_and_then_the_stream(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        device = await running.pair()
        async with running.wire(device) as wire:
            position = (wire.seen[0]["epoch"], wire.seen[0]["seq"])
        for n in range(1200):
            running.service.hub.post(DEFAULT_LANE, calls.Sent(f"missed {n}"))
        await running.service.hub.drain()
        async with running.wire(device, position, capabilities=PIECES) as wire:
            await wire.settle()
            await running.service.hub.call(DEFAULT_LANE, calls.Sent("live"))
            await running.service.hub.call(DEFAULT_LANE, calls.Sent("live too"))
            await wire.until("message", text="live too")
            assert [frame["seq"] for frame in wire.seen if frame["type"] == "message"] == list(range(1, 1203))


async def test_a_frame_that_grows_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    """A few bytes that inflate to very many: the connection closes, the gateway goes on."""
    async with gateway(tmp_path) as running, running.wire() as wire, running.wire() as other:
        assert wire.connection.protocol.extensions
        await wire.send("x" * (MAX_FRAME + 1))
        assert await wire.closed() == 1009
        assert (await other.settle())[-1] == {"type": "pong"}
