"""`iris chat` in a real terminal beside a real gateway, driven by keys."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from .gateway import Gateway

pytestmark = pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module")

ROWS, COLUMNS = 40, 120
SEQUENCES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[P_^X][^\x1b]*\x1b\\\\|.)")


class Screen:
    """A terminal: keys go in, what was drawn comes out."""

    def __init__(self, terminal: int) -> None:
        self.terminal = terminal
        self.drawn = b""

    def press(self, keys: str) -> None:
        os.write(self.terminal, keys.encode())

    def sees(self, pattern: str, limit: float = 60.0) -> None:
        """Wait until something was drawn since the last time."""
        deadline = time.monotonic() + limit
        while not re.search(pattern, self.text):
            assert time.monotonic() < deadline, f"{pattern!r} is not in\n{self.text[-3000:]}"
            if select.select([self.terminal], [], [], 1.0)[0]:
                self.drawn += os.read(self.terminal, 65536)
        self.drawn = b""

    @property
    def text(self) -> str:
        return SEQUENCES.sub(b" ", self.drawn).decode(errors="replace")


@contextmanager
def chat(running: Gateway) -> Iterator[tuple[Screen, "subprocess.Popen[bytes]"]]:
    """`iris chat` from the gateway's own environment."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    env = {**os.environ, "HERMES_HOME": str(running.home), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    env.pop("PYTHONPATH", None)
    command = [running.python, "-m", "hermes_iris.cli", "chat"]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, start_new_session=True)
    os.close(theirs)
    try:
        yield Screen(ours), process
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def test_a_turn_a_question_and_the_way_out(running: Gateway) -> None:
    with chat(running) as (screen, process):
        screen.sees("connected")
        screen.press("rehearse tool\r")
        screen.sees("terminal")
        screen.sees("The run was real")
        screen.press("/status\r")
        screen.sees("Session|Status|session")
        screen.press("rehearse danger\r")
        screen.sees("Allow this command")
        screen.press("\x12")  # Ctrl+R goes to the card, whose last choice is the safe one
        screen.press("\x1b[F\r")
        screen.sees("by Terminal")
        screen.sees("did not run")
        screen.press("\x11")
        assert process.wait(30) == 0
