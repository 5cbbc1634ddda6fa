"""A database of an earlier Iris, made by running only its steps: nothing is lost, and all of it is found."""

import sqlite3
from pathlib import Path

import pytest
from search_kit import found, record, said, stop

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.protocol.frames import Channel, JobRef, Message, ReadMarked
from hermes_iris.store import channels, connect, messages, migrations, reading

THREAD = Lane(DEFAULT_LANE.chat_id, "t_1")
COLUMNS = (
    "message_id",
    "chat_id",
    "thread_id",
    "ord",
    "ts",
    "turn_id",
    "role",
    "kind",
    "state",
    "text",
    "live",
    "handed",
)

# Not in their order: the number of a message must come from its place, not from when it was written.
ROWS = [
    ("m_3", DEFAULT_LANE.chat_id, "", 3, 0.375, None, "user", "final", "complete", "deploy 日本語 now", 0, 0),
    ("m_1", DEFAULT_LANE.chat_id, "", 1, 0.125, None, "user", "final", "complete", "Deploy the café", 0, 1),
    ("m_4", THREAD.chat_id, "t_1", 4, 0.5, "turn_1", "assistant", "final", "complete", "deploy in a thread", 0, 1),
    ("m_2", DEFAULT_LANE.chat_id, "", 2, 0.25, "turn_1", "assistant", "commentary", "complete", "deploying", 0, 1),
    ("m_5", DEFAULT_LANE.chat_id, "", 5, 0.625, "turn_2", "assistant", "partial", "aborted", "deploy so far", 1, 1),
]  # fmt: skip


@pytest.fixture(params=[1, 2])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the schema of that number and these rows."""
    path = tmp_path / "channels.db"
    monkeypatch.setattr(migrations, "STEPS", migrations.STEPS[: request.param])
    old = connect(path)
    assert old.execute("PRAGMA user_version").fetchone()[0] == request.param
    marks = ", ".join("?" * len(COLUMNS))
    old.executemany(f"INSERT INTO messages ({', '.join(COLUMNS)}) VALUES ({marks})", ROWS)
    old.execute("UPDATE messages SET reasoning = 'why', model = 'm-1', tokens = 7 WHERE message_id = 'm_4'")
    old.execute("UPDATE messages SET client_id = 'client-0001' WHERE message_id = 'm_1'")
    if request.param == 2:
        old.execute("UPDATE messages SET reply_to = 'm_1', job_id = 'job', job_name = 'Job' WHERE message_id = 'm_3'")
    old.close()
    monkeypatch.undo()
    return path


def open_(path: Path) -> sqlite3.Connection:
    conn = connect(path)
    assert conn.execute("PRAGMA user_version").fetchone()[0] == len(migrations.STEPS)
    return conn


def test_everything_is_found_newest_first(path: Path) -> None:
    conn = open_(path)
    assert found(conn, "deploy") == [4, 3, 2, 1]
    assert found(conn, "本語") == [3]
    assert found(conn, "role:assistant deploy") == [4, 2]
    assert found(conn, "cafe") == [1]
    assert found(conn, "deploy", THREAD) == [4]
    conn.close()


def test_it_is_paged_as_before(path: Path) -> None:
    conn = open_(path)
    page = messages.history(conn, DEFAULT_LANE, 2)
    assert [entry.order for entry in page.entries] == [2, 3]
    assert page.has_more
    assert [entry.order for entry in messages.history(conn, DEFAULT_LANE, 2, before=2).entries] == [1]
    (answer,) = messages.history(conn, THREAD, 9).entries
    assert isinstance(answer, Message)
    assert (answer.text, answer.reasoning, answer.model, answer.tokens) == ("deploy in a thread", "why", "m-1", 7)
    assert (answer.turn_id, answer.role, answer.kind, answer.ts) == ("turn_1", "assistant", "final", 0.5)
    conn.close()


def test_what_waited_for_the_host_still_waits(path: Path) -> None:
    conn = open_(path)
    assert [message.message_id for message in messages.waiting(conn)] == ["m_3"]
    conn.close()


def test_a_job_and_an_answer_keep_what_they_belong_to(path: Path) -> None:
    conn = open_(path)
    told = messages.get(conn, "m_3")
    assert (told.job, told.reply_to) in [(None, None), (JobRef(id="job", name="Job"), "m_1")]
    assert messages.get(conn, "m_1").client_id == "client-0001"
    conn.close()


def test_a_bubble_that_was_open_is_found_after_its_end(path: Path) -> None:
    conn = open_(path)
    assert found(conn, "so far") == []
    record(conn, stop(5, "deploy done"), said(6, "deploy again"))
    assert found(conn, "deploy") == [6, 5, 4, 3, 2, 1]
    conn.close()


def test_it_counts_what_is_unread(path: Path) -> None:
    conn = open_(path)
    thread = Channel(chat_id=THREAD.chat_id, thread_id="t_1", name="T", kind="thread", created=0.0)
    channels.put(conn, thread)
    assert reading.statuses(conn)[THREAD].unread == 1
    record(conn, ReadMarked(chat_id=THREAD.chat_id, thread_id="t_1", order=4, unread=0))  # type: ignore[arg-type]
    assert reading.statuses(conn)[THREAD].unread == 0
    conn.close()


def test_a_step_that_fails_leaves_the_old_file_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = sqlite3.connect(path)
    before = old.execute("SELECT message_id, ord, text FROM messages ORDER BY ord").fetchall()
    old.close()
    broken = (*migrations.STEPS[2], "SELECT * FROM nothing")
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS[:2], broken))
    with pytest.raises(Exception, match="nothing"):
        connect(path)
    monkeypatch.undo()
    conn = sqlite3.connect(path)
    assert conn.execute("PRAGMA user_version").fetchone()[0] == 2
    assert conn.execute("SELECT message_id, ord, text FROM messages ORDER BY ord").fetchall() == before
    conn.close()
