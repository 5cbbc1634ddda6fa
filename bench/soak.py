"""Soak: a gateway under load for a long time; its memory must stay flat, and every queue must come back to nothing.

Turns stream in several lanes without a pause. Devices read, write, page and search; some leave all the time and resume,
one takes nothing that it is sent. The gateway has a process of its own; half of the time is for warming up.
"""

import argparse
import asyncio
import contextlib
import gc
import itertools
import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from hermes_iris.endpoints import free_port

from .crowd import Process, private, started
from .kit import Given, Missed, Report, many_files, words
from .servers import Iris, options, serve

LANES = 3
HERTZ = 20
DEVICES = 12
GROWTH = 1.05
"""How much more memory the last quarter may have than the second."""

ROOM = 8 << 20
"""Bytes beyond that: what the allocator keeps at hand varies, and in two minutes the caches are not yet full."""

BACKLOG = 2_500
"""What may wait in any one queue while there is load: an outbox holds 2,000 frames."""

TEXT = words(4_000)


class Loaded(Iris):
    """A gateway whose host has turns all the time."""

    async def start(self) -> dict[str, Any]:
        told = await super().start()
        self._lanes = [asyncio.create_task(self._turns(n)) for n in range(LANES)]
        devices = [await self.gateway.pair(f"Device {n}") for n in range(DEVICES)]
        hellos = [device.hello(capabilities=["delta"] if n % 3 else []) for n, device in enumerate(devices)]
        return {**told, "hellos": hellos}

    async def _turns(self, number: int) -> None:
        from hermes_iris.address import DEFAULT_LANE, Lane
        from hermes_iris.turns import calls

        hub, lane = self.gateway.service.hub, Lane(DEFAULT_LANE.chat_id, f"lane{number}" if number else None)
        for turn in (f"t{number}-{n}" for n in itertools.count()):
            await hub.call(lane, calls.TurnBegan(turn))
            bubble = (await hub.call(lane, calls.Sent(TEXT[:100], calls.Origin.PREVIEW))).name("m")
            for size in range(200, len(TEXT), 100):
                await hub.call(lane, calls.Edited(bubble, TEXT[:size], final=False))
                await asyncio.sleep(1 / HERTZ)
            hub.post(lane, calls.ModelReplied(turn, TEXT, more=False))
            await hub.call(lane, calls.Edited(bubble, TEXT, final=True))
            await hub.call(lane, calls.Processed("success"))

    async def sample(self) -> dict[str, int]:
        """How much waits, and where."""
        service = self.gateway.service
        hub, slices = service.hub, self.slices
        self.gateway.host.delivered.clear()  # the host's notes are not the gateway's memory
        return {
            "the hub's pipeline": len(hub._pipeline),
            "calls of hooks": len(hub._inbox),
            "jobs of the store": service.store._jobs.qsize(),
            "slices": len(slices._jobs) + len(hub._audience._slices._jobs),
            "frames of an outbox": max((len(outbox._queue) for outbox in hub._audience.devices), default=0),
            "frames of a group": max((len(group._tape) for group in hub._audience._groups), default=0),
            "open bubbles": len(hub._bubbles._told),
            "tasks": len(asyncio.all_tasks()),
            "files": sum(1 for _ in Path("/proc/self/fd").iterdir()),
        }

    async def rest(self) -> dict[str, int]:
        """Let the host be silent, and see what is left."""
        for lane in self._lanes:
            lane.cancel()
        await asyncio.gather(*self._lanes, return_exceptions=True)
        self.gateway.service.hub.end_turns("interrupted")
        await self.gateway.service.hub.drain()
        await self.quiet()
        gc.collect()
        return await self.sample()


