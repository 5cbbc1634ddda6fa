"""Turn: what the host and what Iris add between the model's first text and a device, through real hosts.

The model is a local one that notes when it is asked and when it first speaks. The host notes when it gives Iris a text
(`probe/`), so that what it keeps back itself is told apart from the rest of the way: Iris, the socket, the device.
"""

import asyncio
import contextlib
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from hermes_iris.client import Client, new_id
from hermes_iris.endpoints import free_port
from hermes_iris.protocol.frames import MessageSend, MessageStart, TurnEnded, Typing
from host import hosts
from host.gateway import gateway, settings

from .kit import Given, Report, p50, p99

WORDS = ("This answer is long enough to be shown while it streams. ",) * 6
PROBE = Path(__file__).with_name("probe")


class Model:
    """A model of one sentence; `asked` and `spoke` are the moments of the last request and of its first text, in ns."""

    asked = spoke = 0

    async def complete(self, request: Request) -> StreamingResponse | JSONResponse:
        """Answer one request."""
        body = await request.json()
        if not body.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": "A title"}, "finish_reason": "stop"}
            return JSONResponse({"id": "x", "object": "chat.completion", "model": "bench", "choices": [choice]})
        self.asked = time.monotonic_ns()
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncIterator[str]:
        for n, word in enumerate(WORDS):
            if n == 0:
                self.spoke = time.monotonic_ns()
            yield _chunk({"content": word})
            await asyncio.sleep(0.1)
        yield _chunk({}, "stop")
        yield "data: [DONE]\n\n"


def _chunk(delta: dict[str, str], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "bench", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n"


async def _turn(client: Client, model: Model, notes: Path) -> tuple[float, ...]:
    """One turn; milliseconds of its parts."""
    notes.write_text("")
    sent = time.monotonic_ns()
    await client.request(MessageSend(client_id=new_id(), chat_id="android:default", text="go"))
    accepted = time.monotonic_ns()
    shown, ended = 0, False
    async for frame in client.frames():
        if isinstance(frame, MessageStart) and not shown:
            shown = time.monotonic_ns()
        ended = ended or isinstance(frame, TurnEnded)
        if ended and isinstance(frame, Typing) and not frame.on:
            break
    given = int(notes.read_text().splitlines()[0])
    parts = (accepted - sent, model.asked - sent, given - model.spoke, shown - given)
    return tuple(part / 1e6 for part in parts)


async def turns(host: str, wheel: Path, rounds: int) -> list[tuple[float, ...]]:
    """So many turns of a host."""
    model, port = Model(), free_port()
    app = Starlette(routes=[Route("/v1/chat/completions", model.complete, methods=["POST"])])
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", lifespan="off"))
    serving = asyncio.create_task(server.serve())
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        real = await asyncio.to_thread(hosts.with_wheel, host, wheel)
        python, notes = folder / "python", folder / "notes"
        python.write_text(f'#!/bin/sh\nBENCH_PROBE="{notes}" PYTHONPATH="{PROBE}" exec "{real}" "$@"\n')
        python.chmod(0o700)
        running: Any = gateway(python, folder / "home", settings(), f"http://127.0.0.1:{port}/v1")
        made = await asyncio.to_thread(running.__enter__)
        stack.push_async_callback(asyncio.to_thread, running.__exit__, None, None, None)
        async with made.client() as client:
            await _turn(client, model, notes)  # the first one is slow: the host loads its agent
            rows = [await _turn(client, model, notes) for _ in range(rounds)]
    server.should_exit = True
    await serving
    return rows


async def run(report: Report, given: Given) -> None:
    """Measure and print."""
    built = os.environ.get("IRIS_TEST_WHEEL")
    wheel = Path(built) if built else await asyncio.to_thread(hosts.build_wheel)
    for host in ("v22",) if given.quick else hosts.REQUIREMENTS:
        rows = await turns(host, wheel, 3 if given.quick else 20)
        table = report.table(f"{hosts.REQUIREMENTS[host]}", "p50 ms", "p99 ms")
        names = (
            "message.send to message.accepted",
            "message.send to the model's request",
            "model's first text to Iris (the host)",
            "Iris to the device",
        )
        for name, values in zip(names, zip(*rows, strict=True), strict=True):
            table.row(name, p50(values), p99(values))
