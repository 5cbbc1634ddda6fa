"""An agent at one room: hears it, lets the host answer, posts the answers.

Invariants: nothing but answers and the notices of the guard enter the room; an answer is posted once, also when the
gateway dies between its commit and the end of the turn; a person's stop silences the turn that runs.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from msgspec.structs import replace

from ..address import Lane
from ..clock import Clock
from ..errors import IrisError
from ..meeting import rendering
from ..meeting.config import Agent
from ..meeting.connection import Connection
from ..meeting.room import Turn, Verdict
from ..meeting.said import Said, SenderKind
from ..meeting.signals import Lease, Revoke, Signal
from ..meeting.state import Phase
from ..moment import Moment
from ..protocol.frames import Message, MessageStop
from ..protocol.types import Seconds
from ..turns import Effect, LaneState, calls, step
from . import THREAD
from .memory import Memory, Presence

logger = logging.getLogger(__name__)

SETTLE: Seconds = 0.2
"""What is said within this time after a question is answered with it."""

TURN_LIMIT: Seconds = 3_600.0
"""How long the host may take for a turn."""

BEGIN_LIMIT: Seconds = 60.0
"""How long it may take until the turn begins: while it starts, it says that it is done before it has begun."""

STOP_LIMIT: Seconds = 10.0
"""How long the host may take to stop a turn."""

POST_LIMIT: Seconds = 30.0
"""How long the next turn waits for the room to have an answer."""


RETRY: Seconds = 2.0


class Host(Protocol):
    """What a table asks of the host's side."""

    async def settle(self, room: str, said: Said) -> None:
        """Bring the room into the session that its next turn has to run in, before anything is written there."""

    async def ask(self, room: str, turn: Turn) -> None:
        """Give a turn to the agent."""

    async def interrupt(self, room: str, said: Said) -> None:
        """Stop the turn that runs, since somebody said so."""

    async def mirror(self, said: Said) -> bool:
        """Put an own message into the host's history; whether it is there now."""

    async def revoke(self, room: str) -> bool:
        """End the lease of a room; whether there was one."""


@dataclass
class _Running:
    """The turn that the host has."""

    trigger: Said
    began: bool = False
    over: bool = False
    muted: bool = False
    posted: list[str] = field(default_factory=list)


