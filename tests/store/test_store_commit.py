"""Group commit: who shares a transaction, who learns of it when, and what a kill leaves behind."""

import asyncio
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_iris.errors import Busy, NotFound
from hermes_iris.store import Store, database, log
from support import Held


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "channels.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store(path)
    yield store
    store.close()


def bodies(path: Path) -> list[bytes]:
    """What another process sees."""
    conn = sqlite3.connect(path)
    rows = [row[0] for row in conn.execute("SELECT frame FROM events ORDER BY seq")]
    conn.close()
    return rows


def test_a_job_that_fails_takes_no_neighbour_along(store: Store, path: Path) -> None:
    def fails(conn: sqlite3.Connection) -> None:
        log.append(conn, b"undone")
        raise NotFound("no such thing")

    def breaks_a_constraint(conn: sqlite3.Connection) -> None:
        log.append(conn, b"undone too")
        conn.execute("INSERT INTO meta (key, value) VALUES ('a', NULL)")

    held = Held(store)
    first = store.submit(lambda conn: log.append(conn, b"one"))
    failing = store.submit(fails)
    breaking = store.submit(breaks_a_constraint)
    last = store.submit(lambda conn: log.append(conn, b"two"))
    held.release()
    assert (first.result(5), last.result(5)) == (1, 2)
    assert isinstance(failing.exception(5), NotFound)
    assert isinstance(breaking.exception(5), sqlite3.IntegrityError)
    assert bodies(path) == [b"one", b"two"]


def test_jobs_run_and_answer_in_the_order_in_which_they_were_given(store: Store) -> None:
    held = Held(store)
    done: list[int] = []
    futures = [store.submit(lambda conn, n=n: log.append(conn, b"%d" % n)) for n in range(600)]
    for n, future in enumerate(futures):
        future.add_done_callback(lambda _, n=n: done.append(n))
    held.release()
    assert [future.result(5) for future in futures] == list(range(1, 601))
    store.submit(lambda _: None).result(5)
    assert done == list(range(600))


def test_neighbours_share_one_commit(store: Store, path: Path) -> None:
    """That is what makes a commit per event bearable: the write-ahead log is synced once for all."""
    held = Held(store)
    first = store.submit(lambda conn: log.append(conn, b"first"))
    seen: list[list[bytes]] = []
    last = store.submit(lambda _: seen.append(bodies(path)))
    held.release()
    first.result(5)
    last.result(5)
    assert seen == [[]]


def test_a_result_is_told_only_after_its_commit(store: Store, path: Path) -> None:
    seen: list[list[bytes]] = []
    future = store.submit(lambda conn: log.append(conn, b"here"))
    future.add_done_callback(lambda _: seen.append(bodies(path)))
    future.result(5)
    store.submit(lambda _: None).result(5)
    assert seen == [[b"here"]]


async def test_write_returns_after_the_commit_and_read_sees_it(store: Store, path: Path) -> None:
    assert await store.write(lambda conn: log.append(conn, b"here")) == 1
    assert bodies(path) == [b"here"]
    assert [event.body for event in await store.read(lambda conn: list(log.between(conn, 0, 1)))] == [b"here"]


async def test_a_read_is_one_snapshot(store: Store) -> None:
    def twice(conn: sqlite3.Connection) -> tuple[int, int]:
        before = log.position(conn).seq
        store.submit(lambda writer: log.append(writer, b"meanwhile")).result(5)
        return before, log.position(conn).seq

    await store.write(log.position)  # makes the epoch
    assert await store.read(twice) == (0, 0)


def test_a_full_queue_is_busy_and_recovers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MAX_WAITING", 2)
    store = Store(path)
    held = Held(store)
    waiting = [store.submit(lambda conn: log.append(conn, b"waits")) for _ in range(2)]
    with pytest.raises(Busy):
        store.submit(lambda conn: log.append(conn, b"refused"))
    held.release()
    assert [future.result(5) for future in waiting] == [1, 2]
    assert store.submit(lambda conn: log.append(conn, b"again")).result(5) == 3
    store.close()
    assert bodies(path) == [b"waits", b"waits", b"again"]


def test_close_finishes_what_waits(path: Path) -> None:
    store = Store(path)
    held = Held(store)
    futures = [store.submit(lambda conn: log.append(conn, b"waits")) for _ in range(1000)]
    closing = threading.Thread(target=store.close)
    closing.start()
    held.release()
    closing.join(10)
    assert not closing.is_alive()
    assert all(future.done() for future in futures)
    assert len(bodies(path)) == 1000


def test_a_job_after_close_is_refused_instead_of_waiting_for_ever(path: Path) -> None:
    store = Store(path)
    store.close()
    with pytest.raises(Busy):
        store.submit(lambda conn: log.append(conn, b"late"))


def test_a_commit_that_fails_is_told_to_every_job_of_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 20)
    store = Store(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    futures = [store.submit(lambda conn: log.append(conn, b"lost")) for _ in range(3)]
    assert all(isinstance(future.exception(5), Busy) for future in futures)
    other.execute("ROLLBACK")
    other.close()
    assert store.submit(lambda conn: log.append(conn, b"kept")).result(5) == 1
    store.close()
    assert bodies(path) == [b"kept"]


async def test_a_write_whose_caller_gave_up_harms_nobody(store: Store, path: Path) -> None:
    held = Held(store)
    given_up = asyncio.create_task(store.write(lambda conn: log.append(conn, b"given up")))
    await asyncio.sleep(0)
    given_up.cancel()
    after = asyncio.create_task(store.write(lambda conn: log.append(conn, b"after")))
    await asyncio.sleep(0)
    held.release()
    async with asyncio.timeout(5):
        await after
    assert b"after" in bodies(path)


WRITES = """
import sys
from pathlib import Path
from hermes_iris.protocol.frames import Message
from hermes_iris.store import Store, messages
store = Store(Path(sys.argv[1]))
def write(n):
    name = f"m_{n}"
    echo = Message(message_id=name, chat_id="android:default", role="notice", text=f"text of {name}", ts=0.0, order=n)
    job = store.submit(lambda conn: messages.record(conn, [echo]))
    job.add_done_callback(lambda done: print(name, flush=True))
    return job
n = int(sys.argv[2])
while True:
    for job in [write(n + k) for k in range(7)]:
        job.result()
    n += 7
"""


def test_what_was_confirmed_before_a_kill_is_there_after_it(path: Path) -> None:
    """`send()` tells the host "success" after the commit: a SIGKILL at any moment may take nothing of that back."""
    chance = random.Random(7)
    confirmed: list[str] = []
    for attempt in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITES, str(path), str(attempt * 1_000_000)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        for _ in range(chance.randrange(1, 150)):
            confirmed.append(child.stdout.readline().strip())
        child.kill()
        confirmed += [line.strip() for line in child.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
        child.wait(5)
        child.stdout.close()
    conn = database.connect(path)
    stored = {row["message_id"]: row["text"] for row in conn.execute("SELECT message_id, text FROM messages")}
    seqs = [row["seq"] for row in conn.execute("SELECT seq FROM events ORDER BY seq")]
    assert conn.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    conn.close()
    assert len(confirmed) > 20
    assert {name: stored.get(name) for name in confirmed} == {name: f"text of {name}" for name in confirmed}
    assert seqs == list(range(1, len(stored) + 1)), "a message and its event are one transaction"
