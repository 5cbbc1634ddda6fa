"""The clock of a process: every moment it hands out is later than all before, also across restarts."""

import time

from .moment import SPAN, Moment


class Clock:
    """Mints moments.

    Args:
        last: the highest order that was ever stored.
        beside: whether this is a process beside the gateway. Each of the two kinds has places of its own, so that
            they never name two things alike: the gateway mints before it commits, and cannot know what was stored
            meanwhile. Processes beside it mint in the transaction that stores, one after the other.
    """

    def __init__(self, last: int = 0, *, beside: bool = False) -> None:
        self._last = last
        self._place = SPAN if beside else 0

    def now(self) -> Moment:
        """The next moment."""
        ts = time.time()
        earliest = max(self._last + SPAN, int(ts * 1_000_000))
        self._last = earliest + (self._place - earliest) % (2 * SPAN)
        return Moment(self._last, ts)
