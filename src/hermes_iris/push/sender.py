"""Letters on their way to devices: a bounded queue for each, tried again while that may help.

Invariants: of each lane at most one letter waits for a device, the newest; a call that never left is taken back
without a word; one delivery at a time goes to a device, and a few at a time altogether.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ..address import Lane
from ..protocol.types import DeviceId, Seconds
from ..store.pushes import Subscription

logger = logging.getLogger(__name__)

GATHER: Seconds = 1.0
"""Until the first letter leaves: what is read at once calls nobody, and an answer with its files calls once."""

PAUSES: tuple[Seconds, ...] = (2.0, 15.0, 60.0, 300.0)
"""Between two tries."""

LONGEST_PAUSE: Seconds = 900.0
"""What a push service may ask for at most."""

MAX_LANES = 50
"""Lanes of which a letter waits for one device; the oldest makes room."""

AT_ONCE = 8
"""Deliveries at one time."""


class Letter(NamedTuple):
    """What is to be delivered, and how (RFC 8030, 5.2 to 5.4)."""

    body: bytes
    ttl: int
    urgency: Literal["low", "normal", "high"]
    topic: str
    closes: bool = False
    """Whether it takes an earlier one back."""


class Verdict(NamedTuple):
    """What became of a delivery."""

    kind: Literal["delivered", "later", "refused", "gone"]
    pause: Seconds = 0.0
    """Of `later`: how long the push service asks to be left alone."""


Deliver = Callable[[Subscription, Letter], Awaitable[Verdict]]


@dataclass
class _Line:
    """What goes to one device."""

    subscription: Subscription
    waiting: dict[Lane, Letter] = field(default_factory=dict)
    standing: set[Lane] = field(default_factory=set)
    """Lanes of which the device may show a call."""

    task: "asyncio.Task[None] | None" = None


class Sender:
    """The queues of all devices; lives on the event loop of its gateway."""

    def __init__(
        self,
        deliver: Deliver,
        gone: Callable[[Subscription], None],
        gather: Seconds = GATHER,
        pauses: tuple[Seconds, ...] = PAUSES,
    ) -> None:
        self._deliver = deliver
        self._gone = gone
        self._gather = gather
        self._pauses = pauses
        self._lines: dict[DeviceId, _Line] = {}
        self._room = asyncio.Semaphore(AT_ONCE)

    def put(self, subscription: Subscription, lane: Lane, letter: Letter) -> None:
        """Queue a letter. Never blocks."""
        line = self._lines.setdefault(subscription.device_id, _Line(subscription))
        line.subscription = subscription
        line.waiting.pop(lane, None)
        line.waiting[lane] = letter
        if len(line.waiting) > MAX_LANES:
            del line.waiting[next(iter(line.waiting))]
        if line.task is None:
            line.task = asyncio.create_task(self._serve(line), name="iris-push")
            line.task.add_done_callback(_tell)

    def take_back(self, subscription: Subscription, lane: Lane, closing: Letter | None) -> None:
        """Deliver no call of a lane any more; one that the device may have is closed by a letter, if there is one."""
        line = self._lines.get(subscription.device_id)
        if line is None:
            return
        line.waiting.pop(lane, None)
        if closing is not None and lane in line.standing:
            self.put(subscription, lane, closing)

    def drop(self, device_id: DeviceId) -> None:
        """Send a device nothing more."""
        line = self._lines.pop(device_id, None)
        if line is not None and line.task is not None:
            line.task.cancel()

    async def stop(self) -> None:
        """Send nothing more to anybody."""
        tasks = [line.task for line in self._lines.values() if line.task is not None]
        for device_id in list(self._lines):
            self.drop(device_id)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _serve(self, line: _Line) -> None:
        try:
            await asyncio.sleep(self._gather)
            while line.waiting:
                await self._send_next(line)
        except BaseException:
            line.waiting.clear()
            raise
        finally:
            line.task = None  # at once: what is queued from here on needs another one

    async def _send_next(self, line: _Line) -> None:
        """Send the letter that has waited longest, or what takes its place while it has to be tried again."""
        lane = next(iter(line.waiting))
        for pause in (*self._pauses, None):
            letter, subscription = line.waiting.get(lane), line.subscription
            if letter is None:
                return  # taken back, or pushed out
            if not letter.closes:
                line.standing.add(lane)  # from here on nobody knows whether the device has it
            async with self._room:
                verdict = await self._deliver(subscription, letter)
            if verdict.kind == "gone" and line.subscription is subscription:
                line.waiting.clear()
                self._lines.pop(subscription.device_id, None)
                self._gone(subscription)
                return
            if verdict.kind == "later" and pause is not None:
                await asyncio.sleep(max(pause, min(verdict.pause, LONGEST_PAUSE)))
                continue
            if verdict.kind == "later":
                logger.warning("a device was not called: its push service could not be reached again and again")
            if letter.closes:
                line.standing.discard(lane)
            if line.waiting.get(lane) is letter:
                del line.waiting[lane]
            return


def _tell(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()):
        logger.error("the calls of a device were dropped", exc_info=error)
