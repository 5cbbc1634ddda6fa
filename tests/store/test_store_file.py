"""The file: schema steps, permissions, and what happens when several open it at once."""

import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hermes_iris.errors import SetupError
from hermes_iris.store import Store, connect, log, migrations, transaction


def schema(conn: sqlite3.Connection) -> list[tuple[str, str]]:
    return [tuple(row) for row in conn.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY 1")]


def version(conn: sqlite3.Connection) -> int:
    return int(conn.execute("PRAGMA user_version").fetchone()[0])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "iris" / "channels.db"


def test_a_fresh_file_has_the_newest_schema(path: Path) -> None:
    conn = connect(path)
    assert version(conn) == len(migrations.STEPS)
    assert {"channels", "messages", "tool_calls", "events"} <= {name for name, _ in schema(conn)}
    assert conn.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    conn.close()


def test_opening_it_again_keeps_schema_and_data(path: Path) -> None:
    first = connect(path)
    before = schema(first)
    with transaction(first):
        log.append(first, b"{}")
    first.close()
    again = connect(path)
    assert schema(again) == before
    assert log.position(again).seq == 1
    again.close()


def test_a_step_that_fails_leaves_the_step_before_it_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step is one transaction with its number: half of a step is never there."""
    connect(path).close()
    broken = (*migrations.STEPS, ("CREATE TABLE half (x)", "CREATE TABLE half (x)"))
    monkeypatch.setattr(migrations, "STEPS", broken)
    with pytest.raises(SetupError):
        connect(path)
    monkeypatch.undo()
    conn = connect(path)
    assert version(conn) == len(migrations.STEPS)
    assert "half" not in dict(schema(conn))
    conn.close()


def test_an_older_file_gets_only_the_steps_it_lacks(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = connect(path)
    with transaction(first):
        log.append(first, b"kept")
    first.close()
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, ("CREATE TABLE added (x)",)))
    conn = connect(path)
    assert version(conn) == len(migrations.STEPS)
    assert "added" in dict(schema(conn))
    assert [event.body for event in log.between(conn, 0, 9)] == [b"kept"]
    conn.close()


def test_a_file_of_a_newer_iris_is_refused_untouched(path: Path) -> None:
    conn = connect(path)
    conn.execute(f"PRAGMA user_version = {len(migrations.STEPS) + 1}")
    conn.close()
    with pytest.raises(SetupError, match="newer Iris") as caught:
        Store(path)
    assert "\n" not in str(caught.value)
    raw = sqlite3.connect(path)
    assert version(raw) == len(migrations.STEPS) + 1
    raw.close()


def test_a_file_that_is_no_database_is_a_setup_error(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is no database, " * 100)
    with pytest.raises(SetupError, match=r"channels\.db"):
        connect(path)


def test_a_folder_that_cannot_be_made_is_a_setup_error(tmp_path: Path) -> None:
    (tmp_path / "iris").write_text("in the way")
    with pytest.raises(SetupError, match=r"channels\.db"):
        connect(tmp_path / "iris" / "channels.db")


def test_only_the_owner_can_read_the_folder_and_each_file_in_it(path: Path) -> None:
    conn = connect(path)
    with transaction(conn):
        log.append(conn, b"{}")
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert "channels.db-wal" in modes
    assert modes == dict.fromkeys(modes, 0o600)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    conn.close()


def test_threads_that_open_a_fresh_file_at_once_all_succeed(tmp_path: Path) -> None:
    """As the gateway and `iris pair` do. The switch to WAL is the trap: SQLite does not wait for a lock there."""

    def opens(path: Path, ready: threading.Barrier, results: list[object]) -> None:
        ready.wait()
        try:
            conn = connect(path)
            results.append(version(conn))
            conn.close()
        except Exception as exc:
            results.append(exc)

    for attempt in range(20):
        ready, results = threading.Barrier(6), list[object]()
        args = (tmp_path / f"{attempt}.db", ready, results)
        threads = [threading.Thread(target=opens, args=args) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [len(migrations.STEPS)] * 6


OPENS = """
import sys
from pathlib import Path
from hermes_iris.store import connect
print("ready", flush=True)
sys.stdin.readline()
conn = connect(Path(sys.argv[1]))
print(conn.execute("PRAGMA user_version").fetchone()[0])
"""


def test_processes_that_open_a_fresh_file_at_once_all_succeed(path: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", OPENS, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    answers = [child.communicate(timeout=20) for child in children]
    assert answers == [(f"{len(migrations.STEPS)}\n", "")] * 3
