"""Between an adapter and a service: the host's calls go to the hub, people's messages to the host.

Invariant: what the host sends outside a turn is resolved, by address or name, and stored in one transaction; nothing
that it sends is dropped because a target is unknown.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from . import (
    address,
    config,
    cron_command,
    directory,
    handover,
    host_requests,
    host_sessions,
    hostapi,
    names,
    questions,
    reports,
    undo,
)
from .address import Lane
from .config import Home, Settings
from .errors import Busy, InvalidFrame, IrisError
from .handover import Given, Named
from .hooks import Hooks
from .host import Context, HostSession
from .host_requests import Approvals, Asked
from .hostapi import BasePlatformAdapter, MessageType, SendResult
from .hub import Hub, Recorded
from .jobs import HostJob
from .protocol.frames import Attachment, Channel, Hit, JobRef, Message, SlashCommand
from .protocol.types import JobId, Outcome, Role, SessionId
from .questions import Answer
from .reports import Report
from .service import Service
from .store import channels, media, messages
from .turns import calls
from .undo import Undo
from .vault import Vault

logger = logging.getLogger(__name__)

HOME_CHANNEL_ENV = "ANDROID_HOME_CHANNEL"

STOP = "stop"
"""Begins the message id of the commands that the Stop button gives."""

PERSON = "iris"
"""The host's user id of the person: one home has one, on any number of devices."""

MAX_LISTED = 60
"""Channels that the agent is told of."""


MAX_QUOTED = 4_000
"""Characters of a message that the agent is told of because another one answers or replaces it."""


