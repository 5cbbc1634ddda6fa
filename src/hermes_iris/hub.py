"""Lanes and devices: applies the host's calls, commits what comes of them, hands it to every device in order.

Knows no socket and no Hermes. Invariants:

- a frame reaches devices in the order in which the lane brought it forth, an event only after its commit;
- joining is one atomic step: a device gets every event after its place, then live ones, no gap and no double;
- hooks call from threads of the host: `post` only queues, and every call on the loop first takes in what was queued, so
  that a reply announced before a delivery is also applied before it.
"""

import asyncio
import logging
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from msgspec.structs import replace

from . import joining
from .address import Lane
from .audience import Audience, Way
from .bubbles import Bubbles
from .clock import Clock
from .errors import Busy, IrisError
from .joining import Joined
from .moment import Moment
from .outbox import Outbox
from .packet import Packet
from .protocol import codec
from .protocol.frames import (
    Event,
    Frame,
    MessageStart,
    MessageStop,
    MessageUpdate,
    Position,
    ServerClosing,
    Typing,
)
from .protocol.types import DeviceId, Outcome, Seconds, Seq, TurnId
from .store import Store, log, messages
from .turns import Effect, LaneState, ToolDetail, calls, step

logger = logging.getLogger(__name__)

CHECKPOINT: Seconds = 1.0
"""Time between two savings of a streaming text, for the case that the gateway dies."""

LAST: Seq = 1 << 62
"""After every number that an event can have."""

DAY: Seconds = 86_400.0

PRUNE_EVERY = 500
"""Events between two cuts of the log."""


class Recorded(NamedTuple):
    """What a transaction stored, for the devices, and its result, for the caller."""

    frames: Sequence[Frame]
    numbers: Sequence[Seq | None]
    result: Any = None


@dataclass
class _Batch:
    """Frames on their way to the devices; `frames` is None until they are committed."""

    done: "asyncio.Future[Any]"
    frames: list[tuple[Frame, Seq | None]] | None = None
    foreign: list[log.Logged] = field(default_factory=list)
    """Events that another process had logged before this batch."""

    ran: bool = False
    """Whether the store has tried it already."""


