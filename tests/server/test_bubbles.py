"""Streaming to devices of both kinds: those that take pieces, and those that want the whole text each time."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from hermes_iris.address import DEFAULT_LANE
from hermes_iris.bubbles import Bubbles
from hermes_iris.hub import Hub
from hermes_iris.outbox import Outbox
from hermes_iris.protocol.frames import MessageStart, MessageUpdate, Position
from hermes_iris.turns import calls
from hermes_iris.turns.calls import Origin
from support import Screen, Seat, ack, hub, shown, texts


@pytest.fixture
async def middle(tmp_path: Path) -> AsyncIterator[Hub]:
    async with hub(tmp_path / "channels.db") as middle:
        yield middle


async def stream(middle: Hub, *said: str) -> str:
    await middle.call(DEFAULT_LANE, calls.TurnBegan("t1"))
    bubble = (await middle.call(DEFAULT_LANE, calls.Sent(said[0], Origin.PREVIEW))).name("m")
    for text in said[1:]:
        await middle.call(DEFAULT_LANE, calls.Edited(bubble, text, final=False))
    return bubble


def told(seat: Seat) -> list[str | tuple[int, str]]:
    """The updates that came: whole texts, and pieces with their places."""
    updates = [frame for frame in seat.frames if frame["type"] == "message.update"]
    return [frame["text"] if "text" in frame else (frame["offset"], frame["append"]) for frame in updates]


async def test_a_device_that_asks_for_pieces_gets_them_and_the_others_do_not(middle: Hub) -> None:
    pieces, plain = Seat(middle, deltas=True), Seat(middle)
    await pieces.join()
    await plain.join()
    await stream(middle, "你好", "你好 😀", "你好 😀!", "你好", "Bye", "Bye now")
    await pieces.settle()
    await plain.settle()
    assert told(pieces) == ["你好", (2, " 😀"), (5, "!"), "你好", "Bye", (3, " now")]
    assert told(plain) == ["你好", "你好 😀", "你好 😀!", "你好", "Bye", "Bye now"]
    assert shown(pieces.state) == shown(plain.state)


async def test_who_joins_midway_begins_with_the_whole_text(middle: Hub) -> None:
    early, late = Seat(middle, deltas=True), Seat(middle, deltas=True)
    await early.join()
    bubble = await stream(middle, "One", "One two")
    await late.join()
    for text in ("One two three", "One two three four"):
        await middle.call(DEFAULT_LANE, calls.Edited(bubble, text, final=False))
    await early.settle()
    await late.settle()
    assert told(late) == ["One two", "One two three", (13, " four")]
    assert shown(early.state) == shown(late.state)


async def test_who_lost_some_gets_the_bubble_again_and_then_pieces(middle: Hub) -> None:
    seat = Seat(middle, deltas=True)
    await seat.join()
    seat.outbox = Outbox(max_frames=4)
    seat.outbox.deltas = True
    middle.leave(seat.outbox)
    await middle.join(seat.outbox, None)
    bubble = await stream(middle, "One", "One two", "One two three")
    assert seat.outbox.lost
    await seat.take()
    for text in ("One two three four", "One two three four five"):
        await middle.call(DEFAULT_LANE, calls.Edited(bubble, text, final=False))
    await seat.settle()
    assert told(seat)[-2:] == ["One two three four", (18, " five")]
    assert texts(seat.state) == ["One two three four five"]


async def test_the_end_has_all_of_it(middle: Hub) -> None:
    seat, fresh = Seat(middle, deltas=True), Seat(middle)
    await seat.join()
    bubble = await stream(middle, "One", "One two")
    middle.post(DEFAULT_LANE, calls.ModelReplied("t1", "One two three", more=False))
    await middle.call(DEFAULT_LANE, calls.Edited(bubble, "One two three", final=True))
    await middle.call(DEFAULT_LANE, calls.Processed("success"))
    await seat.settle()
    await fresh.join()
    assert shown(seat.state) == shown(fresh.state)


_PLACE = Position(epoch="e", seq=0)


def _start(message_id: str) -> MessageStart:
    return MessageStart(
        message_id=message_id, chat_id=DEFAULT_LANE.chat_id, role="assistant", turn_id="t", ts=0.0, order=1
    )


steps = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(0, 2), st.sampled_from(["", "a", "ab", "abc", "😀", "😀你", "b"])),
        st.tuples(st.just("stop"), st.integers(0, 2), st.just("")),
        st.tuples(st.just("take"), st.integers(0, 2), st.just("")),
        st.tuples(st.just("join"), st.integers(0, 2), st.just("")),
    ),
    max_size=40,
)


@settings(max_examples=150)
@given(steps)
def test_a_device_that_took_all_that_waits_shows_what_was_said_last(
    course: list[tuple[str, int, str]],
) -> None:
    """Any course of bubbles, of devices whose queues overflow, and of devices that come late."""
    bubbles, said = Bubbles(), dict[str, str]()
    screens = [Screen() for _ in range(3)]
    outboxes: list[Outbox] = []

    def join(n: int) -> Outbox:
        outbox = Outbox(max_frames=(2, 4, 100)[n])
        outbox.deltas = n != 1
        bubbles.joined(outbox)
        screens[n] = Screen().feed(ack(_PLACE, "reset"))
        for message_id, text in said.items():
            screens[n].feed(_start(message_id)).feed(MessageUpdate(message_id=message_id, text=text))
        return outbox

    outboxes += [join(n) for n in range(3)]
    for deed, n, text in course:
        message_id = f"m_{n}"
        if deed == "say":
            if message_id not in said:
                packet = bubbles.started(_start(message_id))
                for outbox in outboxes:
                    outbox.put(packet)
            said[message_id] = text
            hand = bubbles.updated(MessageUpdate(message_id=message_id, text=text))
            for outbox in outboxes:
                hand(outbox)
        elif deed == "stop" and said.pop(message_id, None) is not None:
            bubbles.stopped(message_id)
            for seat in screens:
                seat.state.entries.pop(message_id, None)
        elif deed == "take":
            screens[n].feed_all(outboxes[n])
        elif deed == "join":
            outboxes[n] = join(n)
    for message_id, text in said.items():
        hand = bubbles.updated(MessageUpdate(message_id=message_id, text=text))
        for n, outbox in enumerate(outboxes):
            screens[n].feed_all(outbox)
            hand(outbox)
            screens[n].feed_all(outbox)
            assert screens[n].state.entries[message_id].text == text