class Person:
    """One device and what it does with its connection."""

    def __init__(self, address: str, hello: dict[str, Any], number: int) -> None:
        self._address, self._hello, self._number = address, hello, number
        self._chance = random.Random(number)
        self.frames = self.comings = 0

    async def live(self) -> None:
        """Come and go until it is cancelled."""
        while True:
            deaf = self._number == 0  # takes nothing: is cut off, and comes again
            async with connect(self._address, proxy=None, max_size=None, max_queue=1 if deaf else 64) as connection:
                self.comings += 1
                await connection.send(json.dumps(self._hello))
                with contextlib.suppress(ConnectionClosed, TimeoutError):
                    if deaf:
                        await connection.wait_closed()
                    elif self._number % 4 == 1:  # never stays
                        async with asyncio.timeout(self._chance.uniform(0.2, 4)):
                            await self._read(connection)
                    else:
                        await asyncio.gather(self._read(connection), self._ask(connection))

    async def _read(self, connection: Any) -> None:
        async for raw in connection:
            self.frames += 1
            frame = json.loads(raw)
            if frame["type"] == "hello.ack" or "seq" in frame:
                epoch = frame.get("epoch", self._hello.get("resume", {}).get("epoch"))
                self._hello["resume"] = {"epoch": epoch, "seq": frame["seq"]}

    async def _ask(self, connection: Any) -> None:
        for n in itertools.count():
            await asyncio.sleep(self._chance.uniform(0.2, 1.5))
            client_id = f"{self._number:08}-{n:08}-{time.time_ns():020}"
            asked = self._chance.choice(
                (
                    {"type": "message.send", "chat_id": "android:default", "text": f"Number {n}"},
                    {"type": "history", "chat_id": "android:default", "limit": 50},
                    {"type": "search", "query": self._chance.choice(TEXT.split()), "limit": 30},
                )
            )
            await connection.send(json.dumps({**asked, "client_id": client_id}))


async def load(report: Report, server: Process, told: dict[str, Any], port: int, minutes: float) -> None:
    """Keep it busy, look at it, and judge."""
    people = [Person(f"ws://127.0.0.1:{port}/ws", hello, n) for n, hello in enumerate(told["hellos"])]
    living = [asyncio.create_task(person.live()) for person in people]
    ends = time.monotonic() + minutes * 60
    table = report.table("under load", "MB", "most that waits", "tasks", "frames so far")
    samples: list[tuple[float, dict[str, int]]] = []
    count = max(20, int(minutes * 4))
    for n in range(1, count + 1):
        await asyncio.wait(living, timeout=max(0.0, ends - (1 - n / count) * minutes * 60 - time.monotonic()))
        for task in living:
            if task.done():
                task.result()
        queues = json.loads(await server.ask(json.dumps({"look": True})))
        samples.append((await private(server), queues))
        if n % max(1, count // 20) == 0:
            waiting = max(size for name, size in queues.items() if name not in ("tasks", "files"))
            table.row(
                f"{n / count * minutes:.1f} minutes", samples[-1][0] / 1e6, waiting, queues["tasks"],
                sum(person.frames for person in people),
            )  # fmt: skip
    for task in living:
        task.cancel()
    await asyncio.gather(*living, return_exceptions=True)
    left = json.loads(await server.ask(json.dumps({"rest": True})))
    judge(report, samples, left, people)


def judge(
    report: Report, samples: list[tuple[float, dict[str, int]]], left: dict[str, int], people: list[Person]
) -> None:
    """Say what became of it. Raises `Missed`."""
    quarter = len(samples) // 4
    early = statistics.median(size for size, _ in samples[quarter : 2 * quarter])
    late = statistics.median(size for size, _ in samples[-quarter:])
    table = report.table("every queue", "most", "after it")
    for name in left:
        table.row(name, max(queues[name] for _, queues in samples), left[name])
    table = report.table("memory, MB", "second quarter", "last quarter", "grown by, %")
    table.row("private pages", early / 1e6, late / 1e6, (late / early - 1) * 100)
    comings = sum(person.comings for person in people)
    report.note(f"{sum(person.frames for person in people):,} frames read, {comings:,} connections")
    if late > early * GROWTH + ROOM:
        raise Missed("memory grows")
    for name, size in left.items():
        if name in ("tasks", "files"):
            continue
        if size or max(queues[name] for _, queues in samples) > BACKLOG:
            raise Missed(f"{name}: a queue grows, or is not empty at the end")
    if not all(person.frames for person in people[1:]):
        raise Missed("a device was told nothing")


async def run(report: Report, given: Given) -> None:
    """Measure and print."""
    many_files()
    port = free_port()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [sys.executable, "-m", "bench.soak", "--port", port, "--folder", Path(folder) / "home"]
        async with started(*command) as server:
            told = json.loads(await server.hear())
            await load(report, server, told, port, min(given.minutes, 0.5) if given.quick else given.minutes)


async def main() -> None:
    """Run the gateway."""
    given: argparse.Namespace = options().parse_args()
    server = Loaded(given)

    async def answer(asked: dict[str, Any]) -> dict[str, int]:
        return await (server.rest() if "rest" in asked else server.sample())

    await serve(server, answer)


if __name__ == "__main__":
    asyncio.run(main())
