"""Who has the floor in a room: what the signals of its members have led to.

Invariants: only a person stops the agents or lets them go on, only an agent shares a session or is limited, and what an
agent says of itself touches nobody else; nothing grows without bound; replaying a room's messages gives the same floor.
"""

from msgspec import Struct
from msgspec.structs import replace

from ..protocol.frames import Limit, SharedSession
from ..protocol.types import UnixTime
from . import mentions
from .guard import Guard
from .said import Said, Sender, SenderKind
from .signals import Lease, Resume, Stop, Tripped

MAX_EACH = 50
"""Leases, and limits, that are kept."""


class Floor(Struct, frozen=True, omit_defaults=True):
    """How things stand."""

    leases: tuple[SharedSession, ...] = ()
    limits: tuple[Limit, ...] = ()
    stopped_by: str | None = None


def after(floor: Floor, said: Said, guard: Guard) -> Floor:
    """The floor after a message. A person's bare word is as good as the signal; `guard` has the words."""
    sender = said.sender
    match sender.kind:
        case SenderKind.PERSON:
            return _person(floor, said, guard)
        case SenderKind.AGENT if sender.jid:
            return _agent(floor, sender, said)
        case _:
            return floor


def at(floor: Floor, now: UnixTime) -> Floor:
    """The floor without what is over by now."""
    return replace(
        floor,
        leases=tuple(lease for lease in floor.leases if lease.until > now),
        limits=tuple(limit for limit in floor.limits if limit.until == 0 or limit.until > now),
    )


def next_end(floor: Floor) -> UnixTime | None:
    """When the next thing will be over by itself."""
    ends = [*(lease.until for lease in floor.leases), *(limit.until for limit in floor.limits if limit.until)]
    return min(ends, default=None)


def _person(floor: Floor, said: Said, guard: Guard) -> Floor:
    floor = replace(floor, limits=tuple(limit for limit in floor.limits if limit.until))
    word = mentions.without(said.text, {})
    if isinstance(said.signal, Stop) or word in map(mentions.folded, guard.stop):
        return replace(floor, stopped_by=said.sender.nick)
    if isinstance(said.signal, Resume) or word in map(mentions.folded, guard.go):
        return replace(floor, stopped_by=None)
    return floor


def _agent(floor: Floor, sender: Sender, said: Said) -> Floor:
    match said.signal:
        case Lease(until=until, title=title):
            leases = tuple(lease for lease in floor.leases if lease.agent != sender.jid)
            own = SharedSession(agent=sender.jid, name=sender.nick, title=title, until=until)
            return replace(floor, leases=(*leases, own)[-MAX_EACH:] if until else leases)
        case Tripped(rule=rule, until=until):
            limits = tuple(limit for limit in floor.limits if limit.agent != sender.jid)
            limit = Limit(agent=sender.jid, name=sender.nick, rule=rule.value, until=until)
            return replace(floor, limits=(*limits, limit)[-MAX_EACH:])
        case _:
            return floor
