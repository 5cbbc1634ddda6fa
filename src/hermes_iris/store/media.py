"""Files that were sent or are about to be: their rows; their bytes are in the vault."""

import sqlite3
from collections.abc import Iterable, Sequence

import msgspec

from ..errors import NotFound
from ..protocol.frames import Attachment
from ..protocol.types import MediaId, UnixTime
from ..vault import Kept, Vault

_told = msgspec.json.Decoder(list[Attachment])


def keep(conn: sqlite3.Connection, vault: Vault, kept: Kept, attachment: Attachment, now: UnixTime) -> None:
    """Note a file that was taken in; one with the same content shares its place on disk."""
    twin = conn.execute(
        "SELECT media_id FROM media WHERE digest = ? AND size = ? LIMIT 1", (kept.digest, kept.size)
    ).fetchone()
    if twin is not None:
        vault.share(attachment.id, twin[0])
    conn.execute(
        "INSERT INTO media (media_id, digest, name, type, size, kind, width, height, duration, created)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            attachment.id,
            kept.digest,
            attachment.name,
            attachment.type,
            attachment.size,
            attachment.kind,
            attachment.width,
            attachment.height,
            attachment.duration,
            now,
        ),
    )


def get(conn: sqlite3.Connection, media_id: MediaId) -> Attachment:
    """One file.

    Raises:
        NotFound: there is none with this id, or it is not kept any more.
    """
    row = conn.execute("SELECT * FROM media WHERE media_id = ?", (media_id,)).fetchone()
    if row is None:
        raise NotFound("this file does not exist, or is not kept any more")
    return _attachment(row)


def named(conn: sqlite3.Connection, media_ids: Sequence[MediaId]) -> list[Attachment]:
    """The files of a message that is being sent.

    Raises:
        NotFound: one of them was not uploaded, or is not kept any more.
    """
    found = []
    for place, media_id in enumerate(media_ids):
        try:
            found.append(get(conn, media_id))
        except NotFound:
            raise NotFound(f"$.attachments[{place}] is not kept any more, or never was; upload it again") from None
    return found


def told(column: str | None) -> list[Attachment]:
    """The files in the row of a message."""
    return _told.decode(column) if column else []


def use(conn: sqlite3.Connection, attachments: Iterable[Attachment]) -> None:
    """Note that files belong to a message, and are kept as long as those."""
    conn.executemany("UPDATE media SET used = 1 WHERE media_id = ?", [(each.id,) for each in attachments])


def forget_old(conn: sqlite3.Connection, unused_before: UnixTime, before: UnixTime) -> None:
    """Drop the files that no message took in time, and all that are older than they are to be kept."""
    conn.execute("DELETE FROM media WHERE created < ? OR (used = 0 AND created < ?)", (before, unused_before))


def all_ids(conn: sqlite3.Connection) -> set[MediaId]:
    """The ids of all files."""
    return {row[0] for row in conn.execute("SELECT media_id FROM media")}


def _attachment(row: sqlite3.Row) -> Attachment:
    return Attachment(
        id=row["media_id"],
        name=row["name"],
        type=row["type"],
        size=row["size"],
        kind=row["kind"],
        width=row["width"],
        height=row["height"],
        duration=row["duration"],
    )
