"""Between the host and the rooms of one agent.

Invariants: everything that reaches the host begins with its sender in brackets, so that no text of a room is ever a
command; the host is asked for one turn at a time in a room; closing loses nothing that was committed.
"""

import asyncio
import logging
import sqlite3
from contextlib import AsyncExitStack
from typing import Any

from .. import hostapi, hoststate
from ..address import Lane
from ..config import Home, Settings
from ..errors import IrisError
from ..hooks import Hooks
from ..hostapi import BasePlatformAdapter, MessageEvent, MessageType, SendResult
from ..meeting import lease, rendering
from ..meeting.config import Agent, Meeting
from ..meeting.connection import Connection
from ..meeting.room import Turn
from ..meeting.said import Said, SenderKind
from ..meeting.state import RoomState
from ..store import Store
from ..turns import calls
from . import PLATFORM, THREAD, rooms
from .leases import Leases
from .memory import Memory
from .switching import Switching
from .table import Table

logger = logging.getLogger(__name__)

STOP = "/stop"
"""The host's command; nothing else that reaches it is one."""


class Bridge:
    """One adapter's side of the meeting."""

    def __init__(self, adapter: BasePlatformAdapter, home: Home, settings: Settings, hooks: "Hooks[Bridge]") -> None:
        self._adapter = adapter
        self._home = home
        self._settings = settings
        self._hooks = hooks
        self._open: AsyncExitStack | None = None
        self._tables: dict[str, Table] = {}
        self._meeting: Meeting
        self._me: Agent
        self._connection: Connection
        self._leases: Leases
        self._switching: Switching
        self._inside: set[str] = set()

    async def start(self) -> None:
        """Begin to attend the rooms; returns at once. Raises `SetupError`."""
        meeting, me, base = await asyncio.to_thread(rooms.attending, self._home, self._settings)
        account = await asyncio.to_thread(meeting.account, me, base)
        self._meeting, self._me = meeting, me
        self._leases = Leases(self._home, me, meeting.lease)
        self._switching = Switching(self._adapter, self._home, self._leases)
        async with AsyncExitStack() as opened:
            store = await asyncio.to_thread(Store, self._home.database)
            opened.push_async_callback(asyncio.to_thread, store.close)
            jids = [room.jid for room in meeting.rooms_of(me)]
            self._connection = Connection(account, jids, store, self._heard, self._stands, on_occupants=self._occupied)
            memory = Memory(store, meeting, me)
            self._tables = {jid: Table(jid, me, memory, self._connection, self) for jid in jids}
            for jid, table in self._tables.items():
                task = asyncio.create_task(table.run(), name=f"meeting {me.name} {jid}")
                opened.push_async_callback(_cancelled, task)
            self._connection.start()
            opened.push_async_callback(self._connection.close)
            self._open = opened.pop_all()
        self._hooks.hub = self
        names = {room.jid: room.name for room in meeting.rooms_of(me)}
        await asyncio.to_thread(hostapi.write_aliases, self._home, PLATFORM, names)

    async def close(self) -> None:
        """Leave the rooms."""
        self._hooks.hub = None
        opened, self._open = self._open, None
        if opened is not None:
            await opened.aclose()
        self._tables = {}

    # -- what the host tells

    def post(self, lane: Lane, call: calls.Call) -> None:
        """A hook's call, from any thread."""
        if (table := self._tables.get(lane.chat_id)) is not None:
            table.post(call)

    async def sent(self, room: str, text: str, metadata: dict[str, Any]) -> Any:
        """`send`: part of a turn, or a report that was sent here, or something that the host says and nobody hears."""
        try:
            jid = rooms.named(self._meeting, self._me, room) if self._tables else ""
            table = self._tables[jid]
            if metadata.get("job_id") is not None:
                return SendResult(success=True, message_id=await table.say(text))
        except (IrisError, KeyError, sqlite3.Error) as exc:
            logger.error("not posted to %s: %s", room, exc)
            return SendResult(success=False, error=str(exc))
        moment = table.call(calls.Sent(text, hostapi.text_origin(metadata)))
        return SendResult(success=True, message_id=moment.name("m"))

    def told(self, room: str, call: calls.Call, message_id: str = "") -> Any:
        """Another call of the host."""
        if (table := self._tables.get(room)) is not None:
            table.call(call)
        return SendResult(success=True, message_id=message_id)

    def name_of(self, room: str) -> str:
        """What people call a room."""
        return self._meeting.room(room).name if room in self._tables else room

    # -- what a table asks

    async def settle(self, room: str, said: Said) -> None:
        """Bring the room into the session that its next turn has to run in: its own, or a leased one."""
        source = self._event(room, said, said.text).source
        inside = await asyncio.to_thread(self._switching.settle, room, source)
        (self._inside.add if inside else self._inside.discard)(room)

    async def ask(self, room: str, turn: Turn) -> None:
        """Give a turn to the agent."""
        present = [rendering.who(one) for one in self._connection.occupants(room) if not one.own]
        inside = room in self._inside
        excerpt = lease.INSIDE if inside else await asyncio.to_thread(self._leases.excerpt, room)
        event = self._event(room, turn.trigger, rendering.line(turn.trigger))
        await self._adapter.handle_message(
            hostapi.with_fields(
                event,
                channel_context=rendering.context(turn),
                channel_prompt=rendering.rules(self._me.shown, self.name_of(room), present, excerpt),
            )
        )

    async def interrupt(self, room: str, said: Said) -> None:
        """Stop the turn that runs, with the command that the host has for it."""
        await self._adapter.handle_message(self._event(room, said, STOP))

    async def mirror(self, said: Said) -> bool:
        """Put an own message into the host's history as the agent's."""
        return await asyncio.to_thread(hoststate.mirror, self._home, PLATFORM, said.room, THREAD, said.text)

    async def revoke(self, room: str) -> bool:
        """End the lease of a room."""
        return await asyncio.to_thread(self._leases.clear, room)

    # -- parts

    async def _heard(self, said: Said) -> None:
        await self._tables[said.room].hear(said)

    def _stands(self, state: RoomState) -> None:
        self._tables[state.room].changed()

    def _occupied(self, room: str) -> None:
        self._tables[room].changed()

    def _event(self, room: str, said: Said, text: str) -> Any:
        source = self._adapter.build_source(
            chat_id=room,
            chat_name=self.name_of(room),
            chat_type="group",
            user_id=said.sender.jid or said.sender.nick,
            user_name=None,  # else the host puts a name of its own before each text
            thread_id=THREAD,
            is_bot=said.sender.kind is not SenderKind.PERSON,
            message_id=said.archive_id,
            role_authorized=True,  # the room's server has authenticated who is in it
        )
        return MessageEvent(text=text, message_type=MessageType.TEXT, source=source, message_id=said.archive_id)


async def _cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
