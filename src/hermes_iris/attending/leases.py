"""Leases in the host's database: taken by who speaks from a terminal session, read by the gateway. Blocks on files.

Invariant: a lease is judged when it is used, so its end, by time, by `clear` or with its session, is exact.
"""

import logging
import socket
import time
from dataclasses import dataclass, replace

from .. import hoststate
from ..config import Home
from ..errors import InvalidFrame, NotFound, Unsupported
from ..meeting import config, lease
from ..meeting.lease import TERMINAL, Bound, Lease, Session, Standing
from . import PLATFORM, terminals

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Found:
    """A lease and what it is worth now."""

    lease: Lease | None
    standing: Standing
    session: Session | None
    obstacle: str = ""
    """In mode `switch`, why the room does not run in the session though the lease is good."""


class Leases:
    """The leases of one agent."""

    def __init__(self, home: Home, agent: config.Agent, terms: config.Lease) -> None:
        self._home = home
        self._agent = agent
        self._terms = terms

    @property
    def switches(self) -> bool:
        """Whether the room's turns are to run in the leased session."""
        return self._terms.mode == "switch"

    def take(self, room: str, session_id: str) -> Lease:
        """Lease a terminal session to the agent in a room, or renew that.

        Raises:
            Unsupported: leases are off, or the session is none of a terminal.
            NotFound: there is no such session.
        """
        if self._terms.mode == "off":
            raise Unsupported("leases are off (`[lease] mode` in meeting.toml)")
        session = self._terminal(room, session_id)
        if session is None:
            raise NotFound(f"{self._home.root} has no session {session_id}")
        if session.source not in TERMINAL:
            raise Unsupported(f"session {session_id} is one of {session.source}, not of a terminal")
        made = Lease(
            session_id=session_id,
            timestamp=time.time(),
            source=session.source,
            profile=self._agent.profile or self._home.root.name,
            room=room,
            host=socket.gethostname(),
            pid=terminals.owner(session_id),
            mode=self._terms.mode,
        )
        hoststate.write_meta(self._home, lease.key(self._agent.name, room), lease.encode(made))
        return made

    def find(self, room: str) -> Found:
        """The lease for a room, and whether it is good."""
        try:
            kept = lease.decode(hoststate.read_meta(self._home, lease.key(self._agent.name, room)))
        except InvalidFrame as exc:
            logger.warning("%s: %s", self._agent.name, exc)
            kept = None
        session = self._terminal(room, kept.session_id) if kept else None
        standing = lease.standing(kept, session, self._terms.ttl, time.time(), outlives=self.switches)
        if not (self.switches and kept and session) or standing is not Standing.GOOD:
            return Found(kept, standing, session)
        runs = terminals.runs(kept.pid) if kept.pid and kept.host == socket.gethostname() else None
        return Found(kept, standing, session, lease.obstacle(kept, session, self.bound(room), runs))

    def bound(self, room: str) -> Bound | None:
        """What is kept while the room's turns run in a terminal session."""
        try:
            return lease.decode_bound(hoststate.read_meta(self._home, lease.bound_key(self._agent.name, room)))
        except InvalidFrame as exc:
            logger.warning("%s: %s", self._agent.name, exc)
            return None

    def bind(self, room: str, bound: Bound | None) -> None:
        """Keep that."""
        key = lease.bound_key(self._agent.name, room)
        hoststate.write_meta(self._home, key, lease.encode(bound) if bound else "")

    def clear(self, room: str) -> bool:
        """End the lease for a room; whether there was one."""
        key = lease.key(self._agent.name, room)
        if not hoststate.read_meta(self._home, key):
            return False
        hoststate.write_meta(self._home, key, "")
        return True

    def excerpt(self, room: str) -> str | None:
        """What the agent is told of its terminal session now; None without a good lease."""
        if self._terms.mode == "off":
            return None
        found = self.find(room)
        if found.standing is not Standing.GOOD or found.session is None:
            return None
        return lease.excerpt(found.session, self._terms.messages, self._terms.chars)

    def _terminal(self, room: str, session_id: str) -> Session | None:
        """A session as it was before the room's turns ran in it."""
        session = hoststate.terminal_session(self._home, session_id)
        if session is None or session.source != PLATFORM or (bound := self.bound(room)) is None:
            return session
        is_bound = hoststate.newest(self._home, bound.leased) == session.session_id
        return replace(session, source=bound.source) if is_bound else session
