"""The list of lanes: which there are, in which order, and what is said of each. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..address import Lane
from ..protocol.frames import Channel
from ..reducer import lane_of
from .model import Model, is_busy, open_requests
from .text import one_line

THREADS = 6
"""Threads of a channel that are listed at once; whoever wants more asks for them."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading above lanes."""

    name: str


@dataclass(frozen=True, slots=True)
class More:
    """Stands for the threads of a channel that are not listed."""

    channel: Lane
    count: int


@dataclass(frozen=True, slots=True)
class Item:
    """A lane that can be opened."""

    lane: Lane
    name: str
    is_default: bool = False
    is_open: bool = False
    busy: bool = False
    asks: bool = False
    unread: int = 0
    jobs: int = 0


Listed = Heading | Item | More


def listed(model: Model, now: float, unfolded: frozenset[Lane] = frozenset()) -> list[Listed]:
    """The whole list. Of the channels in `unfolded` all threads are listed."""
    channels = sorted(
        (entry for entry in model.state.directory.values() if entry.thread_id is None and not entry.archived),
        key=lambda entry: (not entry.is_default, entry.created, entry.chat_id),
    )
    groups = (
        ("", [entry for entry in channels if entry.is_default]),
        ("Channels", [e for e in channels if not e.is_default and not e.automation and e.kind != "room"]),
        ("Automation", [e for e in channels if not e.is_default and e.automation]),
        ("Rooms", [e for e in channels if not e.is_default and not e.automation and e.kind == "room"]),
    )
    found: list[Listed] = []
    for name, entries in groups:
        if name and entries:
            found.append(Heading(name))
        for entry in entries:
            found.append(_item(model, entry, now))
            found += _threads(model, entry, now, unfolded)
    return found


def _threads(model: Model, channel: Channel, now: float, unfolded: frozenset[Lane]) -> Iterator[Listed]:
    """The newest threads, and all that matter now: the open one, and those where something is to be read or done."""
    entries = sorted(
        (e for e in model.state.directory.values() if e.thread_id and e.chat_id == channel.chat_id and not e.archived),
        key=lambda entry: (-entry.created, lane_of(entry)),
    )
    items = [_item(model, entry, now) for entry in entries]
    if lane_of(channel) in unfolded:
        yield from items
        return
    told = [item for n, item in enumerate(items) if n < THREADS or item.is_open or item.unread or item.asks]
    yield from told
    if len(told) < len(items):
        yield More(lane_of(channel), len(items) - len(told))


def _item(model: Model, entry: Channel, now: float) -> Item:
    lane = lane_of(entry)
    return Item(
        lane,
        one_line(entry.name),
        is_default=entry.is_default and entry.thread_id is None,
        is_open=lane == model.place,
        busy=is_busy(model, lane, now),
        asks=bool(open_requests(model, lane)),
        unread=model.state.unread.get(lane, 0),
        jobs=entry.cron_jobs,
    )


def neighbour(model: Model, step: int) -> Lane:
    """The lane before (-1) or after (1) the open one in the list, round the ends."""
    lanes = [item.lane for item in listed(model, 0.0) if isinstance(item, Item)]
    at = lanes.index(model.place) if model.place in lanes else 0
    return lanes[(at + step) % len(lanes)] if lanes else model.place


def path(model: Model, lane: Lane) -> str:
    """What a lane is called, with the channel that it is under."""
    channel, entry = model.state.directory.get(Lane(lane.chat_id)), model.state.directory.get(lane)
    name = one_line(channel.name) if channel else "a deleted channel"
    return f"{name} › {one_line(entry.name)}" if entry and entry.thread_id else name
