"""A device of the day: it says and changes things over a bad connection, and keeps on its screen what comes back.

Invariants: a request is asked again, by the same `client_id`, until it is answered, also after the device itself was
restarted; the screen is made from the frames alone.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace
from websockets.exceptions import WebSocketException

from hermes_iris.client import Client, Refused, new_id
from hermes_iris.errors import IrisError
from hermes_iris.protocol.frames import (
    ChannelCreate,
    ChannelDelete,
    ChannelRename,
    ChannelRestore,
    ChannelSetDefault,
    ChannelSetThreads,
    Hello,
    HelloAck,
    History,
    MessageSend,
    Position,
    ReadMark,
    Reply,
    Request,
    ServerFrame,
    TurnStop,
)
from hermes_iris.reducer import lane_of
from support import CHAT, Screen

EXPECTED = {"conflict", "not_found", "unsupported", "too_large"}
"""Refusals that are right: two devices may change the same channel at once."""

LATER = {"busy", "rate_limited"}

PAGE = 50

Connect = Callable[[Position | None], Client]


class PlainClient(Client):
    """A client that has none of the optional features."""

    def _hello(self) -> Hello:
        return replace(super()._hello(), capabilities=[])


@dataclass
class Answered:
    """A request and what came of it."""

    request: Request[Any]
    answer: Reply | Refused


@dataclass
class Phone:
    """One device. `run` keeps it connected, `act` does what a person does; both end by being cancelled or told."""

    name: str
    connect: Connect
    chance: random.Random
    haste: float = 0.0
    say: Callable[[str], str] = str
    """Makes the text of a message out of its number, for the host that will answer it."""

    answered: list[Answered] = field(default_factory=list)
    received: list[tuple[str, int, ServerFrame]] = field(default_factory=list)
    """Every event with its epoch and number, in the order in which it came."""

    screen: Screen = field(default_factory=Screen)
    restarts: int = 0
    loads: int = 0
    """How often it was given everything anew."""

    over: bool = False
    _whole: bool = False
    """Whether the history on the screen has no holes: else there is nothing to go on from."""

    _client: Client | None = None
    _connected: asyncio.Event = field(default_factory=asyncio.Event)
    _restart: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Be there, over as many connections and restarts as it takes."""
        resume: Position | None = None
        while True:
            self._restart.clear()
            try:
                async with self.connect(resume) as client:
                    self._client = client
                    self._connected.set()
                    await self._follow(client)
            except (OSError, TimeoutError, WebSocketException, EOFError):
                await asyncio.sleep(0.05)
            finally:
                self._connected.clear()
            resume = self._place()

    def restart(self) -> None:
        """Lose all that is in flight, as an app that is killed does."""
        self.restarts += 1
        self._restart.set()

    async def act(self) -> None:
        """Do things until the day is over."""
        number = 0
        while not self.over:
            await asyncio.sleep(self.chance.expovariate(self.haste))
            number += 1
            await self._deed(number)

    async def ask(self, request: Request[Any]) -> Reply | Refused:
        """Ask until there is an answer that is final."""
        while True:
            await self._connected.wait()
            client = self._client
            assert client is not None
            try:
                answer: Reply | Refused = await client.request(request)
            except Refused as exc:
                if exc.failure.code in LATER:
                    await asyncio.sleep(0.1)
                    continue
                if exc.failure.code not in EXPECTED:
                    raise
                answer = exc
            except IrisError:  # the device was restarted
                await asyncio.sleep(0)
                continue
            self.answered.append(Answered(request, answer))
            return answer

    # -- what comes

    def _place(self) -> Position | None:
        place = self.screen.state.position
        if not self._whole or self.chance.random() < 0.1:  # it has lost its memory
            return None
        return place

    async def _follow(self, client: Client) -> None:
        following = asyncio.create_task(self._show(client))
        restarting = asyncio.create_task(self._restart.wait())
        try:
            await asyncio.wait([following, restarting], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (following, restarting):
                task.cancel()
            await asyncio.gather(restarting, return_exceptions=True)
        with suppress(asyncio.CancelledError):
            await following  # what the screen could not make sense of is the day's failure

    async def _show(self, client: Client) -> None:
        async for frame in client.frames():
            before = self.screen.state.position
            self.screen.feed(frame)
            after = self.screen.state.position
            if isinstance(frame, HelloAck):
                if frame.mode == "reset":
                    await self._load(client)
            elif after != before:
                self.received.append((after.epoch, after.seq, frame))
            self.screen.frames.clear()

    async def _load(self, client: Client) -> None:
        """All of the history, page by page; what comes meanwhile waits, and is applied after it."""
        self._whole = False
        for lane in list(self.screen.state.directory):
            before, more = None, True
            while more:
                page = await client.request(
                    History(
                        client_id=new_id(), chat_id=lane.chat_id, thread_id=lane.thread_id, before=before, limit=PAGE
                    )
                )
                self.screen.feed(page)
                before, more = (page.entries[0].order if page.entries else None), page.has_more
        self._whole = True
        self.loads += 1

    # -- what is done

    async def _deed(self, number: int) -> None:
        deeds: list[tuple[int, Callable[[int], Awaitable[Any]]]] = [
            (50, self._say),
            (6, self._say_twice),
            (5, self._reply),
            (10, self._read),
            (4, self._new_channel),
            (5, self._new_thread),
            (7, self._rename),
            (3, self._delete),
            (3, self._restore),
            (3, self._switch),
            (2, self._stop),
        ]
        (deed,) = self.chance.choices([deed for _, deed in deeds], [weight for weight, _ in deeds])
        await deed(number)

    def _lane(self, *, archived: bool = False, only_channels: bool = False) -> dict[str, Any]:
        """Where something is done: a lane as it is on the screen, which may be out of date."""
        lanes = [
            {"chat_id": entry.chat_id, "thread_id": entry.thread_id}
            for entry in self.screen.state.directory.values()
            if entry.archived == archived and not (only_channels and entry.thread_id)
        ]
        return self.chance.choice(lanes) if lanes else {"chat_id": CHAT, "thread_id": None}

    def _text(self, number: int) -> str:
        return self.say(f"{self.name} {number}")

    async def _say(self, number: int) -> None:
        auto = self.chance.random() < 0.3
        await self.ask(MessageSend(client_id=new_id(), **self._lane(), text=self._text(number), auto_thread=auto))

    async def _say_twice(self, number: int) -> None:
        """Ask again what was answered already: a blind replay of an app that lost its memory of the answer."""
        request = MessageSend(client_id=new_id(), **self._lane(), text=self._text(number), auto_thread=True)
        first = await self.ask(request)
        again = await self.ask(request)
        assert isinstance(first, Refused) or first == again

    async def _reply(self, number: int) -> None:
        """Answer the newest report on the screen, which opens a thread."""
        entries = self.screen.state.entries
        reports = [key for key, entry in entries.items() if getattr(entry, "role", None) == "cron"]
        if not reports:
            return
        newest = max(reports, key=lambda key: entries[key].order)
        lane = lane_of(entries[newest])._asdict()
        await self.ask(MessageSend(client_id=new_id(), **lane, text=self._text(number), reply_to=newest))

    async def _read(self, _: int) -> None:
        entries = list(self.screen.state.entries.values())
        if entries:
            last = self.chance.choice(entries[-20:])
            await self.ask(ReadMark(client_id=new_id(), **lane_of(last)._asdict(), order=last.order))

    async def _new_channel(self, number: int) -> None:
        await self.ask(ChannelCreate(client_id=new_id(), name=f"Channel {self.name} {number}"))

    async def _new_thread(self, number: int) -> None:
        name = f"Thread {self.name} {number}"
        await self.ask(ChannelCreate(client_id=new_id(), name=name, kind="thread", parent_chat_id=CHAT))

    async def _rename(self, number: int) -> None:
        await self.ask(ChannelRename(client_id=new_id(), **self._lane(), name=f"Name {self.name} {number}"))

    async def _delete(self, _: int) -> None:
        await self.ask(ChannelDelete(client_id=new_id(), **self._lane()))

    async def _restore(self, _: int) -> None:
        await self.ask(ChannelRestore(client_id=new_id(), **self._lane(archived=True)))

    async def _switch(self, _: int) -> None:
        chat_id = self._lane(only_channels=True)["chat_id"]
        if self.chance.random() < 0.3:
            await self.ask(ChannelSetDefault(client_id=new_id(), chat_id=chat_id))
        else:
            await self.ask(ChannelSetThreads(client_id=new_id(), chat_id=chat_id, on=self.chance.random() < 0.7))

    async def _stop(self, _: int) -> None:
        await self.ask(TurnStop(client_id=new_id(), **self._lane()))
