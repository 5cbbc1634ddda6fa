"""What stands in a lane, from top to bottom, as rows that can be compared with those before. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..protocol.frames import Attachment, Message, Quote, RequestCard, ToolCard, TurnSummary
from ..protocol.types import TurnId, UnixTime
from ..reducer import Bubble, Entry
from .model import Model, Pending, shown
from .text import clean, duration, one_line, size

Look = Literal["mine", "answer", "remark", "notice", "report", "said"]


@dataclass(frozen=True, slots=True)
class Words:
    """Something that was said."""

    key: str
    look: Look
    text: str
    who: str = ""
    """A name above it, where it is neither the person nor their agent."""

    quote: str = ""
    """What it answers, in a line."""

    reasoning: str = ""
    files: tuple[str, ...] = ()
    ts: UnixTime = 0.0
    live: bool = False
    """Whether it is still being written."""

    state: str = ""
    """Of one's own message: why it is not there yet."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool call."""

    key: str
    card: ToolCard


@dataclass(frozen=True, slots=True)
class Ask:
    """Something that a person is asked."""

    key: str
    card: RequestCard


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the app's own."""

    key: str
    text: str
    look: Literal["footer", "failed", "divider"]


Row = Words | Tool | Ask | Line


def rows(model: Model) -> list[Row]:
    """The rows of the open lane."""
    entries = shown(model)
    last_of = {turn: entry for entry in entries if (turn := _turn(entry))}
    divided = model.new_after is None
    listed: list[Row] = []
    mute = _mute(model, last_of, entries)
    for entry in entries:
        listed += [_ending(turn, ()) for turn in _until(mute, entry.ts)]
        if not divided and entry.order > (model.new_after or 0) and not _is_mine(entry):
            listed.append(Line("divider", "new", "divider"))
            divided = True
        listed += _of_entry(entry)
        turn = _turn(entry)
        if turn and last_of[turn] is entry and turn in model.state.ended:
            said = [each for each in entries if isinstance(each, Message) and each.turn_id == turn]
            listed.append(_ending(model.state.ended[turn], said))
    listed += [_ending(turn, ()) for turn in mute]
    listed += [_pending(sent) for sent in model.pending.values() if sent.lane == model.place and model.excerpt is None]
    return [row for row in listed if not (isinstance(row, Line) and not row.text)]


def _mute(model: Model, last_of: dict[TurnId, Entry], entries: Sequence[Entry]) -> list[TurnSummary]:
    """Turns that ended badly before anything was said, oldest first."""
    since = entries[0].ts if entries else 0.0
    turns = (model.state.ended[turn] for turn in model.turns.get(model.place, ()) if turn not in last_of)
    bad = (turn for turn in turns if turn.outcome != "success" and turn.ended >= since)
    return sorted(bad, key=lambda turn: turn.ended)


def _until(turns: list[TurnSummary], ts: UnixTime) -> Iterator[TurnSummary]:
    while turns and turns[0].ended < ts:
        yield turns.pop(0)


def _of_entry(entry: Entry) -> Iterable[Row]:
    match entry:
        case ToolCard(tool_call_id=key):
            yield Tool(key, entry)
        case RequestCard(request_id=key):
            yield Ask(key, entry)
        case Bubble(message_id=key):
            yield Words(key, "answer", clean(entry.text), ts=entry.ts, live=True)
        case _:
            if entry.text or entry.reasoning or entry.attachments:
                yield _words(entry)


def _words(entry: Message) -> Words:
    return Words(
        (entry.client_id if _is_mine(entry) else None) or entry.message_id,
        _look(entry),
        clean(entry.text),
        who=_who(entry),
        quote=_quote(entry.quote),
        reasoning=clean(entry.reasoning or ""),
        files=tuple(_file(file) for file in entry.attachments),
        ts=entry.ts,
        state="not taken by the room" if _is_mine(entry) and entry.state == "error" else "",
    )


def _look(entry: Message) -> Look:
    match entry.role:
        case "user":
            return "mine"
        case "notice":
            return "notice"
        case "cron":
            return "report"
        case _:
            if entry.sender is not None:
                return "said"
            return "remark" if entry.kind == "commentary" else "answer"


def _who(entry: Message) -> str:
    if entry.role == "cron":
        return one_line(entry.job.name if entry.job else "Scheduled report")
    return one_line(entry.sender.name) if entry.sender is not None and not entry.sender.own else ""


def _quote(quote: Quote | None) -> str:
    if quote is None:
        return ""
    name = one_line(quote.name) or {"user": "You", "assistant": "Agent", "cron": "Report"}.get(quote.role, "Notice")
    return f"{name}: {one_line(quote.text)}"


def _file(file: Attachment) -> str:
    return f"{one_line(file.name)} · {size(file.size)}"


def _is_mine(entry: Entry) -> bool:
    return isinstance(entry, Message) and entry.role == "user"


def _turn(entry: Entry) -> TurnId | None:
    return None if _is_mine(entry) else entry.turn_id


def _ending(turn: TurnSummary, said: Sequence[Message]) -> Line:
    """What is said of a turn once it is over."""
    told = next((each for each in reversed(said) if each.model), None)
    took = turn.ended - turn.started
    parts = [
        {"success": "", "failure": "failed", "cancelled": "stopped", "interrupted": "interrupted"}[turn.outcome],
        one_line(turn.error or ""),
        one_line(told.model or "") if told else "",
        f"{told.tokens:,} tokens" if told and told.tokens else "",
        duration(took) if took > 0 else "",
    ]
    look: Literal["footer", "failed"] = "footer" if turn.outcome == "success" else "failed"
    return Line(f"end-{turn.turn_id}", " · ".join(part for part in parts if part), look)


def _pending(sent: Pending) -> Words:
    state = "on its way" if sent.is_stored else "waiting for the gateway"
    return Words(sent.client_id, "mine", clean(sent.text), ts=sent.ts, state=state)
