"""Cron reports: what the host wraps around them, and where they go.

Invariants: an explicit target wins; one run of one job is delivered once to a lane; a target that is not known is told
of in the default channel, never passed over in silence.
"""

import hashlib
import re
import sqlite3
from typing import NamedTuple

from msgspec.structs import replace

from . import address
from .address import Lane
from .errors import Conflict, NotFound
from .jobs import HostJob
from .moment import Moment
from .protocol.frames import Attachment, JobRef, Message
from .protocol.types import MessageId, Role, UnixTime
from .store import channels

KEPT_FOR = 30 * 86_400.0
"""Seconds for which a delivered run is remembered."""

FILES_FOLLOW = 120.0
"""Seconds within which files come after the report that they belong to."""

# What both hosts put around a report (0.19 `cron/scheduler.py`, 0.22 `cron/scheduler_delivery.py`), never translated.
_WRAPPED = re.compile(
    r"\ACronjob Response: (?P<name>[^\n]*)\n\(job_id: (?P<id>[^\n)]+)\)\n-+\n\n(?P<text>.*)\n\n"
    r"To stop or manage this job, [^\n]+\Z",
    re.DOTALL,
)


class Report(NamedTuple):
    """Something that the host delivers outside a turn."""

    target: str
    """A lane in any spelling, or the name of a channel."""

    text: str
    job: JobRef | None = None
    run: str | None = None
    """Names the run of the job, so that a second try is known."""

    attachments: tuple[Attachment, ...] = ()


class Delivered(NamedTuple):
    """Where a report went; `frames` is empty when it had been delivered before."""

    message_id: MessageId
    frames: list[Message]


def unwrap(text: str) -> tuple[JobRef, str] | None:
    """The job and the bare text of a report in the host's wrapper, None when there is no wrapper."""
    match = _WRAPPED.match(text)
    return (JobRef(id=match["id"], name=match["name"] or match["id"]), match["text"].strip("\n")) if match else None


def deliver(conn: sqlite3.Connection, report: Report, moment: Moment) -> Delivered:
    """The messages that a report becomes; a run that was delivered to this lane before becomes none."""
    directory = address.reachable(channels.directory(conn))
    try:
        lane, unknown = address.resolve(report.target, directory), None
    except (NotFound, Conflict) as exc:
        default = channels.default(conn)
        lane, unknown = Lane(default.chat_id), exc
    job = report.job or (_job_before(conn, lane, moment) if report.attachments else None)
    role: Role = "cron" if job else "assistant" if report.attachments else "notice"
    message = replace(_message(lane, role, report.text, moment, job), attachments=list(report.attachments))
    if report.run is not None:
        before = _delivered(conn, f"{report.run}\0{address.spell(lane)}\0{report.text}", message)
        if before is not None:
            return Delivered(before, [])
    if unknown is None:
        return Delivered(message.message_id, [message])
    what = f"The report of “{report.job.name}”" if report.job else "A message"
    notice = f"{what} was meant for “{_short(report.target)}”, but {unknown}. It is shown here instead."
    return Delivered(message.message_id, [message, _message(lane, "notice", notice, moment.at(1), None)])


def undelivered(conn: sqlite3.Connection, job: HostJob, target: str, moment: Moment) -> list[Message]:
    """The notice, once a run, that the host itself gave a report up because it knows no such target (0.22 does)."""
    text = f"The report of “{job.name}” was meant for “{_short(target)}”, but no channel has this name or address."
    notice = _message(Lane(channels.default(conn).chat_id), "notice", text, moment, None)
    return [] if _delivered(conn, f"{job.id}@{job.last_run}\0lost\0{target}", notice) else [notice]


def forget_old(conn: sqlite3.Connection, now: UnixTime) -> None:
    """Drop what is too old for a second try."""
    conn.execute("DELETE FROM deliveries WHERE ts < ?", (now - KEPT_FOR,))


def _job_before(conn: sqlite3.Connection, lane: Lane, moment: Moment) -> JobRef | None:
    """The job of the report that files come after: the hosts send them one by one behind its text, without a word."""
    row = conn.execute(
        "SELECT role, ts, job_id, job_name FROM messages WHERE chat_id = ? AND thread_id = ? AND live = 0"
        " ORDER BY ord DESC LIMIT 1",
        (lane.chat_id, lane.thread_id or ""),
    ).fetchone()
    if row is None or row["role"] != "cron" or row["job_id"] is None or moment.ts - row["ts"] > FILES_FOLLOW:
        return None
    return JobRef(id=row["job_id"], name=row["job_name"])


def _delivered(conn: sqlite3.Connection, run: str, message: Message) -> MessageId | None:
    """The message in which a run was delivered before; if it was not, it is now, in this one."""
    key = hashlib.sha256(run.encode()).hexdigest()
    row = conn.execute("SELECT message_id FROM deliveries WHERE run = ?", (key,)).fetchone()
    if row is not None:
        return str(row[0])
    conn.execute("INSERT INTO deliveries VALUES (?, ?, ?)", (key, message.message_id, message.ts))
    return None


def _message(lane: Lane, role: Role, text: str, place: Moment, job: JobRef | None) -> Message:
    return Message(
        message_id=place.name("m"),
        chat_id=lane.chat_id,
        thread_id=lane.thread_id,
        role=role,
        text=text,
        job=job,
        ts=place.ts,
        order=place.order,
    )


def _short(target: str) -> str:
    line = " ".join(target.split())
    return line if len(line) <= 80 else line[:79] + "…"
