"""Accounts in rooms, for tests: what each has heard, and how it stands there."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

from hermes_iris.meeting.config import Account
from hermes_iris.meeting.connection import Connection
from hermes_iris.meeting.said import Said, Sender
from hermes_iris.meeting.state import Phase, RoomState
from hermes_iris.store import Store

from .server import ROOM

LIMIT = 20.0
"""Seconds that a test waits for anything before it fails."""


@dataclass
class Presence:
    """A connection and all that it told."""

    account: Account
    store: Store
    rooms: tuple[str, ...] = (ROOM,)
    history: int = 0
    heard: list[Said] = field(default_factory=list)
    states: list[RoomState] = field(default_factory=list)
    composing: list[tuple[Sender, bool]] = field(default_factory=list)
    connection: Connection = field(init=False)

    def __post_init__(self) -> None:
        self.changed = asyncio.Event()
        self.connection = Connection(
            self.account,
            self.rooms,
            self.store,
            self._on_said,
            self._on_state,
            on_occupants=lambda room: self.changed.set(),
            on_composing=self._on_composing,
            history=self.history,
        )

    @property
    def texts(self) -> list[str]:
        return [said.text for said in self.heard]

    @property
    def state(self) -> RoomState:
        return self.connection.state(ROOM)

    async def until(self, condition: Callable[[], object], limit: float = LIMIT) -> None:
        """Wait for a condition on what was told."""
        try:
            async with asyncio.timeout(limit):
                while not condition():
                    self.changed.clear()
                    await self.changed.wait()
        except TimeoutError:
            raise AssertionError(f"{self.account.jid} waits in vain: {self.states} {self.texts[-5:]}") from None

    async def until_joined(self) -> None:
        await self.until(lambda: self.state.phase is Phase.JOINED)

    async def say(self, text: str, hop: int = 0, room: str = ROOM) -> str:
        """Post, and wait for the archive; gives the id there."""
        async with asyncio.timeout(LIMIT):
            return await self.connection.posted(await self.connection.post(room, text, hop=hop))

    async def _on_said(self, said: Said) -> None:
        self.heard.append(said)
        self.changed.set()

    def _on_state(self, state: RoomState) -> None:
        self.states.append(state)
        self.changed.set()

    def _on_composing(self, room: str, sender: Sender, on: bool) -> None:
        self.composing.append((sender, on))
        self.changed.set()


@contextlib.asynccontextmanager
async def present(
    account: Account, home: Path, *, rooms: tuple[str, ...] = (ROOM,), history: int = 0
) -> AsyncIterator[Presence]:
    """An account in the room, with a store of its own in `home`."""
    store = await asyncio.to_thread(Store, home / "channels.db")
    presence = Presence(account, store, rooms, history)
    presence.connection.start()
    try:
        yield presence
    finally:
        await presence.connection.close()
        await asyncio.to_thread(store.close)
