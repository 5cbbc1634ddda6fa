"""The host's `state.db`, made with the tables of both hosts: what is found in it, and that it is left alone."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from hermes_iris import host_sessions
from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.config import Home
from hermes_iris.errors import NotFound
from hermes_iris.store import search as index

OLD = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, session_key TEXT, chat_id TEXT, chat_type TEXT,
    thread_id TEXT, display_name TEXT, started_at REAL NOT NULL, ended_at REAL, title TEXT
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
    content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, reasoning TEXT,
    platform_message_id TEXT, observed INTEGER DEFAULT 0, active INTEGER NOT NULL DEFAULT 1,
    compacted INTEGER NOT NULL DEFAULT 0
);
CREATE VIRTUAL TABLE messages_fts USING fts5(content);
CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
    INSERT INTO messages_fts(rowid, content) VALUES (
        new.id,
        COALESCE(new.content, '') || ' ' || COALESCE(new.tool_name, '') || ' ' || COALESCE(new.tool_calls, '')
    );
END;
"""
"""What matters of Hermes 0.19, `hermes_state.py`."""

NEW = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, created_source TEXT, user_id TEXT, session_key TEXT, chat_id TEXT,
    chat_type TEXT, thread_id TEXT, display_name TEXT, started_at REAL NOT NULL, title TEXT, title_source TEXT,
    hidden INTEGER NOT NULL DEFAULT 0, archived INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL,
    content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL,
    platform_message_id TEXT, active INTEGER NOT NULL DEFAULT 1, compacted INTEGER NOT NULL DEFAULT 0,
    display_kind TEXT, message_uid TEXT
);
CREATE VIEW messages_fts_src AS
    SELECT id, CASE WHEN role = 'tool' THEN substr(COALESCE(content, ''), 1, 500) ELSE content END AS content,
           tool_name, tool_calls
    FROM messages;
CREATE VIRTUAL TABLE messages_fts USING fts5(
    content, tool_name, tool_calls, content='messages_fts_src', content_rowid='id'
);
CREATE TRIGGER messages_fts_insert AFTER INSERT ON messages BEGIN
    INSERT INTO messages_fts(rowid, content, tool_name, tool_calls)
    VALUES (
        new.id, CASE WHEN new.role = 'tool' THEN substr(COALESCE(new.content, ''), 1, 500) ELSE new.content END,
        new.tool_name, new.tool_calls
    );
