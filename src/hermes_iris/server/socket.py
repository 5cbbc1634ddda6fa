"""One device's connection: `hello`, what it missed, then frames both ways until one side goes.

Invariants: nothing but `hello` is looked at before the device is known; a bad frame gets an `error` and the connection
goes on; a device that does not take its frames is dropped with 1013 and resumes.
"""

import asyncio
import logging
import sqlite3
import time
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace
from starlette.websockets import WebSocket, WebSocketDisconnect

from ..address import Lane
from ..commands import Commands, failure
from ..errors import Busy, InvalidFrame, IrisError, RateLimited, Unauthorized, Unsupported
from ..outbox import Outbox
from ..protocol import codec, deltas
from ..protocol.frames import Channel, Frame, Hello, HelloAck, LaneStatus, Policy, RequestCard, ServerInfo
from ..protocol.types import LEVEL, MAX_FRAME, MAX_TEXT, Seconds
from ..slices import Slices
from ..store import channels, devices, questions, reading
from .attempts import Attempts, Pace
from .deflate import Stream
from .transport import STALL, Line

logger = logging.getLogger(__name__)

HELLO_TIMEOUT: Seconds = 10.0
NOTE_LIMIT: Seconds = 0.5
"""How long a device that comes in waits until it is noted when it was here."""

TOGETHER = 500
"""Missed frames that are told in one go."""

CLOSE_LATER = 1013
CLOSE_NO_HELLO = 4400
CLOSE_UNAUTHORIZED = 4401

POLICY = Policy(max_frame=MAX_FRAME, max_text=MAX_TEXT, max_history=200, max_upload=0)
"""The limits; the largest file is a setting."""


class Wire(NamedTuple):
    """What the connections of a gateway share."""

    stream: Stream
    slices: Slices


class Socket:
    """A connection from its acceptance to its end."""

    def __init__(
        self,
        websocket: WebSocket,
        commands: Commands,
        attempts: Attempts,
        server: ServerInfo,
        wire: Wire,
        max_upload: int,
    ):
        self._websocket = websocket
        self._line = Line.of(websocket)
        self._commands = commands
        self._attempts = attempts
        self._server = server
        self._wire = wire
        self._policy = replace(POLICY, max_upload=max_upload)
        self._outbox = Outbox()
        self._pace = Pace()
        client = websocket.client
        self._address = client.host if client else "unknown"

    async def serve(self) -> None:
        """Serve the connection until it ends."""
        with suppress(WebSocketDisconnect):
            await self._websocket.accept()
            hello = await self._first_frame()
            if hello is None:
                return
            try:
                await self._welcome(hello)
                await self._run()
            finally:
                self._commands.leave(self._outbox)

    async def _first_frame(self) -> Hello | None:
        """The `hello` of a device that may come in; else the connection is closed with the reason."""
        try:
            self._attempts.check(self._address)
            async with asyncio.timeout(HELLO_TIMEOUT):
                frame = codec.decode_client(await self._receive())
            if not isinstance(frame, Hello):
                raise Unsupported("$.type must be hello: it is the first frame of a connection")
            await self._authenticate(frame)
        except TimeoutError:
            await self._websocket.close(CLOSE_NO_HELLO, "no hello came")
        except RateLimited as exc:
            await self._tell(codec.encode(failure(exc)))
            await self._websocket.close(CLOSE_LATER, exc.code)
        except Unauthorized as exc:
            await self._tell(codec.encode(failure(exc)))
            await self._websocket.close(CLOSE_UNAUTHORIZED, exc.code)
        except IrisError as exc:
            await self._tell(codec.encode(failure(exc)))
            await self._websocket.close(CLOSE_NO_HELLO, exc.code)
        else:
            return frame
        return None

    async def _authenticate(self, hello: Hello) -> None:
        if not hello.level.min <= LEVEL <= hello.level.max:
            raise Unsupported(f"$.level must contain {LEVEL}, the only level that this gateway speaks")
        store = self._commands.hub.store
        try:
            known = await store.read(lambda conn: devices.holder(conn, hello.token))
        except Unauthorized:
            self._attempts.failed(self._address)
            raise
        if known != hello.device.id:
            raise Unauthorized("$.device.id is not the device of this token; pair again with `iris pair`")
        with suppress(Busy, sqlite3.Error, TimeoutError):  # that it was here is worth a note, not its coming in
            async with asyncio.timeout(NOTE_LIMIT):
                await store.write(partial(devices.seen, device_id=known, now=time.time()))

    async def _welcome(self, hello: Hello) -> None:
        hub = self._commands.hub
        self._outbox.device_id = hello.device.id
        self._outbox.deltas = deltas.CAPABILITY in hello.capabilities
        # The stream is of those who are told the same; whole texts are another thing.
        self._line.follow(self._wire.stream if self._outbox.deltas else None)
        joined = await hub.join(self._outbox, hello.resume, _known)
        directory, statuses, requests = joined.snapshot
        for lane in joined.lanes:
            known = statuses.get(Lane(lane.chat_id, lane.thread_id), lane)
            statuses[Lane(lane.chat_id, lane.thread_id)] = replace(known, turn_id=lane.turn_id)
        ack = HelloAck(
            level=LEVEL,
            server=self._server,
            epoch=joined.position.epoch,
            seq=joined.position.seq,
            mode=joined.mode,
            directory=directory,
            lanes=list(statuses.values()),
            requests=requests,
            policy=self._policy,
            features=self._commands.herald.features,
        )
        await self._tell(codec.encode(ack))
        for start in range(0, len(joined.missed), TOGETHER):
            await self._tell(*joined.missed[start : start + TOGETHER])
        if joined.live:
            await self._tell(*joined.live)

    async def _run(self) -> None:
        """Read until one side ends it; what is to be written is written as it comes."""
        reading = asyncio.create_task(self._read(), name="iris-read")
        self._line.attach(self._outbox, self._wire.slices, self._commands.hub.gather, partial(_cancel, reading))
        try:
            await reading
        except asyncio.CancelledError:
            reading.cancel()
            if self._outbox.end is None:
                raise
        if self._outbox.end == "revoked":
            await self._websocket.close(CLOSE_UNAUTHORIZED, "revoked")
        elif self._outbox.end == "slow":
            logger.info("a device was too slow and is dropped")
            self._line.cut(STALL)
            await self._websocket.close(CLOSE_LATER, "too slow; resume")

    async def _read(self) -> None:
        while True:
            raw = ""
            try:
                raw = await self._receive()
                self._pace.take()
                answer: Frame = await self._commands.answer(codec.decode_client(raw), self._outbox)
            except (WebSocketDisconnect, asyncio.CancelledError):
                raise
            except Exception as exc:  # whatever a frame led to is that frame's answer; the connection goes on
                answer = failure(exc, codec.correlation(raw))
            self._outbox.put(await self._line.packet(codec.encode(answer)))

    async def _receive(self) -> str:
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message["code"], message.get("reason"))
        text = message.get("text")
        if not isinstance(text, str):
            raise InvalidFrame("a frame is a text message")
        return text

    async def _tell(self, *bodies: bytes) -> None:
        """Send frames before the outbox is open."""
        await self._line.tell(bodies)


def _known(conn: sqlite3.Connection) -> tuple[list[Channel], dict[Lane, LaneStatus], list[RequestCard]]:
    """What a device is told that begins anew."""
    return channels.directory(conn), reading.statuses(conn), questions.unanswered(conn)


def _cancel(task: "asyncio.Task[None]") -> None:
    task.cancel()
