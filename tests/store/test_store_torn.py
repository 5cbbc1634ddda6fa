"""A write-ahead log that is torn or garbled: the file opens, whole, with a prefix of what was committed."""

import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_iris.store import connect

WRITES = """
import sys
from pathlib import Path
from hermes_iris.protocol.frames import Message
from hermes_iris.store import Store, messages
store = Store(Path(sys.argv[1]))
store.submit(lambda conn: conn.execute("PRAGMA wal_autocheckpoint = 0")).result()
n = 0
while True:
    n += 1
    text = "word " * (n % 90)
    echo = Message(message_id=f"m_{n}", chat_id="android:default", role="notice", text=text, ts=0.0, order=n)
    store.submit(lambda conn: messages.record(conn, [echo])).result()
    print(n, flush=True)
"""


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A database as a killed process left it, and the last message that was acknowledged."""
    path = tmp_path_factory.mktemp("killed") / "channels.db"
    child = subprocess.Popen([sys.executable, "-c", WRITES, str(path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    last = 0
    while last < 120:
        last = int(child.stdout.readline())
    child.kill()
    last = max([last, *(int(line) for line in child.stdout.read().splitlines(keepends=True) if line.endswith("\n"))])
    child.wait()
    child.stdout.close()
    return path, last


def copy(path: Path, to: Path) -> Path:
    """Database and log, without the index beside them: a machine that lost power has none."""
    for suffix in ("", "-wal"):
        shutil.copy(f"{path}{suffix}", to / f"channels.db{suffix}")
    return to / "channels.db"


def opened(path: Path) -> list[int]:
    """The messages of a database, after the file was found to be whole."""
    conn = connect(path)
    try:
        assert conn.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        conn.execute("INSERT INTO message_index (message_index) VALUES ('integrity-check')")
        numbers = [row[0] for row in conn.execute("SELECT ord FROM messages ORDER BY ord")]
        assert [row[0] for row in conn.execute("SELECT seq FROM events ORDER BY seq")] == numbers
    finally:
        conn.close()
    return numbers


def test_what_was_acknowledged_outlives_a_tail_that_was_never_synced(killed: tuple[Path, int], tmp_path: Path) -> None:
    path, last = killed
    chance = random.Random(1)
    copied = copy(path, tmp_path)
    with Path(f"{copied}-wal").open("ab") as wal:
        wal.write(chance.randbytes(10_000))
    numbers = opened(copied)
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) >= last


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("harm", ["truncated", "garbled"])
def test_a_log_that_is_harmed_anywhere_leaves_a_prefix(
    killed: tuple[Path, int], tmp_path: Path, harm: str, seed: int
) -> None:
    chance = random.Random(seed)
    copied = copy(killed[0], tmp_path)
    wal = Path(f"{copied}-wal")
    at = chance.randrange(wal.stat().st_size)
    with wal.open("r+b") as file:
        if harm == "truncated":
            file.truncate(at)
        else:
            file.seek(at)
            file.write(chance.randbytes(chance.choice([1, 100, 5_000])))
    numbers = opened(copied)
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_log_is_what_makes_this_true(killed: tuple[Path, int], tmp_path: Path) -> None:
    """Without it nothing of what was acknowledged is left: the tests above harm the right file."""
    copied = copy(killed[0], tmp_path)
    Path(f"{copied}-wal").unlink()
    with sqlite3.connect(copied) as conn:
        tables = [row[0] for row in conn.execute("SELECT name FROM sqlite_master")]
    conn.close()
    assert "messages" not in tables
