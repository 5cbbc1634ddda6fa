"""The Python client: typed requests, live frames, resume on reconnect.

::

    async with Client(url, device, token) as client:
        accepted = await client.request(MessageSend(client_id=new_id(), chat_id="android:default", text="Hello"))
        async for frame in client.frames():
            ...

Invariants: every event is yielded once and in order, across any number of connections; a request whose answer was lost
with a connection is sent again with the same `client_id`, which the gateway answers with the first result.
"""

import asyncio
import json
import logging
import ssl
import urllib.error
import urllib.request
import uuid
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from . import transfer
from .errors import IrisError, Unauthorized
from .protocol import codec, deltas
from .protocol.frames import (
    Attachment,
    DeviceInfo,
    Event,
    Failure,
    Hello,
    HelloAck,
    LevelRange,
    MessageStart,
    MessageStop,
    MessageUpdate,
    Position,
    Reply,
    Request,
    ServerFrame,
)
from .protocol.types import LEVEL, MAX_FRAME, ClientId, DeviceKind, MediaId, MessageId, Seconds

logger = logging.getLogger(__name__)

_quiet = logging.getLogger(f"{__name__}.frames")
_quiet.setLevel(logging.INFO)  # below, the library logs frames, and with the first one the token

R = TypeVar("R", bound=Reply)

MAX_WAITING = 10_000
"""Frames that wait for a slow reader before the socket is no longer read."""

CONNECT_TIMEOUT: Seconds = 10.0

HEARTBEAT: Seconds = 20.0
"""Between two pings, and at most between a ping and its answer."""

PAUSE: Seconds = 5.0
"""After a connection that was refused."""


