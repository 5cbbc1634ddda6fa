"""The host's own sessions, read-only from its `state.db`: titles of lanes, and what was said outside of Iris.

Works on the tables of both hosts (0.19 `hermes_state.py`, 0.22 `hermes_state_schema.py`). Invariants: nothing is ever
written; a database that is not there, locked or of another shape gives nothing, never an error; no read goes on for
longer than `LIMIT`.
"""

import json
import re
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from typing import TypeVar

from . import address
from .address import Lane
from .config import Home
from .errors import NotFound
from .host import HostSession
from .protocol.frames import Hit, SessionLine
from .protocol.types import Role, Seconds, SessionId
from .store import search as index
from .undo import Spoken

T = TypeVar("T")

LIMIT: Seconds = 2.0
MAX_LINES = 200
MAX_LINE = 20_000
"""Characters of one line of a session that are shown."""

_IN_PARTS = "\x00json:"
"""Begins a line that is stored as a list of parts."""

# Words are found by the host's own index; other scripts are not in it as words.
_WORDS = re.compile(r"[\x00-\u024f]+\Z")


def title(home: Home, lane: Lane) -> str | None:
    """What the host's model calls the session of a lane.

    0.22 tells a model's title from one that is only cut from the opening words; 0.19 has none of the latter.
    """
    chat_id, thread_id = address.to_host(lane)

    def read(conn: sqlite3.Connection) -> str | None:
        columns = {row["name"] for row in conn.execute("PRAGMA table_info(sessions)")}
        by_model = " AND title_source = 'llm'" if "title_source" in columns else ""
        row = conn.execute(
            "SELECT title FROM sessions WHERE source = ? AND chat_id = ? AND COALESCE(thread_id, '') = ?"  # noqa: S608 - constants
            f" AND title IS NOT NULL{by_model} ORDER BY started_at DESC LIMIT 1",
            (address.PLATFORM, chat_id, thread_id or ""),
        ).fetchone()
        return str(row["title"]) if row else None

    return _read(home, read)


def spoken(home: Home, lane: Lane) -> list[Spoken]:
    """The last things that people said in the session of a lane, newest first, of what the host tells its model.

    0.22 keeps rows of its own among them, and the id of each message; 0.19 neither.
    """
    chat_id, thread_id = address.to_host(lane)

    def read(conn: sqlite3.Connection) -> list[Spoken]:
        columns = {row["name"] for row in conn.execute("PRAGMA table_info(messages)")}
        by_people = " AND display_kind IS NULL" if "display_kind" in columns else ""
        rows = conn.execute(
            "SELECT id, platform_message_id, content FROM messages WHERE role = 'user' AND active = 1"  # noqa: S608 - constants
            f"{by_people} AND session_id = (SELECT id FROM sessions WHERE source = ? AND chat_id = ?"
            " AND COALESCE(thread_id, '') = ? ORDER BY started_at DESC LIMIT 1) ORDER BY id DESC LIMIT 2",
            (address.PLATFORM, chat_id, thread_id or ""),
        )
        return [Spoken(row["id"], row["platform_message_id"], _parts(row["content"])) for row in rows]

    return _read(home, read) or []


def search(home: Home, needles: Sequence[str], role: Role | None, limit: int) -> list[Hit]:
    """What people and agents said in sessions that are no lanes, newest first; every needle is in each hit."""
    roles = [role] if role in ("user", "assistant") else ["user", "assistant"] if role is None else []
    if not needles or not roles:
        return []

    def read(conn: sqlite3.Connection) -> list[Hit]:
        marks = ", ".join("?" * len(roles))
        if all(_WORDS.match(needle) for needle in needles):
            found = "m.id IN (SELECT rowid FROM messages_fts WHERE messages_fts MATCH ?)"
            what = [" AND ".join('"' + needle.replace('"', '""') + '"' for needle in needles)]
        else:
            found = " AND ".join("m.content LIKE ? ESCAPE '\\'" for _ in needles)
            what = [f"%{_literal(needle)}%" for needle in needles]
        rows = conn.execute(
            "SELECT m.role, m.content, m.timestamp, s.id, s.title, s.source FROM messages m"  # noqa: S608 - constants
            f" JOIN sessions s ON s.id = m.session_id WHERE {found} AND s.source <> ? AND m.active = 1"
            f" AND m.content <> '' AND m.role IN ({marks}) ORDER BY m.id DESC LIMIT ?",
            (*what, address.PLATFORM, *roles, limit),
        )
        return [
            Hit(
                session_id=row["id"],
                session=row["title"] or row["source"],
                role=row["role"],
                snippet=index.snippet(_text(row["content"]), tuple(needles)),
                ts=float(row["timestamp"]),
            )
            for row in rows
        ]

    return _read(home, read) or []


def session(home: Home, session_id: SessionId) -> HostSession:
    """The newest lines of a session that is no lane.

    Raises:
        NotFound: there is none with this id.
    """

    def read(conn: sqlite3.Connection) -> HostSession | None:
        head = conn.execute(
            "SELECT title, source FROM sessions WHERE id = ? AND source <> ?", (session_id, address.PLATFORM)
        ).fetchone()
        rows = conn.execute(
            "SELECT role, content, timestamp FROM messages WHERE session_id = ? AND active = 1"
            " AND role IN ('user', 'assistant') AND content <> '' ORDER BY id DESC LIMIT ?",
            (session_id, MAX_LINES),
        ).fetchall()
        if head is None:
            return None
        lines = [SessionLine(role=row["role"], text=_text(row["content"]), ts=float(row["timestamp"])) for row in rows]
        return HostSession(head["title"] or session_id, head["source"], lines[::-1])

    found = _read(home, read)
    if found is None:
        raise NotFound("$.session_id names no session of the host")
    return found


def _read(home: Home, job: Callable[[sqlite3.Connection], T]) -> T | None:
    """Run a job on a read-only connection; None whatever goes wrong with the host's file."""
    deadline = time.monotonic() + LIMIT
    try:
        with closing(sqlite3.connect(_uri(home), uri=True, timeout=LIMIT)) as conn:
            conn.row_factory = sqlite3.Row
            conn.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)
            return job(conn)
    except (sqlite3.Error, TypeError, ValueError):  # the latter: columns hold something else than they did
        return None


def _uri(home: Home) -> str:
    """The file, to read. Without its write-ahead log nobody has it open, and SQLite would make one and leave it."""
    path = (home.root / "state.db").absolute()
    with suppress(OSError), path.open("rb") as file:
        if file.read(20)[18:] == b"\2\2" and not path.with_name("state.db-wal").exists():
            return f"{path.as_uri()}?mode=ro&immutable=1"
    return f"{path.as_uri()}?mode=ro"


def _literal(text: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", text)


def _parts(content: object) -> str:
    """The text of a line that may hold pictures beside it (both hosts, `_encode_content`)."""
    text = str(content or "")
    if not text.startswith(_IN_PARTS):
        return text
    parts = json.loads(text.removeprefix(_IN_PARTS))
    return "\n".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _text(content: object) -> str:
    return str(content or "")[:MAX_LINE]
