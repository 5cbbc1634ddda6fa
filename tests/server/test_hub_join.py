"""Joining a hub: a snapshot and everything after it, in one atomic step."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.hub import Hub
from hermes_iris.protocol.frames import Message, Position
from hermes_iris.store import connect, log, messages, transaction
from hermes_iris.turns import TYPING_TTL, calls
from hermes_iris.turns.calls import Origin
from support import Held, Seat, hub, shown, texts, wait_for_commit

BEGAN = calls.TurnBegan("t1")
THREAD = Lane(DEFAULT_LANE.chat_id, "t_1")


@pytest.fixture
async def middle(tmp_path: Path) -> AsyncIterator[Hub]:
    async with hub(tmp_path / "channels.db") as middle:
        yield middle


async def say(middle: Hub, *said: str) -> None:
    for text in said:
        await middle.call(DEFAULT_LANE, calls.Sent(text))


async def midway(middle: Hub, lane: Lane = DEFAULT_LANE) -> str:
    """A turn in the middle of its second bubble; returns the bubble's id."""
    await middle.call(lane, calls.TypingSet(True))
    await middle.call(lane, BEGAN)
    first = (await middle.call(lane, calls.Sent("Let me", Origin.PREVIEW))).name("m")
    middle.post(lane, calls.ModelReplied("t1", "Let me look.", more=True))
    await middle.call(lane, calls.Edited(first, "Let me look.", final=True))
    middle.post(lane, calls.ToolBegan("t1", "c1", "terminal", {"command": "ls"}))
    second = (await middle.call(lane, calls.Sent("There", Origin.PREVIEW))).name("m")
    await middle.call(lane, calls.Edited(second, "There is", final=False))
    return second


async def finish(middle: Hub, bubble: str, lane: Lane = DEFAULT_LANE) -> None:
    middle.post(lane, calls.ToolDone("t1", "c1", "ok", 0.5, "files"))
    middle.post(lane, calls.ModelReplied("t1", "There is one.", more=False))
    await middle.call(lane, calls.Edited(bubble, "There is one.", final=True))
    await middle.call(lane, calls.Processed("success"))


async def test_without_a_place_everything_is_anew(middle: Hub) -> None:
    await say(middle, "before")
    seat = Seat(middle)
    joined = await seat.join()
    assert (joined.mode, joined.missed, joined.live, joined.lanes) == ("reset", [], [], [])
    assert joined.position == middle.position
    assert texts(seat.state) == ["before"]


async def test_a_device_that_joins_midway_is_told_the_turn_the_text_so_far_and_that_the_agent_types(
    middle: Hub,
) -> None:
    bubble = await midway(middle, THREAD)
    seat = Seat(middle)
    joined = await seat.join()
    (status,) = joined.lanes
    assert (status.chat_id, status.thread_id) == THREAD
    assert seat.kinds == ["typing", "message.start", "message.update"]
    typing, start, update = [frame for frame in seat.frames if frame["type"] in seat.kinds]
    assert (typing["on"], typing["ttl"], typing["thread_id"]) == (True, TYPING_TTL, "t_1")
    assert (start["message_id"], start["turn_id"], start["role"]) == (bubble, status.turn_id, "assistant")
    assert update == {"type": "message.update", "message_id": bubble, "text": "There is"}
    kinds = [getattr(entry, "kind", getattr(entry, "state", "live")) for entry in seat.state.entries.values()]
    assert sorted(kinds) == ["commentary", "live", "running"]


async def test_it_then_ends_where_the_one_that_saw_it_all_ends(middle: Hub) -> None:
    early, late, fresh = Seat(middle), Seat(middle), Seat(middle)
    await early.join()
    bubble = await midway(middle)
    await late.join()
    await finish(middle, bubble)
    await early.settle()
    await late.settle()
    await fresh.join()
    assert shown(early.state) == shown(late.state) == shown(fresh.state)
    assert texts(early.state) == ["Let me look.", "There is one."]
    assert early.state.turns == {}


