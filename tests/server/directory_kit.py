"""What tests of the directory, of reports and of the watcher share: a host with jobs, and deliveries from elsewhere."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.clock import Clock
from hermes_iris.config import Home
from hermes_iris.errors import NotFound
from hermes_iris.host import Context
from hermes_iris.hub import Hub, Recorded
from hermes_iris.jobs import HostJob
from hermes_iris.protocol.frames import Channel, JobRef, Message
from hermes_iris.reports import Report, deliver
from hermes_iris.store import channels, connect, messages, transaction
from hermes_iris.turns import calls
from support import CHAT, LIMIT, FakeHost, Wire, new_id

JOB = JobRef(id="job_1", name="Weather")


@dataclass
class CronHost(FakeHost):
    """A host with cron jobs and titles; notes what it is told."""

    known: dict[str, HostJob] = field(default_factory=dict)
    titles: dict[Lane, str] = field(default_factory=dict)
    contexts: dict[str, list[str]] = field(default_factory=dict)
    """The texts of the reports that came with each message, by its own text."""

    directories: list[list[Channel]] = field(default_factory=list)
    asked: dict[str, int] = field(default_factory=dict)
    """How often each method was called."""

    broken: dict[str, Exception] = field(default_factory=dict)
    """What a method raises, as long as it stands here."""

    async def deliver(self, message: Message, channel: Channel, context: Context) -> None:
        self.contexts[message.text] = [report.text for report in context.reports]
        await super().deliver(message, channel, context)

    async def title(self, lane: Lane) -> str | None:
        self._note("title")
        return self.titles.get(lane)

    async def jobs(self) -> list[HostJob]:
        self._note("jobs")
        return list(self.known.values())

    async def set_target(self, job_id: str, target: str) -> None:
        if job_id not in self.known:
            raise NotFound("$.job_id names no cron job")
        self.known[job_id] = self.known[job_id]._replace(deliver=(target,))

    async def directory_changed(self, directory: Sequence[Channel]) -> None:
        self._note("directory_changed")
        self.directories.append(list(directory))

    def _note(self, method: str) -> None:
        self.asked[method] = self.asked.get(method, 0) + 1
        if method in self.broken:
            raise self.broken[method]


def job(job_id: str, *deliver: str, enabled: bool = True, **more: Any) -> HostJob:
    """A job of the host."""
    return HostJob(job_id, job_id.title(), "daily", enabled, deliver, **more)


async def post(hub: Hub, report: Report) -> str:
    """A delivery through the gateway, as the bridge makes it; returns the message's id."""
    moment = hub.clock.now()

    def delivered(conn: sqlite3.Connection) -> Recorded:
        result = deliver(conn, report, moment)
        return Recorded(result.frames, messages.record(conn, result.frames), result.message_id)

    return str(await hub.transact(delivered))


def post_elsewhere(home: Home, report: Report) -> str:
    """The same on a connection of one's own, as a process that is not the gateway makes it (`standalone.py`)."""
    conn = connect(home.database)
    try:
        moment = Clock(messages.last_order(conn), beside=True).now()
        with transaction(conn):
            channels.ensure_default(conn, moment.ts)
            delivered = deliver(conn, report, moment)
            messages.record(conn, delivered.frames)
    finally:
        conn.close()
    return delivered.message_id


async def whole_turn(hub: Hub, lane: Lane = DEFAULT_LANE, name: str = "turn_1") -> None:
    """A turn of the host without a word."""
    hub.post(lane, calls.TurnBegan(name))
    await hub.call(lane, calls.Processed("success"))


async def new_thread(wire: Wire, name: str, parent: str = CHAT) -> str:
    """A thread that a person opens; returns its id."""
    client_id = new_id()
    asked = {"client_id": client_id, "name": name, "kind": "thread", "parent_chat_id": parent}
    await wire.send({"type": "channel.create", **asked})
    return str((await wire.until("channel.accepted", client_id=client_id))["thread_id"])


def events(wire: Wire) -> list[dict[str, Any]]:
    """The events that came over a connection."""
    return [frame for frame in wire.seen if "seq" in frame and frame["type"] not in ("hello.ack", "message.accepted")]


def numbers(wire: Wire) -> list[int]:
    """Their numbers."""
    return [event["seq"] for event in events(wire)]


async def seen(wire: Wire, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first frame, of those that came and those that come, for which a condition holds."""
    for frame in wire.seen:
        if condition(frame):
            return frame
    async with asyncio.timeout(LIMIT):
        while not condition(frame := await wire.receive()):
            pass
    return frame
