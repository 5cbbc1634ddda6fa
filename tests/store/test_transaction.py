"""`transaction`, with which the command line writes."""

from pathlib import Path

import pytest

from hermes_iris.store import connect, log, transaction


def test_a_transaction_is_committed_whole_or_not_at_all(tmp_path: Path) -> None:
    conn = connect(tmp_path / "channels.db")
    with transaction(conn):
        log.append(conn, b"kept")

    def fails() -> None:
        with transaction(conn):
            log.append(conn, b"undone")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fails()
    assert [event.body for event in log.between(conn, 0, 9)] == [b"kept"]
    assert not conn.in_transaction
    conn.close()
