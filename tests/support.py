"""What tests of the store, the hub, the server and the host share.

`gateway` runs a whole service with a host that only takes notes; `Wire` is a connection to it, frame by frame;
`Screen` is a client without a socket, by the product's own reducer.
"""

import asyncio
import sqlite3
import ssl
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosedError

from hermes_iris import tls
from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.client import Client
from hermes_iris.clock import Clock
from hermes_iris.commands import Commands
from hermes_iris.config import Home, Settings
from hermes_iris.courier import Courier
from hermes_iris.desk import Desk
from hermes_iris.endpoints import Endpoint
from hermes_iris.errors import NotFound
from hermes_iris.host import Context, Host, HostSession
from hermes_iris.hub import Hub
from hermes_iris.invitations import Invitations
from hermes_iris.jobs import HostJob
from hermes_iris.joining import Joined
from hermes_iris.meeting.rooms import Plan, Rooms
from hermes_iris.outbox import Outbox
from hermes_iris.protocol.frames import (
    Channel,
    DeviceInfo,
    Frame,
    HelloAck,
    HistoryPage,
    Hit,
    Message,
    Position,
    ServerFrame,
    SlashCommand,
)
from hermes_iris.protocol.types import Role, SessionId
from hermes_iris.push.herald import Herald
from hermes_iris.reducer import Bubble, State, apply, is_word, lane_of
from hermes_iris.server.socket import POLICY
from hermes_iris.service import Service
from hermes_iris.store import Store, channels, devices, log, messages
from hermes_iris.watcher import Watcher

LIMIT = 10.0
"""Seconds that a test waits for anything before it fails."""

CHAT = DEFAULT_LANE.chat_id


async def wait_until(condition: Callable[[], object], limit: float = LIMIT) -> None:
    """Wait until a condition holds; `TimeoutError` when it does not within the limit."""
    async with asyncio.timeout(limit):
        while not condition():  # noqa: ASYNC110 - what is waited for need not know that a test waits
            await asyncio.sleep(0.005)


def new_id() -> str:
    return str(uuid.uuid4())


def ack(position: Position, mode: str, lanes: Iterable[Any] = (), directory: Iterable[Channel] = ()) -> dict[str, Any]:
    """A `hello.ack` as the server would make it, for tests without a server."""
    greeting = HelloAck(
        level=1,
        server={"name": "", "version": "", "host_version": ""},  # type: ignore[arg-type]  # not looked at
        epoch=position.epoch,
        seq=position.seq,
        mode=mode,  # type: ignore[arg-type]
        directory=list(directory),
        lanes=list(lanes),
        policy=POLICY,
        features=[],
    )
    return dict(msgspec.to_builtins(greeting))


# ---------------------------------------------------------------- a gateway with a host that takes notes


@dataclass
class FakeHost:
    """Takes people's messages and their wish to stop."""

    delivered: list[Message] = field(default_factory=list)
    stopped: list[Lane] = field(default_factory=list)

    held: asyncio.Event | None = None
    """While it is there and not set, a delivery has begun but does not end."""

    failures: list[BaseException] = field(default_factory=list)
    """What the next deliveries raise, before they take anything."""

    elsewhere: list[Hit] = field(default_factory=list)
    """What every search finds in sessions that are no lanes."""

    searched: list[tuple[tuple[str, ...], Role | None, int]] = field(default_factory=list)
    sessions: dict[SessionId, HostSession] = field(default_factory=dict)

    async def deliver(self, message: Message, channel: Channel, context: Context) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.delivered.append(message)
        if self.held is not None:
            await self.held.wait()

    async def stop(self, lane: Lane) -> None:
        self.stopped.append(lane)

    async def title(self, lane: Lane) -> str | None:
        return None

    async def jobs(self) -> list[HostJob]:
        return []

    async def set_target(self, job_id: str, target: str) -> None:
        raise NotFound("there is no such job")

    async def directory_changed(self, directory: Sequence[Channel]) -> None:
        pass

    async def search(self, needles: Sequence[str], role: Role | None, limit: int) -> list[Hit]:
        self.searched.append((tuple(needles), role, limit))
        return self.elsewhere[:limit]

    async def session(self, session_id: SessionId) -> HostSession:
        if session_id not in self.sessions:
            raise NotFound("$.session_id names no session of the host")
        return self.sessions[session_id]

    async def slash_commands(self) -> list[SlashCommand]:
        return [SlashCommand(name="new", description="Start anew.", args="[name]", aliases=["reset"])]

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.delivered]