class Table:
    """One room of one agent. `run` is its one task."""

    def __init__(self, room: str, me: Agent, memory: Memory, connection: Connection, host: Host) -> None:
        self._room = room
        self._me = me
        self._memory = memory
        self._connection = connection
        self._host = host
        self._lane = LaneState(Lane(room, THREAD))
        self._clock = Clock()
        self._loop = asyncio.get_running_loop()
        self._inbox: deque[calls.Call] = deque()
        self._answers: deque[str] = deque()
        self._woken = asyncio.Event()
        self._running: _Running | None = None
        self._hop = 0
        self._restored = False
        self._seen = False

    # -- from the room

    async def hear(self, said: Said) -> None:
        """Take in a message; returns once what it means is committed."""
        heard = await self._memory.hear(said)
        logger.debug("%s in %s: %s", self._me.name, self._room, heard.verdict.value)
        if heard.verdict is Verdict.STOP:
            await self._stop(said)
        if heard.tell is not None:
            text = f"({self._me.shown} only listens now: {heard.verdict.value}. A person's word lets it go on.)"
            await self._notice(text, said, "tripped", heard.tell)
        if self._is_revoked(said) and await self._host.revoke(self._room):
            text = f"({self._me.shown} no longer knows its terminal session here.)"
            await self._notice(text, said, "revoked", Lease(until=0))
        self._woken.set()

    def changed(self) -> None:
        """The account stands otherwise in the room than before, or somebody came or went."""
        self._seen = False
        self._woken.set()

    # -- from the host

    def post(self, call: calls.Call) -> None:
        """Queue a call of a hook, from any thread."""
        self._inbox.append(call)
        self._loop.call_soon_threadsafe(self._take_in)

    def call(self, call: calls.Call) -> Moment:
        """Apply a call of the adapter, after those of the hooks."""
        self._take_in()
        moment = self._clock.now()
        self._apply(call, moment)
        return moment

    async def say(self, text: str) -> str:
        """Post a text that is no answer, e.g. a report that was sent here; returns its id."""
        return await self._connection.post(self._room, text, hop=0)

    # -- the task

    async def run(self) -> None:
        """Ask the host, one turn after the other, and post what comes of it."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            try:
                await self._round()
            except Exception:  # whatever it is, the room goes on
                logger.exception("%s in %s: it is tried again", self._me.name, self._room)
                await asyncio.sleep(RETRY)
                self._woken.set()

    async def _round(self) -> None:
        phase = self._connection.state(self._room).phase
        if not self._seen:
            await self._see()
        await self._post_answers(None)
        if phase is not Phase.JOINED:
            return
        if not self._restored:
            await self._memory.restored(self._room)
            self._restored = True
        await asyncio.sleep(SETTLE)
        if (turn := await self._memory.begin(self._room)) is not None:
            try:
                await self._turn(turn)
            finally:
                self._running = None
            await self._memory.ended(self._room)
            self._woken.set()

    async def _turn(self, turn: Turn) -> None:
        """Let the host answer, and wait until the room has the answer: till then the run is not counted right."""
        running = self._running = _Running(turn.trigger)
        self._hop = turn.trigger.hop + 1
        self._connection.composing(self._room, True)
        try:
            await self._host.settle(self._room, turn.trigger)
            await self._host.ask(self._room, await self._mirrored(turn))
            await self._until(lambda: running.began or running.muted, BEGIN_LIMIT, running)
            await self._until(lambda: running.over or running.muted, TURN_LIMIT, running)
            await self._until(lambda: running.over, STOP_LIMIT, running)
        except TimeoutError:
            logger.error("%s in %s: the host did not end a turn in time", self._me.name, self._room)
        except Exception:  # whatever the host's own code raises, the room goes on
            logger.exception("%s in %s: the host did not take a turn", self._me.name, self._room)
        finally:
            self._connection.composing(self._room, False)
        await self._post_answers(running)
        if running.posted:
            try:
                async with asyncio.timeout(POST_LIMIT):
                    await self._connection.posted(running.posted[-1])
            except (TimeoutError, IrisError) as exc:
                logger.warning("%s in %s: the answer is not in the room yet: %s", self._me.name, self._room, exc)

    async def _mirrored(self, turn: Turn) -> Turn:
        """The turn without the own words that are, or now come, into the host's history."""
        kept = [said for said in turn.context if not (said.sender.own and await self._host.mirror(said))]
        return replace(turn, context=tuple(kept))

    async def _until(self, reached: Callable[[], bool], limit: Seconds, running: _Running) -> None:
        """Post answers until something is so. Raises `TimeoutError`."""
        async with asyncio.timeout(limit):
            while not reached():
                await self._woken.wait()
                self._woken.clear()
                await self._post_answers(running)

    async def _post_answers(self, running: _Running | None) -> None:
        while self._answers:
            text = rendering.answer(self._answers.popleft())
            muted = running.muted if running else await self._memory.stopped(self._room)
            if not text or muted:
                continue
            for piece in rendering.pieces(text):
                await self._post_piece(piece, running)

    async def _post_piece(self, piece: str, running: _Running | None) -> None:
        if running is None:  # background work that ended after its turn
            await self._connection.post(self._room, piece, hop=self._hop + 1)
            return
        trigger = running.trigger
        origin_id = f"answer-{trigger.archive_id}-{len(running.posted)}"
        await self._connection.post(self._room, piece, hop=self._hop, reply_to=trigger.archive_id, origin_id=origin_id)
        running.posted.append(origin_id)

    # -- parts

    def _take_in(self) -> None:
        while self._inbox:
            self._apply(self._inbox.popleft(), self._clock.now())

    def _apply(self, call: calls.Call, moment: Moment) -> None:
        self._lane, effects = step(self._lane, call, moment)
        if self._running is not None:
            self._running.began |= isinstance(call, calls.TurnBegan)
            self._running.over |= isinstance(call, calls.Processed) and (self._running.began or self._running.muted)
        self._answers += [text for effect in effects if (text := _answer(effect))]
        self._woken.set()

    async def _stop(self, said: Said) -> None:
        self._answers.clear()
        if self._running is not None and not self._running.over:
            self._running.muted = True
            await self._host.interrupt(self._room, said)

    async def _see(self) -> None:
        self._seen = True
        state = self._connection.state(self._room)
        occupants = tuple(rendering.who(sender) for sender in self._connection.occupants(self._room))
        await self._memory.see(self._room, Presence(state.phase.value, state.text, occupants))

    async def _notice(self, text: str, about: Said, kind: str, signal: Signal) -> None:
        await self._connection.post(
            self._room, text, hop=about.hop + 1, notice=True, signal=signal, origin_id=f"{kind}-{about.archive_id}"
        )

    def _is_revoked(self, said: Said) -> bool:
        return (
            isinstance(said.signal, Revoke)
            and said.sender.kind is SenderKind.PERSON
            and said.signal.agent == self._me.jid
        )


def _answer(effect: Effect) -> str:
    """The text of an effect that is a final answer, else nothing."""
    match effect:
        case Message(role="assistant", kind="final", text=text) | MessageStop(kind="final", final_text=text):
            return text
        case _:
            return ""
