"""The person's dealings with the gateway: what comes is put into the model, what they do is sent.

Invariants: nothing here waits for the screen; what the gateway refuses is told in one line, and a text that it refuses
is given back.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ..address import Lane
from ..client import Client, Closed, Refused, new_id
from ..errors import IrisError
from ..protocol.frames import (
    ChannelCreate,
    CommandsList,
    HelloAck,
    History,
    Hit,
    MessageSend,
    ReadMark,
    Reply,
    Request,
    RequestAnswer,
    RequestOpened,
    Search,
    SearchResults,
    SessionGet,
    SessionLines,
    SlashCommand,
    ToolData,
    ToolGet,
    TurnStop,
)
from ..protocol.types import ChannelKind, MessageId, Order
from ..reducer import lane_of
from .model import Model, Pending, Window, go, home, jumped, paged, starts_thread, take, to_read, waiting
from .text import sentence

R = TypeVar("R", bound=Reply)

PAGE = 40
"""Entries of a page of history."""


class Session:
    """One person at one gateway.

    `tell` gets what went wrong, `give_back` a text that was not taken, `asked` whatever
    is asked of the person; all three are called in the event loop.
    """

    def __init__(
        self,
        client: Client,
        place: Lane,
        tell: Callable[[str], None],
        give_back: Callable[[str], None],
        asked: Callable[[RequestOpened], None],
    ) -> None:
        self.model = Model(place=place)
        self.commands: list[SlashCommand] = []
        self.is_changed = True
        """Whether there is something that was not drawn yet."""

        self._client = client
        self._tell = tell
        self._give_back = give_back
        self._asked = asked
        self._tasks: set[asyncio.Task[None]] = set()
        self._loading: set[Lane] = set()
        self._stopping: set[Lane] = set()
        self._marked: dict[Lane, Order] = {}

    @property
    def is_connected(self) -> bool:
        """Whether the gateway can be reached now."""
        return self._client.is_connected

    async def follow(self) -> None:
        """Take in what comes, until the client is closed.

        Raises:
            Unauthorized: the device was revoked.
        """
        try:
            async for frame in self._client.frames():
                take(self.model, frame, time.monotonic())
                self.is_changed = True
                if isinstance(frame, HelloAck):
                    self._stopping.clear()
                    self._marked.clear()
                    self._start(self._learn_commands())
                elif isinstance(frame, RequestOpened):
                    self._asked(frame)
                self.load()
        except Closed:
            pass

    async def close(self) -> None:
        """Ask nothing any more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def would_lose(self) -> int:
        """How many messages the gateway does not have yet."""
        return len(waiting(self.model))

    def open(self, lane: Lane) -> None:
        """Go to a lane."""
        go(self.model, lane)
        self.load()
        self.is_changed = True

    def load(self) -> None:
        """Fetch the end of the open lane, if it is not known."""
        lane = self.model.place
        if lane not in self.model.tails and self.model.state.directory:
            self._page(lane)

    def load_older(self) -> None:
        """Fetch what comes before that which is shown."""
        window = self.model.window
        if window is not None and window.older:
            self._page(self.model.place, before=window.low)

    def load_newer(self) -> None:
        """After a jump: fetch what comes after that which is shown."""
        if self.model.excerpt is not None and self.model.excerpt.high is not None:
            self._page(self.model.place, after=self.model.excerpt.high)

    def to_end(self) -> None:
        """Leave the past."""
        self.open(self.model.place)

    def send(self, text: str, reply_to: MessageId | None = None) -> None:
        """Say something in the open lane."""
        lane = self.model.place
        request = MessageSend(
            client_id=new_id(),
            chat_id=lane.chat_id,
            thread_id=lane.thread_id,
            text=text,
            auto_thread=starts_thread(self.model, text),
            reply_to=reply_to,
        )
        self.model.pending[request.client_id] = Pending(request.client_id, lane, text, time.time())
        self.model.excerpt = None
        self.is_changed = True
        self._start(self._send(request))

    async def _send(self, request: MessageSend) -> None:
        try:
            accepted = await self._client.request(request)
        except IrisError as exc:
            self.model.pending.pop(request.client_id, None)
            self.is_changed = True
            if not isinstance(exc, Closed):
                self._give_back(request.text)
            raise
        take(self.model, accepted, time.monotonic())
        self.load()
        self.is_changed = True

    def stop(self) -> bool:
        """Interrupt what runs in the open lane; whether anything does."""
        lane = self.model.place
        if lane not in self.model.state.turns or lane in self._stopping:
            return False
        self._stopping.add(lane)
        self._start(self._stop(lane))
        return True

    async def _stop(self, lane: Lane) -> None:
        try:
            await self._client.request(TurnStop(client_id=new_id(), chat_id=lane.chat_id, thread_id=lane.thread_id))
        finally:
            self._stopping.discard(lane)

    def answer(self, request_id: str, choices: list[str], text: str | None = None, *, dismiss: bool = False) -> None:
        """Answer what is asked; the card is closed by the event that follows."""
        self._do(RequestAnswer(client_id=new_id(), request_id=request_id, choices=choices, text=text, dismiss=dismiss))

    def create(self, name: str, kind: ChannelKind) -> None:
        """Make a channel, or a thread under the default one, and go there."""
        parent = home(self.model).chat_id if kind == "thread" else None
        self._start(self._create(ChannelCreate(client_id=new_id(), name=name, kind=kind, parent_chat_id=parent)))

    async def _create(self, request: ChannelCreate) -> None:
        made = lane_of(await self._client.request(request))
        self.model.tails.setdefault(made, Window())
        self.open(made)

    def mark_read(self) -> None:
        """Tell the gateway that the end of the open lane was seen."""
        order, lane = to_read(self.model), self.model.place
        if order is None or self._marked.get(lane, 0) >= order or not self.is_connected:
            return
        self._marked[lane] = order
        self._do(ReadMark(client_id=new_id(), chat_id=lane.chat_id, thread_id=lane.thread_id, order=order))

    async def search(self, query: str) -> SearchResults:
        """Find what was said, anywhere. Raises as `Client.request`."""
        return await self._client.request(Search(client_id=new_id(), query=query, limit=50))

    async def read_session(self, hit: Hit) -> SessionLines:
        """Read a session of the host in which something was found. Raises as `Client.request`."""
        return await self._client.request(SessionGet(client_id=new_id(), session_id=hit.session_id or ""))

    async def tool(self, tool_call_id: str) -> ToolData:
        """All of a tool call. Raises as `Client.request`."""
        return await self._client.request(ToolGet(client_id=new_id(), tool_call_id=tool_call_id))

    def jump(self, lane: Lane, order: Order) -> None:
        """Go to a place of a lane."""
        self._start(self._jump(lane, order))

    async def _jump(self, lane: Lane, order: Order) -> None:
        page = await self._client.request(
            History(client_id=new_id(), chat_id=lane.chat_id, thread_id=lane.thread_id, around=order, limit=PAGE)
        )
        go(self.model, lane)
        jumped(self.model, page)
        self.is_changed = True

    def _page(self, lane: Lane, *, before: Order | None = None, after: Order | None = None) -> None:
        if lane not in self._loading:
            self._loading.add(lane)
            self._start(self._load(lane, before, after))

    async def _load(self, lane: Lane, before: Order | None, after: Order | None) -> None:
        window = self.model.window if lane == self.model.place else None
        try:
            request = History(
                client_id=new_id(),
                chat_id=lane.chat_id,
                thread_id=lane.thread_id,
                before=before,
                after=after,
                limit=PAGE,
            )
            page = await self._client.request(request)
        finally:
            self._loading.discard(lane)
        # What is shown may have changed meanwhile: a page that does not join it any more is of no use.
        now = self.model.window if lane == self.model.place else None
        if before is None and after is None:
            if lane not in self.model.tails:
                paged(self.model, page)
        elif now == window:
            paged(self.model, page, before=before, after=after)
        self.is_changed = True

    async def _learn_commands(self) -> None:
        self.commands = (await self._client.request(CommandsList(client_id=new_id()))).commands

    def _do(self, request: Request[Any]) -> None:
        async def ask() -> None:
            await self._client.request(request)

        self._start(ask())

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(self._told(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _told(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Closed:
            pass
        except Refused as exc:
            self._tell(sentence(exc.failure.message))
        except IrisError as exc:
            self._tell(sentence(str(exc)))
