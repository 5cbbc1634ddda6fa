"""Which process has a terminal session open, by `/proc`; elsewhere that is not known.

Invariant: what cannot be read is not known, and never taken for a process that has ended.
"""

import os
from pathlib import Path

from ..config import variable

SESSION = "HERMES_SESSION_ID"
"""Variable in which the host tells the commands of its terminal tool which session they are run from (both hosts)."""

PROC = Path("/proc")


def owner(session_id: str) -> int:
    """The process that runs this command for a session, 0 when that is not known.

    The host hands the variable to its commands only, so it is the first one upwards that was not started with it.
    """
    if variable(SESSION) != session_id:
        return 0
    carried = f"{SESSION}={session_id}".encode()
    pid = os.getpid()
    try:
        while pid and carried in (PROC / str(pid) / "environ").read_bytes().split(b"\0"):
            pid = _parent(pid)
    except (OSError, ValueError, IndexError):
        return 0
    return pid


def runs(pid: int) -> bool:
    """Whether a process runs; another one that got its number counts."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _parent(pid: int) -> int:
    """From `/proc/PID/stat`: the name, in parentheses, may hold anything."""
    return int((PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[1])
