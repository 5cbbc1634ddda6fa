"""Stream: an answer of 20,000 characters at 20 Hz to 100 devices, from the host's call to the last device.

Beside it the way one would write it first: the whole text as JSON, made, compressed and sent for each device, and each
step committed to a log. Both serve in the same run, step by step in turns.
"""

import argparse
import asyncio
import contextlib
import json
import sqlite3
import time
from typing import Any

from .crowd import Crowd, crowd
from .kit import Given, Ratio, Report, cpu_of, many_files, p50, p99, words
from .servers import Iris, Naive, Server, options, serve

LENGTH = 20_000
HERTZ = 20
DEVICES = 100
TEXT = words(LENGTH)


class Told(Server):
    """A server that is told how far the text has come, and says when it heard that and how many frames came of it."""

    async def step(self, length: int, last: bool) -> int:
        """Tell the devices; the number of frames."""
        raise NotImplementedError

    def logged(self) -> int:
        """Bytes that the log has taken."""
        raise NotImplementedError


class IrisStream(Iris, Told):
    """The real gateway; the host's calls are made here."""

    async def start(self) -> dict[str, Any]:
        from hermes_iris.outbox import Outbox

        told = await super().start()
        self._hub = self.gateway.service.hub
        self._counting = Outbox()
        self._counting.deltas = True
        await self._hub.join(self._counting, None)
        self._bubble = ""
        return told

    async def step(self, length: int, last: bool) -> int:
        from hermes_iris.address import DEFAULT_LANE as LANE
        from hermes_iris.turns import calls

        if not self._bubble:
            await self._hub.call(LANE, calls.TurnBegan("t1"))
            self._bubble = (await self._hub.call(LANE, calls.Sent(TEXT[:length], calls.Origin.PREVIEW))).name("m")
        elif last:
            self._hub.post(LANE, calls.ModelReplied("t1", TEXT, more=False))
            await self._hub.call(LANE, calls.Edited(self._bubble, TEXT, final=True))
        else:
            await self._hub.call(LANE, calls.Edited(self._bubble, TEXT[:length], final=False))
        await self.quiet()
        return len(self._counting.take())

    def logged(self) -> int:
        conn = sqlite3.connect(self.gateway.home.database)
        with contextlib.closing(conn):
            return int(conn.execute("SELECT SUM(LENGTH(frame)) FROM events").fetchone()[0])


class NaiveStream(Naive, Told):
    """Whole texts, one after the other."""

    async def start(self) -> dict[str, Any]:
        self.folder.mkdir(exist_ok=True)
        self._log = sqlite3.connect(self.folder / "log.db", isolation_level=None)
        self._log.execute("PRAGMA journal_mode = WAL")
        self._log.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, frame TEXT)")
        return await super().start()

    async def step(self, length: int, last: bool) -> int:
        frame = {"type": "message.update", "message_id": "m1", "seq": length, "text": TEXT[:length], "final": last}
        self._log.execute("INSERT INTO events (frame) VALUES (?)", (json.dumps(frame),))
        for device in self.devices:
            await device.send(json.dumps(frame))
        return 1

    def logged(self) -> int:
        return int(self._log.execute("SELECT SUM(LENGTH(frame)) FROM events").fetchone()[0])


KINDS: dict[str, type[Told]] = {"iris": IrisStream, "naive": NaiveStream}


async def _step(of: Crowd, length: int, last: bool) -> float:
    """Milliseconds until the last device has it."""
    told = json.loads(await of.server.ask(json.dumps({"length": length, "last": last})))
    _, when = await of.got(told["frames"])
    return float((when - told["at"]) / 1e6)


async def run(report: Report, given: Given) -> None:
    """Measure and print."""
    many_files()
    steps = 100 if given.quick else 1_000
    latencies: dict[str, list[float]] = {name: [] for name in KINDS}
    async with contextlib.AsyncExitStack() as stack:
        crowds = {
            name: await stack.enter_async_context(crowd(name, DEVICES, deflate=True, module="bench.stream"))
            for name in KINDS
        }
        cpu = {name: cpu_of(running.server.pid) for name, running in crowds.items()}
        size = {name: (await running.got(0))[0] for name, running in crowds.items()}
        began = time.monotonic()
        for n in range(1, steps + 1):
            for name in list(KINDS)[:: 1 if n % 2 else -1]:
                latencies[name].append(await _step(crowds[name], n * LENGTH // steps, n == steps))
            await asyncio.sleep(max(0.0, began + n / HERTZ - time.monotonic()))
        figures = {}
        for name, running in crowds.items():
            used = (cpu_of(running.server.pid) - cpu[name]) / 1e6
            bytes_ = ((await running.got(0))[0] - size[name]) / DEVICES
            log = json.loads(await running.server.ask(json.dumps({"logged": True})))["logged"]
            figures[name] = (used, bytes_ / 1e3, log / 1e3, p50(latencies[name]), p99(latencies[name]))
    table = report.table(
        f"{LENGTH:,} characters in {steps:,} steps at {HERTZ} Hz, {DEVICES} devices",
        "CPU ms", "KB a device", "log KB", "p50 ms", "p99 ms",
    )  # fmt: skip
    table.row("naive", *figures["naive"])
    table.row("Iris", *figures["iris"])
    table.row("naive / Iris", *(Ratio(a / b) for a, b in zip(figures["naive"], figures["iris"], strict=True)))
    of_text = Ratio(figures["iris"][1] * 1e3 / LENGTH)
    report.table("bytes of a device", "of the text").row("Iris, compressed", of_text)


async def main() -> None:
    """Run one of the servers."""
    parser = options()
    parser.add_argument("kind", choices=KINDS)
    given: argparse.Namespace = parser.parse_args()
    server = KINDS[given.kind](given)

    async def answer(asked: dict[str, Any]) -> dict[str, int]:
        if "logged" in asked:
            return {"logged": server.logged()}
        at = time.monotonic_ns()
        return {"at": at, "frames": await server.step(asked["length"], asked["last"])}

    await serve(server, answer)


if __name__ == "__main__":
    asyncio.run(main())
