"""Where devices are called."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_iris.protocol.frames import PushPreferences, PushSubscribe
from hermes_iris.store import connect, devices, pushes


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    conn = connect(tmp_path / "channels.db")
    yield conn
    conn.close()


def device(conn: sqlite3.Connection) -> str:
    return devices.add(conn, "Phone", "web", 1.0).device_id


def place(name: str, **preferences: bool) -> PushSubscribe:
    wishes = PushPreferences(**preferences)
    return PushSubscribe(client_id="client-0001", endpoint=name, p256dh="B" * 87, auth="A" * 22, preferences=wishes)


def told(conn: sqlite3.Connection) -> list[tuple[str, str]]:
    return [(each.device_id, each.endpoint) for each in pushes.listing(conn)]


def test_the_newest_place_of_a_device_counts(conn: sqlite3.Connection) -> None:
    phone = device(conn)
    pushes.subscribe(conn, phone, place("one"))
    pushes.subscribe(conn, phone, place("two", finals=False))
    (known,) = pushes.listing(conn)
    assert known == (phone, "two", "B" * 87, "A" * 22, PushPreferences(finals=False))


def test_a_place_belongs_to_the_device_that_named_it_last(conn: sqlite3.Connection) -> None:
    before, now = device(conn), device(conn)
    pushes.subscribe(conn, before, place("one"))
    pushes.subscribe(conn, now, place("one"))
    assert told(conn) == [(now, "one")]


def test_who_was_shut_out_is_not_called(conn: sqlite3.Connection) -> None:
    phone, desk = device(conn), device(conn)
    pushes.subscribe(conn, phone, place("one"))
    pushes.subscribe(conn, desk, place("two"))
    devices.revoke(conn, phone, 2.0)
    assert told(conn) == [(desk, "two")]
    pushes.unsubscribe(conn, desk)
    assert told(conn) == []


def test_a_place_that_is_gone_takes_no_newer_one_along(conn: sqlite3.Connection) -> None:
    phone = device(conn)
    pushes.subscribe(conn, phone, place("one"))
    pushes.subscribe(conn, phone, place("two"))
    pushes.forget(conn, "one")
    assert told(conn) == [(phone, "two")]
    pushes.forget(conn, "two")
    assert told(conn) == []
