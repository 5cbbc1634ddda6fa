"""What a client has to make of the gateway's frames. Pure, but for the state that it changes.

::

    state = State()
    async for frame in client.frames():
        apply(state, frame)

Invariants: applying is idempotent, by id and by number; an event that is missing is a `Gap`, never passed over; what
has ended never runs again.
"""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from msgspec.structs import asdict, replace

from .address import Lane
from .errors import IrisError
from .protocol import deltas
from .protocol.frames import (
    Channel,
    ChannelCreated,
    ChannelDeleted,
    ChannelRenamed,
    Commentary,
    Event,
    Frame,
    HelloAck,
    HistoryPage,
    Message,
    MessageHidden,
    MessageShown,
    MessageStart,
    MessageStop,
    MessageUpdate,
    Position,
    ReadMarked,
    RequestCard,
    RequestClosed,
    RequestOpened,
    RoomState,
    ToolCard,
    ToolEnd,
    ToolStart,
    TurnEnded,
    TurnStarted,
    TurnSummary,
    Typing,
)
from .protocol.types import ChatId, MessageId, Order, Role, Seq, ThreadId, TurnId, UnixTime


class Gap(IrisError):
    """An event is missing: the gateway broke its promise, or the client must resume."""


@dataclass(frozen=True, slots=True)
class Bubble:
    """A message that is still being written."""

    message_id: MessageId
    chat_id: ChatId
    thread_id: ThreadId | None
    role: Role
    turn_id: TurnId
    ts: UnixTime
    order: Order
    text: str = ""


Entry = Message | Bubble | ToolCard | RequestCard
"""What stands in a lane. A whole message has no number: whoever reads of it in the history never learns of one."""


class Placed(Protocol):
    """Anything that belongs to a lane."""

    @property
    def chat_id(self) -> ChatId:
        """The channel."""

    @property
    def thread_id(self) -> ThreadId | None:
        """The thread under it, if it is in one."""


@dataclass(slots=True)
class State:
    """All that a client knows."""

    position: Position | None = None
    directory: dict[Lane, Channel] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    """By id, in no order; `entries_of` sorts."""

    read: dict[Lane, Order] = field(default_factory=dict)
    unread: dict[Lane, int] = field(default_factory=dict)
    """Answers and reports behind that."""

    rooms: dict[ChatId, RoomState] = field(default_factory=dict)
    turns: dict[Lane, TurnId] = field(default_factory=dict)
    """What is running."""

    began: dict[TurnId, UnixTime] = field(default_factory=dict)
    """When it began, where this client was there."""

    ended: dict[TurnId, TurnSummary] = field(default_factory=dict)
    typing: set[Lane] = field(default_factory=set)


def lane_of(placed: Placed) -> Lane:
    """Where something stands."""
    return Lane(placed.chat_id, placed.thread_id)


def id_of(entry: Entry) -> str:
    """Under which id an entry is known."""
    match entry:
        case ToolCard(tool_call_id=name) | RequestCard(request_id=name):
            return name
        case _:
            return entry.message_id


def entries_of(state: State, lane: Lane) -> list[Entry]:
    """What stands in a lane, oldest first."""
    here = (entry for entry in state.entries.values() if lane_of(entry) == lane)
    return sorted(here, key=lambda entry: (entry.order, id_of(entry)))


def apply(state: State, frame: Frame) -> None:
    """Apply a frame of the gateway. Idempotent by id and by `seq`.

    Raises:
        Gap: events between this one and the last one are missing.
    """
    match frame:
        case HelloAck():
            _greeted(state, frame)
        case HistoryPage(entries=entries, turns=turns):
            for entry in entries:
                _put(state, entry)
            for turn in turns:
                state.ended.setdefault(turn.turn_id, turn)
        case Event():
            if _is_next(state, frame.seq):
                _event(state, frame)
        case _:
            _ephemeral(state, frame)


def _greeted(state: State, ack: HelloAck) -> None:
    if ack.mode == "reset":
        for name, value in _fresh():
            setattr(state, name, value)
        state.position = Position(epoch=ack.epoch, seq=ack.seq)
        state.directory = {lane_of(entry): entry for entry in ack.directory}
        state.read = {lane_of(lane): lane.read for lane in ack.lanes if lane.read}
        state.unread = {lane_of(lane): lane.unread for lane in ack.lanes if lane.unread}
        state.turns = {lane_of(lane): lane.turn_id for lane in ack.lanes if lane.turn_id}
    elif state.position is None or state.position.epoch != ack.epoch:
        raise Gap("resumed in another epoch")
    # Whatever is ephemeral is told again.
    state.typing, state.rooms = set(), {}
    state.entries = {name: entry for name, entry in state.entries.items() if not isinstance(entry, Bubble)}
    for card in ack.requests:
        _put(state, card)


