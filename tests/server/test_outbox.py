"""What waits for one device."""

import pytest

from hermes_iris.outbox import Outbox
from hermes_iris.packet import Packet


def put(outbox: Outbox, text: str, *, ephemeral: bool = False) -> None:
    outbox.put(Packet(text.encode(), ephemeral=ephemeral))


def taken(outbox: Outbox, most: int = 1 << 20) -> list[str]:
    return [packet.body.decode() for packet in outbox.take(most)]


def size(text: str) -> int:
    return len(Packet(text.encode()).plain)


def test_frames_leave_in_the_order_in_which_they_came() -> None:
    outbox = Outbox()
    put(outbox, "a")
    put(outbox, "b", ephemeral=True)
    put(outbox, "c")
    assert taken(outbox) == ["a", "b", "c"]
    assert taken(outbox) == []


def test_whoever_opened_it_is_told_once_until_the_next_take() -> None:
    outbox, told = Outbox(), list[int]()
    put(outbox, "before")
    outbox.open(lambda: told.append(1))
    put(outbox, "a")
    put(outbox, "b")
    assert told == [1]
    assert taken(outbox) == ["before", "a", "b"]
    put(outbox, "c")
    assert told == [1, 1]


def test_opening_an_empty_one_tells_nothing() -> None:
    told = list[int]()
    Outbox().open(lambda: told.append(1))
    assert told == []


def test_take_takes_about_as_much_as_it_is_asked_for() -> None:
    outbox = Outbox()
    for text in "abcd":
        put(outbox, text)
    assert taken(outbox, 2 * size("a")) == ["a", "b"]
    assert taken(outbox, 1) == ["c"]
    assert taken(outbox) == ["d"]


def test_ephemerals_go_first_when_there_are_too_many_frames() -> None:
    outbox = Outbox(max_frames=3)
    for text, ephemeral in (("a", False), ("~", True), ("b", False)):
        put(outbox, text, ephemeral=ephemeral)
    assert not outbox.lost
    put(outbox, "c")
    assert (outbox.end, outbox.lost) == (None, True)
    assert taken(outbox) == ["a", "b", "c"]


def test_ephemerals_go_first_when_they_are_too_long() -> None:
    outbox = Outbox(max_bytes=size("event") + size("more"))
    put(outbox, "event")
    put(outbox, "~" * 6, ephemeral=True)
    put(outbox, "more")
    assert outbox.end is None
    assert taken(outbox) == ["event", "more"]


def test_an_event_is_never_dropped_alone() -> None:
    """Then the connection goes as a whole; the device resumes and misses nothing."""
    outbox = Outbox(max_frames=2)
    for text in ("a", "b", "c", "d"):
        put(outbox, text)
    assert outbox.end == "slow"
    assert taken(outbox) == []


def test_a_device_that_keeps_up_never_overflows() -> None:
    outbox = Outbox(max_frames=2, max_bytes=2 * size("00000"))
    for n in range(50):
        put(outbox, f"{n:05}")
        assert taken(outbox) == [f"{n:05}"]
    assert outbox.end is None


@pytest.mark.parametrize("why", ["slow", "revoked"])
def test_whoever_opened_it_learns_of_the_end(why: str) -> None:
    outbox, told = Outbox(max_frames=0), list[str | None]()
    outbox.open(lambda: told.append(outbox.end))
    if why == "slow":
        put(outbox, "too much")
    else:
        outbox.close("revoked")
    assert told[0] == why
    assert taken(outbox) == []


def test_an_end_before_the_opening_is_told_too() -> None:
    outbox, told = Outbox(), list[str | None]()
    outbox.close("revoked")
    outbox.open(lambda: told.append(outbox.end))
    assert told == ["revoked"]
