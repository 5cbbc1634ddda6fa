"""The courier: every message reaches the host once and in order, whatever host and store do meanwhile."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.courier import Courier
from hermes_iris.host import Context
from hermes_iris.protocol.frames import Channel, Message
from hermes_iris.store import Store, channels, database, messages
from support import LIMIT, FakeHost, Held, courier, handed, wait_until

OTHER = Lane("android:other")
places = itertools.count(1)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await asyncio.to_thread(Store, tmp_path / "channels.db")
    await store.write(lambda conn: channels.ensure_default(conn, 0.0))
    await store.write(
        lambda conn: conn.execute(
            "INSERT INTO channels (chat_id, name, name_source, kind, created)"
            " VALUES (?, 'Other', 'user', 'channel', 1)",
            (OTHER.chat_id,),
        )
    )
    yield store
    await asyncio.to_thread(store.close)


def quick(monkeypatch: pytest.MonkeyPatch, retry: float = 0.01) -> None:
    monkeypatch.setattr("hermes_iris.courier.RETRY", retry)


def said(text: str, lane: Lane = DEFAULT_LANE) -> Message:
    place = next(places)
    return Message(
        message_id=f"m_{place}", chat_id=lane.chat_id, thread_id=lane.thread_id, role="user", text=text,
        client_id=f"client-{place}", ts=place / 8, order=place,
    )  # fmt: skip


async def put(store: Store, *texts: str, lane: Lane = DEFAULT_LANE) -> None:
    await store.write(lambda conn: messages.record(conn, [said(text, lane) for text in texts]))


async def waiting(store: Store) -> list[str]:
    return [message.text for message in await store.read(messages.waiting)]


@dataclass
class Attempts(FakeHost):
    """Notes when each message was offered, also one that it refuses."""

    lanes: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)

    async def deliver(self, message: Message, channel: Channel, context: Context) -> None:
        self.lanes.append(message.chat_id)
        self.times.append(asyncio.get_running_loop().time())
        self.channels.append(channel)
        await super().deliver(message, channel, context)


# ---------------------------------------------------------------- a host that takes what it is given


async def test_what_waited_is_given_at_the_start_once_and_in_order(store: Store) -> None:
    await put(store, "a", "b", "c")
    for expected in (["a", "b", "c"], []):
        host = FakeHost()
        async with courier(store, host) as delivering:
            await handed(store)
            await put(store, "later")
            delivering.wake()
            await handed(store)
        assert host.texts == [*expected, "later"]


async def test_each_message_is_given_once_however_often_it_is_woken(store: Store) -> None:
    host = FakeHost()
    async with courier(store, host) as delivering:
        for n in range(20):
            await put(store, f"{n}")
            delivering.wake()
            delivering.wake()
        await handed(store)
    assert host.texts == [f"{n}" for n in range(20)]


async def test_what_comes_during_a_delivery_is_given_after_it(store: Store) -> None:
    host = FakeHost(held=asyncio.Event())
    async with courier(store, host) as delivering:
        await put(store, "a")
        delivering.wake()
        await wait_until(lambda: host.delivered)
        await put(store, "b")
        delivering.wake()
        assert await waiting(store) == ["a", "b"]
        assert host.held is not None
        host.held.set()
        await handed(store)
    assert host.texts == ["a", "b"]


async def test_a_message_comes_with_the_channel_it_was_said_in(store: Store) -> None:
    host = Attempts()
    await put(store, "a")
    await put(store, "b", lane=OTHER)
    async with courier(store, host):
        await handed(store)
    assert [channel.name for channel in host.channels] == ["Default", "Other"]


# ---------------------------------------------------------------- a host that refuses


async def test_a_message_is_offered_again_until_the_host_takes_it(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    quick(monkeypatch, 0.05)
    host = Attempts(failures=[RuntimeError("not connected"), RuntimeError("not connected")])
    await put(store, "Hello")
    async with courier(store, host):
        await handed(store)
    assert host.texts == ["Hello"]
    assert len(host.times) == 3
    assert all(later - earlier > 0.04 for earlier, later in itertools.pairwise(host.times))
    assert host.delivered[0].message_id in caplog.text
    assert "not connected" in caplog.text


async def test_many_messages_to_a_host_that_refuses_do_not_make_it_be_asked_more_often(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One pause for all: else every message of an outage would add its own rhythm of retries."""
    quick(monkeypatch, 0.2)
    host = Attempts(failures=[RuntimeError("not connected")] * 1000)
    await put(store, "Hello")
    async with courier(store, host) as delivering:
        for n in range(1, 11):
            delivering.wake()
            await wait_until(lambda n=n: len(host.times) >= n)
        begun = len(host.times)
        await wait_until(lambda: len(host.times) >= begun + 3)
        first, *_, last = host.times[begun : begun + 3]
    assert last - first > 0.3