async def test_what_happens_while_the_snapshot_is_read_follows_it(middle: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing stands in both, so nothing is counted twice."""
    read = middle.store.read

    async def slowly(job: Callable[[sqlite3.Connection], Any]) -> Any:
        result = await read(job)
        monkeypatch.undo()
        await say(middle, "meanwhile")
        return result

    await say(middle, "before")
    monkeypatch.setattr(middle.store, "read", slowly)
    seat = Seat(middle)
    joined = await middle.join(seat.outbox, None, messages.last_order)
    assert joined.position.seq == 1
    assert joined.snapshot < middle.clock.now().order
    assert [msgspec.json.decode(body)["text"] for body in joined.missed] == ["meanwhile"]
    assert seat.outbox.take() == []


async def test_what_another_process_has_stored_is_in_the_snapshot_alone(middle: Hub, tmp_path: Path) -> None:
    early, late = Seat(middle), Seat(middle)
    await early.join()
    conn = connect(tmp_path / "channels.db")
    with transaction(conn):
        theirs = Message(message_id="m_1", chat_id=DEFAULT_LANE.chat_id, role="notice", text="theirs", ts=1.0, order=1)
        messages.record(conn, [theirs])
    conn.close()
    joined = await late.join()
    assert (joined.position.seq, joined.missed) == (1, [])
    await late.settle()
    assert late.events == []
    assert (await early.settle()).events == [1]


@pytest.mark.parametrize("read", range(6))
async def test_resume_tells_exactly_what_was_missed(middle: Hub, read: int) -> None:
    await say(middle, *"abcde")
    seat = Seat(middle)
    await seat.join()
    seat.state.position = Position(epoch=middle.position.epoch, seq=read)
    joined = await seat.again()
    assert (joined.mode, joined.position.seq) == ("resumed", 5)
    assert seat.events == list(range(read + 1, 6))
    await say(middle, "f")
    assert (await seat.settle()).events == list(range(read + 1, 7))


async def test_resume_tells_events_only_but_what_is_live_now(middle: Hub) -> None:
    seat = Seat(middle)
    await seat.join()
    bubble = await midway(middle)
    seen = len(seat.frames)
    await seat.again()
    assert [frame["type"] for frame in seat.frames[seen:]] == [
        "hello.ack", "turn.started", "message.stop", "tool.start", "typing", "message.start", "message.update",
    ]  # fmt: skip
    await finish(middle, bubble)
    other = Seat(middle)
    await seat.settle()
    await other.join()
    assert shown(seat.state) == shown(other.state)


async def test_what_is_committed_but_not_yet_told_is_neither_missed_nor_doubled(middle: Hub, tmp_path: Path) -> None:
    """The hub learns of a commit a little later than it happens: a device that joins right then waits for that."""
    await say(middle, "a")
    seat = Seat(middle)
    await seat.join()
    calling = asyncio.create_task(middle.call(DEFAULT_LANE, calls.Sent("b")))
    await asyncio.sleep(0)
    wait_for_commit(tmp_path / "channels.db", 2)
    joined = await seat.again()
    assert (joined.position.seq, len(joined.missed)) == (2, 1)
    await calling
    assert (await seat.settle()).events == [2]
    assert texts(seat.state) == ["a", "b"]


async def test_events_of_the_moment_of_joining_come_after_the_missed_ones(middle: Hub) -> None:
    seat = Seat(middle)
    await seat.join()
    await say(middle, "a", "b")
    held = Held(middle.store)
    calling = asyncio.create_task(middle.call(DEFAULT_LANE, calls.Sent("c")))
    await asyncio.sleep(0)
    joined = await seat.again()
    assert (joined.position.seq, len(joined.missed)) == (2, 2)
    held.release()
    await calling
    assert (await seat.settle()).events == [1, 2, 3]


async def test_another_epoch_is_a_reset(middle: Hub) -> None:
    await say(middle, "a")
    seat = Seat(middle)
    joined = await seat.join(Position(epoch="another", seq=1))
    assert (joined.mode, joined.missed) == ("reset", [])
    assert joined.position == middle.position


async def test_a_place_that_was_cut_off_is_a_reset_and_the_one_behind_it_is_not(middle: Hub) -> None:
    await say(middle, *"abcdef")
    await middle.store.write(lambda conn: log.prune(conn, 2))
    epoch = middle.position.epoch
    modes = {seq: (await middle.join(Seat(middle).outbox, Position(epoch=epoch, seq=seq))).mode for seq in range(7)}
    assert modes == dict.fromkeys(range(4), "reset") | dict.fromkeys(range(4, 7), "resumed")
    assert middle.position.epoch == epoch


async def test_a_place_ahead_of_the_log_begins_a_new_epoch(middle: Hub) -> None:
    """The database was put back: numbers will be used again, so nobody's memory of them counts any more."""
    await say(middle, "a")
    old, ahead = Seat(middle), Seat(middle)
    await old.join()
    joined = await ahead.join(Position(epoch=middle.position.epoch, seq=5))
    assert (joined.mode, joined.missed, joined.position.seq) == ("reset", [], 1)
    assert joined.position.epoch != old.state.position.epoch
    assert await middle.store.write(log.position) == joined.position == middle.position
    await say(middle, "b")
    await ahead.settle()
    assert (await ahead.again()).mode == "resumed"
    await old.settle()
    assert (await old.again()).mode == "reset"
    assert texts(old.state) == texts(ahead.state) == ["a", "b"]


async def test_what_happens_while_a_new_epoch_is_made_still_counts(middle: Hub) -> None:
    """A turn that ends in that very moment must not run for ever on the device that joins."""
    bubble = await midway(middle)
    seat, fresh = Seat(middle), Seat(middle)
    held = Held(middle.store)
    ahead = Position(epoch=middle.position.epoch, seq=middle.position.seq + 1)
    joining = asyncio.create_task(seat.join(ahead))
    await asyncio.sleep(0)
    middle.post(DEFAULT_LANE, calls.Edited(bubble, "There is one.", final=True))
    middle.post(DEFAULT_LANE, calls.Processed("success"))
    await asyncio.sleep(0)
    held.release()
    await joining
    await seat.settle()
    await fresh.join()
    assert shown(seat.state) == shown(fresh.state)


async def test_a_join_that_fails_leaves_no_device_behind(middle: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    await say(middle, "a")
    seat = Seat(middle)

    async def fails(job: object) -> None:
        raise OSError("no")

    with monkeypatch.context() as patched:
        patched.setattr(middle.store, "read", fails)
        with pytest.raises(OSError, match="no"):
            await middle.join(seat.outbox, Position(epoch=middle.position.epoch, seq=0))
    await say(middle, "b")
    assert (await seat.settle()).kinds == []


async def test_one_slow_device_costs_only_itself(middle: Hub) -> None:
    slow, quick = Seat(middle), Seat(middle)
    await slow.join()
    await quick.join()
    for n in range(2100):
        middle.post(DEFAULT_LANE, calls.Sent(f"{n}"))
        if n % 500 == 0:
            await quick.settle()
    await quick.settle()
    assert slow.outbox.end
    assert not quick.outbox.end
    assert quick.events == list(range(1, 2101))
    assert (await slow.again()).mode == "resumed"
    assert slow.events == list(range(1, 2101))
