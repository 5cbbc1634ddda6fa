"""What signals have led to in each room, kept in the transaction that stores the message with the signal."""

import sqlite3


def get(conn: sqlite3.Connection, room: str) -> bytes | None:
    """The encoded floor of a room, None before the first signal."""
    row = conn.execute("SELECT floor FROM floors WHERE room = ?", (room,)).fetchone()
    return bytes(row[0]) if row else None


def put(conn: sqlite3.Connection, room: str, floor: bytes) -> None:
    """Store the encoded floor of a room."""
    conn.execute("INSERT OR REPLACE INTO floors (room, floor) VALUES (?, ?)", (room, floor))
