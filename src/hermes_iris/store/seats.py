"""What an agent knows of its rooms, and who was seen in them. What the bytes mean is known to who wrote them."""

import sqlite3


def load(conn: sqlite3.Connection, account: str, room: str) -> bytes | None:
    """What is known, None when nothing was ever saved."""
    row = conn.execute("SELECT state FROM meeting_seats WHERE account = ? AND room = ?", (account, room)).fetchone()
    return None if row is None else row["state"]


def save(conn: sqlite3.Connection, account: str, room: str, state: bytes) -> None:
    """Keep what is known now."""
    conn.execute(
        "INSERT INTO meeting_seats (account, room, state) VALUES (?, ?, ?)"
        " ON CONFLICT (account, room) DO UPDATE SET state = excluded.state",
        (account, room, state),
    )


def seen(conn: sqlite3.Connection, account: str, room: str) -> bytes | None:
    """Who was seen in a room, None when nobody ever looked."""
    row = conn.execute("SELECT seen FROM meeting_seats WHERE account = ? AND room = ?", (account, room)).fetchone()
    return None if row is None else row["seen"]


def see(conn: sqlite3.Connection, account: str, room: str, seen: bytes) -> None:
    """Keep who is in a room now."""
    conn.execute(
        "INSERT INTO meeting_seats (account, room, seen) VALUES (?, ?, ?)"
        " ON CONFLICT (account, room) DO UPDATE SET seen = excluded.seen",
        (account, room, seen),
    )
