"""The rehearsal's socket: an OpenAI-compatible server on the loopback interface.

Invariants: it listens on 127.0.0.1 and nowhere else; nothing that a request contains is logged or kept; a request
that cannot be read gets an error in OpenAI's form, never a traceback; SIGINT and SIGTERM end it within about a second,
even in the middle of a slow answer, which then breaks off.
"""

import asyncio
import signal
import socket
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ..errors import InvalidFrame, IrisError, NotFound, SetupError, TooLarge
from ..protocol.types import Seconds
from . import wire
from .script import reply

HOST = "127.0.0.1"
MAX_BODY = 32 << 20
"""Bytes of the largest request; pictures travel inside of it."""

BREATH: Seconds = 0.2
"""The longest wait without a look at whether the server is stopping."""

STATUS = {"invalid_frame": 400, "not_found": 404, "too_large": 413}


def app(pace: float = 1.0, stopping: Callable[[], bool] = lambda: False) -> Starlette:
    """The server's routes.

    Args:
        pace: a factor on every delay; 1 is human, 0 is without delay.
        stopping: whether answers that are under way should break off.
    """

    async def chat(request: Request) -> Response:
        asked = _decode(await _body(request))
        answer = reply(asked)
        if isinstance(answer, wire.Failure):
            return _error(answer.status, answer.message, "server_error")
        head = wire.Head(f"chatcmpl-{uuid.uuid4().hex[:12]}", time.time())
        if not asked.stream:
            return Response(wire.completion(asked, answer, head), media_type="application/json")
        events = _paced(wire.chunks(asked, answer, head, pace), stopping)
        return StreamingResponse(events, media_type="text/event-stream")

    return Starlette(
        routes=[
            Route("/v1/models", _models),
            Route("/v1/models/{model}", _model),
            Route("/v1/chat/completions", chat, methods=["POST"]),
        ],
        exception_handlers={IrisError: _refused},
    )


def serve(port: int, pace: float, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        port: 0 picks a free one.
        pace: the factor on every delay.
        ready: called with the base URL once connections are accepted.

    Raises:
        SetupError: the port is taken.
    """
    listener = _listen(port)
    # uvicorn stops on a signal and then raises it once more for whoever was there before it; without someone who
    # takes it calmly, a clean stop would end in a traceback or a death by signal.
    before = {number: signal.signal(number, _calm) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        ready(_url(listener))
        _server(pace).run(sockets=[listener])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        listener.close()


@contextmanager
def running(pace: float = 0.0) -> Iterator[str]:
    """A rehearsal in a thread of this process; gives its base URL."""
    listener = _listen(0)
    server = _server(pace)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="iris-rehearsal")
    thread.start()
    try:
        yield _url(listener)
    finally:
        server.should_exit = True
        thread.join()


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port))
    except (OSError, OverflowError) as exc:
        raise SetupError(f"cannot listen on {HOST}:{port}: {exc}; try --port 0") from exc


def _url(listener: socket.socket) -> str:
    return f"http://{HOST}:{listener.getsockname()[1]}/v1"


def _server(pace: float) -> uvicorn.Server:
    server = uvicorn.Server(
        uvicorn.Config(
            app(pace, lambda: server.should_exit),
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=2,
        )
    )
    return server


def _calm(number: int, frame: FrameType | None) -> None:
    """Take a signal that was already obeyed."""


async def _models(request: Request) -> Response:
    return JSONResponse({"object": "list", "data": [_card()]})


async def _model(request: Request) -> Response:
    if request.path_params["model"] != wire.MODEL:
        raise NotFound(f"the only model here is {wire.MODEL}")
    return JSONResponse(_card())


def _card() -> dict[str, object]:
    return {
        "id": wire.MODEL,
        "object": "model",
        "created": 0,
        "owned_by": "hermes-iris",
        "context_length": wire.CONTEXT_LENGTH,
    }


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise TooLarge(f"a request may have {MAX_BODY} bytes")
    return bytes(body)


def _decode(body: bytes) -> wire.Request:
    try:
        return wire.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as exc:
        raise InvalidFrame(f"not a chat-completions request: {exc}") from None
    except RecursionError:
        raise InvalidFrame("not a chat-completions request: nested too deeply") from None


async def _paced(chunks: Iterator[tuple[bytes, Seconds]], stopping: Callable[[], bool]) -> AsyncIterator[bytes]:
    for chunk, wait in chunks:
        yield chunk
        left = wait
        while not stopping() and left > BREATH:
            await asyncio.sleep(BREATH)
            left -= BREATH
        if stopping():
            return  # without [DONE]: the client can tell that this is not the end
        await asyncio.sleep(left)


async def _refused(request: Request, exc: Exception) -> Response:
    code = exc.code if isinstance(exc, IrisError) else "internal"
    return _error(STATUS.get(code, 500), str(exc), "invalid_request_error")


def _error(status: int, message: str, kind: str) -> Response:
    error = {"message": message, "type": kind, "param": None, "code": None}
    return JSONResponse({"error": error}, status_code=status)
