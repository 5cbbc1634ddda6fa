"""Delivery by a process that is not the gateway: `hermes cron tick`, `hermes cron run`, `hermes send`.

Invariant: it only writes to the database; a gateway that runs notices it at once, a later one when it starts.
"""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import Any

from . import address, handover, hostapi, reports
from .address import Lane
from .clock import Clock
from .config import Home, Settings
from .errors import IrisError
from .handover import Named
from .protocol.frames import JobRef
from .reports import Report
from .store import channels, connect, media, messages, transaction
from .vault import Vault


async def send(
    home: Home, settings: Settings, chat_id: str, text: str, thread_id: str | None, files: Sequence[Named] = ()
) -> dict[str, Any]:
    """Store a message for a lane (`PlatformEntry.standalone_sender_fn`); the result is what the host expects."""
    target = f"{chat_id}:{thread_id}" if thread_id else chat_id
    vault = Vault(home.media, settings.max_upload_mb << 20)
    try:
        message_id = await asyncio.to_thread(_store, home, _report(target, text), vault, files)
    except (IrisError, sqlite3.Error, OSError) as exc:
        return {"success": False, "error": str(exc)}
    return {"success": True, "message_id": message_id}


def home_channel(home: Home) -> str:
    """The default channel in the host's form, as the database has it: there may be no gateway that could tell."""
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{home.database.absolute().as_uri()}?mode=ro", uri=True)) as conn,
    ):
        row = conn.execute("SELECT chat_id FROM channels WHERE is_default = 1 AND thread_id = ''").fetchone()
        if row is not None:
            return address.to_host(Lane(row[0]))[0]
    return address.HOME_CHANNEL


def _report(target: str, text: str) -> Report:
    """What this process delivers: the host tells only by its wrapper, and newer ones by their execution, what it is."""
    wrapped = reports.unwrap(text)
    execution = hostapi.cron_execution()
    if wrapped is None and execution is None:
        return Report(target, text)
    job = JobRef(id=execution[0], name=execution[1]) if execution else wrapped[0] if wrapped else None
    known = next((known for known in hostapi.cron_jobs() if job and known.id == job.id), None)
    return Report(target, wrapped[1] if wrapped else text, job, f"{job.id}@{known.last_run}" if job and known else None)


def _store(home: Home, report: Report, vault: Vault, files: Sequence[Named]) -> str:
    taken = [handover.taken(vault, named) for named in files]
    report = report._replace(attachments=tuple(attachment for _, attachment in taken))
    conn = connect(home.database)
    try:
        with transaction(conn):
            moment = Clock(messages.last_order(conn), beside=True).now()
            channels.ensure_default(conn, moment.ts)
            for kept, attachment in taken:
                media.keep(conn, vault, kept, attachment, moment.ts)
            delivered = reports.deliver(conn, report, moment)
            messages.record(conn, delivered.frames)
    finally:
        conn.close()
    return delivered.message_id
