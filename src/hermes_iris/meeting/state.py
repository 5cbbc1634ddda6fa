"""How an account stands in a room, for people and programs: a closed set of reasons, each with what to do.

Invariant: a text says what is amiss and what to do about it, in one line; programs go by `phase` and `reason` alone.
"""

import enum
from dataclasses import dataclass

from ..errors import IrisError


class Phase(enum.Enum):
    """Where an account is on its way into a room."""

    CONNECTING = "connecting"
    JOINED = "joined"
    """In the room, and everything that was said meanwhile has been told."""
    FAILED = "failed"
    """Not in the room; it is tried again, the reason says what keeps it out."""
    GAP = "gap"
    """In the room, but the archive no longer has all that was said meanwhile. `JOINED` follows."""
    ELSEWHERE = "elsewhere"
    """Another process of this home is in the rooms for the account; what is posted here goes out there."""


class Reason(enum.Enum):
    """What keeps an account out of a room."""

    SETUP = "setup"
    """`meeting.toml` is wrong, or has no account to join with."""
    UNREACHABLE = "unreachable"
    TLS = "tls"
    PASSWORD = "password"  # noqa: S105 - the name of a reason
    NOT_MEMBER = "not_member"
    BANNED = "banned"
    NICK_TAKEN = "nick_taken"
    NO_ROOM = "no_room"
    """It does not exist, and this account may not make it."""
    ROOM_PASSWORD = "room_password"  # noqa: S105 - the name of a reason
    ROOM_FULL = "room_full"
    ROOM_SETTINGS = "room_settings"
    """It hides who is in it, lets anybody in, or keeps no archive."""
    ARCHIVE = "archive"
    REMOVED = "removed"
    NOT_INSTALLED = "not_installed"
    REFUSED = "refused"
    """Something else that server or room said; the text has their word for it."""


@dataclass(frozen=True, slots=True)
class RoomState:
    """How an account stands in a room."""

    room: str
    phase: Phase
    reason: Reason | None = None
    """For `FAILED` only."""
    text: str = ""
    """For `FAILED` and `GAP`: what it is, and what to do."""


class Refusal(IrisError):
    """Server or room do not let an account in, or no longer."""

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


_JOIN = {
    "not-authorized": (Reason.ROOM_PASSWORD, "{room} wants a password, which Iris has none for: make it members-only"),
    "forbidden": (Reason.BANNED, "{room} has banned {jid}; its owner can lift that"),
    "registration-required": (
        Reason.NOT_MEMBER,
        "{jid} is no member of {room}; whoever made the room, or its owner, has to make it one",
    ),
    "conflict": (
        Reason.NICK_TAKEN,
        "somebody else in {room} has the nick {nick}; set another `nick` in meeting.toml, or have them give it up",
    ),
    "item-not-found": (Reason.NO_ROOM, "{room} does not exist or is not open yet; its owner has to configure it"),
    "not-allowed": (Reason.NO_ROOM, "{room} does not exist and {jid} may not make it; have an admin make it"),
    "service-unavailable": (Reason.ROOM_FULL, "{room} is full, or its server does not let anybody in now"),
    "remote-server-not-found": (Reason.NO_ROOM, "there is no server for {room}; look at `jid` of [[rooms]]"),
}


def join_refused(room: str, jid: str, nick: str, condition: str, words: str) -> Refusal:
    """Why a room does not let somebody in, by the error's condition (XEP-0045, section 7.2)."""
    reason, text = _JOIN.get(condition, (Reason.REFUSED, "{room} refused the join of {jid}: " + condition))
    told = f" ({words})" if words else ""
    return Refusal(reason, text.format(room=room, jid=jid, nick=nick) + told)


_LEFT = {
    "301": (Reason.BANNED, "banned from it"),
    "307": (Reason.REMOVED, "put out of it"),
    "321": (Reason.NOT_MEMBER, "no longer a member"),
    "322": (Reason.NOT_MEMBER, "no member, and it is for members only now"),
    "332": (Reason.UNREACHABLE, "out because its server stops"),
}


def removed(room: str, jid: str, codes: frozenset[str]) -> Refusal:
    """Why somebody is no longer in a room, by the status codes of XEP-0045."""
    for code, (reason, text) in _LEFT.items():
        if code in codes:
            return Refusal(reason, f"{room}: {jid} is {text}")
    return Refusal(Reason.REMOVED, f"{room}: {jid} is no longer in it")
