"""Cron jobs of the host as Iris shows them: where each one reports, and how many report into each lane. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from . import address
from .address import PLATFORM, Lane
from .errors import IrisError
from .protocol.frames import Channel, CronJob
from .protocol.types import UnixTime


class HostJob(NamedTuple):
    """A job as the host keeps it."""

    id: str
    name: str
    schedule: str
    enabled: bool
    deliver: tuple[str, ...]
    """Its targets as the host spells them; `origin` is the lane in which it was made."""

    origin: str | None = None
    """That lane, as a target."""

    next_run: UnixTime | None = None
    last_run: UnixTime | None = None
    error: str | None = None
    undelivered: bool = False
    """Whether its last report reached nobody."""


def targets(job: HostJob, directory: Sequence[Channel]) -> list[Lane]:
    """The lanes of Iris that a job reports into."""
    return list(dict.fromkeys(lane for _, lane in _resolved(job, directory) if lane is not None))


def lost(job: HostJob, directory: Sequence[Channel]) -> str | None:
    """The target in Iris that a job's last report did not reach because nothing is called like it."""
    unknown = (target for target, lane in _resolved(job, directory) if lane is None)
    return next(unknown, None) if job.undelivered else None


def _resolved(job: HostJob, directory: Sequence[Channel]) -> Iterator[tuple[str, Lane | None]]:
    """Each of a job's targets that is meant for Iris, with its lane if there is one."""
    for target in job.deliver:
        spelled = job.origin if target == "origin" else target
        if spelled is None or not (spelled == PLATFORM or spelled.startswith(f"{PLATFORM}:")):
            continue
        try:
            yield spelled, address.resolve(spelled, address.reachable(directory))
        except IrisError:
            yield spelled, None


def listed(jobs: Iterable[HostJob], directory: Sequence[Channel]) -> list[CronJob]:
    """The jobs for the app, the next to run first."""
    shown = []
    for job in jobs:
        lane = next(iter(targets(job, directory)), None)
        shown.append(
            CronJob(
                id=job.id,
                name=job.name,
                schedule=job.schedule,
                enabled=job.enabled,
                chat_id=lane.chat_id if lane else None,
                thread_id=lane.thread_id if lane else None,
                next_run=job.next_run,
                last_run=job.last_run,
                error=job.error,
            )
        )
    return sorted(shown, key=lambda job: (not job.enabled, job.next_run or float("inf"), job.name))


def counts(jobs: Iterable[HostJob], directory: Sequence[Channel]) -> Counter[Lane]:
    """How many jobs that are on report into each lane."""
    return Counter(lane for job in jobs if job.enabled for lane in targets(job, directory))