class Bridge:
    """One adapter's side of Iris."""

    def __init__(self, adapter: BasePlatformAdapter, home: Home, settings: Settings, hooks: Hooks[Hub]) -> None:
        self._adapter = adapter
        self._home = home
        self._settings = settings
        self._hooks = hooks
        self._vault = Vault(home.media, settings.max_upload_mb << 20)
        self._service: Service | None = None
        self._directory: list[Channel] = []
        self._commands: set[asyncio.Task[Any]] = set()
        self._undo = Undo(self.stop, self._give_undo, partial(hostapi.is_working, adapter), self._spoken)
        self.approvals = Approvals()

    async def start(self) -> None:
        """Open the port. Raises `SetupError`."""
        self._service = await Service.start(self._home, self._settings, self, hostapi.host_version())
        self._hooks.hub = self._service.hub

    async def close(self) -> None:
        """Close the port; open turns end as interrupted."""
        self._hooks.hub = None
        for task in self._commands:
            task.cancel()
        await asyncio.gather(*self._commands, return_exceptions=True)
        service, self._service = self._service, None
        if service is not None:
            await service.stop()

    # -- what Iris asks of the host

    async def deliver(self, message: Message, channel: Channel, context: Context) -> None:
        """Give a person's message to the agent, with what it may be about; first take back what it replaces."""
        if self._runs_itself(message):
            return
        lane, text = Lane(message.chat_id, message.thread_id), message.text
        told = [_told_report(report) for report in context.reports]
        if context.replaced and not await self._undo.take_back(lane, context.replaced):
            told.append(_told_replaced(context.replaced))
        self._undo.given(lane)
        given: dict[str, Any] = _told_answered(context.answered) if context.answered else {}
        if message.attachments:
            files = await asyncio.to_thread(self._given, message.attachments)
            text = "\n\n".join(part for part in (text, files.texts) if part)
            kind = hostapi.message_type(files.kind)
            given |= {"media_urls": files.paths, "media_types": files.types, "message_type": kind}
        event = self._event(lane, message.message_id, text, channel)
        await self._adapter.handle_message(
            hostapi.with_fields(
                event,
                **given,
                channel_context="\n\n".join(told) or None,
                channel_prompt=self._prompt(),
            )
        )

    async def stop(self, lane: Lane) -> None:
        """Interrupt the turn of a lane, with the command that the host has for it."""
        await self._command(lane, self._running.hub.clock.now().name(STOP), "/stop")

    async def slash_commands(self) -> list[SlashCommand]:
        """The slash commands that a person can give here."""
        return await asyncio.to_thread(hostapi.slash_commands)

    async def title(self, lane: Lane) -> str | None:
        """What the host's model calls the conversation of a lane."""
        return await asyncio.to_thread(host_sessions.title, self._home, lane)

    async def search(self, needles: Sequence[str], role: Role | None, limit: int) -> list[Hit]:
        """What was said in the host's sessions that are no lanes."""
        return await asyncio.to_thread(host_sessions.search, self._home, needles, role, limit)

    async def session(self, session_id: SessionId) -> HostSession:
        """Such a session, to read."""
        return await asyncio.to_thread(host_sessions.session, self._home, session_id)

    async def jobs(self) -> list[HostJob]:
        """The host's cron jobs."""
        return await asyncio.to_thread(hostapi.cron_jobs)

    async def set_target(self, job_id: JobId, target: str) -> None:
        """Let a cron job deliver to a target."""
        await asyncio.to_thread(hostapi.set_job_target, job_id, target)

    async def directory_changed(self, directory: Sequence[Channel]) -> None:
        """Make the names of channels known to the host, and which one is its home channel."""
        self._directory = address.reachable(directory)
        for entry in self._directory:
            if entry.is_default:
                config.set_home_channel(HOME_CHANNEL_ENV, address.to_host(Lane(entry.chat_id))[0])
        await asyncio.to_thread(hostapi.write_aliases, self._home, address.PLATFORM, self.target_names())

    # -- what the host tells

    async def sent(self, lane_id: tuple[str, str | None], text: str, reply_to: str, metadata: dict[str, Any]) -> Any:
        """`send`: part of a turn, or a report, or something that the host has to say outside of one."""
        chat_id, thread_id = lane_id
        lane = hostapi.lane_of(chat_id, thread_id)
        job_id = metadata.get("job_id")
        is_own = reply_to.startswith((f"{STOP}_", undo.PREFIX))
        if is_own:
            self._undo.processed(lane, reply_to)
        if job_id is None and (is_own or (self._service and self._service.hub.is_busy(lane))):
            origin = calls.Origin.OWN_COMMAND if is_own else hostapi.text_origin(metadata)
            return await self.told(lane, calls.Sent(text, origin))
        target = f"{chat_id}:{thread_id}" if thread_id else chat_id
        return await self._post(await self._report(target, text, job_id))

    async def told(self, lane: Lane, call: calls.Call, message_id: str | None = None) -> Any:
        """Apply a call of a lane; the result that the host expects of `send` and `edit_message`."""
        try:
            moment = await self._running.hub.call(lane, call)
        except (IrisError, sqlite3.Error) as exc:
            return _failed(exc)
        return SendResult(success=True, message_id=message_id or moment.name("m"))

    async def processed(self, lane: Lane, message_id: str, outcome: Outcome) -> None:
        """The host is done with a message."""
        await self.told(lane, calls.Processed(outcome))
        self._undo.processed(lane, message_id)

    async def confirm(self, lane: Lane, session_key: str, confirm_id: str, title: str, message: str) -> Any:
        """`send_slash_confirm`: the person is asked, unless it is a command that Iris gave for them."""
        command = host_requests.confirmed(session_key, confirm_id)
        asked = host_requests.confirmation(session_key, confirm_id, title, message)
        if asked is None or not self._undo.confirms(lane, command):
            return await self.ask(lane, asked)
        await asked.waiting.settle(Answer(values=(questions.PROCEED.value,)))
        return SendResult(success=True)

    async def attached(self, lane_id: tuple[str, str | None], named: Sequence[Named], text: str = "") -> Any:
        """`send_document` and its like: files of the agent, part of a turn or outside of one."""
        chat_id, thread_id = lane_id
        if not named and not text:
            return SendResult(success=False, error="there is nothing to send")
        try:
            attachments = tuple([await self._taken(each) for each in named])
        except (IrisError, sqlite3.Error, OSError) as exc:
            logger.warning("a file of the agent was not sent: %s", exc)
            return SendResult(success=False, error=str(exc))
        lane = hostapi.lane_of(chat_id, thread_id)
        if self._running.hub.is_busy(lane):
            return await self.told(lane, calls.Attached(attachments, text))
        execution = hostapi.cron_execution()
        job = JobRef(id=execution[0], name=execution[1]) if execution else None
        target = f"{chat_id}:{thread_id}" if thread_id else chat_id
        return await self._post(Report(target, text, job, attachments=attachments))

    async def ask(self, lane: Lane, asked: Asked | None) -> Any:
        """Ask the person in a lane; a failure lets the host ask by text."""
        if asked is None:
            return SendResult(success=False, error="there is nothing in the host that an answer could go to")
        try:
            request_id = await self._running.desk.open(lane, asked.question, asked.waiting)
        except (IrisError, sqlite3.Error) as exc:
            return _failed(exc)
        return SendResult(success=True, message_id=request_id)

    async def open_thread(self, parent_chat_id: str, name: str) -> str | None:
        """A named thread that the host asks for; None, the host's word for "not here", when the channel is unknown."""
        moment = self._running.hub.clock.now()

        def opened(conn: sqlite3.Connection) -> Recorded:
            lane = address.resolve(parent_chat_id, address.reachable(channels.directory(conn)))
            parent = channels.get(conn, lane.chat_id, None)
            event = directory.open_thread(conn, parent, names.derived(name), "user", moment, auto=False)
            return Recorded([event], messages.record(conn, [event]), event.channel.thread_id)

        try:
            return str(await self._running.hub.transact(opened))
        except (IrisError, sqlite3.Error) as exc:
            logger.warning("no thread was opened: %s", exc)
            return None

    def target_names(self) -> dict[str, str]:
        """Each living lane as a target inside the host, with its name."""
        targets = {}
        for entry in self._directory:
            chat_id, thread_id = address.to_host(Lane(entry.chat_id, entry.thread_id))
            target = f"{chat_id}:{thread_id}" if thread_id else chat_id
            targets[target] = address.full_name(entry, self._directory)
        return targets

    # -- parts

    @property
    def _running(self) -> Service:
        if self._service is None:
            raise Busy("Iris is not connected; try again in a moment")
        return self._service

    async def _command(self, lane: Lane, message_id: str, text: str) -> None:
        await self._adapter.handle_message(self._event(lane, message_id, text, None))

    async def _give_undo(self, lane: Lane, message_id: str) -> None:
        await self._command(lane, message_id, f"/{undo.COMMAND}")

    async def _spoken(self, lane: Lane) -> list[undo.Spoken]:
        return await asyncio.to_thread(host_sessions.spoken, self._home, lane)

    def _runs_itself(self, message: Message) -> bool:
        """Whether a message is a command that the host has in its terminal only; its output comes as a notice."""
        lane = Lane(message.chat_id, message.thread_id)
        try:
            words = cron_command.arguments(message.text, address.spell(lane))
        except InvalidFrame as exc:
            words = None
            work = self.told(lane, calls.Sent(f"`/{cron_command.NAME}`: {exc}."))
        else:
            if words is None:
                return False
            work = self._run_cron(lane, words)
        task = asyncio.create_task(work)
        self._commands.add(task)
        task.add_done_callback(self._commands.discard)
        return True

    async def _run_cron(self, lane: Lane, words: list[str]) -> None:
        await self.told(lane, calls.Sent(await cron_command.run(words)))
        self._running.watcher.wake()

    async def _report(self, target: str, text: str, job_id: str | None) -> Report:
        if job_id is None:
            return Report(target, text)
        known = next((job for job in await self.jobs() if job.id == job_id), None)
        wrapped = reports.unwrap(text)
        name = known.name if known else wrapped[0].name if wrapped else job_id
        # The time of the run before this one: it stays the same while the host tries this one again.
        run = f"{job_id}@{known.last_run if known else time.time()}"
        return Report(target, wrapped[1] if wrapped else text, JobRef(id=job_id, name=name), run)

    async def _post(self, report: Report) -> Any:
        try:
            hub = self._running.hub
            moment = hub.clock.now()

            def delivered(conn: sqlite3.Connection) -> Recorded:
                result = reports.deliver(conn, report, moment)
                return Recorded(result.frames, messages.record(conn, result.frames), result.message_id)

            return SendResult(success=True, message_id=await hub.transact(delivered))
        except (IrisError, sqlite3.Error) as exc:
            return _failed(exc)

    async def _taken(self, named: Named) -> Attachment:
        hub = self._running.hub
        kept, attachment = await asyncio.to_thread(handover.taken, self._vault, named)
        now = hub.clock.now().ts
        await hub.store.write(partial(media.keep, vault=self._vault, kept=kept, attachment=attachment, now=now))
        return attachment

    def _given(self, attachments: Sequence[Attachment]) -> Given:
        return handover.given(self._vault, attachments, *hostapi.media_folders())

    def _event(self, lane: Lane, message_id: str, text: str, entry: Channel | None) -> Any:
        chat_id, thread_id = address.to_host(lane)
        channel = next((e for e in self._directory if e.chat_id == lane.chat_id and e.thread_id is None), entry)
        source = self._adapter.build_source(
            chat_id=chat_id,
            chat_name=channel.name if channel else None,
            chat_type="dm",  # constant: any other puts the user id in the session key
            user_id=PERSON,
            user_name=self._settings.user_name,
            thread_id=thread_id,
            chat_topic=entry.name if entry and thread_id else None,
            message_id=message_id,
            role_authorized=True,  # the device was authenticated by its token
        )
        return hostapi.MessageEvent(text=text, message_type=MessageType.TEXT, source=source, message_id=message_id)

    def _prompt(self) -> str:
        """Which channels there are: for one call only, not kept in the conversation."""
        targets = list(self.target_names().items())[:MAX_LISTED]
        listed = "\n".join(f"- {name}: {address.PLATFORM}:{target}" for target, name in targets)
        return (
            f"Channels of this app, each with its address as a delivery target (`deliver`) of scheduled jobs:\n{listed}"
        )


def _told_report(report: Message) -> str:
    name = report.job.name if report.job else "a scheduled job"
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(report.ts))
    return f"[Report of “{name}”, delivered here at {when}]\n{report.text}"


def _told_answered(answered: Message) -> dict[str, Any]:
    """The fields of the host's event in which it is told what a message answers (both hosts, `MessageEvent`)."""
    return {
        "reply_to_message_id": answered.message_id,
        "reply_to_text": answered.text[:MAX_QUOTED] or " ".join(file.name for file in answered.attachments),
        "reply_to_is_own_message": answered.role == "assistant",
    }


def _told_replaced(replaced: Message) -> str:
    said = replaced.text[:MAX_QUOTED] or " ".join(file.name for file in replaced.attachments)
    return f"[The person has taken back what they said before: “{said}”. What follows stands in its place.]"


def _failed(exc: Exception) -> Any:
    logger.error("not stored: %s", exc)
    return SendResult(success=False, error=str(exc), retryable=True)
