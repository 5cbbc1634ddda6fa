"""Follows what changes beside the frames: cron jobs, other processes' deliveries, the host's names for conversations.

One task that looks around every moment; each duty is cheap when nothing has changed. Invariants: nothing here ends the
task but `stop`; a duty that fails is logged once per kind of failure in a row and tried again.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable
from functools import partial

from msgspec.structs import replace

from . import directory, jobs, reports
from .address import Lane, spell
from .errors import NotFound
from .host import Host
from .hub import Hub, Recorded
from .jobs import HostJob
from .moment import Moment
from .protocol.frames import ChannelCreated, ChannelDeleted, ChannelRenamed, Event, TurnEnded
from .protocol.types import JobId, Seconds, UnixTime
from .store import channels, log, messages

logger = logging.getLogger(__name__)

FOREIGN_EVERY: Seconds = 0.25
"""Between two looks at what another process has stored."""

JOBS_EVERY: Seconds = 3.0
"""Between two looks at the cron jobs."""

TITLE_EVERY: Seconds = 1.0
TITLE_FOR: Seconds = 60.0
"""How often and how long a model's name for a new thread is waited for after a turn."""


class Watcher:
    """The one task that looks around; lives on the event loop of its hub."""

    def __init__(self, hub: Hub, host: Host) -> None:
        self._hub = hub
        self._host = host
        self._woken = asyncio.Event()
        self._next_jobs = 0.0
        self._next_titles = 0.0
        self._unnamed: dict[Lane, float] = {}
        """Lanes whose name may still come from the model, with the time at which nobody waits any longer."""

        self._told_lost: dict[JobId, UnixTime | None] = {}
        """Of each job whose report reached nobody, the run of which the person was told last."""

        self._names_stale = True
        self._failing: dict[str, str] = {}
        """Duties whose last try failed, with the failure."""

        hub.listen(self._seen)
        self._task = asyncio.create_task(self._run(), name="iris-watcher")

    def wake(self) -> None:
        """Look at the jobs now: something was changed."""
        self._next_jobs = 0.0
        self._woken.set()

    async def stop(self) -> None:
        """End."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def _seen(self, event: Event) -> None:
        match event:
            case TurnEnded(thread_id=thread_id) if thread_id is not None:
                self._unnamed[Lane(event.chat_id, thread_id)] = time.monotonic() + TITLE_FOR
            case ChannelCreated() | ChannelRenamed() | ChannelDeleted():
                self._names_stale = True
            case _:
                pass

    async def _run(self) -> None:
        while True:
            await self._look()
            try:
                async with asyncio.timeout(FOREIGN_EVERY):
                    await self._woken.wait()
            except TimeoutError:
                pass
            self._woken.clear()

    async def _look(self) -> None:
        now = time.monotonic()
        await self._do("take in what other processes stored", self._catch_up)
        if self._names_stale:
            self._names_stale = False  # a change that comes while the host is told makes it true again
            if not await self._do("tell the host the channels' names", self._tell_names):
                self._names_stale = True
        if now >= self._next_jobs:
            self._next_jobs = now + JOBS_EVERY
            await self._do("count the cron jobs", self._count_jobs)
        if self._unnamed and now >= self._next_titles:
            self._next_titles = now + TITLE_EVERY
            for lane in list(self._unnamed):
                await self._do(f"ask for the name of {spell(lane)}", partial(self._ask_title, lane))
                if now > self._unnamed.get(lane, now):
                    del self._unnamed[lane]

    async def _do(self, what: str, duty: Callable[[], Awaitable[None]]) -> bool:
        """Do a duty; False when it failed and is to be tried again."""
        try:
            await duty()
        except Exception as exc:  # whatever the host's own code or a locked file raises
            if self._failing.get(what) != repr(exc):
                self._failing[what] = repr(exc)
                logger.exception("could not %s; it is tried again", what)
            return False
        self._failing.pop(what, None)
        return True

    async def _catch_up(self) -> None:
        if await self._hub.store.read(log.last) > self._hub.position.seq:
            await self._hub.catch_up()

    async def _tell_names(self) -> None:
        await self._host.directory_changed(await self._hub.store.read(channels.directory))

    async def _count_jobs(self) -> None:
        host_jobs = await self._host.jobs()

        def stale(conn: sqlite3.Connection) -> list[ChannelRenamed]:
            entries = channels.directory(conn)
            counted = jobs.counts(host_jobs, entries)
            return [
                ChannelRenamed(channel=replace(entry, cron_jobs=counted[Lane(entry.chat_id, entry.thread_id)]))
                for entry in entries
                if entry.cron_jobs != counted[Lane(entry.chat_id, entry.thread_id)]
            ]

        def store(conn: sqlite3.Connection) -> Recorded:
            events = stale(conn)
            return Recorded(events, messages.record(conn, events))

        if await self._hub.store.read(stale):
            await self._hub.transact(store)
        entries = await self._hub.store.read(channels.directory)
        for job in host_jobs:
            target = jobs.lost(job, entries)
            if target is not None and self._told_lost.get(job.id, 0.0) != job.last_run:
                await self._hub.transact(partial(_tell_lost, job, target, self._hub.clock.now()))
                self._told_lost[job.id] = job.last_run

    async def _ask_title(self, lane: Lane) -> None:
        is_open = await self._hub.store.read(partial(_may_be_named, lane))
        title = await self._host.title(lane) if is_open else None
        if title is not None:
            await self._hub.transact(partial(_retitle, lane, title))
        if title is not None or not is_open:
            del self._unnamed[lane]


def _tell_lost(job: HostJob, target: str, moment: Moment, conn: sqlite3.Connection) -> Recorded:
    notices = reports.undelivered(conn, job, target, moment)
    return Recorded(notices, messages.record(conn, notices))


def _may_be_named(lane: Lane, conn: sqlite3.Connection) -> bool:
    """Whether a lane still has the name that was made for it; the host also has lanes that Iris does not know."""
    try:
        return channels.get(conn, *lane).name_source == "derived"
    except NotFound:
        return False


def _retitle(lane: Lane, title: str, conn: sqlite3.Connection) -> Recorded:
    events = directory.retitle(conn, lane, title)
    return Recorded(events, messages.record(conn, events))
