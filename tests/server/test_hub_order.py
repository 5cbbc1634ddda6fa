"""The hub's one order: effects, commits, broadcasts; and what a failure or a caller that gives up does to it."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes_iris import hub as hub_module
from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.clock import Clock
from hermes_iris.hub import Hub, Recorded
from hermes_iris.moment import SPAN, Moment
from hermes_iris.protocol.frames import Message
from hermes_iris.store import database, log, messages
from hermes_iris.turns import calls
from hermes_iris.turns.calls import Origin
from support import Held, Seat, hub, texts, wait_for_commit, wait_until

PREVIEW, ANSWER = Origin.PREVIEW, Origin.ANSWER
BEGAN = calls.TurnBegan("t1")
OTHER = Lane("android:other")


@pytest.fixture
async def middle(tmp_path: Path) -> AsyncIterator[Hub]:
    async with hub(tmp_path / "channels.db") as middle:
        yield middle


@pytest.fixture
async def seat(middle: Hub) -> Seat:
    seat = Seat(middle)
    await seat.join()
    return seat


class Steps(Clock):
    """A clock that stands still; its moments are one `SPAN` apart."""

    def __init__(self) -> None:
        super().__init__()
        self._order = 0

    def now(self) -> Moment:
        self._order += SPAN
        return Moment(self._order, 1000.0)


async def apart(middle: Hub, *told: calls.Call, lane: Lane = DEFAULT_LANE) -> list["asyncio.Task[object]"]:
    """Calls of the host that do not wait for each other, in this order."""
    tasks: list[asyncio.Task[object]] = []
    for call in told:
        tasks.append(asyncio.create_task(middle.call(lane, call)))
        await asyncio.sleep(0)
    return tasks


async def test_ephemerals_wait_for_the_events_before_them(middle: Hub, seat: Seat) -> None:
    """Nothing overtakes a commit: a bubble is never told before the turn that it is in."""
    middle.clock = Steps()
    held = Held(middle.store)
    tasks = await apart(middle, BEGAN, calls.TypingSet(True), calls.Sent("He", PREVIEW))
    bubble = Moment(3 * SPAN, 0.0).name("m")
    tasks += await apart(middle, calls.Edited(bubble, "Hello", final=False), calls.Edited(bubble, "Hell", final=False))
    assert (await seat.take()).kinds == []
    held.release()
    await asyncio.gather(*tasks)
    await seat.settle()
    assert seat.kinds == [
        "turn.started", "typing", "message.start", "message.update", "message.update", "message.update",
    ]  # fmt: skip
    assert [frame["text"] for frame in seat.frames if frame["type"] == "message.update"] == ["He", "Hello", "Hell"]


async def test_lanes_share_the_order(middle: Hub, seat: Seat) -> None:
    held = Held(middle.store)
    tasks = await apart(middle, BEGAN)
    tasks += await apart(middle, calls.TypingSet(True), lane=OTHER)
    tasks += await apart(middle, calls.Sent("notice"), lane=OTHER)
    held.release()
    await asyncio.gather(*tasks)
    assert (await seat.settle()).kinds == ["turn.started", "typing", "message"]


async def test_a_call_returns_after_its_commit_and_before_its_broadcast_is_overtaken(middle: Hub, seat: Seat) -> None:
    await middle.call(DEFAULT_LANE, calls.Sent("here"))
    page = await middle.store.read(lambda conn: messages.history(conn, DEFAULT_LANE, 9))
    assert [entry.text for entry in page.entries if isinstance(entry, Message)] == ["here"]
    assert (await seat.settle()).kinds == ["message"]


async def test_a_call_returns_the_moment_that_names_its_message(middle: Hub, seat: Seat) -> None:
    moment = await middle.call(DEFAULT_LANE, calls.Sent("here"))
    assert list((await seat.settle()).state.entries) == [moment.name("m")]


async def test_what_threads_have_posted_is_applied_before_a_call(middle: Hub, seat: Seat) -> None:
    """The host announces a reply from a worker thread and delivers it on the loop: the delivery must know of it."""
    await middle.call(DEFAULT_LANE, BEGAN)
    reply = calls.ModelReplied("t1", "the answer", more=False, reasoning="thought")
    worker = threading.Thread(target=middle.post, args=(DEFAULT_LANE, reply))
    worker.start()
    worker.join()  # the loop has not run since: the post can only wait in the queue
    await middle.call(DEFAULT_LANE, calls.Sent("the answer", ANSWER))
    await seat.settle()
    (entry,) = seat.state.entries.values()
    assert (entry.role, entry.reasoning) == ("assistant", "thought")


async def test_what_threads_have_posted_is_applied_without_any_call(middle: Hub, seat: Seat) -> None:
    worker = threading.Thread(target=middle.post, args=(DEFAULT_LANE, BEGAN))
    worker.start()
    worker.join()
    await wait_until(lambda: middle.position.seq == 1)
    assert (await seat.settle()).kinds == ["turn.started"]


async def test_posts_of_one_thread_keep_their_order(middle: Hub, seat: Seat) -> None:
    def work() -> None:
        for n in range(200):
            middle.post(DEFAULT_LANE, calls.Sent(f"{n}"))

    workers = [threading.Thread(target=work)]
    workers[0].start()
    await asyncio.to_thread(workers[0].join)
    assert texts((await seat.settle()).state) == [f"{n}" for n in range(200)]
    assert seat.events == list(range(1, 201))


async def test_a_streaming_text_is_saved_now_and_then(middle: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that dies keeps most of the text; a database write per token would cost too much."""
    saved = "SELECT text FROM messages WHERE live = 1"
    await middle.call(DEFAULT_LANE, BEGAN)
    bubble = (await middle.call(DEFAULT_LANE, calls.Sent("He", PREVIEW))).name("m")
    assert await middle.store.read(lambda conn: conn.execute(saved).fetchone()[0]) == "He"
    await middle.call(DEFAULT_LANE, calls.Edited(bubble, "Hello", final=False))
    await middle.drain()
    assert await middle.store.read(lambda conn: conn.execute(saved).fetchone()[0]) == "He"
    monkeypatch.setattr(hub_module, "CHECKPOINT", 0.0)
    await middle.call(DEFAULT_LANE, calls.Edited(bubble, "Hello you", final=False))
    await middle.drain()
    assert await middle.store.read(lambda conn: conn.execute(saved).fetchone()[0]) == "Hello you"


