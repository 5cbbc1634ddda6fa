"""A search that takes too long: it ends by itself, and holds nothing else up meanwhile."""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_iris.errors import Busy
from hermes_iris.store import Store, database

LIMIT = 10.0
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "channels.db")
    yield store
    store.close()


def one(conn: sqlite3.Connection) -> int:
    return int(conn.execute("SELECT 1").fetchone()[0])


def endless(conn: sqlite3.Connection) -> int:
    return int(conn.execute(ENDLESS).fetchone()[0])


async def test_a_search_over_the_limit_is_busy_and_the_next_one_works(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "SEARCH_LIMIT", 0.05)
    async with asyncio.timeout(LIMIT):
        with pytest.raises(Busy, match="too long"):
            await store.search(endless)
        monkeypatch.undo()
        assert await store.search(one) == 1
        assert await store.search(lambda conn: conn.in_transaction)


async def test_other_reads_and_writes_go_on_meanwhile(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SEARCH_LIMIT", 60.0)
    begun, enough = threading.Event(), threading.Event()

    def until_told(conn: sqlite3.Connection) -> int:
        conn.create_function("enough", 0, lambda: begun.set() or enough.is_set())
        return int(
            conn.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE NOT enough())"
                " SELECT COUNT(*) > 0 FROM n"
            ).fetchone()[0]
        )

    async with asyncio.timeout(LIMIT):
        searching = asyncio.create_task(store.search(until_told))
        try:
            assert await asyncio.to_thread(begun.wait, LIMIT)
            assert await store.read(one) == 1
            assert await store.write(one) == 1
            assert not searching.done()
        finally:
            enough.set()
        assert await searching == 1


async def test_a_read_has_no_limit_of_a_search(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "SEARCH_LIMIT", -1.0)
    monkeypatch.setattr(database, "STEPS_BETWEEN_LOOKS", 1)
    bounded = ENDLESS.replace("FROM n)", "FROM n WHERE i < 1000)")
    assert await store.read(lambda conn: conn.execute(bounded).fetchone()[0]) == 1000
    with pytest.raises(Busy):
        await store.search(lambda conn: conn.execute(bounded).fetchone()[0])


async def test_another_fault_of_a_search_stays_what_it_is(store: Store) -> None:
    with pytest.raises(sqlite3.OperationalError, match="nothing"):
        await store.search(lambda conn: conn.execute("SELECT * FROM nothing"))
    assert await store.search(one) == 1
