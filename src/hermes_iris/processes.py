"""Child processes that live no longer than this one.

Invariants: whoever leaves `Children` leaves no child behind, whatever went wrong; on Linux that holds even when this
process is killed; a child that ends on its own is never started again; a log holds one run, the one before it is kept
beside it.
"""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

from .errors import SetupError
from .protocol.types import Seconds

T = TypeVar("T")

GRACE: Seconds = 10.0
"""How long a child may take to end when it is asked to."""

POLL: Seconds = 0.2
"""Between two looks at whether a child is ready."""

TELL: Seconds = 10.0
"""Between two signs of life while a child gets ready."""

TAIL_LINES = 20
TAIL_BYTES = 16_384

_LEASH = (
    "import ctypes, os, signal, sys\n"
    "ctypes.CDLL(None).prctl(1, signal.SIGTERM)\n"
    "os.getppid() == int(sys.argv[1]) or sys.exit('the parent is gone')\n"
    "os.execvp(sys.argv[2], sys.argv[2:])\n"
)
"""Asks the kernel (PR_SET_PDEATHSIG, prctl(2)) for a SIGTERM when the parent dies, then becomes the program. This is a
program of its own because code between fork and exec is not safe once there are threads."""


class Program(NamedTuple):
    """Something to run beside this process."""

    name: str
    """As in a sentence: "the Hermes gateway"."""
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    stop: signal.Signals = signal.SIGTERM
    """What it takes as a wish to end."""


class ChildFailed(SetupError):
    """A child ended on its own or did not get ready; `log` tells why."""

    def __init__(self, text: str, log: Path) -> None:
        super().__init__(f"{text}; its log is {log}")
        self.log = log


class Children:
    """The running children; leaving the block ends them, the youngest first."""

    def __init__(self) -> None:
        self._running: list[tuple[Program, asyncio.subprocess.Process, asyncio.Task[int]]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        while self._running:
            await _end(*self._running.pop())

    async def start(self, program: Program) -> int:
        """Start a program with its output in its log, away from the terminal's signals; returns its pid."""
        leash = [sys.executable, "-c", _LEASH, str(os.getpid())] if sys.platform == "linux" else []
        with _fresh_log(program.log).open("wb") as log:
            process = await asyncio.create_subprocess_exec(
                *leash,
                *program.command,
                env=program.environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        self._running.append((program, process, asyncio.create_task(process.wait())))
        return process.pid

    async def ready(
        self, program: Program, check: Callable[[], T | None], limit: Seconds, tell: Callable[[Seconds], None]
    ) -> T:
        """Wait until a check gives something; it runs in a thread and must not take long.

        Args:
            program: whose being ready is waited for.
            check: what it waits for.
            limit: how long.
            tell: called every `TELL` seconds with the time that has passed.

        Raises:
            ChildFailed: a child ended meanwhile, or the limit passed.
        """
        started = told = time.monotonic()
        while not (found := await asyncio.to_thread(check)):
            await self._one_ended(POLL)
            now = time.monotonic()
            if now - started > limit:
                raise ChildFailed(f"{program.name} was not ready after {limit:.0f} s", program.log)
            if now - told >= TELL:
                told = now
                tell(now - started)
        return found

    async def ended(self) -> None:
        """Wait for the first child that ends on its own.

        Raises:
            ChildFailed: always, at the end.
        """
        await self._one_ended(None)

    async def _one_ended(self, at_most: Seconds | None) -> None:
        """Wait for the end of a child, or for a while; raises `ChildFailed` when one has ended."""
        waiters = [waiter for _, _, waiter in self._running]
        await asyncio.wait(waiters, timeout=at_most, return_when=asyncio.FIRST_COMPLETED)
        for program, _, waiter in self._running:
            if waiter.done():
                raise ChildFailed(f"{program.name} ended ({_how(waiter.result())})", program.log)


async def _end(program: Program, process: asyncio.subprocess.Process, waiter: asyncio.Task[int]) -> None:
    """End one child: it may finish what it does for a while; a second interrupt cuts that short."""
    with suppress(ProcessLookupError):
        process.send_signal(program.stop)
    with suppress(TimeoutError, asyncio.CancelledError):
        await asyncio.wait_for(asyncio.shield(waiter), GRACE)
    if not waiter.done():
        # The whole session: what the child has started must not stay behind either.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await waiter


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


def _fresh_log(path: Path) -> Path:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists():
        path.replace(path.with_suffix(".1.log"))
    path.touch(mode=0o600)
    return path


def tail(log: Path) -> str:
    """The last lines of a log."""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
        text = file.read().decode("utf-8", "replace")
    return "\n".join(text.splitlines()[-TAIL_LINES:])
