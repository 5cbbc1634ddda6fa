"""What waits for one device, against a plain list: order, and what is dropped first."""

from hypothesis import given, strategies as st

from hermes_iris.outbox import MAX_BYTES, MAX_FRAMES, Outbox
from hermes_iris.packet import Packet
from hermes_iris.protocol.types import MAX_FRAME

frames = st.lists(st.tuples(st.text("ab", max_size=6), st.booleans()), max_size=30)


@given(frames, st.integers(1, 6), st.integers(1, 40))
def test_events_wait_in_order_or_the_connection_goes(
    puts: list[tuple[str, bool]], max_frames: int, max_bytes: int
) -> None:
    outbox = Outbox(max_frames, max_bytes)
    waiting: list[tuple[str, bool]] = []
    overflowed = False
    for text, ephemeral in puts:
        outbox.put(Packet(text.encode(), ephemeral=ephemeral))
        waiting.append((text, ephemeral))
        if _too_much(waiting, max_frames, max_bytes):
            waiting = [frame for frame in waiting if not frame[1]]
            overflowed = overflowed or _too_much(waiting, max_frames, max_bytes)
        assert outbox.end == ("slow" if overflowed else None)
    assert _take(outbox) == ([] if overflowed else [text for text, _ in waiting])


def _too_much(waiting: list[tuple[str, bool]], max_frames: int, max_bytes: int) -> bool:
    return len(waiting) > max_frames or sum(len(Packet(text.encode()).plain) for text, _ in waiting) > max_bytes


def _take(outbox: Outbox) -> list[str]:
    return [packet.body.decode() for packet in outbox.take()]


def test_what_was_taken_makes_room() -> None:
    outbox = Outbox(max_frames=2, max_bytes=16)
    for _ in range(3):
        outbox.put(Packet(b"12345"))
        outbox.put(Packet(b"12345"))
        assert _take(outbox) == ["12345", "12345"]
    assert outbox.end is None


def test_an_outbox_that_has_overflowed_takes_nothing_more() -> None:
    outbox = Outbox(max_frames=1)
    for body in (b"a", b"b", b"c"):
        outbox.put(Packet(body))
    assert outbox.end == "slow"
    assert _take(outbox) == []
    outbox.put(Packet(b"d", ephemeral=True))
    assert outbox.end == "slow"


def test_an_outbox_that_was_closed_sends_nothing_more() -> None:
    """Not even what waited: a device that was shut out learns nothing new."""
    outbox = Outbox(device_id="dev_1")
    outbox.put(Packet(b"waits"))
    outbox.close("revoked")
    outbox.put(Packet(b"late"))
    assert _take(outbox) == []
    assert (outbox.end, outbox.device_id) == ("revoked", "dev_1")


def test_one_frame_of_the_largest_size_has_room() -> None:
    assert MAX_BYTES > MAX_FRAME
    assert MAX_FRAMES > 1
