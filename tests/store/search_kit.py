"""What tests of the index share: messages with a text, and what a query finds among them."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.protocol.frames import Hit, Message, MessageStart, MessageStop
from hermes_iris.protocol.types import SearchOrder
from hermes_iris.store import messages, migrations, search, transaction
from hermes_iris.turns import Effect


@contextmanager
def memory() -> Iterator[sqlite3.Connection]:
    """An empty store."""
    conn = sqlite3.connect(":memory:", isolation_level=None)
    conn.row_factory = sqlite3.Row
    migrations.migrate(conn)
    try:
        yield conn
    finally:
        conn.close()


def said(n: int, text: str, lane: Lane = DEFAULT_LANE, role: str = "user", **more: object) -> Message:
    return Message(
        chat_id=lane.chat_id, thread_id=lane.thread_id, message_id=f"m_{n}", role=role, text=text,
        ts=n / 8, order=n, **more,
    )  # type: ignore[arg-type]  # fmt: skip


def start(n: int, lane: Lane = DEFAULT_LANE) -> MessageStart:
    return MessageStart(
        chat_id=lane.chat_id, thread_id=lane.thread_id, message_id=f"m_{n}", role="assistant", turn_id="turn_1",
        ts=n / 8, order=n,
    )  # fmt: skip


def stop(n: int, text: str, lane: Lane = DEFAULT_LANE) -> MessageStop:
    return MessageStop(
        chat_id=lane.chat_id, thread_id=lane.thread_id, message_id=f"m_{n}", role="assistant", turn_id="turn_1",
        final_text=text, kind="final", ts=n / 8, order=n,
    )  # fmt: skip


def record(conn: sqlite3.Connection, *effects: Effect) -> None:
    with transaction(conn):
        messages.record(conn, effects)


def tell(conn: sqlite3.Connection, texts: Iterable[str], lane: Lane = DEFAULT_LANE) -> None:
    """Store messages with these texts, at the places 1, 2, …"""
    record(conn, *[said(n, text, lane) for n, text in enumerate(texts, 1)])


def hits(
    conn: sqlite3.Connection,
    query: str,
    lane: Lane | None = None,
    order: SearchOrder = "newest",
    before: int | None = None,
    limit: int = 100,
) -> tuple[list[Hit], int | None]:
    return search.find(conn, search.parse(query), lane, order, before, limit)


def found(
    conn: sqlite3.Connection, query: str, lane: Lane | None = None, order: SearchOrder = "newest"
) -> list[int | None]:
    """The places of what a query finds, in the order in which it is told."""
    return [hit.order for hit in hits(conn, query, lane, order)[0]]


def find_among(texts: Iterable[str], query: str) -> list[int | None]:
    """Which of these texts, by number from 1 on, a query finds."""
    with memory() as conn:
        tell(conn, texts)
        return sorted(found(conn, query))  # type: ignore[type-var]  # hits of a lane have a place
