"""A full disk, a file that another program holds: who asks is told, and nothing is lost of what the host said."""

import asyncio
import json
import logging
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from hermes_iris import service
from hermes_iris.address import DEFAULT_LANE
from hermes_iris.config import Home, Settings
from hermes_iris.errors import Busy
from hermes_iris.protocol import codec
from hermes_iris.protocol.frames import Message
from hermes_iris.service import Service
from hermes_iris.store import Store, database, log
from hermes_iris.turns import calls
from hermes_iris.turns.calls import Origin
from support import CHAT, NOT_EVENTS, FakeHost, Gateway, Wire, gateway, new_id, wait_until

HOLDS = """
import sqlite3, sys
conn = sqlite3.connect(sys.argv[1], isolation_level=None)
conn.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
conn.execute("ROLLBACK")
conn.close()
print("free", flush=True)
"""

FILLS = """
import asyncio, json, resource, sys
from pathlib import Path
from support import gateway

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

async def main():
    async with gateway(Path(sys.argv[1])) as running, running.wire(await running.pair()) as wire:
        limit(Path(f"{running.home.database}-wal").stat().st_size + 500_000)
        answers = []
        while not answers or answers[-1]["type"] != "error":
            asked = {"client_id": f"client-{len(answers)}", "chat_id": "android:default", "text": "x" * 9_000}
            answers.append(await wire.ask("message.send", **asked))
        limit(resource.RLIM_INFINITY)
        again = await wire.ask("message.send", **asked)
        page = await wire.ask("history", chat_id="android:default", limit=200)
    print(json.dumps([answers[-1], again["type"], len(answers), len(page["entries"])]))

asyncio.run(main())
"""


@pytest.fixture(autouse=True)
def _in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 50)
    monkeypatch.setattr(database, "RETRY", 0.02)


