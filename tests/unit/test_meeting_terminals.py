"""Who has a terminal session open, found by real processes."""

import os
import subprocess
import sys

import pytest

from hermes_iris.attending import terminals

ASK = "import sys; from hermes_iris.attending import terminals; print(terminals.owner(sys.argv[1]))"


def owner_seen_from_below(session_id: str) -> int:
    """What a command finds that a shell, started for session s1, runs."""
    env = {**os.environ, terminals.SESSION: "s1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = ["sh", "-c", '"$@"; true', "sh", sys.executable, "-c", ASK, session_id]
    return int(subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=60).stdout)


def test_the_owner_is_the_first_that_was_not_started_for_the_session() -> None:
    assert owner_seen_from_below("s1") == os.getpid()


def test_the_owner_of_another_session_is_not_known() -> None:
    assert owner_seen_from_below("s2") == 0


def test_where_processes_cannot_be_looked_at_the_owner_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(terminals.SESSION, "s1")
    monkeypatch.setattr(terminals, "PROC", terminals.PROC / "nothing")
    assert terminals.owner("s1") == 0


def test_runs() -> None:
    done = subprocess.Popen(["true"])
    done.wait()
    assert terminals.runs(os.getpid())
    assert terminals.runs(1)
    assert not terminals.runs(done.pid)
