"""What the terminal shows: what the gateway told, and where the person is in it. Pure, but for what it changes.

Invariants: what is shown of a lane is whole, from its first entry to its last: a `Window` never spans what was not
fetched; a message of this client is shown once, as pending or as its echo.
"""

from dataclasses import dataclass, field, replace
from itertools import takewhile

from ..address import DEFAULT_LANE, Lane, living
from ..protocol.frames import (
    Channel,
    ChannelCreated,
    Frame,
    HelloAck,
    HistoryPage,
    Message,
    MessageAccepted,
    RequestCard,
    TurnEnded,
    Typing,
)
from ..protocol.types import ClientId, Order, TurnId
from ..reducer import Bubble, Entry, State, apply, entries_of, lane_of

SHOWN = 60
"""Entries of a lane that are shown at first: more would have to be drawn before the first can be read."""


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a lane that is known without gaps."""

    low: Order = 0
    high: Order | None = None
    """None where it reaches to the end, and grows with it."""

    older: bool = False
    """Whether there is something before it."""

    def holds(self, entry: Entry) -> bool:
        """Whether an entry lies in it."""
        return self.low <= entry.order and (self.high is None or entry.order <= self.high)


@dataclass(frozen=True, slots=True)
class Pending:
    """A message of this client that has not come back yet."""

    client_id: ClientId
    lane: Lane
    text: str
    ts: float
    is_stored: bool = False
    """Whether the gateway has it: it then only waits for its echo."""


@dataclass(slots=True)
class Model:
    """Everything that is shown."""

    state: State = field(default_factory=State)
    place: Lane = DEFAULT_LANE
    tails: dict[Lane, Window] = field(default_factory=dict)
    """Of each lane that was opened, what is known of its end."""

    excerpt: Window | None = None
    """What is shown instead of the end, after a jump into the past."""

    visit: int = 0
    """Counts how often the person went somewhere: to a lane, or to a place in its past."""

    new_after: Order | None = None
    """Behind which place the lane was unread when it was opened."""

    pending: dict[ClientId, Pending] = field(default_factory=dict)
    typing_until: dict[Lane, float] = field(default_factory=dict)
    turns: dict[Lane, set[TurnId]] = field(default_factory=dict)
    """The turns of each lane of which it is known how they ended."""

    @property
    def window(self) -> Window | None:
        """What is shown of the open lane; None before its first page is here."""
        return self.excerpt or self.tails.get(self.place)

    @property
    def entry(self) -> Channel | None:
        """The open lane in the directory."""
        return self.state.directory.get(self.place)


def take(model: Model, frame: Frame, now: float) -> None:
    """Take a frame in. `now` is in seconds, of whatever clock."""
    if isinstance(frame, HelloAck) and frame.mode == "reset":
        model.tails.clear()
        model.excerpt = None
    apply(model.state, frame)
    match frame:
        case HelloAck():
            model.typing_until.clear()
            if not is_there(model, model.place):
                go(model, home(model))
        case Typing():
            model.typing_until[lane_of(frame)] = now + frame.ttl if frame.on else 0.0
        case Message(client_id=str(name)) if name in model.pending:
            _follow(model, model.pending.pop(name), lane_of(frame))
        case MessageAccepted():
            _accepted(model, frame)
        case ChannelCreated(channel=channel, auto=True):
            model.tails.setdefault(lane_of(channel), Window())  # all that is in it comes as events
        case TurnEnded():
            model.turns.setdefault(lane_of(frame), set()).add(frame.turn_id)
        case _:
            pass
    if model.state.directory and not is_there(model, model.place):
        go(model, home(model))


def _accepted(model: Model, frame: MessageAccepted) -> None:
    sent = model.pending.get(frame.client_id)
    if sent is None:
        return
    if frame.message_id in model.state.entries:
        del model.pending[frame.client_id]
    else:
        model.pending[frame.client_id] = replace(sent, lane=lane_of(frame), is_stored=True)
    _follow(model, sent, lane_of(frame))


def _follow(model: Model, sent: Pending, there: Lane) -> None:
    """The gateway may have opened a thread for a message: the person goes where it is."""
    if there != sent.lane and model.place == sent.lane:
        if there not in model.state.directory:  # it was made for this message, and its entry is on its way
            model.tails.setdefault(there, Window())
        go(model, there)


def home(model: Model) -> Lane:
    """Where the person is taken who is nowhere: the default channel."""
    entries = living(model.state.directory.values())
    return next((lane_of(entry) for entry in entries if entry.is_default), DEFAULT_LANE)


def is_there(model: Model, lane: Lane) -> bool:
    """Whether a lane can be shown. One whose entry has yet to come, as of a thread for a new message, can."""
    channel, entry = model.state.directory.get(Lane(lane.chat_id)), model.state.directory.get(lane)
    gone = any(each is not None and each.archived for each in (channel, entry))
    return not gone and (entry is not None or lane in model.tails)


def go(model: Model, lane: Lane) -> None:
    """Open a lane. Where what is new begins is settled now, and stays while it is read."""
    model.place = lane
    model.visit += 1
    model.excerpt = None
    model.new_after = model.state.read.get(lane, 0) if model.state.unread.get(lane) else None
    tail = model.tails.get(lane)
    if tail is not None:
        inside = [entry for entry in entries_of(model.state, lane) if tail.holds(entry)]
        if len(inside) > SHOWN:
            model.tails[lane] = Window(low=inside[-SHOWN].order, older=True)


def paged(model: Model, page: HistoryPage, *, before: Order | None = None, after: Order | None = None) -> None:
    """A page of the open lane came: its last one, or one before or after what is shown."""
    lane = _read(model, page)
    for entry in page.entries:
        if isinstance(entry, Message) and entry.client_id:
            model.pending.pop(entry.client_id, None)
    low = page.entries[0].order if page.entries and page.has_more else 0
    window = model.window if lane == model.place else None
    if window is None or (before is None and after is None):
        model.tails[lane] = Window(low=low, older=page.has_more)
        return
    if before is not None:
        grown = replace(window, low=low, older=page.has_more)
    else:
        grown = replace(window, high=page.entries[-1].order if page.has_newer and page.entries else None)
    if grown.high is None:
        model.tails[lane] = grown
        model.excerpt = None
    else:
        model.excerpt = grown


def jumped(model: Model, page: HistoryPage) -> None:
    """A page around a place of the open lane came; it is shown instead of the end, unless it reaches there."""
    lane = _read(model, page)
    model.visit += 1
    if not page.entries:
        return
    window = Window(low=page.entries[0].order if page.has_more else 0, older=page.has_more)
    if page.has_newer:
        model.excerpt = replace(window, high=page.entries[-1].order)
    else:
        model.excerpt = None
        model.tails[lane] = window


def _read(model: Model, page: HistoryPage) -> Lane:
    apply(model.state, page)
    lane = lane_of(page)
    model.turns.setdefault(lane, set()).update(turn.turn_id for turn in page.turns)
    return lane


def shown(model: Model) -> list[Entry]:
    """The entries of the open lane that are shown, oldest first."""
    window = model.window
    if window is None:
        return []
    return [entry for entry in entries_of(model.state, model.place) if window.holds(entry)]


def open_requests(model: Model, lane: Lane | None = None) -> list[RequestCard]:
    """What waits for an answer, in one lane or in all."""
    cards = (entry for entry in model.state.entries.values() if isinstance(entry, RequestCard))
    return [card for card in cards if card.outcome is None and lane in (None, lane_of(card))]


def is_busy(model: Model, lane: Lane, now: float) -> bool:
    """Whether the agent works in a lane."""
    return lane in model.state.turns or model.typing_until.get(lane, 0.0) > now


def to_read(model: Model) -> Order | None:
    """Up to where whoever sees the end of the open lane has read it: up to an answer that is still being written.

    None where there is nothing to read, or what is shown is not the end.
    """
    if model.excerpt is not None or model.place not in model.tails or not model.state.unread.get(model.place):
        return None
    whole = takewhile(lambda entry: not isinstance(entry, Bubble), entries_of(model.state, model.place))
    last = max((entry.order for entry in whole), default=0)
    return last if last > model.state.read.get(model.place, 0) else None


def waiting(model: Model) -> list[Pending]:
    """What would be lost if the client ended now."""
    return [sent for sent in model.pending.values() if not sent.is_stored]


def starts_thread(model: Model, text: str) -> bool:
    """Whether a message opens a thread of its own: said in the default channel, where that is split in threads."""
    entry = model.entry
    splits = entry is not None and entry.is_default and entry.threads and entry.thread_id is None
    return splits and bool(text.strip()) and not text.startswith("/")
