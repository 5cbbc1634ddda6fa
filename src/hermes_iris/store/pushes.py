"""Where devices are called: one place each, until they take it back, are revoked, or it is forgotten by its service."""

import sqlite3
from typing import NamedTuple

import msgspec

from ..protocol import codec
from ..protocol.frames import PushPreferences, PushSubscribe
from ..protocol.types import DeviceId

_preferences = msgspec.json.Decoder(PushPreferences)


class Subscription(NamedTuple):
    """Where a device is called, for what, and with which keys (as it sent them)."""

    device_id: DeviceId
    endpoint: str
    p256dh: str
    auth: str
    preferences: PushPreferences


def subscribe(conn: sqlite3.Connection, device_id: DeviceId, asked: PushSubscribe) -> None:
    """Call a device there from now on. Who was paired anew in the same browser is called once."""
    conn.execute("DELETE FROM pushes WHERE endpoint = ?", (asked.endpoint,))
    conn.execute(
        "INSERT OR REPLACE INTO pushes (device_id, endpoint, p256dh, auth, preferences) VALUES (?, ?, ?, ?, ?)",
        (device_id, asked.endpoint, asked.p256dh, asked.auth, codec.encode(asked.preferences).decode()),
    )


def unsubscribe(conn: sqlite3.Connection, device_id: DeviceId) -> None:
    """Call a device no more."""
    conn.execute("DELETE FROM pushes WHERE device_id = ?", (device_id,))


def forget(conn: sqlite3.Connection, endpoint: str) -> None:
    """A push service does not know this place any more; its device may have another one by now."""
    conn.execute("DELETE FROM pushes WHERE endpoint = ?", (endpoint,))


def listing(conn: sqlite3.Connection) -> list[Subscription]:
    """Every device that is called."""
    rows = conn.execute(
        "SELECT p.* FROM pushes p JOIN devices d ON d.device_id = p.device_id WHERE d.revoked IS NULL ORDER BY 1"
    )
    return [
        Subscription(
            row["device_id"], row["endpoint"], row["p256dh"], row["auth"], _preferences.decode(row["preferences"])
        )
        for row in rows
    ]