END;
"""
"""What matters of Hermes 0.22, `hermes_state_common.py`."""

SESSIONS = [
    ("cli_1", "cli", None, None, 1.0, "Deploying"),
    ("tg_1", "telegram", "42", None, 2.0, None),
    ("iris_1", "android", "default", None, 3.0, "A lane"),
]

LINES = [
    ("cli_1", "user", "Please deploy the café", 10.0, 1),
    ("cli_1", "assistant", "Deploy is done, 100% of it", 11.0, 1),
    ("cli_1", "tool", "deploy output", 12.0, 1),
    ("cli_1", "system", "deploy rules", 12.5, 1),
    ("cli_1", "user", "deploy what was taken back", 13.0, 0),
    ("tg_1", "user", "日本語で deploy して", 14.0, 1),
    ("iris_1", "user", "deploy in Iris", 15.0, 1),
]


class Host:
    """A Hermes home whose database has one of the two shapes."""

    def __init__(self, root: Path, shape: str) -> None:
        self.home = Home(root)
        self.path = root / "state.db"
        self.shape = shape
        self.conn = sqlite3.connect(self.path)
        self.conn.executescript(OLD if shape == "old" else NEW)

    def fill(self) -> None:
        columns = "(id, source, chat_id, thread_id, started_at, title)"
        self.conn.executemany(f"INSERT INTO sessions {columns} VALUES (?, ?, ?, ?, ?, ?)", SESSIONS)
        for line in LINES:
            self.say(*line)

    def say(self, session: str, role: str, text: str | None, ts: object, active: int = 1, **more: str) -> None:
        fields = {"session_id": session, "role": role, "content": text, "timestamp": ts, "active": active, **more}
        marks = ", ".join("?" * len(fields))
        self.conn.execute(f"INSERT INTO messages ({', '.join(fields)}) VALUES ({marks})", tuple(fields.values()))
        self.conn.commit()

    def found(self, query: str, limit: int = 50) -> list[float]:
        """The times of what a query finds."""
        asked = index.parse(query)
        return [hit.ts for hit in host_sessions.search(self.home, asked.needles, asked.role, limit)]


@pytest.fixture(params=["old", "new"])
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    host = Host(tmp_path, request.param)
    host.fill()
    yield host
    host.conn.close()


# ---------------------------------------------------------------- search


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("deploy", [14.0, 11.0, 10.0]),
        ("DEPLOY", [14.0, 11.0, 10.0]),
        ("deploy cafe", [10.0]),
        ("deploy café", [10.0]),
        ('"deploy the"', [10.0]),
        ("role:user deploy", [14.0, 10.0]),
        ("role:assistant deploy", [11.0]),
        ("role:cron deploy", []),
        ("role:notice deploy", []),
        ("日", [14.0]),
        ("本語", [14.0]),
        ("日本語で", [14.0]),
        ("deploy 日本", [14.0]),
        ("cafe 日本", []),
        ("100%", [11.0]),
        ("語%", []),
        ("_語", []),
        ("missing", []),
        ("", []),
        ("role:user", []),
    ],
)
def test_what_was_said_elsewhere_is_found_newest_first(host: Host, query: str, expected: list[float]) -> None:
    """Not what tools said, nor what was taken back, nor what was said in a lane of Iris."""
    assert host.found(query) == expected


def test_a_page_ends_at_its_limit(host: Host) -> None:
    assert host.found("deploy", 2) == [14.0, 11.0]
    assert host.found("日", 0) == []


def test_a_hit_says_in_which_session_it_is(host: Host) -> None:
    first, second, _ = host_sessions.search(host.home, ("deploy",), None, 9)
    assert (first.session_id, first.session, first.role) == ("tg_1", "telegram", "user")
    assert (second.session_id, second.session, second.role) == ("cli_1", "Deploying", "assistant")
    assert (second.chat_id, second.message_id, second.order) == (None, None, None)
    assert (second.snippet[0].text, second.snippet[0].hit) == ("Deploy", True)


def test_what_only_a_tool_was_told_is_not_what_somebody_said(host: Host) -> None:
    host.say("cli_1", "assistant", "", 20.0, tool_calls='[{"function": {"arguments": "deploy"}}]')
    host.say("cli_1", "assistant", None, 21.0, tool_name="deploy")
    assert host.found("deploy") == [14.0, 11.0, 10.0]


def test_signs_of_a_pattern_are_literal(host: Host) -> None:
    host.say("cli_1", "user", "語100%_\\ here", 20.0)
    assert host.found('"語100%"') == host.found('"語100%_\\"') == [20.0]


NASTY = (
    '"',
    "'",
    "*",
    "NEAR(",
    "AND",
    "\\",
    "%",
    "_",
    "日",
    "a",
    "\0",
    "\ud800",
    ":",
    "-",
    "(",
    ")",
    "\N{ROCKET}",
    " ",
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(st.characters(), max_size=30), st.lists(st.sampled_from(NASTY), max_size=30).map("".join)))
def test_any_text_is_a_query(host: Host, query: str) -> None:
    assert len(host.found(query)) <= len(LINES)


# ---------------------------------------------------------------- titles and sessions


def test_the_title_of_a_lane_is_that_of_its_newest_session(host: Host) -> None:
    add = "INSERT INTO sessions (id, source, chat_id, thread_id, started_at, title) VALUES (?, ?, ?, ?, ?, ?)"
    host.conn.execute(add, ("iris_2", "android", "default", None, 4.0, "The newest"))
    host.conn.execute(add, ("iris_3", "android", "default", None, 5.0, None))
    host.conn.execute(add, ("iris_4", "android", "default", "t_1", 6.0, "Of a thread"))
    host.conn.execute(add, ("tg_2", "telegram", "default", None, 7.0, "Of another platform"))
    if host.shape == "new":
        host.conn.execute("UPDATE sessions SET title_source = 'llm'")
    host.conn.commit()
    assert host_sessions.title(host.home, DEFAULT_LANE) == "The newest"
    assert host_sessions.title(host.home, Lane(DEFAULT_LANE.chat_id, "t_1")) == "Of a thread"
    assert host_sessions.title(host.home, Lane("android:chan_9")) is None


def test_only_a_models_title_counts_where_the_host_tells_them_apart(tmp_path: Path) -> None:
    host = Host(tmp_path, "new")
    host.fill()
    for source, expected in ((None, None), ("derived", None), ("user", None), ("llm", "A lane")):
        host.conn.execute("UPDATE sessions SET title_source = ?", (source,))
        host.conn.commit()
        assert host_sessions.title(host.home, DEFAULT_LANE) == expected
    host.conn.close()


def test_a_session_is_read_oldest_first(host: Host) -> None:
    host.say("cli_1", "assistant", "", 30.0)
    told = host_sessions.session(host.home, "cli_1")
    assert (told.title, told.source) == ("Deploying", "cli")
    assert [(line.role, line.ts) for line in told.lines] == [("user", 10.0), ("assistant", 11.0)]
    assert told.lines[0].text == "Please deploy the café"
    assert host_sessions.session(host.home, "tg_1").title == "tg_1"


def test_a_long_session_has_its_newest_lines_and_a_long_line_its_beginning(host: Host) -> None:
    for n in range(host_sessions.MAX_LINES + 5):
        host.say("tg_1", "user", f"line {n}", 100.0 + n)
    lines = host_sessions.session(host.home, "tg_1").lines
    assert [line.ts for line in lines] == [105.0 + n for n in range(host_sessions.MAX_LINES)]
    host.say("tg_1", "user", "x" * (host_sessions.MAX_LINE + 1), 999.0)
    assert len(host_sessions.session(host.home, "tg_1").lines[-1].text) == host_sessions.MAX_LINE


@pytest.mark.parametrize("session_id", ["iris_1", "nothing", "", "%", "cli_1' OR '1'='1"])
def test_what_is_no_session_of_the_host_is_not_found(host: Host, session_id: str) -> None:
    with pytest.raises(NotFound, match=r"^\$\.session_id"):
        host_sessions.session(host.home, session_id)


# ---------------------------------------------------------------- the file


def ask_everything(home: Home) -> None:
    """Nothing is there, and nothing goes wrong."""
    assert host_sessions.title(home, DEFAULT_LANE) is None
    assert host_sessions.search(home, ("deploy",), None, 9) == []
    assert host_sessions.search(home, ("日本",), "user", 9) == []
    with pytest.raises(NotFound):
        host_sessions.session(home, "cli_1")


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    ask_everything(Home(tmp_path))
    ask_everything(Home(tmp_path / "nowhere"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"garbage" * 500, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_that_is_no_database_gives_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "state.db").write_bytes(content)
    ask_everything(Home(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["state.db"]
    assert (tmp_path / "state.db").read_bytes() == content


def test_a_folder_in_its_place_gives_nothing(tmp_path: Path) -> None:
    (tmp_path / "state.db").mkdir()
    ask_everything(Home(tmp_path))


@pytest.mark.parametrize(
    "shape",
    [
        "CREATE TABLE sessions (id TEXT); CREATE TABLE messages (id INTEGER)",
        "CREATE TABLE sessions (id, source, chat_id, thread_id, started_at, title); INSERT INTO sessions VALUES"
        " ('cli_1', 'android', 'other', '', 1, 'x')",
        "CREATE TABLE other (x)",
    ],
)
def test_a_database_of_another_shape_gives_nothing(tmp_path: Path, shape: str) -> None:
    with sqlite3.connect(tmp_path / "state.db") as conn:
        conn.executescript(shape)
    conn.close()
    ask_everything(Home(tmp_path))


@pytest.mark.parametrize("ts", ["yesterday", b"\xff"])
def test_a_time_that_is_no_number_gives_nothing(host: Host, ts: object) -> None:
    host.say("cli_1", "user", "when 日", ts)
    assert host.found("when") == host.found("日") == []
    with pytest.raises(NotFound):
        host_sessions.session(host.home, "cli_1")


def test_a_search_that_takes_too_long_gives_nothing(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.conn.executemany(
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('cli_1', 'user', ?, 1.0)",
        [("日" * 50,)] * 5000,
    )
    host.conn.commit()
    assert len(host.found("日" * 40)) == 50
    monkeypatch.setattr(host_sessions, "LIMIT", 0.0)
    assert host.found("月") == []
    assert host.found("日" * 40, 5000) == []


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_the_file_is_left_as_it_was(host: Host, journal: str) -> None:
    host.conn.execute(f"PRAGMA journal_mode = {journal}")
    host.conn.close()
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in host.path.parent.iterdir()}
    assert list(before) == ["state.db"]
    assert host.found("deploy")
    assert host_sessions.title(host.home, Lane("android:chan_9")) is None
    assert host_sessions.session(host.home, "cli_1").lines
    after = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in host.path.parent.iterdir()}
    assert after == before


def test_what_the_running_host_has_just_written_is_found(host: Host) -> None:
    host.conn.execute("PRAGMA journal_mode = wal")
    host.say("cli_1", "user", "fresh words", 50.0)
    assert host.found("fresh") == [50.0]
    host.say("cli_1", "user", "fresh again", 51.0)
    assert host.found("fresh") == [51.0, 50.0]


def test_a_host_that_writes_keeps_nobody_waiting(host: Host) -> None:
    host.conn.execute("PRAGMA journal_mode = wal")
    host.conn.execute("BEGIN IMMEDIATE")
    host.conn.execute("UPDATE sessions SET title = 'x'")
    assert host.found("deploy") == [14.0, 11.0, 10.0]
    assert host_sessions.session(host.home, "cli_1").title == "Deploying"
    host.conn.rollback()


def test_what_people_said_last_in_a_lane(host: Host) -> None:
    parts = '[{"type": "text", "text": "a picture"}, {"type": "image_url", "image_url": {}}, {"text": "of me"}]'
    host.say("iris_1", "user", "first", 20.0)
    host.say("iris_1", "user", f"\0json:{parts}", 21.0)
    host.say("iris_1", "assistant", "seen", 22.0)
    host.say("iris_1", "user", "taken back", 23.0, active=0)
    host.say("tg_1", "user", "elsewhere", 24.0)
    if host.shape == "new":
        host.say("iris_1", "user", "of the host", 25.0, display_kind="notice")
    last, before = host_sessions.spoken(host.home, DEFAULT_LANE)
    assert (last.text, before.text) == ("a picture\n\nof me", "first")
    assert last.row > before.row
    assert last.message_id is None
    host.say("iris_1", "user", "named", 26.0, platform_message_id="m_1")
    assert host_sessions.spoken(host.home, DEFAULT_LANE)[0].message_id == "m_1"
    assert host_sessions.spoken(host.home, Lane("android:default", "t_1")) == []
    assert host_sessions.spoken(Home(host.path.parent / "none"), DEFAULT_LANE) == []
