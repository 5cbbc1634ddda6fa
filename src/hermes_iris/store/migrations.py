"""The schema, as steps that are only ever appended.

Invariants: each step runs in one transaction together with its number (`PRAGMA user_version`); a database of a newer
Iris is refused, never guessed at.
"""

import sqlite3
from collections.abc import Callable

from ..errors import SetupError
from . import search

Step = str | Callable[[sqlite3.Connection], None]

STEPS: tuple[tuple[Step, ...], ...] = (
    (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE channels (
            chat_id TEXT NOT NULL, thread_id TEXT NOT NULL DEFAULT '', name TEXT NOT NULL, name_source TEXT NOT NULL,
            kind TEXT NOT NULL, parent_chat_id TEXT, is_default INTEGER NOT NULL DEFAULT 0,
            automation INTEGER NOT NULL DEFAULT 0, threads INTEGER NOT NULL DEFAULT 0,
            archived INTEGER NOT NULL DEFAULT 0, created REAL NOT NULL,
            PRIMARY KEY (chat_id, thread_id)) WITHOUT ROWID""",
        # `live` rows are bubbles that still stream; `handed` is 0 while the host has not taken a person's message.
        """CREATE TABLE messages (
            message_id TEXT PRIMARY KEY, chat_id TEXT NOT NULL, thread_id TEXT NOT NULL, ord INTEGER NOT NULL,
            ts REAL NOT NULL, turn_id TEXT, role TEXT NOT NULL, kind TEXT NOT NULL, state TEXT NOT NULL,
            text TEXT NOT NULL, reasoning TEXT, model TEXT, tokens INTEGER, client_id TEXT,
            live INTEGER NOT NULL DEFAULT 0, handed INTEGER NOT NULL DEFAULT 1)""",
        "CREATE INDEX messages_by_lane ON messages (chat_id, thread_id, ord) WHERE live = 0",
        "CREATE INDEX messages_by_order ON messages (ord)",
        "CREATE INDEX messages_live ON messages (ord) WHERE live = 1",
        "CREATE INDEX messages_waiting ON messages (ord) WHERE handed = 0",
        """CREATE TABLE tool_calls (
            tool_call_id TEXT PRIMARY KEY, chat_id TEXT NOT NULL, thread_id TEXT NOT NULL, turn_id TEXT NOT NULL,
            idx INTEGER NOT NULL, ord INTEGER NOT NULL, ts REAL NOT NULL, name TEXT NOT NULL, preview TEXT NOT NULL,
            args TEXT NOT NULL, truncated INTEGER NOT NULL, full_args TEXT, state TEXT NOT NULL,
            duration REAL NOT NULL DEFAULT 0, output_preview TEXT NOT NULL DEFAULT '', output TEXT)""",
        "CREATE INDEX tool_calls_by_lane ON tool_calls (chat_id, thread_id, ord)",
        "CREATE INDEX tool_calls_by_order ON tool_calls (ord)",
        "CREATE INDEX tool_calls_running ON tool_calls (ord) WHERE state = 'running'",
        """CREATE TABLE turns (
            turn_id TEXT PRIMARY KEY, chat_id TEXT NOT NULL, thread_id TEXT NOT NULL, started REAL NOT NULL,
            ended REAL, outcome TEXT, error TEXT)""",
        "CREATE INDEX turns_open ON turns (started) WHERE ended IS NULL",
        # AUTOINCREMENT: a number is never used again, also when the newest rows are gone.
        "CREATE TABLE events (seq INTEGER PRIMARY KEY AUTOINCREMENT, frame BLOB NOT NULL)",
        """CREATE TABLE requests (
            client_id TEXT PRIMARY KEY, digest BLOB NOT NULL, answer BLOB NOT NULL, ts REAL NOT NULL) WITHOUT ROWID""",
        """CREATE TABLE devices (
            device_id TEXT PRIMARY KEY, token_hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL, kind TEXT NOT NULL,
            created REAL NOT NULL, last_seen REAL, revoked REAL)""",
        "CREATE TABLE pairing_codes (code_hash BLOB PRIMARY KEY, expires REAL NOT NULL) WITHOUT ROWID",
    ),
    (
        "ALTER TABLE channels ADD COLUMN cron_jobs INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE messages ADD COLUMN reply_to TEXT",
        "ALTER TABLE messages ADD COLUMN job_id TEXT",
        "ALTER TABLE messages ADD COLUMN job_name TEXT",
        # Reports that were delivered, by run and lane: the host may try one again.
        "CREATE TABLE deliveries (run TEXT PRIMARY KEY, message_id TEXT NOT NULL, ts REAL NOT NULL) WITHOUT ROWID",
    ),
    (
        # The index names messages by number, so they get one that stays.
        """CREATE TABLE numbered (
            id INTEGER PRIMARY KEY, message_id TEXT NOT NULL UNIQUE, chat_id TEXT NOT NULL, thread_id TEXT NOT NULL,
            ord INTEGER NOT NULL, ts REAL NOT NULL, turn_id TEXT, role TEXT NOT NULL, kind TEXT NOT NULL,
            state TEXT NOT NULL, text TEXT NOT NULL, reasoning TEXT, model TEXT, tokens INTEGER, client_id TEXT,
            live INTEGER NOT NULL DEFAULT 0, handed INTEGER NOT NULL DEFAULT 1, reply_to TEXT, job_id TEXT,
            job_name TEXT)""",
        """INSERT INTO numbered (message_id, chat_id, thread_id, ord, ts, turn_id, role, kind, state, text, reasoning,
            model, tokens, client_id, live, handed, reply_to, job_id, job_name)
            SELECT message_id, chat_id, thread_id, ord, ts, turn_id, role, kind, state, text, reasoning, model, tokens,
            client_id, live, handed, reply_to, job_id, job_name FROM messages ORDER BY ord""",
        "DROP TABLE messages",
        "ALTER TABLE numbered RENAME TO messages",
        "CREATE INDEX messages_by_lane ON messages (chat_id, thread_id, ord) WHERE live = 0",
        "CREATE INDEX messages_by_order ON messages (ord)",
        "CREATE INDEX messages_live ON messages (ord) WHERE live = 1",
        "CREATE INDEX messages_waiting ON messages (ord) WHERE handed = 0",
        "CREATE INDEX messages_to_read ON messages (chat_id, thread_id, ord)"
        " WHERE live = 0 AND kind = 'final' AND role IN ('assistant', 'cron')",
        """CREATE VIRTUAL TABLE message_index USING fts5(
            body, place, content = '', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')""",
        search.index_all,
        """CREATE TABLE read_marks (
            chat_id TEXT NOT NULL, thread_id TEXT NOT NULL, ord INTEGER NOT NULL,
            PRIMARY KEY (chat_id, thread_id)) WITHOUT ROWID""",
    ),
    (
        # Who said it, of a message of a room; and what signals have led to, by room.
        "ALTER TABLE messages ADD COLUMN sender TEXT",
        "CREATE TABLE floors (room TEXT PRIMARY KEY, floor BLOB NOT NULL) WITHOUT ROWID",
    ),
    (
        # Empty `archive_id` and `refused`: still to be said. AUTOINCREMENT: the order of saying survives clean-up.
        """CREATE TABLE meeting_outbox (
            n INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, origin_id TEXT NOT NULL, room TEXT NOT NULL,
            text TEXT NOT NULL, hop INTEGER NOT NULL, reply_to TEXT NOT NULL, notice INTEGER NOT NULL, signal BLOB,
            created REAL NOT NULL, archive_id TEXT NOT NULL DEFAULT '', refused TEXT NOT NULL DEFAULT '',
            UNIQUE (account, origin_id))""",
        "CREATE INDEX meeting_waiting ON meeting_outbox (account, room, n) WHERE archive_id = '' AND refused = ''",
        """CREATE TABLE meeting_heard (
            n INTEGER PRIMARY KEY AUTOINCREMENT, account TEXT NOT NULL, room TEXT NOT NULL, archive_id TEXT NOT NULL,
            UNIQUE (account, room, archive_id))""",
        "CREATE INDEX meeting_heard_by_room ON meeting_heard (account, room, n)",
    ),
    (
        # A message's files as it told of them; they may be gone from `media` by now.
        "ALTER TABLE messages ADD COLUMN attachments TEXT",
        """CREATE TABLE media (
            media_id TEXT PRIMARY KEY, digest BLOB NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
            size INTEGER NOT NULL, kind TEXT NOT NULL, width INTEGER, height INTEGER, duration REAL,
            created REAL NOT NULL, used INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID""",
        "CREATE INDEX media_by_digest ON media (digest)",
    ),
    (
        """CREATE TABLE questions (
            request_id TEXT PRIMARY KEY, chat_id TEXT NOT NULL, thread_id TEXT NOT NULL, turn_id TEXT,
            ord INTEGER NOT NULL, ts REAL NOT NULL, question TEXT NOT NULL, outcome TEXT,
            answer TEXT NOT NULL DEFAULT '', by_device TEXT, by_name TEXT)""",
        "CREATE INDEX questions_by_lane ON questions (chat_id, thread_id, ord)",
        "CREATE INDEX questions_by_order ON questions (ord)",
        "CREATE INDEX questions_open ON questions (ord) WHERE outcome IS NULL",
        "CREATE INDEX turns_by_lane ON turns (chat_id, thread_id, ended)",
    ),
    (
        """CREATE TABLE meeting_seats (
            account TEXT NOT NULL, room TEXT NOT NULL, state BLOB, seen BLOB,
            PRIMARY KEY (account, room)) WITHOUT ROWID""",
    ),
    ("ALTER TABLE events ADD COLUMN ts REAL NOT NULL DEFAULT 0",),
    ("ALTER TABLE pairing_codes ADD COLUMN invited_by TEXT",),
    (
        "ALTER TABLE messages ADD COLUMN replaces TEXT",
        # `live` is 2 for a message that the person has hidden: whatever looks for 0 does not see it.
        "CREATE INDEX messages_hidden ON messages (chat_id, thread_id, ord) WHERE live = 2",
    ),
    (
        """CREATE TABLE pushes (
            device_id TEXT PRIMARY KEY, endpoint TEXT NOT NULL UNIQUE, p256dh TEXT NOT NULL, auth TEXT NOT NULL,
            preferences TEXT NOT NULL) WITHOUT ROWID""",
    ),
)


def migrate(conn: sqlite3.Connection) -> None:
    """Bring the schema to the newest step.

    Raises:
        SetupError: the file was written by a newer Iris.
    """
    version = int(conn.execute("PRAGMA user_version").fetchone()[0])
    if version > len(STEPS):
        raise SetupError(
            f"the database has schema {version}, this Iris knows {len(STEPS)}: install the newer Iris that wrote it"
        )
    while version < len(STEPS):
        conn.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have been faster: the number is read again inside the transaction.
            version = int(conn.execute("PRAGMA user_version").fetchone()[0])
            if version < len(STEPS):
                for step in STEPS[version]:
                    step(conn) if callable(step) else conn.execute(step)
                version += 1
                conn.execute(f"PRAGMA user_version = {version}")
            conn.execute("COMMIT")
        except BaseException:
            conn.execute("ROLLBACK")
            raise