@dataclass
class Hub:
    """The middle of a gateway; lives on one event loop."""

    store: Store
    clock: Clock
    position: Position
    """The last event that devices were given."""

    log_events: int = 20_000
    log_days: float = 30.0
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    _lanes: dict[Lane, LaneState] = field(default_factory=dict)
    _inbox: deque[tuple[Lane, calls.Call]] = field(default_factory=deque)
    _pipeline: deque[_Batch] = field(default_factory=deque)
    _saved: dict[str, float] = field(default_factory=dict)
    _standing: dict[Lane, Frame] = field(default_factory=dict)
    _listeners: list[Callable[[Event], None]] = field(default_factory=list)
    _bubbles: Bubbles = field(default_factory=Bubbles)
    _logged: Seq = 0
    """The last event that this process knows to be in the log; belongs to the store's writer."""

    def __post_init__(self) -> None:
        self._logged = self.position.seq
        self._audience = Audience(self._bubbles.follows)

    # -- calls of the host

    def post(self, lane: Lane, call: calls.Call) -> None:
        """Queue a call from any thread."""
        self._inbox.append((lane, call))
        self.loop.call_soon_threadsafe(self._take_in)

    async def call(self, lane: Lane, call: calls.Call) -> Moment:
        """Apply a call; returns its moment once all that it brought forth is committed, however long that takes.

        Raises:
            sqlite3.Error: it cannot be stored.
            Busy: too much waits for the store.
        """
        self._take_in()
        moment = self.clock.now()
        batch = self._apply(lane, call, moment)
        if batch is not None:
            await asyncio.shield(batch.done)  # a caller that gives up takes nothing back
        return moment

    def end_turns(self, outcome: Outcome) -> None:
        """Close every open turn, since their owner goes away."""
        self._take_in()
        for lane in list(self._lanes):
            self._apply(lane, calls.Processed(outcome), self.clock.now())

    # -- transactions of commands

    async def transact(
        self, job: Callable[[sqlite3.Connection], Recorded], after: Callable[[], None] = lambda: None
    ) -> Any:
        """Run a job that stores frames; returns its result after the commit. Raises what the job raises.

        `after` is called after the commit, also when the caller has gone meanwhile.
        """
        self._take_in()
        done = self._submit(job).done
        done.add_done_callback(lambda _: after())
        return await asyncio.shield(done)  # a caller that gives up takes nothing back

    async def catch_up(self) -> None:
        """Hand out what another process has stored, e.g. a cron report while the gateway ran elsewhere."""
        await self.transact(lambda conn: Recorded([], []))

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call a function with each event that devices are given, numbered, whichever process has stored it."""
        self._listeners.append(listener)

    def show(self, lane: Lane, frame: Frame) -> None:
        """Tell every device how a lane stands, now and when it joins. Not stored; the newest one counts."""
        self._standing[lane] = frame
        packet = Packet(codec.encode(frame), shared=True)
        self._pass(packet)  # nothing else would bring it again

    def is_busy(self, lane: Lane) -> bool:
        """Whether a turn runs in a lane."""
        return self.running_turn(lane) is not None

    def running_turn(self, lane: Lane) -> TurnId | None:
        """The turn that runs in a lane."""
        self._take_in()
        state = self._lanes.get(lane)
        return state.turn.turn_id if state and state.turn else None

    # -- devices

    async def join(
        self, outbox: Outbox, resume: Position | None, look: Callable[[sqlite3.Connection], Any] = lambda conn: None
    ) -> Joined:
        """Let a device in. From here on `outbox` fills with what is live; it is to be sent after the rest.

        Args:
            outbox: the device's.
            resume: its place, None when it has none.
            look: reads the snapshot; what happens after that is told by events.

        Raises:
            Busy: another process has stored something that cannot be handed out now.
        """
        snapshot, seq = await self.store.read(lambda conn: (look(conn), log.last(conn)))
        while self.position.seq < seq:
            await self.catch_up()
        here = self.position
        lanes = [joining.status(state) for state in self._lanes.values() if state.turn]
        live = [codec.encode(frame) for state in self._lanes.values() for frame in joining.open_frames(state)]
        live += [codec.encode(frame) for frame in self._standing.values()]
        self._audience.add(outbox)
        self._bubbles.joined(outbox)
        try:
            if resume is not None and resume.epoch == here.epoch:
                if resume.seq <= here.seq:
                    missed = await self.store.read(lambda conn: joining.missed(conn, resume.seq, here.seq))
                    if missed is not None:
                        return Joined(here, "resumed", snapshot, missed, lanes, live)
                else:  # the database was put back to an older state
                    epoch = await self.store.write(log.new_epoch)
                    self.position = Position(epoch=epoch, seq=self.position.seq)
            since = await self.store.read(lambda conn: joining.numbered(conn, seq, here.seq))
        except BaseException:  # also when it is cancelled: nobody else would let it leave
            self.leave(outbox)
            raise
        return Joined(Position(epoch=self.position.epoch, seq=seq), "reset", snapshot, since, lanes, live)

    def leave(self, outbox: Outbox) -> None:
        """A device is gone."""
        self._audience.remove(outbox)

    def gather(self, outbox: Outbox, way: Way) -> None:
        """Nothing waits for a device that takes what is written: from here on it may be told together with others."""
        self._audience.gather(outbox, way)

    def connected(self) -> set[DeviceId]:
        """The devices that are here."""
        return {outbox.device_id for outbox in self._audience.devices}

    def shut_out(self, device_id: DeviceId) -> None:
        """End every connection of a device."""
        for outbox in self._audience.devices:
            if outbox.device_id == device_id:
                outbox.close("revoked")

    def tell(self, frame: Frame) -> None:
        """Tell every device that is here something that is not stored."""
        self._broadcast(frame, None)

    def close(self, reason: str) -> None:
        """Tell every device that the gateway stops."""
        self.tell(ServerClosing(reason=reason))

    def prune(self, conn: sqlite3.Connection) -> None:
        """Cut the log to what devices that come back are told."""
        log.prune(conn, self.log_events, self.clock.now().ts - self.log_days * DAY)

    async def drain(self) -> None:
        """Wait until everything that was brought forth is committed."""
        self._take_in()
        while self._pipeline:
            await asyncio.wait([self._pipeline[-1].done])

    # -- inside

    def _take_in(self) -> None:
        while self._inbox:
            lane, call = self._inbox.popleft()
            try:
                self._apply(lane, call, self.clock.now())
            except Busy:
                logger.exception("a hook's call was not stored")

    def _apply(self, lane: Lane, call: calls.Call, moment: Moment) -> _Batch | None:
        """Step the lane and send off what came of it; returns the batch to wait for, None when nothing is stored."""
        state, effects = step(self._lanes.get(lane) or LaneState(lane), call, moment)
        frames = [effect for effect in effects if not isinstance(effect, ToolDetail)]
        stored = [effect for effect in effects if self._is_stored(effect, moment)]
        batch = self._submit(lambda conn: _record(conn, frames, stored), lasting=True) if stored else None
        if state.turn is None and state.typing_since is None:
            self._lanes.pop(lane, None)
        else:
            self._lanes[lane] = state
        if frames and not stored:
            self._pipeline.append(_Batch(self.loop.create_future(), [(frame, None) for frame in frames]))
            self._publish()
        return batch

    def _is_stored(self, effect: Effect, moment: Moment) -> bool:
        """Everything is, but typing; and a streaming text only now and then."""
        match effect:
            case MessageUpdate():
                if moment.ts - self._saved.get(effect.message_id, 0.0) < CHECKPOINT:
                    return False
                self._saved[effect.message_id] = moment.ts
                return True
            case MessageStop():
                self._saved.pop(effect.message_id, None)
                return True
            case _:
                return not isinstance(effect, Typing)

    def _submit(self, job: Callable[[sqlite3.Connection], Recorded], *, lasting: bool = False) -> _Batch:
        batch = _Batch(self.loop.create_future())
        future = self.store.submit(lambda conn: self._run(job, batch, conn), lasting=lasting)
        self._pipeline.append(batch)
        future.add_done_callback(lambda done: self._look_back() if done.exception() else None)
        future.add_done_callback(lambda done: self.loop.call_soon_threadsafe(self._committed, batch, done))
        return batch

    def _run(self, job: Callable[[sqlite3.Connection], Recorded], batch: _Batch, conn: sqlite3.Connection) -> Recorded:
        """Run a job in the writer's thread; what other processes logged since the last one comes first."""
        if batch.ran:
            self._look_back()
        batch.ran = True
        batch.foreign = list(log.between(conn, self._logged, LAST))
        recorded = job(conn)
        self._logged = log.last(conn)
        return recorded

    def _look_back(self) -> None:
        """After a commit that failed its numbers are given out again, perhaps to another process: look for them again.

        Called in the writer's thread, before the next job.
        """
        self._logged = min(self._logged, self.position.seq)

    def _committed(self, batch: _Batch, future: "Future[Recorded]") -> None:
        error = future.exception()
        if error is None:
            recorded = future.result()
            batch.frames = list(zip(recorded.frames, recorded.numbers, strict=True))
            batch.done.set_result(recorded.result)
        else:
            batch.frames = []
            self._bubbles.forget()
            batch.done.set_exception(error)
            batch.done.exception()  # seen here: a call from a hook has nobody who waits for it
            if not isinstance(error, IrisError):
                logger.error("not stored: %s", error)
        self._publish()

    def _publish(self) -> None:
        while self._pipeline and (frames := self._pipeline[0].frames) is not None:
            batch = self._pipeline.popleft()
            for logged in batch.foreign:
                self._send_event(Packet(codec.number(*logged), shared=True), logged.seq, None)
            if not batch.done.done():
                batch.done.set_result(None)
            for frame, seq in frames:
                self._broadcast(frame, seq)

    def _broadcast(self, frame: Frame, seq: Seq | None) -> None:
        match frame:
            case MessageUpdate():
                self._audience.each(self._bubbles.updated(frame))
            case MessageStart():
                self._pass(self._bubbles.started(frame))
            case _ if seq is None:
                self._pass(Packet(codec.encode(frame), shared=True, ephemeral=True))
            case Event():
                if isinstance(frame, MessageStop):
                    self._bubbles.stopped(frame.message_id)
                self._send_event(Packet(codec.number(seq, codec.encode_event(frame)), shared=True), seq, frame)

    def _send_event(self, packet: Packet, seq: Seq, event: Event | None) -> None:
        """Hand an event out; without `event` it is another process's, and read for those who listen here."""
        if seq <= self.position.seq:
            return  # found once more after a commit that failed
        self.position = Position(epoch=self.position.epoch, seq=seq)
        if seq % PRUNE_EVERY == 0:
            with suppress(Busy):  # then the next time
                self.store.submit(self.prune)
        self._pass(packet)
        told = codec.logged(packet.body) if event is None else replace(event, seq=seq)
        if told is not None:
            for listener in self._listeners:
                listener(told)

    def _pass(self, packet: Packet) -> None:
        self._audience.each(lambda told: told.put(packet))


def _record(conn: sqlite3.Connection, frames: Sequence[Frame], stored: Sequence[Effect]) -> Recorded:
    numbers = iter(messages.record(conn, stored))
    return Recorded(frames, [next(numbers) if isinstance(frame, Event) else None for frame in frames])