async def test_a_lane_whose_message_is_refused_keeps_nobody_else_waiting(store: Store) -> None:
    host = Attempts(failures=[RuntimeError("not here")])
    await put(store, "refused")
    await put(store, "taken", lane=OTHER)
    async with courier(store, host):
        await wait_until(lambda: host.texts == ["taken"])
        assert host.lanes == [DEFAULT_LANE.chat_id, OTHER.chat_id]
    assert await waiting(store) == ["refused"]


async def test_a_lane_keeps_its_order_when_a_message_is_refused(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent would else read the correction before what it corrects."""
    quick(monkeypatch)
    host = FakeHost(failures=[RuntimeError("not now")])
    await put(store, "a", "b", "c")
    async with courier(store, host):
        await handed(store)
    assert host.texts == ["a", "b", "c"]


async def test_a_host_whose_own_work_is_cancelled_is_one_that_refuses(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Something inside of the host was cancelled, not the courier."""
    quick(monkeypatch)
    host = FakeHost(failures=[asyncio.CancelledError()])
    await put(store, "Hello")
    async with courier(store, host):
        await handed(store)
    assert host.texts == ["Hello"]


# ---------------------------------------------------------------- a store that refuses


async def test_a_store_that_is_busy_stops_no_later_message_and_none_is_given_twice(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That the host has taken a message is noted later, then; it is not given again for that."""
    quick(monkeypatch)
    host = FakeHost(held=asyncio.Event())
    await put(store, "a")
    async with courier(store, host) as delivering:
        await wait_until(lambda: host.delivered)
        held, refused = Held(store), asyncio.Event()
        submit = store.submit

        def busy(job: database.Job[object]) -> object:
            refused.set()
            return submit(job)

        monkeypatch.setattr(store, "submit", busy)
        with monkeypatch.context() as full:
            full.setattr(store._jobs, "maxsize", 1)
            filler = submit(lambda conn: None)
            assert host.held is not None
            host.held.set()
            await asyncio.wait_for(refused.wait(), LIMIT)
        held.release()
        await asyncio.wrap_future(filler)
        await put(store, "b")
        delivering.wake()
        await handed(store)
    assert host.texts == ["a", "b"]


async def test_a_store_that_cannot_be_read_is_read_again(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    quick(monkeypatch)
    read, failures = store.read, [database.sqlite3.OperationalError("disk I/O error")]

    async def fails(job: database.Job[object]) -> object:
        if failures:
            raise failures.pop()
        return await read(job)

    await put(store, "Hello")
    with monkeypatch.context() as broken:
        broken.setattr(store, "read", fails)
        host = FakeHost()
        async with courier(store, host):
            await wait_until(lambda: host.texts)
            await handed(store)
    assert host.texts == ["Hello"]
    assert "disk I/O error" in caplog.text


# ---------------------------------------------------------------- the end


async def test_the_end_lets_a_delivery_finish_and_begins_no_other(store: Store) -> None:
    host = FakeHost(held=asyncio.Event())
    await put(store, "a", "b")
    delivering = Courier(store, host)
    delivering.start()
    await wait_until(lambda: host.delivered)
    stopping = asyncio.create_task(delivering.stop())
    await asyncio.sleep(0)
    assert not stopping.done()
    assert host.held is not None
    host.held.set()
    await asyncio.wait_for(stopping, LIMIT)
    assert (host.texts, await waiting(store)) == (["a"], ["b"])


async def test_a_delivery_that_does_not_end_is_cut_and_made_again_by_the_next_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes_iris.courier.GRACE", 0.05)
    host, cut = FakeHost(), asyncio.Event()

    async def endless(message: Message, channel: Channel, context: Context) -> None:
        host.delivered.append(message)
        try:
            await asyncio.Event().wait()
        finally:
            cut.set()

    monkeypatch.setattr(host, "deliver", endless)
    await put(store, "Hello")
    delivering = Courier(store, host)
    delivering.start()
    await wait_until(lambda: host.delivered)
    await asyncio.wait_for(delivering.stop(), LIMIT)
    assert cut.is_set()
    assert await waiting(store) == ["Hello"]
    following = FakeHost()
    async with courier(store, following):
        await handed(store)
    assert following.texts == ["Hello"]


async def test_the_end_does_not_wait_for_the_next_try(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    quick(monkeypatch, 3600.0)
    monkeypatch.setattr("hermes_iris.courier.GRACE", 3600.0)
    host = FakeHost(failures=[RuntimeError("not now")])
    await put(store, "Hello")
    delivering = Courier(store, host)
    delivering.start()
    await wait_until(lambda: not host.failures)
    await asyncio.wait_for(delivering.stop(), LIMIT)
    assert (host.texts, await waiting(store)) == ([], ["Hello"])


async def test_after_the_end_nothing_is_given_any_more(store: Store) -> None:
    host = FakeHost()
    delivering = Courier(store, host)
    delivering.start()
    await delivering.stop()
    await put(store, "Hello")
    delivering.wake()
    await delivering.stop()
    assert (host.texts, await waiting(store)) == ([], ["Hello"])