@dataclass(frozen=True)
class Device:
    """A paired device and its token."""

    info: DeviceInfo
    token: str

    def hello(self, resume: Position | tuple[str, int] | None = None, **more: Any) -> dict[str, Any]:
        """Its first frame."""
        place = {} if resume is None else {"resume": _place(resume)}
        device = msgspec.to_builtins(self.info)
        return {"type": "hello", "level": {"min": 1, "max": 1}, "device": device, "token": self.token, **place, **more}


def _place(position: Position | tuple[str, int]) -> dict[str, Any]:
    epoch, seq = position if isinstance(position, tuple) else (position.epoch, position.seq)
    return {"epoch": epoch, "seq": seq}


class Wire:
    """One connection, frame by frame; `seen` is everything that came."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.seen: list[dict[str, Any]] = []

    async def send(self, frame: dict[str, Any] | str | bytes) -> None:
        await self.connection.send(msgspec.json.encode(frame).decode() if isinstance(frame, dict) else frame)

    async def receive(self) -> dict[str, Any]:
        """The next frame."""
        async with asyncio.timeout(LIMIT):
            frame: dict[str, Any] = msgspec.json.decode(await self.connection.recv())
        self.seen.append(frame)
        return frame

    async def until(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The next frame of a type, with these fields; what comes before it is only noted."""
        while True:
            frame = await self.receive()
            if frame["type"] == kind and all(frame.get(name) == value for name, value in fields.items()):
                return frame

    async def ask(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """Send a request and take its one answer."""
        request = {"type": kind, "client_id": new_id(), **fields}
        await self.send(request)
        while True:
            frame = await self.receive()
            if frame.get("client_id") == request["client_id"] and frame["type"] != "message":
                return frame

    async def say(self, text: str, /, **fields: Any) -> dict[str, Any]:
        """Send a message to the default channel, or another one."""
        return await self.ask("message.send", **{"chat_id": CHAT, "text": text, **fields})

    async def settle(self) -> list[dict[str, Any]]:
        """Everything that the gateway has sent up to now."""
        await self.send({"type": "ping"})
        await self.until("pong")
        return self.seen

    async def closed(self) -> int | None:
        """Read up to the end; the code with which the gateway closed."""
        with suppress(ConnectionClosedError):
            async with asyncio.timeout(LIMIT):
                async for raw in self.connection:
                    self.seen.append(msgspec.json.decode(raw))
        return self.connection.close_code


@dataclass(frozen=True)
class Gateway:
    """A running service, its host and its home."""

    service: Service
    host: Any
    home: Home

    @property
    def url(self) -> str:
        return self.service.listener.url

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    async def pair(self, name: str = "Test") -> Device:
        """A new device."""
        paired = await self.service.store.write(lambda conn: devices.add(conn, name, "script", 0.0))
        return Device(DeviceInfo(id=paired.device_id, name=name, kind="script"), paired.token)

    async def code(self, ttl: float = 60.0) -> str:
        """A new pairing code."""
        now = self.service.hub.clock.now().ts
        return await self.service.store.write(lambda conn: devices.new_code(conn, now, ttl))

    def client(self, device: Device, resume: Position | None = None) -> Client:
        """The Python client for a device."""
        return Client(self.url, device.info, device.token, resume, self.trusting)

    @property
    def trusting(self) -> ssl.SSLContext | None:
        """What the command line trusts, by the endpoint file."""
        return tls.trusting(msgspec.json.decode(self.home.endpoint.read_bytes(), type=Endpoint).certificate)

    @asynccontextmanager
    async def open(self, **options: Any) -> AsyncIterator[Wire]:
        """A connection that has said nothing yet."""
        address = self.url.replace("http", "ws", 1) + "/ws"
        async with connect(address, max_size=None, proxy=None, ssl=self.trusting, **options) as connection:
            yield Wire(connection)

    @asynccontextmanager
    async def wire(
        self, device: Device | None = None, resume: Any = None, *, capabilities: Sequence[str] = (), **options: Any
    ) -> AsyncIterator[Wire]:
        """A connection of a device (a new one if none is given) that was greeted: `seen[0]` is the `hello.ack`."""
        known = device or await self.pair()
        async with self.open(**options) as wire:
            await wire.send(known.hello(resume, capabilities=list(capabilities)))
            await wire.until("hello.ack")
            yield wire


@asynccontextmanager
async def gateway(root: Path, host: Host | None = None, port: int = 0, **settings: Any) -> AsyncIterator[Gateway]:
    """Run a service on the Hermes home `root`, on a free port unless one is given."""
    known: Any = FakeHost() if host is None else host
    service = await Service.start(Home(root), Settings(port=port, **settings), known, "0.0.0")
    try:
        yield Gateway(service, known, Home(root))
    finally:
        await service.stop()


# ---------------------------------------------------------------- clients without a socket


class Screen:
    """A client that keeps its state up to date; `feed` takes whole frames or their text."""

    def __init__(self) -> None:
        self.state = State()
        self.frames: list[dict[str, Any]] = []

    def feed(self, frame: dict[str, Any] | bytes | Frame) -> Self:
        told = msgspec.json.decode(frame) if isinstance(frame, bytes) else frame
        told = dict(msgspec.to_builtins(told))
        self.frames.append(told)
        apply(self.state, msgspec.convert(told, ServerFrame))
        return self

    def feed_all(self, outbox: Outbox) -> Self:
        """Take in what waits in an outbox."""
        for packet in outbox.take():
            self.feed(packet.body)
        return self

    @property
    def events(self) -> list[int]:
        """The numbers of the events that came, in order."""
        return [frame["seq"] for frame in self.frames if "seq" in frame and frame["type"] not in NOT_EVENTS]


def shown(state: State) -> dict[str, Any]:
    """What the person sees, for comparing two clients: all but what depends on when they came."""
    return {name: getattr(state, name) for name in ("directory", "entries", "read", "rooms", "turns", "typing")}


def texts(state: State) -> list[str]:
    """The texts of the messages, in the order in which they stand in the log."""
    entries = sorted(state.entries.values(), key=lambda entry: entry.order)
    return [entry.text for entry in entries if isinstance(entry, Message | Bubble)]


def unread(state: State) -> dict[Lane, int]:
    """How many answers and reports of each lane come after what was read of it, counted anew."""
    words = [lane_of(e) for e in state.entries.values() if is_word(e) and e.order > state.read.get(lane_of(e), 0)]
    return {lane: words.count(lane) for lane in words}


class Seat(Screen):
    """A device at a hub, without a socket between them."""

    def __init__(self, hub: Hub, *, deltas: bool = False) -> None:
        super().__init__()
        self.hub = hub
        self.deltas = deltas
        self.outbox = Outbox()

    async def join(self, resume: Position | None = None) -> Joined:
        """Join as a connection does: the greeting, what was missed, what is live; after a reset all of the history."""
        self.outbox = Outbox()
        self.outbox.deltas = self.deltas
        joined = await self.hub.join(self.outbox, resume, channels.directory)
        self.feed(ack(joined.position, joined.mode, msgspec.to_builtins(joined.lanes), joined.snapshot))
        for body in (*joined.missed, *joined.live):
            self.feed(body)
        if joined.mode == "reset":
            for page in await self.hub.store.read(_everything):
                self.feed(page)
        return joined

    async def again(self) -> Joined:
        """Lose the connection with all that waited for it, and come back."""
        self.hub.leave(self.outbox)
        return await self.join(self.state.position)

    async def settle(self) -> Self:
        """Take in everything that the hub has brought forth up to now."""
        await self.hub.drain()
        return await self.take()

    async def take(self) -> Self:
        """Take in what waits in the outbox."""
        return self.feed_all(self.outbox)

    @property
    def kinds(self) -> list[str]:
        """The types of the frames that came, but for the greeting, history and `pong`."""
        return [frame["type"] for frame in self.frames if frame["type"] not in ("hello.ack", "history", "pong")]


def _everything(conn: sqlite3.Connection) -> list[HistoryPage]:
    """The whole history of every lane that has one, page by page."""
    lanes = {Lane(row[0], row[1] or None) for row in conn.execute(_LANES)}
    return [page for lane in lanes for page in _pages(conn, lane)]


_LANES = "SELECT chat_id, thread_id FROM messages UNION SELECT chat_id, thread_id FROM tool_calls"


def _pages(conn: sqlite3.Connection, lane: Lane, limit: int = 3) -> Iterator[HistoryPage]:
    before, has_more = None, True
    while has_more:
        entries, has_more, _ = messages.history(conn, lane, limit, before=before)
        before = entries[0].order if entries else None
        yield HistoryPage(
            client_id=new_id(), chat_id=lane.chat_id, thread_id=lane.thread_id, entries=entries, has_more=has_more
        )


@asynccontextmanager
async def hub(path: Path, log_events: int = 20_000) -> AsyncIterator[Hub]:
    """A hub on a database of its own, with the default channel."""
    store = await asyncio.to_thread(Store, path)
    try:
        await store.write(lambda conn: channels.ensure_default(conn, 0.0))
        yield Hub(store, Clock(), await store.write(log.position), log_events)
    finally:
        await asyncio.to_thread(store.close)


@asynccontextmanager
async def courier(store: Store, host: Host) -> AsyncIterator[Courier]:
    """What gives the messages of a store to a host, as a service would."""
    running = Courier(store, host)
    running.start()
    try:
        yield running
    finally:
        await running.stop()


@asynccontextmanager
async def answers(middle: Hub, host: Host, rooms: Rooms | None = None) -> AsyncIterator[Commands]:
    """The commands of a hub, and what works beside them."""
    async with courier(middle.store, host) as delivering:
        watching = Watcher(middle, host)
        try:
            desk = Desk(middle)
            joined = rooms or await Rooms.open(middle, Plan())
            herald, invitations = Herald(middle, None, "not here"), Invitations(middle.store, Settings())
            yield Commands(middle, host, delivering, watching, joined, desk, herald, invitations)
            await desk.stop()
        finally:
            await watching.stop()


async def handed(store: Store) -> None:
    """Wait until the host has taken every message."""
    async with asyncio.timeout(LIMIT):
        while await store.read(messages.waiting):  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.005)


def wait_for_commit(path: Path, seq: int) -> None:
    """Wait until an event is in the file, without giving way to the event loop, which has not heard of it then."""
    deadline = time.monotonic() + LIMIT
    conn = sqlite3.connect(path)
    while conn.execute("SELECT COALESCE(MAX(seq), 0) FROM events").fetchone()[0] < seq:
        assert time.monotonic() < deadline, "it was not committed"
    conn.close()


class Held:
    """Keeps a store's writer busy until it is released, so that what follows waits, and then shares one commit."""

    def __init__(self, store: Store) -> None:
        self._begun, self._released = threading.Event(), threading.Event()
        self.future = store.submit(self._wait)
        assert self._begun.wait(LIMIT)

    def _wait(self, conn: sqlite3.Connection) -> None:
        self._begun.set()
        assert self._released.wait(LIMIT)

    def release(self) -> None:
        self._released.set()


NOT_EVENTS = ("hello.ack", "message.accepted")
