"""Paired devices and pairing codes. Tokens and codes are kept as hashes only; a code works once and not for long."""

import hashlib
import hmac
import secrets
import sqlite3
from typing import NamedTuple

from ..errors import NotFound, TooLarge, Unauthorized
from ..protocol.frames import Device
from ..protocol.types import DeviceId, DeviceKind, Seconds, UnixTime

MAX_DEVICES = 100

_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_CODE_LENGTH = 10  # 50 bits: with a short life and limited attempts beyond guessing, and still typable


class Paired(NamedTuple):
    """What a device gets for a code; the token is known to nobody else."""

    device_id: DeviceId
    token: str
    invited_by: DeviceId | None = None


def new_code(conn: sqlite3.Connection, now: UnixTime, ttl: Seconds, asker: DeviceId | None = None) -> str:
    """Mint a pairing code, e.g. `K7QF3-MZD2W`; one for a device that asks ends the one that it had before."""
    conn.execute("DELETE FROM pairing_codes WHERE expires < ? OR invited_by = ?", (now, asker))
    code = "".join(secrets.choice(_ALPHABET) for _ in range(_CODE_LENGTH))
    row = (_hash(code), now + ttl, asker)
    conn.execute("INSERT INTO pairing_codes (code_hash, expires, invited_by) VALUES (?, ?, ?)", row)
    return f"{code[:5]}-{code[5:]}"


def pair(conn: sqlite3.Connection, code: str, name: str, kind: DeviceKind, now: UnixTime) -> Paired:
    """Exchange a code for a device.

    Raises:
        Unauthorized: the code was never made, was used, or is too old.
        TooLarge: there are too many devices already; the code stays good.
    """
    plain = "".join(char for char in code.upper() if char in _ALPHABET)
    row = conn.execute(
        "SELECT invited_by FROM pairing_codes WHERE code_hash = ? AND expires >= ?", (_hash(plain), now)
    ).fetchone()
    if row is None:
        raise Unauthorized("this pairing link was used or is too old; make a new one with `iris pair`")
    conn.execute("DELETE FROM pairing_codes WHERE code_hash = ?", (_hash(plain),))
    return add(conn, name, kind, now)._replace(invited_by=row[0])


def add(conn: sqlite3.Connection, name: str, kind: DeviceKind, now: UnixTime) -> Paired:
    """Add a device without a code, for the machine's own command line.

    Raises:
        TooLarge: there are too many already.
    """
    if conn.execute("SELECT COUNT(*) FROM devices WHERE revoked IS NULL").fetchone()[0] >= MAX_DEVICES:
        raise TooLarge(f"{MAX_DEVICES} devices are paired already; shut one out with `iris devices --revoke` first")
    paired = Paired(f"dev_{secrets.token_hex(8)}", secrets.token_urlsafe(32))
    conn.execute(
        "INSERT INTO devices (device_id, token_hash, name, kind, created) VALUES (?, ?, ?, ?, ?)",
        (paired.device_id, _hash(paired.token), name, kind, now),
    )
    return paired


def holder(conn: sqlite3.Connection, token: str) -> DeviceId:
    """The device that a token belongs to.

    Raises:
        Unauthorized: no device has it, or the device was revoked.
    """
    row = conn.execute(
        "SELECT device_id FROM devices WHERE token_hash = ? AND revoked IS NULL", (_hash(token),)
    ).fetchone()
    if row is None:
        raise Unauthorized("$.token belongs to no paired device; pair again with `iris pair`")
    return str(row[0])


def seen(conn: sqlite3.Connection, device_id: DeviceId, now: UnixTime) -> None:
    """Note that a device was here."""
    conn.execute("UPDATE devices SET last_seen = ? WHERE device_id = ?", (now, device_id))


def ticket(conn: sqlite3.Connection, device_id: DeviceId) -> str:
    """What lets a device read files and nothing else: a browser sends it by itself, so it is not the token."""
    row = conn.execute("SELECT token_hash FROM devices WHERE device_id = ?", (device_id,)).fetchone()
    return hmac.new(row[0], b"media", hashlib.sha256).hexdigest()


def admit(conn: sqlite3.Connection, device_id: DeviceId, shown: str) -> None:
    """Check a ticket.

    Raises:
        Unauthorized: it is not that of the device, or the device was revoked.
    """
    row = conn.execute("SELECT 1 FROM devices WHERE device_id = ? AND revoked IS NULL", (device_id,)).fetchone()
    if row is None or not hmac.compare_digest(ticket(conn, device_id).encode(), shown.encode()):
        raise Unauthorized("this browser may not read files; pair it again with `iris pair`")


def listing(conn: sqlite3.Connection) -> list[Device]:
    """Every device that may come in, the one that was here last first."""
    rows = conn.execute("SELECT * FROM devices WHERE revoked IS NULL ORDER BY COALESCE(last_seen, created) DESC")
    return [
        Device(
            id=row["device_id"],
            name=row["name"],
            kind=row["kind"],
            created=row["created"],
            last_seen=row["last_seen"],
        )
        for row in rows
    ]


def name(conn: sqlite3.Connection, device_id: DeviceId) -> str | None:
    """What a device is called; None for one that is not known."""
    row = conn.execute("SELECT name FROM devices WHERE device_id = ?", (device_id,)).fetchone()
    return str(row[0]) if row else None


def rename(conn: sqlite3.Connection, device_id: DeviceId, name: str) -> None:
    """Call a device something else.

    Raises:
        NotFound: there is none with this id.
    """
    done = conn.execute("UPDATE devices SET name = ? WHERE device_id = ? AND revoked IS NULL", (name, device_id))
    if done.rowcount != 1:
        raise NotFound("$.device_id names no paired device")


def revoke(conn: sqlite3.Connection, device_id: DeviceId, now: UnixTime) -> None:
    """Shut a device out, and whoever still holds a link that it asked for.

    Raises:
        NotFound: there is none with this id.
    """
    conn.execute("DELETE FROM pairing_codes WHERE invited_by = ?", (device_id,))
    done = conn.execute("UPDATE devices SET revoked = ? WHERE device_id = ? AND revoked IS NULL", (now, device_id))
    if done.rowcount != 1:
        raise NotFound("$.device_id names no paired device")


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()
