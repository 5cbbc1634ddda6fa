"""What is taken for granted of a connection, asked of the real one and of its stand-in `room_kit` alike."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hermes_iris.meeting.connection import Connection
from hermes_iris.meeting.said import Said, Sender, SenderKind
from hermes_iris.meeting.signals import Stop
from hermes_iris.meeting.state import Phase, RoomState
from hermes_iris.store import Store
from room_kit import ADA, MOHE, PLAN, ROOM as FAKE_ROOM, FakeRoom
from support import LIMIT, new_id, wait_until

from .presence import present
from .server import PERSON, ROOM, XmppServer


class Ear:
    """Takes in what a connection tells."""

    def __init__(self) -> None:
        self.heard: list[Said] = []
        self.states: list[RoomState] = []
        self.moves: list[str] = []
        self.writing: list[tuple[Sender, bool]] = []

    async def on_said(self, said: Said) -> None:
        self.heard.append(said)

    @property
    def told(self) -> dict[str, Any]:
        return {
            "on_occupants": self.moves.append,
            "on_composing": lambda room, sender, on: self.writing.append((sender, on)),
            "history": 0,
        }


Say = Callable[[str], Awaitable[object]]
Writes = Callable[[bool], object]


@asynccontextmanager
async def fake(tmp_path: Path, ear: Ear) -> AsyncIterator[tuple[Any, str, Say, Writes]]:
    room = FakeRoom()
    assert PLAN.account is not None
    link = room.join(PLAN.account, [FAKE_ROOM], None, ear.on_said, ear.states.append, **ear.told)  # type: ignore[arg-type]
    link.start()
    await link.enter()

    async def deliver() -> None:
        while True:
            await link.deliver()
            await asyncio.sleep(0.01)

    server = asyncio.create_task(deliver())
    room.here.append(MOHE)
    link.on_occupants(FAKE_ROOM)
    try:
        yield link, FAKE_ROOM, lambda text: room.say(MOHE, text), lambda on: link.on_composing(FAKE_ROOM, MOHE, on)
    finally:
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)
        await link.close()


@asynccontextmanager
async def real(tmp_path: Path, ear: Ear, server: XmppServer) -> AsyncIterator[tuple[Any, str, Say, Writes]]:
    store = await asyncio.to_thread(Store, tmp_path / "channels.db")
    account = server.account(PERSON, nick=ADA.nick)
    link = Connection(account, [ROOM], store, ear.on_said, ear.states.append, **ear.told)
    link.start()
    try:
        async with present(server.account("mohe"), tmp_path / "mohe") as mohe:
            await mohe.until_joined()
            yield link, ROOM, mohe.say, lambda on: mohe.connection.composing(ROOM, on)
    finally:
        await link.close()
        await asyncio.to_thread(store.close)


@pytest.fixture(params=["fake", "real"])
async def joined(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Any, str, Say, Writes, Ear]]:
    ear = Ear()
    how = fake(tmp_path, ear) if request.param == "fake" else real(tmp_path, ear, request.getfixturevalue("server"))
    async with how as (link, room, say, writes):
        await wait_until(lambda: {one.nick for one in link.occupants(room)} == {"Ada", "mohe"})
        await wait_until(lambda: ear.states[-1].phase is Phase.JOINED)
        yield link, room, say, writes, ear


async def test_a_link_tells_what_is_said_and_who_is_there(joined: tuple[Any, str, Say, Writes, Ear]) -> None:
    link, room, say, writes, ear = joined
    assert ear.states[0].phase is Phase.CONNECTING
    assert ear.moves
    own, other = link.occupants(room)
    assert (own.nick, own.kind, own.own) == ("Ada", SenderKind.PERSON, True)
    assert (other.nick, other.kind, other.own) == ("mohe", SenderKind.AGENT, False)

    origin_id = new_id()
    assert await link.post(room, "stop", hop=0, signal=Stop(), origin_id=origin_id) == origin_id
    async with asyncio.timeout(LIMIT):
        archive_id = await link.posted(origin_id)
    await wait_until(lambda: ear.heard)
    assert await link.post(room, "stop", hop=0, signal=Stop(), origin_id=origin_id) == origin_id
    await say("Hello")
    await wait_until(lambda: len(ear.heard) >= 2)
    mine, theirs = ear.heard
    assert (mine.origin_id, mine.archive_id, mine.signal, mine.sender.own) == (origin_id, archive_id, Stop(), True)
    assert (theirs.text, theirs.sender.nick, theirs.sender.own, theirs.signal) == ("Hello", "mohe", False, None)
    assert theirs.origin_id != origin_id
    assert mine.archive_id != theirs.archive_id
    assert (mine.room, mine.notice, mine.late) == (room, False, False)
    assert theirs.ts <= time.time()

    writes(True)
    await wait_until(lambda: [(sender.nick, on) for sender, on in ear.writing] == [("mohe", True)])
