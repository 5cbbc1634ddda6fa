"""The seam between the socket and the network: uvicorn's WebSocket, with a way in for messages that are made already.

Invariants: every text goes out through here and not through the application's `send`, so that what is compressed stays
in step; nothing is written after the closing began; a peer that takes nothing is cut off in the end.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from starlette.websockets import WebSocket
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request

from ..audience import MAX_WRITE, Way, joined
from ..outbox import Outbox
from ..packet import Packed, Packet, message
from ..protocol.types import Seconds
from ..slices import Slices
from . import deflate

KEY = "hermes_iris.line"

INLINE = 32 << 10
"""Bytes that are compressed on the event loop when only one device gets them; more in a thread."""

STALL: Seconds = 30.0
"""How long a peer may take nothing of what was written."""

GONE: Seconds = 5.0
"""How long what was written to a peer that answers no ping may still wait."""


class Line(WebSocketsSansIOProtocol):
    """One connection. Made by uvicorn; `Line.of` finds it again."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn.available_extensions = [deflate.Offer()]
        self.conn.debug = False  # else a host that logs everything logs frames, and with the first one a token
        self._receiver: deflate.Receiver | None = None
        self._writable: Callable[[], None] = lambda: None
        self._outbox: Outbox | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def handle_connect(self, event: Request) -> None:
        """Begin, or refuse; the library fails on headers that are no text, and would keep the connection."""
        try:
            super().handle_connect(event)
        except UnicodeError:
            self.transport.close()

    @classmethod
    def of(cls, websocket: WebSocket) -> "Line":
        """The line behind a socket of the application."""
        return cast(Line, websocket.scope["extensions"][KEY])

    async def run_asgi(self) -> None:
        """Run the application on this connection."""
        cast(dict[str, Any], self.scope["extensions"])[KEY] = self
        await super().run_asgi()

    def pause_writing(self) -> None:
        """The peer takes less than is written."""
        super().pause_writing()
        if self._outbox and self._outbox.apart:
            self._outbox.apart()
        self._stalled = self.loop.call_later(STALL, self.transport.abort)

    def resume_writing(self) -> None:
        """The peer takes more."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
        self._writable()

    def connection_lost(self, exc: Exception | None) -> None:
        """The peer is gone."""
        super().connection_lost(exc)
        if self._stalled is not None:
            self._stalled.cancel()

    def keepalive_timeout(self) -> None:
        """The peer is gone; do not wait until it has taken what was written."""
        super().keepalive_timeout()
        self.cut(GONE)

    def follow(self, stream: deflate.Stream | None) -> None:
        """From here on compress, if the peer agreed to it."""
        if self.conn.extensions:
            self._receiver = deflate.Receiver(stream)

    async def packet(self, body: bytes) -> Packet:
        """A frame for this device alone, to be put into its outbox."""
        return Packet(body, packed=await self._alone([body]))

    async def tell(self, bodies: Sequence[bytes]) -> None:
        """Write frames for this device alone, and wait until it takes more."""
        packed = await self._alone(bodies)
        if packed and self._receiver:
            self._receiver.left()
        self._put(packed.data if packed else b"".join(map(message, bodies)))
        await self.writable.wait()

    def attach(
        self, outbox: Outbox, slices: Slices, gather: Callable[[Outbox, Way], None], ended: Callable[[], None]
    ) -> None:
        """From here on send what is put into an outbox; `ended` is called when the outbox ends the connection.

        `gather` is called whenever nothing waits and the peer takes what is written.
        """
        way = Way(self._put, self._receiver, slices)

        def flush() -> None:
            if outbox.end:
                ended()
            while outbox.size and self.writable.is_set():
                self._put(joined(outbox.take(MAX_WRITE), self._receiver))
            if self.writable.is_set():
                gather(outbox, way)

        self._writable, self._outbox = flush, outbox
        outbox.open(partial(slices.add, flush))
        slices.add(flush)

    def cut(self, after: Seconds) -> None:
        """Let nobody wait for a peer that takes little, not even the closing; it has so long to take the rest."""
        self._writable = lambda: None
        self.writable.set()
        self.loop.call_later(after, self.transport.abort)

    async def _alone(self, bodies: Sequence[bytes]) -> Packed | None:
        size = sum(map(len, bodies))
        if self._receiver is None or size < deflate.WORTH:
            return None
        return deflate.alone(bodies) if size <= INLINE else await asyncio.to_thread(deflate.alone, bodies)

    def _put(self, data: bytes) -> None:
        if not self.close_sent and not self.transport.is_closing():
            self.transport.write(data)
