"""A running gateway of Iris: store, hub, server, put together for one Hermes home."""

import asyncio
import logging
import secrets
import sqlite3
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from . import __version__, hostconfig, reports
from .clock import Clock
from .commands import Commands
from .config import Home, Settings
from .courier import Courier
from .desk import Desk
from .errors import SetupError
from .host import Host
from .hub import Hub, Recorded
from .invitations import Invitations
from .meeting import rooms
from .meeting.rooms import Rooms
from .protocol.frames import Event, ServerInfo
from .protocol.types import Seconds, UnixTime
from .push.herald import Herald
from .server import Listener, create_app
from .store import Store, channels, lineage, messages, orphans, requests
from .store.lineage import Mark
from .sweeper import Sweeper
from .vault import Vault
from .watcher import Watcher

logger = logging.getLogger(__name__)

LAST_WRITES: Seconds = 5.0
"""How long what waits for the store may take at the end."""


@dataclass(frozen=True)
class Service:
    """Made by `start`, ended by `stop`."""

    home: Home
    mark: Mark
    hub: Hub
    commands: Commands
    listener: Listener
    store: Store
    courier: Courier
    watcher: Watcher
    vault: Vault
    sweeper: Sweeper
    rooms: Rooms
    desk: Desk
    herald: Herald

    @classmethod
    async def start(cls, home: Home, settings: Settings, host: Host, host_version: str) -> "Service":
        """Open the store, close what an earlier gateway left open, and listen.

        Raises:
            SetupError: the home cannot be written, the port is taken, a newer Iris wrote the database.
        """
        async with AsyncExitStack() as undo:
            store = await asyncio.to_thread(Store, home.database)
            undo.push_async_callback(asyncio.to_thread, store.close)
            clock = Clock(await store.read(messages.last_order))
            await store.write(partial(_prepare, clock.now().ts))
            start, file = secrets.token_hex(8), home.database.stat().st_ino
            found = lineage.read(home.mark)
            here = await store.write(partial(lineage.begun, found=found, start=start, file=file))
            mark = Mark(start, here.seq, file)
            _leave(home, mark)
            hub = Hub(store, clock, here, settings.log_events, settings.log_days)
            await store.write(hub.prune)
            await hub.transact(partial(_close_orphans, clock))
            courier = Courier(store, host)
            undo.push_async_callback(courier.stop)
            watcher = Watcher(hub, host)
            undo.push_async_callback(watcher.stop)
            vault = Vault(home.media, settings.max_upload_mb << 20)
            sweeper = Sweeper(store, vault, clock, settings.media_days)
            undo.push_async_callback(sweeper.stop)
            joined = await Rooms.open(hub, rooms.plan(home, settings))
            undo.push_async_callback(joined.close)
            desk = Desk(hub)
            undo.push_async_callback(desk.stop)
            invitations = Invitations(store, settings)
            herald = await Herald.open(hub, home, settings)
            undo.push_async_callback(herald.stop)
            commands = Commands(hub, host, courier, watcher, joined, desk, herald, invitations)
            server = ServerInfo(name="Iris", version=__version__, host_version=host_version, rehearsal=_rehearses(home))
            app = create_app(commands, server, clock, settings, vault)
            listener = await Listener.start(app, settings, home.endpoint)
            invitations.listening = listener.url
            undo.pop_all()
        logger.info("Iris is at %s", listener.url)
        courier.start()  # last, and it begins when this one waits next: then the caller knows the service
        return cls(home, mark, hub, commands, listener, store, courier, watcher, vault, sweeper, joined, desk, herald)

    async def stop(self) -> None:
        """End every turn, tell the devices, and close."""
        await self.sweeper.stop()
        await self.rooms.close()
        await self.watcher.stop()
        await self.courier.stop()
        await self.desk.stop()
        self.hub.end_turns("interrupted")
        await self._settle()
        self.hub.close("the gateway stops")
        await self.listener.stop()
        await self._settle()
        _leave(self.home, replace(self.mark, seq=self.hub.position.seq))
        await asyncio.to_thread(self.store.close)

    async def _settle(self) -> None:
        """Let everything be stored; a disk that is full must not keep the host from stopping."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LAST_WRITES):
                await self.hub.drain()


def _leave(home: Home, mark: Mark) -> None:
    try:
        lineage.write(home.mark, mark)
    except OSError as exc:  # the next gateway then takes the database for one that was put back, which loses nothing
        logger.warning("%s cannot be written: %s", home.mark, exc)


def _rehearses(home: Home) -> bool:
    """Whether the model of the home is the rehearsal; a file that cannot be read is the host's to complain about."""
    try:
        config = hostconfig.parse(home.host_config.read_text(encoding="utf-8"), str(home.host_config))
    except (OSError, UnicodeError, SetupError):
        return False
    return hostconfig.model_name(config) == hostconfig.REHEARSAL_MODEL


def _prepare(now: UnixTime, conn: sqlite3.Connection) -> None:
    channels.ensure_default(conn, now)
    requests.forget_old(conn, now)
    reports.forget_old(conn, now)


def _close_orphans(clock: Clock, conn: sqlite3.Connection) -> Recorded:
    effects = orphans.closing(conn, clock.now())
    numbers = messages.record(conn, effects)
    return Recorded([effect for effect in effects if isinstance(effect, Event)], numbers)
