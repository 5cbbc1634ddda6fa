"""The event log: numbers without gaps that are never used again, bounded, one epoch per life."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hermes_iris.store import connect, log, migrations, transaction
from hermes_iris.store.database import sqlite3


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    conn = connect(tmp_path / "channels.db")
    yield conn
    conn.close()


def append(conn: sqlite3.Connection, *bodies: bytes) -> list[int]:
    with transaction(conn):
        return [log.append(conn, body) for body in bodies]


def seqs(conn: sqlite3.Connection, after: int = 0, upto: int = 1 << 40) -> list[int]:
    return [event.seq for event in log.between(conn, after, upto)]


def test_numbers_begin_at_one_and_have_no_gap(conn: sqlite3.Connection) -> None:
    assert append(conn, b"a", b"b") == [1, 2]
    assert append(conn, b"c") == [3]
    assert list(log.between(conn, 1, 3)) == [log.Logged(2, b"b"), log.Logged(3, b"c")]


def test_a_transaction_that_is_undone_uses_no_number_up(conn: sqlite3.Connection) -> None:
    append(conn, b"a")
    conn.execute("BEGIN IMMEDIATE")
    log.append(conn, b"undone")
    conn.execute("ROLLBACK")
    assert append(conn, b"b") == [2]


def test_between_leaves_out_its_lower_bound_and_has_its_upper(conn: sqlite3.Connection) -> None:
    append(conn, *[b"x"] * 5)
    assert (seqs(conn, 2, 4), seqs(conn, 5, 9), seqs(conn, 0, 0)) == ([3, 4], [], [])


def test_the_first_position_makes_an_epoch_that_stays(conn: sqlite3.Connection, tmp_path: Path) -> None:
    first = log.position(conn)
    append(conn, b"a")
    other = connect(tmp_path / "channels.db")
    assert log.position(other).epoch == first.epoch
    assert (first.seq, log.position(other).seq) == (0, 1)
    other.close()


def test_a_new_epoch_goes_on_counting(conn: sqlite3.Connection) -> None:
    append(conn, b"a")
    old = log.position(conn)
    assert log.new_epoch(conn) != old.epoch
    assert log.position(conn).seq == old.seq


def test_prune_keeps_the_newest(conn: sqlite3.Connection) -> None:
    append(conn, *[b"x"] * 10)
    log.prune(conn, 3)
    assert seqs(conn) == [8, 9, 10]
    log.prune(conn, 100)
    assert seqs(conn) == [8, 9, 10]


def test_prune_forgets_what_is_too_old(conn: sqlite3.Connection) -> None:
    append(conn, *[b"x"] * 6)
    conn.execute("UPDATE events SET ts = seq * 10.0")
    log.prune(conn, 100, 35.0)
    assert seqs(conn) == [4, 5, 6]
    log.prune(conn, 100, 60.0)
    assert seqs(conn) == [6]
    log.prune(conn, 100, 60.5)
    assert seqs(conn) == []
    assert (log.reaches(conn, 5), log.reaches(conn, 6)) == (False, True)


def test_a_clock_that_was_set_back_leaves_no_hole(conn: sqlite3.Connection) -> None:
    append(conn, *[b"x"] * 4)
    conn.execute("UPDATE events SET ts = CASE seq WHEN 2 THEN 100.0 ELSE seq END")
    log.prune(conn, 100, 50.0)
    assert seqs(conn) == [2, 3, 4]


def test_events_know_when_they_were_stored(conn: sqlite3.Connection) -> None:
    append(conn, b"x")
    log.prune(conn, 100, time.time() - 60.0)
    assert seqs(conn) == [1]
    log.prune(conn, 100, time.time() + 60.0)
    assert seqs(conn) == []


def test_reaches_only_what_can_be_told_whole(conn: sqlite3.Connection) -> None:
    """Whoever has read up to 7 needs 8 and later; 7 itself may be gone."""
    append(conn, *[b"x"] * 10)
    log.prune(conn, 3)
    assert {seq: log.reaches(conn, seq) for seq in (0, 6, 7, 9, 10, 11)} == {
        0: False, 6: False, 7: True, 9: True, 10: True, 11: False,
    }  # fmt: skip


def test_an_empty_log_reaches_its_beginning_only(conn: sqlite3.Connection) -> None:
    assert (log.reaches(conn, 0), log.reaches(conn, 1)) == (True, False)


def test_a_number_is_never_used_again_after_everything_was_pruned(tmp_path: Path, conn: sqlite3.Connection) -> None:
    append(conn, b"a", b"b")
    log.prune(conn, 0)
    assert seqs(conn) == []
    assert (log.reaches(conn, 1), log.reaches(conn, 2)) == (False, True)
    conn.close()
    again = connect(tmp_path / "channels.db")
    assert log.position(again).seq == 2
    assert append(again, b"c") == [3]
    assert (log.reaches(again, 1), log.reaches(again, 2)) == (False, True)
    again.close()


class LogAgainstAList(RuleBasedStateMachine):
    """The log is a list whose beginning may be gone."""

    def __init__(self) -> None:
        super().__init__()
        self.conn = sqlite3.connect(":memory:", isolation_level=None)
        self.conn.row_factory = sqlite3.Row
        migrations.migrate(self.conn)
        self.told: list[bytes] = []
        self.gone = 0

    def teardown(self) -> None:
        self.conn.close()

    @rule(body=st.binary(max_size=8))
    def append(self, body: bytes) -> None:
        self.told.append(body)
        assert log.append(self.conn, body) == len(self.told)

    @rule(keep=st.integers(0, 12))
    def prune(self, keep: int) -> None:
        log.prune(self.conn, keep)
        self.gone = max(self.gone, len(self.told) - keep)

    @rule(after=st.integers(0, 30), upto=st.integers(0, 30))
    def between(self, after: int, upto: int) -> None:
        kept = list(enumerate(self.told, 1))[self.gone :]
        assert list(log.between(self.conn, after, upto)) == [each for each in kept if after < each[0] <= upto]

    @rule(seq=st.integers(0, 30))
    def reaches(self, seq: int) -> None:
        assert log.reaches(self.conn, seq) == (self.gone <= seq <= len(self.told))

    @invariant()
    def it_ends_where_the_list_ends(self) -> None:
        assert log.position(self.conn).seq == len(self.told)


TestLogAgainstAList = LogAgainstAList.TestCase
TestLogAgainstAList.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
