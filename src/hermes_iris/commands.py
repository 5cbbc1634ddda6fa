"""What the gateway answers to a client's frame: one function per frame.

Invariants: a request has exactly one answer; a mutation is one transaction together with the memory of its
`client_id`, so that a retry gets the first result again and changes nothing.
"""

import logging
import re
import secrets
import sqlite3
import time
from dataclasses import dataclass
from typing import assert_never

from msgspec.structs import replace

from . import address, directory, jobs, names
from .address import Lane
from .courier import Courier
from .desk import Desk
from .errors import Conflict, InvalidFrame, IrisError, NotFound, Unsupported
from .host import Host
from .hub import Hub, Recorded
from .invitations import Invitations, picture
from .meeting.rooms import Rooms
from .outbox import Outbox
from .protocol.frames import (
    Ack,
    ChannelAccepted,
    ChannelCreate,
    ChannelDelete,
    ChannelRename,
    ChannelRestore,
    ChannelSetAutomation,
    ChannelSetDefault,
    ChannelSetThreads,
    ClientFrame,
    Commands as CommandList,
    CommandsList,
    CronJobs,
    CronList,
    CronSetTarget,
    DeviceInvite,
    DeviceList,
    DeviceLook,
    DeviceRename,
    DeviceRevoke,
    Devices,
    DirectoryChange,
    Failure,
    Frame,
    Hello,
    History,
    HistoryPage,
    Hit,
    Invitation,
    LeaseRevoke,
    Message,
    MessageAccepted,
    MessageHidden,
    MessageSend,
    MessageSetHidden,
    MessageShown,
    Ping,
    Pong,
    PushGet,
    PushSubscribe,
    PushUnsubscribe,
    ReadMark,
    ReadMarked,
    RequestAnswer,
    RoomStop,
    RoomTyping,
    Search,
    SearchResults,
    SessionGet,
    SessionLines,
    ToolData,
    ToolGet,
    TurnStop,
    TurnSummary,
)
from .protocol.types import DeviceId
from .push.herald import Herald
from .store import (
    channels,
    devices,
    hiding,
    media,
    messages,
    pushes,
    quotes,
    reading,
    replacing,
    requests,
    search,
    tools,
    turns,
)
from .watcher import Watcher

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Commands:
    """Answers the frames of every device."""

    hub: Hub
    host: Host
    courier: Courier
    watcher: Watcher
    rooms: Rooms
    desk: Desk
    herald: Herald
    invitations: Invitations

    def leave(self, outbox: Outbox) -> None:
        """A connection has ended."""
        self.hub.leave(outbox)
        self.herald.left(outbox)

    async def answer(self, frame: ClientFrame, outbox: Outbox | None = None) -> Frame:
        """Carry a frame of a connection's device out.

        Raises:
            IrisError: it was refused; `failure` makes the `error` frame of it.
        """
        here = outbox or Outbox()
        device_id = here.device_id
        match frame:
            case Hello():
                raise Unsupported("hello is only the first frame of a connection")
            case Ping():
                return Pong()
            case MessageSend():
                return await (self.rooms.send if frame.chat_id in self.rooms else self._message_send)(frame)
            case MessageSetHidden():
                return await self._set_hidden(frame)
            case RoomStop():
                return await self.rooms.stop(frame)
            case RoomTyping():
                return await self.rooms.composing(frame)
            case LeaseRevoke():
                return await self.rooms.revoke(frame)
            case TurnStop():
                if frame.chat_id in self.rooms:
                    raise Unsupported(
                        "$.chat_id is a room, where no turn of this gateway runs; stop all agents instead"
                    )
                await self.hub.store.read(lambda conn: channels.get(conn, frame.chat_id, frame.thread_id))
                await self.host.stop(Lane(frame.chat_id, frame.thread_id))
                return Ack(client_id=frame.client_id)
            case RequestAnswer():
                return await self.desk.answer(frame, device_id)
            case ToolGet():
                detail = await self.hub.store.read(lambda conn: tools.detail(conn, frame.tool_call_id))
                return ToolData(client_id=frame.client_id, tool_call_id=frame.tool_call_id, **detail._asdict())
            case CommandsList():
                return CommandList(client_id=frame.client_id, commands=await self.host.slash_commands())
            case History():
                return await self._history(frame)
            case Search():
                return await self._search(frame)
            case SessionGet():
                lines = await self.host.session(frame.session_id)
                return SessionLines(
                    client_id=frame.client_id, title=lines.title, source=lines.source, lines=lines.lines
                )
            case ReadMark():
                return await self._read_mark(frame)
            case DeviceList():
                return await self._device_list(frame, device_id)
            case DeviceRename():
                return await self._device_rename(frame)
            case DeviceRevoke():
                return await self._device_revoke(frame)
            case DeviceInvite():
                link = await self.invitations.make(device_id, self.hub.clock.now().ts)
                qr = "" if link.is_local else picture(link)
                return Invitation(client_id=frame.client_id, url=link.url, ttl=link.ttl, local=link.is_local, qr=qr)
            case DeviceLook():
                return self.herald.look(frame, here)
            case PushGet():
                return self.herald.state(frame, device_id)
            case PushSubscribe():
                return await self.herald.subscribe(frame, device_id)
            case PushUnsubscribe():
                return await self.herald.unsubscribe(frame, device_id)
            case CronList():
                return await self._cron_list(frame)
            case CronSetTarget():
                return await self._cron_set_target(frame)
            case (
                ChannelCreate()
                | ChannelRename()
                | ChannelSetDefault()
                | ChannelSetAutomation()
                | ChannelSetThreads()
                | ChannelDelete()
                | ChannelRestore()
            ):
                return await self._change_directory(frame)
            case _:
                assert_never(frame)

    async def _message_send(self, request: MessageSend) -> MessageAccepted:
        if not request.text and not request.attachments:
            raise InvalidFrame("$.text is empty, and there are no files; say something")
        if request.replaces and request.text.startswith("/"):
            raise Unsupported("$.replaces cannot be set for a command: it would take nothing's place")
        moment = self.hub.clock.now()

        def accept(conn: sqlite3.Connection) -> Recorded:
            if earlier := requests.earlier(conn, request, MessageAccepted):
                return Recorded([], [], earlier)
            attachments = media.named(conn, request.attachments)
            lane, opened = directory.place(conn, request, moment)
            if request.replaces is not None:
                replacing.give_way(conn, request.replaces, lane)
            said = Message(
                message_id=moment.name("m"),
                chat_id=lane.chat_id,
                thread_id=lane.thread_id,
                role="user",
                text=request.text,
                attachments=attachments,
                client_id=request.client_id,
                reply_to=request.reply_to,
                replaces=request.replaces,
                ts=moment.ts,
                order=moment.order,
            )
            [echo] = quotes.filled(conn, [said])
            events = [*opened, echo]
            numbers = messages.record(conn, events)
            answer = MessageAccepted(
                client_id=request.client_id,
                message_id=echo.message_id,
                chat_id=lane.chat_id,
                thread_id=lane.thread_id,
                seq=numbers[-1],
            )
            requests.remember(conn, request, answer, moment.ts)
            return Recorded(events, numbers, answer)

        answer: MessageAccepted = await self.hub.transact(accept, after=self.courier.wake)
        return answer

    async def _set_hidden(self, request: MessageSetHidden) -> Ack:
        def change(conn: sqlite3.Connection) -> Recorded:
            if hiding.is_hidden(conn, request.message_id) == request.on:
                return Recorded([], [])
            message = messages.find(conn, request.message_id)
            if message is None:
                raise NotFound("$.message_id names no message that is complete")
            event = (
                MessageHidden(message_id=message.message_id, chat_id=message.chat_id, thread_id=message.thread_id)
                if request.on
                else MessageShown(message=message)
            )
            return Recorded([event], messages.record(conn, [event]))

        await self.hub.transact(change)
        return Ack(client_id=request.client_id)

    async def _change_directory(self, request: DirectoryChange) -> ChannelAccepted:
        moment = self.hub.clock.now()

        def change(conn: sqlite3.Connection) -> Recorded:
            if earlier := requests.earlier(conn, request, ChannelAccepted):
                return Recorded([], [], earlier)
            events = directory.change(conn, request, moment)
            entry = events[-1].channel
            answer = ChannelAccepted(client_id=request.client_id, chat_id=entry.chat_id, thread_id=entry.thread_id)
            requests.remember(conn, request, answer, moment.ts)
            return Recorded(events, messages.record(conn, events), answer)

        answer: ChannelAccepted = await self.hub.transact(change)
        return answer

    async def _cron_list(self, request: CronList) -> CronJobs:
        entries = await self.hub.store.read(channels.directory)
        return CronJobs(client_id=request.client_id, jobs=jobs.listed(await self.host.jobs(), entries))

    async def _cron_set_target(self, request: CronSetTarget) -> Ack:
        lane = Lane(request.chat_id, request.thread_id)
        entry = await self.hub.store.read(lambda conn: directory.living(conn, lane))
        if entry.kind == "room":
            raise Unsupported("$.chat_id is a room, which takes no reports; choose a channel")
        await self.host.set_target(request.job_id, address.spell(lane))
        self.watcher.wake()
        return Ack(client_id=request.client_id)

    async def _history(self, request: History) -> HistoryPage:
        lane = Lane(request.chat_id, request.thread_id)
        places = {"before": request.before, "after": request.after, "around": request.around}
        if sum(place is not None for place in places.values()) > 1:
            raise InvalidFrame("$.before, $.after and $.around exclude each other")

        def page(conn: sqlite3.Connection) -> tuple[messages.Page, list[TurnSummary]]:
            channels.get(conn, lane.chat_id, lane.thread_id)
            found = messages.history(conn, lane, request.limit, **places)
            return found, turns.summaries(conn, lane, found)

        (entries, has_more, has_newer), ended = await self.hub.store.read(page)
        return HistoryPage(
            client_id=request.client_id,
            chat_id=lane.chat_id,
            thread_id=lane.thread_id,
            entries=entries,
            has_more=has_more,
            has_newer=has_newer,
            turns=ended,
        )

    async def _search(self, request: Search) -> SearchResults:
        query = search.parse(request.query)
        if request.scope == "chat" and request.chat_id is None:
            raise InvalidFrame("$.chat_id is missing: scope `chat` needs it")
        before = int(request.cursor) if request.cursor and re.fullmatch("[0-9]{1,18}", request.cursor) else None

        def find(conn: sqlite3.Connection) -> tuple[list[Hit], int | None]:
            lane = Lane(request.chat_id, request.thread_id) if request.scope == "chat" and request.chat_id else None
            if query.channel is not None:
                try:
                    lane = address.resolve(query.channel, channels.directory(conn))
                except (NotFound, Conflict):  # half a name, still being typed
                    return [], None
            return search.find(conn, query, lane, request.order, before, request.limit)

        hits, after = await self.hub.store.search(find)
        everywhere = request.scope == "all" and query.channel is None and query.terms
        if everywhere and after is None and len(hits) < request.limit:
            hits += await self.host.search(query.needles, query.role, request.limit - len(hits))
        elif everywhere and after is None:  # the page is full: the host's come on the next one, which has none of ours
            after = 1 if request.order == "newest" else search.RANKED
        return SearchResults(client_id=request.client_id, hits=hits, cursor=str(after) if after else None)

    async def _read_mark(self, request: ReadMark) -> Ack:
        lane = Lane(request.chat_id, request.thread_id)

        def marked(conn: sqlite3.Connection) -> Recorded:
            channels.get(conn, *lane)
            if request.order <= reading.place(conn, lane):
                return Recorded([], [])
            left = reading.left(conn, lane, request.order)
            event = ReadMarked(chat_id=lane.chat_id, thread_id=lane.thread_id, order=request.order, unread=left)
            return Recorded([event], messages.record(conn, [event]))

        await self.hub.transact(marked)
        return Ack(client_id=request.client_id)

    async def _device_rename(self, request: DeviceRename) -> Ack:
        name = names.checked(request.name)
        await self.hub.store.write(lambda conn: devices.rename(conn, request.device_id, name))
        return Ack(client_id=request.client_id)

    async def _device_revoke(self, request: DeviceRevoke) -> Ack:
        answer = Ack(client_id=request.client_id)
        now = time.time()

        def revoke(conn: sqlite3.Connection) -> None:
            if not requests.earlier(conn, request, Ack):
                devices.revoke(conn, request.device_id, now)
                pushes.unsubscribe(conn, request.device_id)
                requests.remember(conn, request, answer, now)

        await self.hub.store.write(revoke)
        self.herald.forget(request.device_id)
        self.hub.shut_out(request.device_id)
        return answer

    async def _device_list(self, request: DeviceList, asking: DeviceId) -> Devices:
        connected = self.hub.connected()
        listed = await self.hub.store.read(devices.listing)
        return Devices(
            client_id=request.client_id,
            devices=[replace(d, connected=d.id in connected, this=d.id == asking) for d in listed],
        )


def failure(exc: Exception, client_id: str | None = None) -> Failure:
    """The `error` frame for an exception; what Iris did not raise itself is `internal`, its text only in the log."""
    if isinstance(exc, IrisError):
        return Failure(code=exc.code, message=str(exc), client_id=client_id, retryable=exc.retryable)
    reference = secrets.token_hex(4)
    logger.error("internal error %s", reference, exc_info=exc)
    return Failure(
        code="internal",
        message=f"something went wrong in the gateway; its log has it under {reference}",
        client_id=client_id,
        retryable=True,
    )
