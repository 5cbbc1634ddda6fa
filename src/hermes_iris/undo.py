"""Takes back from the host what the person takes back: the turn of a message is stopped, and its exchange undone.

Both hosts have a command for it, `/undo` (0.19 `gateway/slash_commands.py`, 0.22 `gateway/slash_commands_session.py`),
which removes the last exchange, whichever that is, and says in a translated text what became of it. So it is only given
where the last exchange is the one that is meant, and what became of it is read from the host's own transcript.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from .address import Lane
from .protocol.frames import Message
from .protocol.types import Seconds

COMMAND = "undo"
PREFIX = "undo_"
"""Begins the message ids of the commands that are given here."""

PATIENCE: Seconds = 10.0
"""How long a turn may take to stop, and the host to undo it."""

SETTLE: Seconds = 4.0
"""Within which a host has written down a turn that was stopped, if it does so at all."""

LOOK: Seconds = 0.05
"""Time between two looks at the transcript."""


class Spoken(NamedTuple):
    """Something that a person said, as the host remembers it."""

    row: int
    message_id: str | None
    """Only 0.22 remembers it."""

    text: str


class Undo:
    """Taking back, for the lanes of one adapter.

    Args:
        stop: interrupts the turn of a lane.
        command: gives the host the command under this message id.
        working: whether the host still has the session of a lane in its hands; what it is given then interrupts.
        spoken: what people said in the session of a lane, newest first, as far as the host still tells its model.
    """

    def __init__(
        self,
        stop: Callable[[Lane], Awaitable[None]],
        command: Callable[[Lane, str], Awaitable[None]],
        working: Callable[[Lane], bool],
        spoken: Callable[[Lane], Awaitable[list[Spoken]]],
    ) -> None:
        self._stop = stop
        self._command = command
        self._working = working
        self._spoken = spoken
        self._open: set[Lane] = set()
        """Where the host was given something that it is not done with."""

        self._done: dict[Lane, asyncio.Event] = {}
        """Where a command that was given here is being carried out."""

    def given(self, lane: Lane) -> None:
        """The host is given a message of a lane."""
        self._open.add(lane)

    def processed(self, lane: Lane, message_id: str) -> None:
        """The host is done with a message and with what it led to, or has replied to a command."""
        if not message_id.startswith(PREFIX):
            self._open.discard(lane)
        if done := self._done.get(lane):
            done.set()

    def confirms(self, lane: Lane, command: str) -> bool:
        """Whether a command that the host wants confirmed is the one that was just given here."""
        return lane in self._done and command == COMMAND

    async def take_back(self, lane: Lane, message: Message) -> bool:
        """Make the host forget a message and all that came of it; whether it has, for certain."""
        try:
            async with asyncio.timeout(PATIENCE):
                was_running = lane in self._open
                if was_running:
                    await self._carried_out(lane, self._stop(lane))
                spoken = await self._last(lane, message, SETTLE if was_running else 0.0)
                if spoken is None:
                    return False
                # A turn that was stopped may still be on its way out, and a command is lost on a host at work.
                while self._working(lane):  # noqa: ASYNC110 - a host tells nobody
                    await asyncio.sleep(LOOK)
                await self._carried_out(lane, self._command(lane, PREFIX + message.message_id))
                # Once only: given again while the first one is late, it would take back what came before.
                while not await self._is_gone(lane, spoken):  # noqa: ASYNC110 - a host tells nobody
                    await asyncio.sleep(LOOK)
                return True
        except TimeoutError:
            return False

    async def _last(self, lane: Lane, message: Message, patience: Seconds) -> Spoken | None:
        """The message as the host remembers it, if it is the last thing that it does; it may take a while to."""
        deadline = asyncio.get_running_loop().time() + patience
        while True:
            spoken = await self._spoken(lane)
            if spoken and is_of(spoken[0], message):
                return spoken[0]
            if asyncio.get_running_loop().time() >= deadline:
                return None
            await asyncio.sleep(LOOK)

    async def _is_gone(self, lane: Lane, spoken: Spoken) -> bool:
        """Whether something is forgotten, and the host can be given the next message."""
        left = await self._spoken(lane)
        return not self._working(lane) and (not left or left[0].row < spoken.row)

    async def _carried_out(self, lane: Lane, work: Awaitable[None]) -> None:
        done = self._done[lane] = asyncio.Event()
        try:
            await work
            await done.wait()
        finally:
            del self._done[lane]


def is_of(spoken: Spoken, message: Message) -> bool:
    """Whether it is what a message said: by its id, else by whole lines, for the host and Iris put more around them."""
    if spoken.message_id:
        return spoken.message_id == message.message_id
    text = message.text.strip()
    if not text:
        return any(file.name in spoken.text for file in message.attachments)
    return f"\n{text}\n" in f"\n{spoken.text.strip()}\n"