def _fresh() -> Iterable[tuple[str, object]]:
    empty = State()
    return ((name, getattr(empty, name)) for name in State.__slots__)


def _is_next(state: State, seq: Seq) -> bool:
    if state.position is None:
        raise Gap(f"{seq} came before the greeting")
    if seq <= state.position.seq:
        return False
    if seq != state.position.seq + 1:
        raise Gap(f"{seq} came after {state.position.seq}")
    state.position = Position(epoch=state.position.epoch, seq=seq)
    return True


def _event(state: State, event: Event) -> None:
    match event:
        case Message():
            _put(state, event)
        case Commentary():
            _put(state, Message(**asdict(event), role="assistant", kind="commentary"))
        case MessageStop():
            told = asdict(event)
            text = told.pop("final_text")
            _put(state, Message(**told, text=text))
        case MessageHidden(message_id=name):
            if isinstance(gone := state.entries.pop(name, None), Message):
                _counted(state, gone, -1)
        case MessageShown(message=message):
            if message.message_id not in state.entries:
                _counted(state, message)
            _put(state, message)
        case ToolStart():
            told = asdict(event)
            told.pop("seq")
            _put(state, ToolCard(**told, state="running"))
        case ToolEnd(tool_call_id=name):
            if isinstance(card := state.entries.get(name), ToolCard):
                changes = {"state": event.state, "duration": event.duration, "output_preview": event.output_preview}
                state.entries[name] = replace(card, **changes)
        case TurnStarted():
            state.turns[lane_of(event)] = event.turn_id
            state.began[event.turn_id] = event.ts
        case TurnEnded():
            _ended(state, event)
        case ChannelCreated(channel=channel) | ChannelRenamed(channel=channel) | ChannelDeleted(channel=channel):
            state.directory[lane_of(channel)] = channel
        case RequestOpened():
            told = asdict(event)
            told.pop("seq")
            _put(state, RequestCard(**told))
        case RequestClosed(request_id=name):
            if isinstance(asked := state.entries.get(name), RequestCard):
                closing = ("outcome", "answer", "by_device", "by_name")
                state.entries[name] = replace(asked, **{each: getattr(event, each) for each in closing})
        case ReadMarked():
            _marked(state, event)
        case _:
            raise AssertionError(f"unknown event {event}")


def _ephemeral(state: State, frame: Frame) -> None:
    match frame:
        case MessageStart():
            if frame.message_id not in state.entries:
                state.entries[frame.message_id] = Bubble(**asdict(frame))
        case MessageUpdate(message_id=name):
            if isinstance(bubble := state.entries.get(name), Bubble):
                text = deltas.applied(bubble.text, frame)
                if text is not None:
                    state.entries[name] = dataclasses.replace(bubble, text=text)
        case Typing():
            (state.typing.add if frame.on else state.typing.discard)(lane_of(frame))
        case RoomState():
            state.rooms[frame.chat_id] = frame
        case _:
            pass  # answers to requests change nothing that is shown


def _put(state: State, entry: Message | ToolCard | RequestCard) -> None:
    """Put an entry in its place. A page of history may be older than the last event: what has ended stays ended."""
    name = id_of(entry)
    known = state.entries.get(name)
    if isinstance(entry, Message):
        if entry.seq and (known is None or isinstance(known, Bubble)):
            _counted(state, entry)
        state.entries[name] = replace(entry, seq=0)
    elif known is None or not _is_open(entry):
        state.entries[name] = entry


def _is_open(entry: ToolCard | RequestCard) -> bool:
    return entry.state == "running" if isinstance(entry, ToolCard) else entry.outcome is None


def _counted(state: State, message: Message, by: int = 1) -> None:
    """Count a message as unread, or no more."""
    lane = lane_of(message)
    if is_word(message) and message.order > state.read.get(lane, 0):
        left = state.unread.pop(lane, 0) + by
        if left > 0:
            state.unread[lane] = left


def is_word(entry: Entry) -> bool:
    """Whether it counts as something to read: a whole answer or a report."""
    return isinstance(entry, Message) and entry.role in ("assistant", "cron") and entry.kind == "final"


def _marked(state: State, mark: ReadMarked) -> None:
    """Marks only go forward."""
    lane = lane_of(mark)
    if mark.order > state.read.get(lane, 0):
        state.read[lane] = mark.order
        state.unread.pop(lane, None)
        if mark.unread:
            state.unread[lane] = mark.unread


def _ended(state: State, event: TurnEnded) -> None:
    if state.turns.get(lane_of(event)) == event.turn_id:
        del state.turns[lane_of(event)]
    state.ended[event.turn_id] = TurnSummary(
        turn_id=event.turn_id,
        started=state.began.pop(event.turn_id, event.ts),
        ended=event.ts,
        outcome=event.outcome,
        error=event.error,
    )
