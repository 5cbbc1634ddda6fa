"""Messages of a room, made for tests of what agents do about them."""

from typing import Any

from hermes_iris.meeting.guard import Guard
from hermes_iris.meeting.room import Seat
from hermes_iris.meeting.said import Said, Sender, SenderKind

ROOM = "core@conference.test"
NAMES = {name: (name,) for name in ("mohe", "zhiwei", "xiaoguo")}

ANA = Sender("ana@test", "ana", SenderKind.PERSON, own=False)
MOHE = Sender("mohe@test", "mohe", SenderKind.AGENT, own=False)
ZHIWEI = Sender("zhiwei@test", "zhiwei", SenderKind.AGENT, own=False)
STRANGER = Sender("", "bot", SenderKind.UNKNOWN, own=False)
ME = Sender("mohe@test", "mohe", SenderKind.AGENT, own=True)

_count = iter(range(1_000_000))


def said(sender: Sender, text: str, **more: Any) -> Said:
    """A message that was just said, with an id of its own."""
    fields: dict[str, Any] = {
        "room": ROOM,
        "archive_id": f"a{next(_count)}",
        "origin_id": "",
        "sender": sender,
        "text": text,
        "ts": 1000.0,
        "hop": 0,
        "notice": False,
        "reply_to": "",
        "late": False,
    }
    return Said(**(fields | more))


def seat(me: str = "mohe", *, always: bool = False, **limits: Any) -> Seat:
    """A place in the room for one of the three agents."""
    return Seat(me, NAMES, Guard(**limits), always)