async def test_a_job_that_fails_is_told_and_nothing_of_it_is_broadcast(middle: Hub, seat: Seat) -> None:
    def fails(conn: sqlite3.Connection) -> Recorded:
        log.append(conn, b"{}")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await middle.transact(fails)
    await middle.call(DEFAULT_LANE, calls.Sent("after"))
    assert (await seat.settle()).events == [1]


async def test_a_caller_that_gives_up_keeps_nobody_from_the_event(middle: Hub, seat: Seat) -> None:
    """The event is committed all the same: a device that leaves while it sends must not hold up the others."""
    held = Held(middle.store)
    (given_up,) = await apart(middle, calls.Sent("given up"))
    given_up.cancel()
    await asyncio.wait([given_up])
    held.release()
    await asyncio.to_thread(held.future.result, 5)
    await middle.store.write(lambda conn: None)  # by now the event is committed, and its callback has run
    await asyncio.sleep(0)
    assert texts((await seat.take()).state) == ["given up"]


async def test_an_event_reaches_its_devices_even_when_the_store_is_too_busy_to_be_pruned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pruning can wait for the next time, an event cannot."""
    monkeypatch.setattr(database, "MAX_WAITING", 1)
    monkeypatch.setattr(hub_module, "PRUNE_EVERY", 1)
    async with hub(tmp_path / "channels.db") as middle:
        seat = Seat(middle)
        await seat.join()
        (task,) = await apart(middle, calls.Sent("here"))
        wait_for_commit(tmp_path / "channels.db", 1)  # the loop is to hear of it when the queue is full
        held = Held(middle.store)
        filler = middle.store.submit(lambda conn: None)
        await asyncio.wait([task], timeout=5)
        held.release()
        await asyncio.to_thread(filler.result, 5)
        assert texts((await seat.take()).state) == ["here"]


async def test_end_turns_closes_bubble_tools_turn_and_typing_of_every_lane(middle: Hub, seat: Seat) -> None:
    for lane in (DEFAULT_LANE, OTHER):
        await middle.call(lane, BEGAN)
        await middle.call(lane, calls.TypingSet(True))
        middle.post(lane, calls.ToolBegan("t1", "c1", "terminal", {"command": "ls"}))
        await middle.call(lane, calls.Sent("so far", PREVIEW))
    middle.end_turns("interrupted")
    await seat.settle()
    entries = list(seat.state.entries.values())
    assert (seat.state.turns, seat.state.typing) == ({}, set())
    assert [entry.state for entry in entries] == ["cancelled", "aborted"] * 2
    assert [frame["outcome"] for frame in seat.frames if frame["type"] == "turn.ended"] == ["interrupted"] * 2


async def test_drain_waits_for_everything_that_was_brought_forth(middle: Hub, seat: Seat) -> None:
    held = Held(middle.store)
    middle.post(DEFAULT_LANE, calls.Sent("posted"))
    tasks = await apart(middle, calls.Sent("called"))
    draining = asyncio.create_task(middle.drain())
    done, _ = await asyncio.wait([draining], timeout=0.05)
    assert not done
    held.release()
    async with asyncio.timeout(5):
        await draining
    assert texts((await seat.take()).state) == ["posted", "called"]
    await asyncio.gather(*tasks)


async def test_drain_of_an_idle_hub_returns_at_once(middle: Hub) -> None:
    async with asyncio.timeout(1):
        await middle.drain()


async def test_the_log_is_cut_while_it_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "PRUNE_EVERY", 10)
    async with hub(tmp_path / "channels.db", log_events=15) as middle:
        for n in range(60):
            await middle.call(DEFAULT_LANE, calls.Sent(f"{n}"))
        await middle.drain()
        kept = await middle.store.write(lambda conn: [event.seq for event in log.between(conn, 0, 99)])
        assert kept == list(range(46, 61))


async def test_close_tells_every_device(middle: Hub, seat: Seat) -> None:
    other = Seat(middle)
    await other.join()
    middle.close("the gateway stops")
    for each in (seat, other):
        assert (await each.take()).frames[-1] == {"type": "server.closing", "reason": "the gateway stops"}


async def test_a_device_that_left_gets_nothing_more(middle: Hub, seat: Seat) -> None:
    middle.leave(seat.outbox)
    middle.leave(seat.outbox)
    await middle.call(DEFAULT_LANE, calls.Sent("late"))
    assert (await seat.settle()).kinds == []