@contextmanager
def another_program(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process, which holds the lock for writing until it is told to let go, or dies."""
    child = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        yield child
    finally:
        child.kill()
        child.communicate()


def let_go(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("\n")
    child.stdin.flush()
    assert child.stdout.readline() == "free\n"


def pages(store: Store, extra: int) -> None:
    """Let a store's file grow by so many pages only: to SQLite that is a full disk."""
    used = store._write_conn.execute("PRAGMA page_count").fetchone()[0]
    store._write_conn.execute(f"PRAGMA max_page_count = {used + extra}")


@asynccontextmanager
async def watched(root: Path) -> AsyncIterator[tuple[Gateway, Wire]]:
    async with gateway(root) as running, running.wire(await running.pair()) as wire:
        yield running, wire


async def test_while_another_program_holds_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with watched(tmp_path) as (running, wire):
        hub = running.service.hub
        asked = {"chat_id": CHAT, "text": "Hello", "client_id": new_id()}
        await hub.call(DEFAULT_LANE, calls.TurnBegan("t1"))
        with another_program(running.home.database) as child:
            said = [calls.Sent(f"Remark {n}.", Origin.SEGMENT) for n in range(3)]
            told = [asyncio.create_task(hub.call(DEFAULT_LANE, remark)) for remark in said]
            refused = await wire.ask("message.send", **asked)
            assert (refused["type"], refused["code"], refused["retryable"]) == ("error", "busy", True)
            assert "another program" in refused["message"]
            assert not any(task.done() for task in told), "the host is told of success only after the commit"
            let_go(child)
        await asyncio.gather(*told)
        await hub.call(DEFAULT_LANE, calls.Processed("success"))
        accepted = await wire.ask("message.send", **asked)
        assert accepted["type"] == "message.accepted"
        page = await wire.ask("history", chat_id="android:default")
        assert [entry["text"] for entry in page["entries"]] == ["Remark 0.", "Remark 1.", "Remark 2.", "Hello"]
        numbers = [frame["seq"] for frame in wire.seen if "seq" in frame and frame["type"] not in NOT_EVENTS]
        assert numbers == list(range(1, len(numbers) + 1)), "devices were told all of it, in order"
    assert [record.message for record in caplog.records if record.levelno >= logging.ERROR] == [
        "nothing can be stored: database is locked"
    ]


async def test_a_device_comes_in_and_reads_while_nothing_can_be_stored(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        device = await running.pair()
        with another_program(running.home.database):
            async with running.wire(device) as wire:
                assert (await wire.ask("history", chat_id=CHAT))["type"] == "history"


async def test_a_device_comes_in_and_reads_while_the_database_is_read_only(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        device = await running.pair()
        await running.service.store.write(lambda conn: conn.execute("PRAGMA query_only = ON"))
        async with running.wire(device) as wire:
            assert (await wire.ask("history", chat_id=CHAT))["type"] == "history"
            assert (await wire.ask("message.send", chat_id=CHAT, text="Hello"))["type"] == "error"


async def test_what_another_process_stores_meanwhile_is_told_before(tmp_path: Path) -> None:
    """The number that the failed commit had given out goes to the other one."""
    async with watched(tmp_path) as (running, wire):
        store = running.service.store
        pages(store, extra=0)
        told = asyncio.create_task(running.service.hub.call(DEFAULT_LANE, calls.Sent("ours " * 10_000)))
        await wait_until(lambda: store._lasting)
        conn = sqlite3.connect(running.home.database)
        with conn:
            theirs = Message(message_id="m_1", chat_id=CHAT, role="notice", text="theirs", ts=1.0, order=1)
            conn.execute("INSERT INTO events (frame) VALUES (?)", (codec.encode_event(theirs),))
        conn.close()
        pages(store, extra=10_000)
        await told
        await wire.settle()
        said = [(frame["seq"], frame["text"][:4]) for frame in wire.seen if frame["type"] == "message"]
        assert said == [(1, "thei"), (2, "ours")]


def test_a_full_disk_is_told_and_what_lasts_waits_for_room(tmp_path: Path) -> None:
    store = Store(tmp_path / "channels.db")
    pages(store, extra=2)
    asked = store.submit(lambda conn: log.append(conn, b"x" * 100_000))
    with pytest.raises(Busy, match="disk is full"):
        asked.result(5)
    lasting = [store.submit(lambda conn, n=n: log.append(conn, b"%d" % n * 50_000), lasting=True) for n in range(3)]
    with pytest.raises(Busy, match="disk is full"):
        store.submit(lambda conn: log.append(conn, b"y" * 100_000)).result(5)
    assert not any(future.done() for future in lasting)
    pages(store, extra=10_000)
    assert [future.result(5) for future in lasting] == [1, 2, 3]
    assert store.submit(lambda conn: log.append(conn, b"z")).result(5) == 4
    store.close()


def test_a_store_that_is_closed_gives_up_what_could_not_be_stored(tmp_path: Path) -> None:
    store = Store(tmp_path / "channels.db")
    with another_program(tmp_path / "channels.db"):
        lasting = store.submit(lambda conn: log.append(conn, b"lost"), lasting=True)
        store.close()
        with pytest.raises(Busy, match="stopped"):
            lasting.result(0)


def test_no_more_lasts_than_may_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "MAX_WAITING", 3)
    store = Store(tmp_path / "channels.db")
    with another_program(tmp_path / "channels.db") as child:
        lasting = []

        def fill() -> None:
            for _ in range(100):
                lasting.append(store.submit(lambda conn: log.append(conn, b"kept"), lasting=True))

        with pytest.raises(Busy):
            fill()
        assert len(lasting) < 10
        let_go(child)
    assert [future.result(5) for future in lasting] == list(range(1, len(lasting) + 1))
    store.close()


async def test_a_gateway_stops_although_nothing_can_be_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "LAST_WRITES", 0.2)
    running = await Service.start(Home(tmp_path), Settings(port=0), FakeHost(), "0.0.0")
    await running.hub.call(DEFAULT_LANE, calls.TurnBegan("t1"))
    with another_program(Home(tmp_path).database):
        async with asyncio.timeout(10):
            await running.stop()
    conn = sqlite3.connect(Home(tmp_path).database)
    assert conn.execute("SELECT COUNT(*) FROM turns WHERE ended IS NULL").fetchone()[0] == 1, "the next start closes it"
    conn.close()


def test_a_gateway_whose_files_cannot_grow(tmp_path: Path) -> None:
    """A real limit of the system: what was accepted is stored, the rest is told, and goes in when there is room."""
    paths = [str(Path(__file__).parents[1]), str(Path(__file__).parents[2] / "src")]
    done = subprocess.run(
        [sys.executable, "-c", FILLS, str(tmp_path)],
        env={"PYTHONPATH": ":".join(paths), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    refused, again, asked, stored = json.loads(done.stdout)
    assert (refused["code"], refused["retryable"]) == ("busy", True)
    assert "disk" in refused["message"]
    assert again == "message.accepted"
    assert stored == asked > 3, "those that were accepted, and the one that was asked again"
