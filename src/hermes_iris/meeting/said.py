"""What is said in a meeting room, as everything past the transport sees it.

Invariants: who said something is decided by the transport, by the real address or the archive, never by a nickname or
by text; the order of `Said` values is the order of the room's archive, and each comes once.
"""

import enum
from dataclasses import dataclass

from ..protocol.types import UnixTime
from .signals import Signal


class SenderKind(enum.Enum):
    """Who is who in a room."""

    PERSON = "person"
    AGENT = "agent"
    UNKNOWN = "unknown"
    """An occupant whose real address is in no configuration: treated like an agent by the guards against loops."""


@dataclass(frozen=True, slots=True)
class Sender:
    """An occupant of the room."""

    jid: str
    """Bare JID; empty when the room does not tell."""
    nick: str
    kind: SenderKind
    own: bool
    """Whether it is the very account that this process speaks for."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a room, after its archive has numbered it."""

    room: str
    """Bare JID of the room."""
    archive_id: str
    """The room's `stanza-id` (XEP-0359)."""
    origin_id: str
    """The id that the sender gave it; empty when there was none."""
    sender: Sender
    text: str
    ts: UnixTime
    hop: int
    """Agents in a row that led to it: 0 for a person, the trigger's plus one for an answer."""
    notice: bool
    """Marked by its sender as something that nobody answers."""
    reply_to: str
    """`archive_id` or `origin_id` of what it answers; empty for none."""
    late: bool
    """Read from the archive after an absence, not heard live."""
    signal: Signal | None = None
    """What it tells beside its text."""
