"""What people are asked and have not answered yet: opened, answered once, closed with a reason.

Invariants: a request is answered by one device at most, and the host hears of that before the devices do; whatever the
host does meanwhile (a typed answer, a time that is over, an end of the turn) closes it too; nothing stays open when the
gateway stops.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from . import questions as answers
from .address import Lane
from .errors import Conflict, IrisError, NotFound
from .host import Ending, Waiting
from .hub import Hub, Recorded
from .protocol.frames import Ack, Event, Question, RequestAnswer, RequestOpened, TurnEnded
from .protocol.types import DeviceId, RequestId, Seconds
from .store import devices, messages, questions, requests
from .turns import calls

logger = logging.getLogger(__name__)

LOOK_EVERY: Seconds = 0.5
"""Time between two looks at the host, which does not tell when somebody typed an answer."""

GRACE: Seconds = 2.0
"""Time that the host may take to notice by itself that a request has expired."""


@dataclass(frozen=True)
class _Open:
    opened: RequestOpened
    waiting: Waiting


@dataclass
class Desk:
    """The open requests of a gateway; lives on its event loop."""

    hub: Hub
    _open: dict[RequestId, _Open] = field(default_factory=dict)
    _tasks: set["asyncio.Task[Any]"] = field(default_factory=set)
    _looking: "asyncio.Task[None] | None" = None

    def __post_init__(self) -> None:
        self.hub.listen(self._heard)

    async def open(self, lane: Lane, question: Question, waiting: Waiting) -> RequestId:
        """Ask the person in a lane. A picker takes the place of an older one there.

        Raises:
            sqlite3.Error: it could not be stored.
            Busy: too much waits for the store.
        """
        await self._close_ended()  # what the host asks now may come after an answer that was typed
        if question.kind == "choice":
            for older in self._open_in(lane, "choice"):
                await self._close(older, Ending("withdrawn"))
        turn_id = self.hub.running_turn(lane) if question.kind in ("approval", "question") else None
        moment = self.hub.clock.now()
        opened = RequestOpened(
            request_id=moment.name("ask"),
            chat_id=lane.chat_id,
            thread_id=lane.thread_id,
            turn_id=turn_id,
            question=question,
            ts=moment.ts,
            order=moment.order,
        )
        # Known before its commit: a device may answer as soon as it has the event.
        self._open[opened.request_id] = _Open(opened, waiting)
        try:
            await self.hub.transact(lambda conn: Recorded([opened], messages.record(conn, [opened])))
        except (IrisError, sqlite3.Error):
            self._open.pop(opened.request_id, None)
            raise
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="iris-desk")
        return opened.request_id

    async def answer(self, request: RequestAnswer, device_id: DeviceId) -> Ack:
        """Carry a device's answer out; the first one counts.

        Raises:
            NotFound: there is no such request.
            Conflict: it is closed; the text says how.
            InvalidFrame: the answer does not fit.
        """
        known = await self.hub.store.read(lambda conn: requests.earlier(conn, request, Ack))
        if known is not None:
            return known
        asked = self._open.get(request.request_id)
        if asked is None:
            raise await self.hub.store.read(partial(_refusal, request_id=request.request_id))
        answer = answers.check(asked.opened.question, request)
        del self._open[request.request_id]
        # A device that goes away meanwhile takes nothing back.
        return await asyncio.shield(self._own(self._settle(asked, answer, request, device_id)))

    async def stop(self) -> None:
        """Close what is open, since its owner goes away."""
        if self._looking is not None:
            self._looking.cancel()
        for asked in list(self._open.values()):
            await self._close(asked, asked.waiting.ending() or Ending("interrupted"))
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=GRACE)

    # -- inside

    async def _settle(self, asked: _Open, answer: answers.Answer, request: RequestAnswer, device_id: DeviceId) -> Ack:
        try:
            reply = await asked.waiting.settle(answer)
        except NotFound:
            await self._close(asked, asked.waiting.ending() or Ending("withdrawn"))
            raise
        except Exception:  # whatever the host's own code raises
            self._open[request.request_id] = asked  # it still waits, and may be answered again
            raise
        ack = Ack(client_id=request.client_id)
        outcome = Ending("answered", answer.told) if answer.told else Ending("dismissed")
        await self._close(asked, outcome, device_id, (request, ack))
        if reply:
            lane = Lane(asked.opened.chat_id, asked.opened.thread_id)
            await self.hub.call(lane, calls.Sent(reply))
        return ack

    async def _close(
        self,
        asked: _Open,
        ending: Ending,
        device_id: DeviceId | None = None,
        remembered: tuple[RequestAnswer, Ack] | None = None,
    ) -> None:
        self._open.pop(asked.opened.request_id, None)
        moment = self.hub.clock.now()

        def closed(conn: sqlite3.Connection) -> Recorded:
            name = devices.name(conn, device_id) if device_id else None
            event = questions.closing(asked.opened, moment, ending.outcome, ending.answer, device_id, name)
            if remembered is not None:
                requests.remember(conn, *remembered, moment.ts)
            return Recorded([event], messages.record(conn, [event]))

        await self.hub.transact(closed)

    async def _look(self) -> None:
        """Close what ended on the host's side, as long as anything is open."""
        while self._open:
            await asyncio.sleep(LOOK_EVERY)
            with suppress(IrisError, sqlite3.Error):  # the hub has logged it, and the next start closes it
                await self._close_ended()

    async def _close_ended(self) -> None:
        for asked in list(self._open.values()):
            if ending := self._ending(asked):
                await self._close(asked, ending)

    def _ending(self, asked: _Open) -> Ending | None:
        expires_at = asked.opened.question.expires_at
        if ending := asked.waiting.ending():
            return ending
        return Ending("expired") if expires_at and self.hub.clock.now().ts > expires_at + GRACE else None

    def _heard(self, event: Event) -> None:
        """A turn that is over waits for nothing."""
        if isinstance(event, TurnEnded):
            for asked in list(self._open.values()):
                if asked.opened.turn_id == event.turn_id:
                    self._open.pop(asked.opened.request_id)
                    self._own(self._close(asked, asked.waiting.ending() or Ending("withdrawn")))

    def _open_in(self, lane: Lane, kind: str) -> list[_Open]:
        return [
            asked
            for asked in self._open.values()
            if Lane(asked.opened.chat_id, asked.opened.thread_id) == lane and asked.opened.question.kind == kind
        ]

    def _own(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, IrisError):
            logger.error("a request was not closed: %s", error)


def _refusal(conn: sqlite3.Connection, request_id: RequestId) -> IrisError:
    """Why a request that is not open takes no answer."""
    card = questions.find(conn, request_id)
    if card is None:
        return NotFound("$.request_id names no request")
    match card.outcome:
        case "answered" | "dismissed":
            return Conflict(f"it was answered before{f' by {card.by_name}' if card.by_name else ''}")
        case "expired":
            return Conflict("its time was over before this answer came")
        case _:
            return Conflict("nobody waits for this answer any more")
