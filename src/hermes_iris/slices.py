"""Many small jobs on the event loop, in order, a slice at a time, so that nothing else waits long for its turn.

Invariants: jobs run in the order in which they came; a job that fails costs no other its turn; what comes in during one
turn of the loop runs at its end.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable

from .protocol.types import Seconds

logger = logging.getLogger(__name__)

SLICE: Seconds = 0.002


class Slices:
    """A queue of jobs; each is far less than a slice. Bounded by who adds to it: one job a device or a group."""

    def __init__(self, clock: Callable[[], Seconds] = time.monotonic) -> None:
        self._clock = clock
        self._jobs: deque[Callable[[], None]] = deque()
        self._scheduled = False

    @property
    def busy(self) -> bool:
        """Whether something waits."""
        return bool(self._jobs)

    def add(self, job: Callable[[], None]) -> None:
        """Run a job soon, behind all that wait."""
        self._jobs.append(job)
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._run)

    def _run(self) -> None:
        until = self._clock() + SLICE
        while self._jobs and self._clock() < until:
            try:
                self._jobs.popleft()()
            except Exception:  # a job of one device or group; the others are not to suffer for it
                logger.exception("a frame was not handed on")
        self._scheduled = bool(self._jobs)
        if self._scheduled:
            asyncio.get_running_loop().call_soon(self._run)
