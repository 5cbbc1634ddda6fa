"""Whom to call for what: pure.

An alert is what a person may want to be called for: an answer, a report, a question. A board holds those that are open:
neither read, nor answered, nor shown to anybody. `step` takes what happens and says who is to be called, and whose call
is settled.

Invariants:

- nobody is called for a lane that a device has in the foreground, nor on a device that has the app in the foreground;
- a device is called for an alert once at most, and only if it wants that;
- what a device had in front of it counts as shown only as far as it said that it had it: if its connection is lost
  instead, the others are called after all;
- a call is settled as soon as what it was for is read, answered or gone, on whichever device.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, assert_never

from .address import Lane
from .protocol.frames import (
    ChannelDeleted,
    Event,
    Message,
    MessageStop,
    PushNote,
    PushPreferences,
    ReadMarked,
    RequestClosed,
    RequestOpened,
)
from .protocol.types import AlertKind, DeviceId, Order, RequestId, Seq, UnixTime

MAX_OPEN = 500
"""Alerts on a board; the oldest makes room."""

MAX_TEXT = 240
"""Characters of a call."""


class Alert(NamedTuple):
    """Something that a person may want to be called for."""

    lane: Lane
    kind: AlertKind
    seq: Seq
    order: Order
    ts: UnixTime
    text: str
    request_id: RequestId | None = None
    until: UnixTime | None = None
    """Of a request: when nobody waits for the answer any more."""


class Recipient(NamedTuple):
    """A device that can be called."""

    device_id: DeviceId
    preferences: PushPreferences


class Look(NamedTuple):
    """What a connection of a device has in the foreground."""

    device_id: DeviceId
    lane: Lane


# ---------------------------------------------------------------- what happens


class Raised(NamedTuple):
    """There is something new."""

    alert: Alert


class Read(NamedTuple):
    """A lane was read up to a place."""

    lane: Lane
    order: Order


class Answered(NamedTuple):
    """A request waits no longer."""

    request_id: RequestId


class Gone(NamedTuple):
    """A lane was deleted, a channel with its threads."""

    lane: Lane


class Looked(NamedTuple):
    """A connection has another lane in the foreground, or none; up to `seq` its device has shown what it had to."""

    connection: object
    device_id: DeviceId
    lane: Lane | None
    seq: Seq


class Lost(NamedTuple):
    """A connection ended; nobody knows what its device still got."""

    connection: object


class Subscribed(NamedTuple):
    """A device wants to be called from now on, or for something else: not for what was there before."""

    device_id: DeviceId


Happening = Raised | Read | Answered | Gone | Looked | Lost | Subscribed

# ---------------------------------------------------------------- what comes of it


class Call(NamedTuple):
    """Call a device; this one and others wait there, so many."""

    device_id: DeviceId
    alert: Alert
    waiting: int


class Settle(NamedTuple):
    """Take a call back: it was for something up to this place of the lane."""

    device_id: DeviceId
    lane: Lane
    order: Order


@dataclass(frozen=True)
class Open:
    """An alert on the board."""

    alert: Alert
    over: bool = False
    """Whether the person has had it in front of them: nobody else is called."""

    called: frozenset[DeviceId] = frozenset()
    shown: frozenset[DeviceId] = frozenset()
    """Devices that have shown it by themselves, as one of the lanes with something new."""


@dataclass(frozen=True)
class Board:
    """What is open, oldest first, and what is in the foreground."""

    open: tuple[Open, ...] = ()
    looks: Mapping[object, Look] = field(default_factory=dict)


def happening(event: Event) -> Happening | None:
    """What an event means for the board. Remarks, notices, what was cut short and what is said in rooms call nobody."""
    match event:
        case Message(role="assistant" | "cron", kind="final", sender=None) if event.state != "aborted":
            kind: AlertKind = "report" if event.role == "cron" else "final"
            told = event.text or ", ".join(file.name for file in event.attachments)
            return Raised(Alert(_lane(event), kind, event.seq, event.order, event.ts, _excerpt(told)))
        case MessageStop(kind="final") if event.state != "aborted":
            return Raised(Alert(_lane(event), "final", event.seq, event.order, event.ts, _excerpt(event.final_text)))
        case RequestOpened(question=question):
            told = _excerpt(f"{question.title} {question.prompt or question.detail}")
            until = question.expires_at
            alert = Alert(_lane(event), "request", event.seq, event.order, event.ts, told, event.request_id, until)
            return Raised(alert)
        case RequestClosed():
            return Answered(event.request_id)
        case ReadMarked():
            return Read(_lane(event), event.order)
        case ChannelDeleted(channel=channel):
            return Gone(Lane(channel.chat_id, channel.thread_id))
        case _:
            return None


def step(
    board: Board, happened: Happening, recipients: Collection[Recipient]
) -> tuple[Board, list[Settle], list[Call]]:
    """Apply what happened: the new board, whose calls are settled, and who is to be called."""
    match happened:
        case Raised(alert):
            fresh = (Open(alert),) if recipients else ()
            board = Board((*board.open, *fresh)[-MAX_OPEN:], board.looks)
            removed: tuple[Open, ...] = ()
        case Read(lane, order):
            board, removed = _split(board, lambda alert: alert.lane == lane and alert.order <= order)
        case Answered(request_id):
            board, removed = _split(board, lambda alert: alert.request_id == request_id)
        case Gone(lane):
            board, removed = _split(board, lambda alert: _is_under(alert.lane, lane))
        case Looked():
            board, removed = _looked(board, happened), ()
        case Lost(connection):
            looks = {other: look for other, look in board.looks.items() if other != connection}
            board, removed = Board(board.open, looks), ()
        case Subscribed(device_id):
            entries = tuple(replace(entry, shown=entry.shown | {device_id}) for entry in board.open)
            board, removed = Board(entries, board.looks), ()
        case _:
            assert_never(happened)
    settled = _settled(removed, board)
    board, calls = _called(board, recipients)
    return board, settled, calls


def is_due(entry: Open, recipient: Recipient, looks: Collection[Look]) -> bool:
    """Whether a device is to be called for an alert now."""
    device_id = recipient.device_id
    return (
        not entry.over
        and device_id not in entry.called | entry.shown
        and is_wanted(entry.alert, recipient.preferences)
        and all(look.lane != entry.alert.lane and look.device_id != device_id for look in looks)
    )


def is_wanted(alert: Alert, preferences: PushPreferences) -> bool:
    """Whether a device wants to be called for such an alert at all."""
    if alert.lane.chat_id in preferences.muted:
        return False
    match alert.kind:
        case "final":
            return preferences.finals
        case "request":
            return preferences.requests
        case "report":
            return preferences.reports
        case _:
            assert_never(alert.kind)


def note(call: Call, preferences: PushPreferences, name: str) -> PushNote:
    """What travels to a device: neither names nor words, unless it wants details."""
    alert = call.alert
    return PushNote(
        chat_id=alert.lane.chat_id,
        thread_id=alert.lane.thread_id,
        kind=alert.kind,
        count=call.waiting,
        title=name if preferences.details else None,
        text=alert.text if preferences.details else None,
        language=preferences.language,
        order=alert.order,
        ts=alert.ts,
    )


# ---------------------------------------------------------------- inside


def _looked(board: Board, now: Looked) -> Board:
    before = board.looks.get(now.connection)
    entries = board.open
    if before is not None:
        seen = [_shown(entry, before) if entry.alert.seq <= now.seq else entry for entry in entries]
        entries = tuple(entry for entry in seen if not entry.over or entry.called)
    looks = {other: look for other, look in board.looks.items() if other != now.connection}
    if now.lane is not None:
        looks[now.connection] = Look(now.device_id, now.lane)
    return Board(entries, looks)


def _shown(entry: Open, look: Look) -> Open:
    """An alert that a device had while it had `look` in the foreground."""
    if entry.alert.lane == look.lane:
        return replace(entry, over=True)
    return replace(entry, shown=entry.shown | {look.device_id})


def _split(board: Board, is_settled: Callable[[Alert], bool]) -> tuple[Board, tuple[Open, ...]]:
    removed = tuple(entry for entry in board.open if is_settled(entry.alert))
    kept = tuple(entry for entry in board.open if not is_settled(entry.alert))
    return Board(kept, board.looks), removed


def _settled(removed: Iterable[Open], board: Board) -> list[Settle]:
    """Whose newest call in a lane was for something that is settled. A device in the foreground looks after itself."""
    awake = {look.device_id for look in board.looks.values()}
    newest = {
        (entry.alert.lane, device_id): entry.alert for entry in removed for device_id in sorted(entry.called - awake)
    }
    later = {(entry.alert.lane, device_id): entry.alert.seq for entry in board.open for device_id in entry.called}
    return [
        Settle(device_id, lane, alert.order)
        for (lane, device_id), alert in newest.items()
        if later.get((lane, device_id), -1) < alert.seq
    ]


def _called(board: Board, recipients: Collection[Recipient]) -> tuple[Board, list[Call]]:
    looks = list(board.looks.values())
    due = {entry.alert.seq: {r.device_id for r in recipients if is_due(entry, r, looks)} for entry in board.open}
    if not any(due.values()):
        return board, []
    calls = []
    for recipient in recipients:
        device_id, preferences = recipient
        newest = {entry.alert.lane: entry.alert for entry in board.open if device_id in due[entry.alert.seq]}
        for lane, alert in newest.items():
            waiting = [entry for entry in board.open if entry.alert.lane == lane and not entry.over]
            count = sum(device_id not in entry.shown and is_wanted(entry.alert, preferences) for entry in waiting)
            calls.append(Call(device_id, alert, count))
    entries = tuple(replace(entry, called=entry.called | due[entry.alert.seq]) for entry in board.open)
    return Board(entries, board.looks), calls


def _lane(event: Message | MessageStop | RequestOpened | ReadMarked) -> Lane:
    return Lane(event.chat_id, event.thread_id)


def _is_under(lane: Lane, place: Lane) -> bool:
    return lane.chat_id == place.chat_id and place.thread_id in (None, lane.thread_id)


def _excerpt(text: str) -> str:
    """The beginning, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 1]}…"
