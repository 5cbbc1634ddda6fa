"""Mode `switch` of the lease: the room's turns run in the leased terminal session. Blocks on files.

Invariants: the room's own session is kept before it is left, and forgotten after the room is back; what the host itself
has moved meanwhile stays where it is; a switch that fails leaves the room with what mode `prompt` does.
"""

import logging
from typing import Any

from .. import hostapi, hoststate
from ..config import Home
from ..hostapi import BasePlatformAdapter
from ..meeting import lease
from ..meeting.lease import Bound, Standing
from .leases import Leases

logger = logging.getLogger(__name__)


class Switching:
    """The rooms of one agent, and the sessions that their turns run in."""

    def __init__(self, adapter: BasePlatformAdapter, home: Home, leases: Leases) -> None:
        self._adapter = adapter
        self._home = home
        self._leases = leases
        self._told: dict[str, str] = {}

    def settle(self, room: str, source: Any) -> bool:
        """Bring a room where its next turn has to run.

        Args:
            room: which.
            source: of the host's event that begins the turn.

        Returns:
            Whether that is the leased terminal session.
        """
        try:
            return self._settled(room, source)
        except Exception:  # whatever the host's own code raises, the turn goes on
            logger.exception("%s stays in the session that it is in", room)
            return False

    def _settled(self, room: str, source: Any) -> bool:
        wanted, kept = self._wanted(room), self._leases.bound(room)
        if wanted is None and kept is None:
            return False
        key, current = hostapi.room_session(self._adapter, source)
        there = kept is not None and current in (kept.leased, hoststate.newest(self._home, kept.leased))
        move = lease.move(current, wanted, kept if there else None)
        if move.bound is not None and move.bound != kept:
            self._leases.bind(room, move.bound)
        if move.target:
            if not hostapi.switch_session(self._adapter, key, current, move.target):
                logger.warning("%s stays in session %s: the host did not switch to %s", room, current, move.target)
                return False
            logger.info("%s goes on in session %s, after %s", room, move.target, current)
        if kept is not None and (wanted is None or (there and move.target)):
            hoststate.give_back(self._home, hoststate.newest(self._home, kept.leased), kept.source, key)
        if move.bound is None:
            self._leases.bind(room, None)
        return move.bound is not None

    def _wanted(self, room: str) -> Bound | None:
        """The terminal session in which the room's turns should run, if any; an obstacle is told once."""
        found = self._leases.find(room)
        if not self._leases.switches or found.standing is not Standing.GOOD or not (found.lease and found.session):
            return None
        if found.obstacle and found.obstacle != self._told.get(room, ""):
            logger.warning(
                "%s: the room is told the end of session %s: %s", room, found.session.session_id, found.obstacle
            )
        self._told[room] = found.obstacle
        if found.obstacle:
            return None
        return Bound(own="", leased=found.session.session_id, source=found.session.source, since=found.lease.timestamp)
