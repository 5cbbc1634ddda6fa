"""Devices, pairing codes and remembered requests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_iris.errors import Conflict, Unauthorized
from hermes_iris.protocol.frames import Ack, MessageAccepted, MessageSend, TurnStop
from hermes_iris.store import connect, devices, requests, transaction
from hermes_iris.store.database import sqlite3


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "channels.db"


@pytest.fixture
def conn(path: Path) -> Iterator[sqlite3.Connection]:
    conn = connect(path)
    yield conn
    conn.close()


def pair(conn: sqlite3.Connection, code: str, now: float = 100.0) -> devices.Paired:
    return devices.pair(conn, code, "Phone", "web", now)


def test_a_code_works_once(conn: sqlite3.Connection) -> None:
    code = devices.new_code(conn, 100.0, 60.0)
    paired = pair(conn, code)
    assert devices.holder(conn, paired.token) == paired.device_id
    with pytest.raises(Unauthorized, match="iris pair"):
        pair(conn, code)


def test_a_code_expires(conn: sqlite3.Connection) -> None:
    code = devices.new_code(conn, 100.0, 60.0)
    with pytest.raises(Unauthorized):
        pair(conn, code, 160.1)
    assert pair(conn, code, 160.0)


def test_codes_are_independent_of_each_other(conn: sqlite3.Connection) -> None:
    first, second = devices.new_code(conn, 100.0, 60.0), devices.new_code(conn, 101.0, 60.0)
    assert pair(conn, second).device_id != pair(conn, first).device_id


@pytest.mark.parametrize(
    "spoil", [str.lower, lambda code: code.replace("-", ""), lambda code: f" {code[:3]} {code[3:]}\n"]
)
def test_a_code_may_be_typed_in_other_ways(conn: sqlite3.Connection, spoil: object) -> None:
    assert callable(spoil)
    assert pair(conn, spoil(devices.new_code(conn, 100.0, 60.0)))


@pytest.mark.parametrize("code", ["", "-", "AAAAA-AAAAA", "ä", "💥" * 64, "\x00", "\ud800"])
def test_what_was_never_a_code_is_unauthorized(conn: sqlite3.Connection, code: str) -> None:
    devices.new_code(conn, 100.0, 60.0)
    with pytest.raises(Unauthorized):
        pair(conn, code)


def test_old_codes_do_not_pile_up(conn: sqlite3.Connection) -> None:
    for n in range(5):
        devices.new_code(conn, n * 100.0, 60.0)
    assert conn.execute("SELECT COUNT(*) FROM pairing_codes").fetchone()[0] == 1


def test_a_token_is_that_of_its_device_only(conn: sqlite3.Connection) -> None:
    first, second = (devices.add(conn, name, "web", 1.0) for name in ("First", "Second"))
    assert devices.holder(conn, first.token) == first.device_id
    assert devices.holder(conn, second.token) == second.device_id


@pytest.mark.parametrize(
    "spoil", [lambda token: "", lambda token: token[:-1], str.lower, lambda token: token + "\ud800"]
)
def test_another_token_is_unauthorized(conn: sqlite3.Connection, spoil: object) -> None:
    assert callable(spoil)
    token = devices.add(conn, "Phone", "web", 1.0).token
    with pytest.raises(Unauthorized, match=r"^\$\.token"):
        devices.holder(conn, spoil(token))


def test_a_revoked_device_is_unauthorized_and_the_others_are_not(conn: sqlite3.Connection) -> None:
    lost, kept = (devices.add(conn, name, "web", 1.0) for name in ("Lost", "Kept"))
    conn.execute("UPDATE devices SET revoked = 5.0 WHERE device_id = ?", (lost.device_id,))
    with pytest.raises(Unauthorized):
        devices.holder(conn, lost.token)
    assert devices.holder(conn, kept.token) == kept.device_id


def test_a_device_is_noted_as_seen(conn: sqlite3.Connection) -> None:
    paired = devices.add(conn, "Phone", "web", 1.0)
    devices.seen(conn, paired.device_id, 7.0)
    assert conn.execute("SELECT last_seen FROM devices").fetchone()[0] == 7.0


def test_neither_tokens_nor_codes_stand_in_any_file(path: Path, conn: sqlite3.Connection) -> None:
    with transaction(conn):
        code = devices.new_code(conn, 100.0, 60.0)
        unused = devices.new_code(conn, 100.0, 60.0)
        token = pair(conn, code).token
    conn.execute("PRAGMA wal_checkpoint(PASSIVE)")
    stored = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"Phone" in stored
    for secret in (code, unused, token):
        for spelled in (secret, secret.replace("-", ""), secret.lower()):
            assert spelled.encode() not in stored


# ---------------------------------------------------------------- requests

SEND = MessageSend(client_id="client-0001", chat_id="android:default", text="Hello")
ACCEPTED = MessageAccepted(client_id="client-0001", message_id="m_1", chat_id="android:default", seq=4)


def test_a_request_is_unknown_until_it_is_remembered(conn: sqlite3.Connection) -> None:
    assert requests.earlier(conn, SEND, MessageAccepted) is None
    requests.remember(conn, SEND, ACCEPTED, 1.0)
    assert requests.earlier(conn, SEND, MessageAccepted) == ACCEPTED


@pytest.mark.parametrize(
    "other",
    [
        MessageSend(client_id="client-0001", chat_id="android:default", text="Hello!"),
        MessageSend(client_id="client-0001", chat_id="android:other", text="Hello"),
        MessageSend(client_id="client-0001", chat_id="android:default", thread_id="t_1", text="Hello"),
        TurnStop(client_id="client-0001", chat_id="android:default"),
    ],
)
def test_the_same_client_id_with_another_payload_is_a_conflict(
    conn: sqlite3.Connection, other: MessageSend | TurnStop
) -> None:
    requests.remember(conn, SEND, ACCEPTED, 1.0)
    with pytest.raises(Conflict, match=r"^\$\.client_id"):
        requests.earlier(conn, other, MessageAccepted if isinstance(other, MessageSend) else Ack)  # type: ignore[type-var]


def test_another_client_id_with_the_same_payload_is_a_new_request(conn: sqlite3.Connection) -> None:
    requests.remember(conn, SEND, ACCEPTED, 1.0)
    again = MessageSend(client_id="client-0002", chat_id="android:default", text="Hello")
    assert requests.earlier(conn, again, MessageAccepted) is None


def test_only_old_requests_are_forgotten(conn: sqlite3.Connection) -> None:
    requests.remember(conn, SEND, ACCEPTED, 1000.0)
    requests.forget_old(conn, 1000.0 + requests.KEPT_FOR)
    assert requests.earlier(conn, SEND, MessageAccepted) == ACCEPTED
    requests.forget_old(conn, 1000.1 + requests.KEPT_FOR)
    assert requests.earlier(conn, SEND, MessageAccepted) is None
