"""What was asked before: a retry with the same `client_id` gets the first result again."""

import hashlib
import sqlite3
from typing import TypeVar

import msgspec

from ..errors import Conflict
from ..protocol import codec
from ..protocol.frames import Reply, Request
from ..protocol.types import UnixTime

R = TypeVar("R", bound=Reply)

KEPT_FOR = 30 * 86_400.0
"""Seconds for which a result is remembered."""


def earlier(conn: sqlite3.Connection, request: Request[R], answer: type[R]) -> R | None:
    """The answer that the same request got before, or None.

    Raises:
        Conflict: its `client_id` was used with another payload.
    """
    row = conn.execute("SELECT digest, answer FROM requests WHERE client_id = ?", (request.client_id,)).fetchone()
    if row is None:
        return None
    if row["digest"] != _digest(request):
        raise Conflict("$.client_id was used before with another payload; mint a new one for a new request")
    return msgspec.json.decode(row["answer"], type=answer)


def remember(conn: sqlite3.Connection, request: Request[R], answer: R, now: UnixTime) -> None:
    """Keep the answer, in the transaction that carries the request out."""
    conn.execute(
        "INSERT INTO requests (client_id, digest, answer, ts) VALUES (?, ?, ?, ?)",
        (request.client_id, _digest(request), codec.encode(answer), now),
    )


def is_known(conn: sqlite3.Connection, client_id: str) -> bool:
    """Whether a request with this id was answered."""
    return conn.execute("SELECT 1 FROM requests WHERE client_id = ?", (client_id,)).fetchone() is not None


def forget_old(conn: sqlite3.Connection, now: UnixTime) -> None:
    """Drop what is too old for a retry."""
    conn.execute("DELETE FROM requests WHERE ts < ?", (now - KEPT_FOR,))


def _digest(request: Request[R]) -> bytes:
    return hashlib.sha256(codec.encode(request)).digest()
