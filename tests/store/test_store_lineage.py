"""A database that was put back is noticed; one that only lived on is not taken for such."""

from collections.abc import Iterator
from pathlib import Path
from sqlite3 import Connection

import pytest

from hermes_iris.store import connect, lineage, log
from hermes_iris.store.lineage import Mark

FILE = 7


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[Connection]:
    conn = connect(tmp_path / "channels.db")
    log.position(conn)
    yield conn
    conn.close()


def epoch(conn: Connection) -> str:
    return log.position(conn).epoch


def began(conn: Connection, start: str, found: Mark | None, file: int = FILE) -> bool:
    """Whether a start begins a new epoch."""
    before = epoch(conn)
    here = lineage.begun(conn, found, start, file)
    assert here == log.position(conn)
    return here.epoch != before


def test_a_database_that_lives_on_keeps_its_epoch(conn: Connection) -> None:
    assert not began(conn, "a", None), "the first start of all finds no mark"
    assert not began(conn, "b", Mark("a", log.last(conn), FILE))
    log.append(conn, b"{}")
    assert not began(conn, "c", Mark("b", log.last(conn), FILE))


def test_a_gateway_that_was_killed_before_it_left_its_mark(conn: Connection) -> None:
    began(conn, "a", None)
    began(conn, "b", Mark("a", 0, FILE))
    assert not began(conn, "c", Mark("a", 0, FILE))


@pytest.mark.parametrize(
    ("found", "file"),
    [
        (Mark("later", 0, FILE), FILE),
        (Mark("b", 9, FILE), FILE),
        (Mark("b", 0, FILE), FILE + 1),
        (None, FILE),
    ],
    ids=["older than the mark", "fewer events than the mark knows", "another file", "no mark beside it"],
)
def test_a_copy_begins_a_new_epoch(conn: Connection, found: Mark | None, file: int) -> None:
    began(conn, "a", None)
    began(conn, "b", Mark("a", 0, FILE))
    assert began(conn, "c", found, file)
    assert not began(conn, "d", Mark("c", log.last(conn), file), file), "once is enough"


def test_a_mark_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "mark.json"
    assert lineage.read(path) is None
    lineage.write(path, Mark("a", 3, FILE))
    assert lineage.read(path) == Mark("a", 3, FILE)
    assert path.stat().st_mode & 0o777 == 0o600
    path.write_text("{", encoding="utf-8")
    assert lineage.read(path) is None