class Refused(IrisError):
    """The gateway refused a request; `failure` is its `error` frame."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.code}: {failure.message}")
        self.failure = failure


class Closed(IrisError):
    """The client was closed before the answer came; another one may ask again with the same `client_id`."""


def new_id() -> ClientId:
    """A fresh `client_id`."""
    return str(uuid.uuid4())


async def pair(
    url: str, code: str, name: str, kind: DeviceKind, tls: ssl.SSLContext | None = None
) -> tuple[DeviceInfo, str]:
    """Exchange a pairing code for a device and its token. `tls`: as for `Client`.

    Raises:
        Unauthorized: the code is wrong, used or too old.
        OSError: the gateway cannot be reached.
    """
    body = json.dumps({"code": code, "name": name, "kind": kind}).encode()
    request = urllib.request.Request(  # noqa: S310 - the address is the person's own gateway
        f"{url}/pair", body, {"content-type": "application/json"}
    )

    def post() -> dict[str, str]:
        try:
            with urllib.request.urlopen(request, timeout=CONNECT_TIMEOUT, context=tls) as answer:  # noqa: S310 - as above
                return dict(json.load(answer))
        except urllib.error.HTTPError as exc:
            with exc:
                raise Unauthorized(str(json.load(exc).get("message"))) from exc

    paired = await asyncio.to_thread(post)
    return DeviceInfo(id=paired["device_id"], name=name, kind=kind), paired["token"]


class Client:
    """A device's view of a gateway.

    `url` is the gateway's base address, e.g. `http://127.0.0.1:8765`. `tls` says whom to trust under `https`;
    by default the authorities that this machine trusts.
    """

    def __init__(
        self,
        url: str,
        device: DeviceInfo,
        token: str,
        resume: Position | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.position = resume
        """How far `frames` has given the event log out; hand it to the next client to go on there."""

        self.greeting: HelloAck | None = None
        """The last `hello.ack`."""

        self._url = url.rstrip("/")
        self._address = url.replace("http", "ws", 1).rstrip("/") + "/ws"
        self._connect = partial(
            connect,
            self._address,
            ssl=tls,
            max_size=None,
            ping_interval=HEARTBEAT,
            ping_timeout=HEARTBEAT,
            logger=_quiet,
            process_exception=_retry,
        )
        self._tls = tls
        self._device = device
        self._token = token
        self._received = resume
        self._frames: asyncio.Queue[ServerFrame | IrisError] = asyncio.Queue(MAX_WAITING)
        self._texts: dict[MessageId, str] = {}
        """What the bubbles say that stream."""

        self._asked: dict[str, tuple[Request[Reply], asyncio.Future[Reply]]] = {}
        self._connection: ClientConnection | None = None
        self._greeted = asyncio.Event()
        self._over: IrisError | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Connect.

        Raises:
            Unauthorized: the token is not (any longer) that of a device.
            OSError, TimeoutError: the gateway cannot be reached.
        """
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                first = await self._connect()
        except (InvalidHandshake, EOFError) as exc:
            raise ConnectionError(f"no gateway answers at {self._address}: {exc}") from exc
        self._task = asyncio.create_task(self._run(first), name="iris-client")
        greeted = asyncio.create_task(self._greeted.wait())
        try:
            await asyncio.wait([greeted, self._task], return_when=asyncio.FIRST_COMPLETED)
            if self._task.done():
                self._task.result()
        except BaseException:  # also when it is cancelled: nobody else would close it
            await self._close()
            raise
        finally:
            greeted.cancel()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Disconnect. Whoever still waits for an answer or a frame gets `Closed`."""
        await self._close()

    async def _close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._end(Closed("the client was closed"))

    def _end(self, exc: IrisError) -> None:
        """Nothing more comes: tell everybody who waits."""
        self._over = self._over or exc
        for _, future in self._asked.values():
            if not future.done():
                future.set_exception(exc)
        if self._frames.empty():
            self._frames.put_nowait(exc)

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection now; without one, requests wait for the next."""
        return self._connection is not None

    async def upload(self, path: Path) -> Attachment:
        """Send a file, for the `attachments` of a message. Raises as `transfer.upload`."""
        limit = self.greeting.policy.max_upload if self.greeting else 0
        return await asyncio.to_thread(transfer.upload, self._url, self._token, path, limit, self._tls)

    async def download(self, media_id: MediaId, path: Path) -> None:
        """Fetch a file of a message. Raises as `transfer.download`."""
        await asyncio.to_thread(transfer.download, self._url, self._token, media_id, path, self._tls)

    async def request(self, request: Request[R]) -> R:
        """Send a request and wait for its answer, over as many connections as it takes.

        Raises:
            Refused: the gateway answered with an `error`.
            Unauthorized: the device was revoked meanwhile.
            Closed: the client was closed meanwhile.
        """
        if self._over is not None:
            raise self._over
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._asked[request.client_id] = (request, future)  # type: ignore[assignment]  # R is bound to Reply
        try:
            await self._send(request)
            return await future  # type: ignore[return-value]  # an answer has the type that its request names
        finally:
            self._asked.pop(request.client_id, None)

    async def frames(self) -> AsyncIterator[ServerFrame]:
        """Everything that is no answer, in order: events once each, ephemerals, and `hello.ack` at each connection.

        A `message.update` has the whole text, whatever piece of it travelled.

        Raises:
            Unauthorized: the device was revoked.
            Closed: the client was closed.
        """
        while True:
            if self._over is not None and self._frames.empty():
                raise self._over
            frame = await self._frames.get()
            if isinstance(frame, IrisError):
                raise frame
            self.position = _after(self.position, frame)
            yield frame

    async def _run(self, connection: ClientConnection) -> None:
        try:
            await self._serve(connection)
            # The library's iterator reconnects with exponential back-off and jitter.
            async for again in self._connect():
                if await self._serve(again):
                    await asyncio.sleep(PAUSE)
        except (Unauthorized, Refused) as exc:
            self._end(exc)
            if not self._greeted.is_set():
                raise

    async def _serve(self, connection: ClientConnection) -> bool:
        """Serve one connection; whether it was refused for now. Raises when another one would be of no use."""
        refused = False
        try:
            async with connection:
                with suppress(ConnectionClosed):  # then the reason stands in what it has sent
                    await connection.send(codec.encode(self._hello()).decode())
                async for raw in connection:
                    try:
                        frame = codec.decode_server(raw)
                    except IrisError as exc:
                        logger.warning("a frame was not understood: %s", exc)
                        continue
                    refused = isinstance(frame, Failure) and self._connection is None
                    if not await self._take_in(frame, connection):
                        break
        except ConnectionClosed:
            pass
        finally:
            self._connection = None
        return refused

    def _hello(self) -> Hello:
        return Hello(
            level=LevelRange(min=LEVEL, max=LEVEL),
            device=self._device,
            token=self._token,
            capabilities=[deltas.CAPABILITY],
            resume=self._received,
        )

    async def _take_in(self, frame: ServerFrame, connection: ClientConnection) -> bool:
        """Take one frame in; False when the connection is to be made anew, because an event is missing."""
        if isinstance(frame, HelloAck):
            await self._welcomed(frame, connection)
        elif isinstance(frame, Reply | Failure) and frame.client_id in self._asked:
            self._answered(frame)
            return True
        elif isinstance(frame, Failure) and frame.code == "unauthorized":
            raise Unauthorized(frame.message)
        elif (
            isinstance(frame, Failure) and self._connection is None and not (frame.retryable and self._greeted.is_set())
        ):
            raise Refused(frame)
        elif isinstance(frame, Event) and self._received is not None:
            if frame.seq <= self._received.seq:
                return True
            if frame.seq > self._received.seq + 1:
                return False
        self._received = _after(self._received, frame)
        whole = self._whole(frame)
        if whole is not None:
            await self._frames.put(whole)
        return True

    def _whole(self, frame: ServerFrame) -> ServerFrame | None:
        """A frame with the whole text in place of a piece; None when the text before it is not known."""
        match frame:
            case HelloAck():
                self._texts.clear()
            case MessageStart():
                self._texts.setdefault(frame.message_id, "")
            case MessageStop():
                self._texts.pop(frame.message_id, None)
            case MessageUpdate():
                text = deltas.applied(self._texts.get(frame.message_id), frame)
                if text is None:
                    return None
                self._texts[frame.message_id] = text
                return MessageUpdate(message_id=frame.message_id, text=text)
            case _:
                pass
        return frame

    async def _welcomed(self, ack: HelloAck, connection: ClientConnection) -> None:
        self.greeting = ack
        self._connection = connection
        self._greeted.set()
        for request, future in list(self._asked.values()):
            if not future.done():
                await self._send(request)

    def _answered(self, frame: Reply | Failure) -> None:
        _, future = self._asked[str(frame.client_id)]
        if future.done():
            return
        if isinstance(frame, Failure):
            future.set_exception(Refused(frame))
        else:
            future.set_result(frame)

    async def _send(self, request: Request[R]) -> None:
        """Send if there is a connection; else the request goes out with the next one."""
        body = codec.encode(request)
        if len(body) > MAX_FRAME:
            raise IrisError(f"a frame has at most {MAX_FRAME} bytes")
        if self._connection is not None:
            try:
                await self._connection.send(body.decode())
            except ConnectionClosed:
                self._connection = None


def _after(position: Position | None, frame: ServerFrame) -> Position | None:
    """Where the log is read up to with one frame more."""
    match frame:
        case HelloAck(mode="reset", epoch=epoch, seq=seq):
            return Position(epoch=epoch, seq=seq)
        case Event(seq=seq) if position is not None:
            return Position(epoch=position.epoch, seq=seq)
        case _:
            return position


def _retry(exc: Exception) -> Exception | None:
    """Any failure to connect is tried again: the gateway may be restarting behind a proxy that answers for it."""
    return None if isinstance(exc, OSError | TimeoutError | InvalidHandshake | EOFError) else exc
