"""Messages, tool calls and turns: the truth that `history` pages and that a restart recovers from."""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple, assert_never

import msgspec

from ..address import Lane
from ..errors import NotFound
from ..protocol import codec
from ..protocol.frames import (
    ChannelCreated,
    ChannelDeleted,
    ChannelRenamed,
    Commentary,
    DirectoryEvent,
    Event,
    JobRef,
    Message,
    MessageHidden,
    MessageShown,
    MessageStart,
    MessageStop,
    MessageUpdate,
    ReadMarked,
    RequestCard,
    RequestClosed,
    RequestEvent,
    RequestOpened,
    Sender,
    SightEvent,
    ToolCard,
    ToolEnd,
    ToolStart,
    TurnEnded,
    TurnStarted,
    Typing,
)
from ..protocol.types import Order, Seq
from ..turns import Effect, ToolDetail
from . import channels, hiding, log, media, questions, quotes, reading, search

MAX_KEPT = 1_000_000
"""Characters of a tool's arguments or output that are kept."""


MAX_PAGE = 300_000
"""Bytes of one page, so that neither a frame nor a device's outbox bursts."""

MAX_CARDS = 1_000
"""Tool calls of one page."""


LAST: Order = 1 << 62
"""After every place."""

MAX_REPORTS = 10
"""Reports that one message brings to the agent's attention."""


Storable = Effect | DirectoryEvent | ReadMarked | RequestEvent | SightEvent
Entry = Message | ToolCard | RequestCard


class Page(NamedTuple):
    """A page of a lane, oldest first."""

    entries: list[Entry]
    has_more: bool
    """Whether there is anything older."""

    has_newer: bool = False


def record(conn: sqlite3.Connection, effects: Sequence[Storable]) -> list[Seq]:
    """Store what came of a host call; events are logged too. Returns the numbers of the events among the effects."""
    numbers: list[Seq] = []
    for effect in effects:
        _store(conn, effect)
        if isinstance(effect, Event):
            numbers.append(log.append(conn, codec.encode_event(effect)))
    return numbers


def last_order(conn: sqlite3.Connection) -> Order:
    """The highest place ever given to an entry, 0 in an empty store."""
    tables = ("messages", "tool_calls", "questions")
    return max(conn.execute(f"SELECT MAX(ord) FROM {table}").fetchone()[0] or 0 for table in tables)  # noqa: S608 - constants


def history(
    conn: sqlite3.Connection,
    lane: Lane,
    limit: int,
    *,
    before: Order | None = None,
    after: Order | None = None,
    around: Order | None = None,
) -> Page:
    """A page of a lane, with what stands between its messages: its end, or the one before, after or around a place.

    A page that would be too large is cut at its far side; it has at least one entry where there is one.
    """
    if around is not None:
        older = history(conn, lane, limit - limit // 2, before=around + 1)
        if limit == 1 and older.entries:
            return older
        newer = history(conn, lane, max(1, limit // 2), after=around)
        return Page([*older.entries, *newer.entries], older.has_more, newer.has_newer)
    if after is not None:
        entries, cut = _nearest(conn, lane, (after, LAST), limit, newest=False)
        return Page(entries, _is_any(conn, lane, (-1, after + 1)), cut)
    entries, cut = _nearest(conn, lane, (-1, before if before is not None else LAST), limit, newest=True)
    return Page(entries[::-1], cut, before is not None and _is_any(conn, lane, (before - 1, LAST)))


def _is_any(conn: sqlite3.Connection, lane: Lane, between: tuple[Order, Order]) -> bool:
    return bool(_nearest(conn, lane, between, 1, newest=True)[0])


def _nearest(
    conn: sqlite3.Connection, lane: Lane, between: tuple[Order, Order], limit: int, *, newest: bool
) -> tuple[list[Entry], bool]:
    """The entries of a lane between two places, from one end on, and whether there are more."""
    direction = "DESC" if newest else "ASC"
    where = f"chat_id = ? AND thread_id = ? AND ord > ? AND ord < ?{{}} ORDER BY ord {direction} LIMIT ?"
    rows = conn.execute(
        f"SELECT * FROM messages WHERE {where.format(' AND live = 0')}",  # noqa: S608 - made of constants
        (lane.chat_id, lane.thread_id or "", *between, limit + 1),
    ).fetchall()
    low, high = between
    if len(rows) > limit:  # what stands beyond the last message belongs to the next page
        edge = rows[limit - 1]["ord"]
        low, high = (edge - 1, high) if newest else (low, edge + 1)
    cards: list[Entry] = []
    for table, card in (("tool_calls", _card), ("questions", questions.card)):
        found = conn.execute(
            f"SELECT * FROM {table} WHERE {where.format('')}",  # noqa: S608 - made of constants
            (lane.chat_id, lane.thread_id or "", low, high, MAX_CARDS + 1),
        )
        cards += map(card, found)
    cards.sort(key=lambda entry: entry.order, reverse=newest)
    said = quotes.filled(conn, [_message(row) for row in rows[:limit]])
    entries: list[Entry] = [*said, *cards[:MAX_CARDS]]
    entries.sort(key=lambda entry: entry.order, reverse=newest)
    if len(cards) > MAX_CARDS:
        edge = cards[MAX_CARDS].order
        entries = [entry for entry in entries if (entry.order > edge if newest else entry.order < edge)]
    fitting = entries[: _fitting(entries)]
    return fitting, len(fitting) < len(rows) + len(cards)


def _fitting(entries: list[Entry]) -> int:
    """How many of these entries one page can carry: at least one."""
    room = MAX_PAGE
    for count, entry in enumerate(entries):
        room -= len(codec.encode(entry))
        if room < 0:
            return max(count, 1)
    return len(entries)


def find(conn: sqlite3.Connection, message_id: str | None) -> Message | None:
    """One message that is complete, also if it is hidden."""
    row = conn.execute("SELECT * FROM messages WHERE message_id = ? AND live <> 1", (message_id,)).fetchone()
    return quotes.filled(conn, [_message(row)])[0] if row else None


def get(conn: sqlite3.Connection, message_id: str) -> Message:
    """One message that can be seen.

    Raises:
        NotFound: there is none with this id, or it is hidden.
    """
    row = conn.execute("SELECT * FROM messages WHERE message_id = ? AND live = 0", (message_id,)).fetchone()
    if row is None:
        raise NotFound("$.reply_to names no message")
    return _message(row)


def is_known(conn: sqlite3.Connection, message_id: str) -> bool:
    """Whether a message is stored already."""
    return conn.execute("SELECT 1 FROM messages WHERE message_id = ?", (message_id,)).fetchone() is not None


def unread_reports(conn: sqlite3.Connection, message: Message) -> list[Message]:
    """The cron reports that a person's message may be about, oldest first.

    Those that came into its lane since the person last said something there, and the one that it answers.
    """
    answered = message.reply_to or ""
    rows = conn.execute(
        "SELECT * FROM messages WHERE role = 'cron' AND live = 0 AND (message_id = ? OR (chat_id = ? AND thread_id = ?"
        " AND ord < ? AND ord > (SELECT COALESCE(MAX(ord), 0) FROM messages WHERE chat_id = ? AND thread_id = ?"
        " AND role = 'user' AND ord < ?))) ORDER BY message_id = ? DESC, ord DESC LIMIT ?",
        (answered, *_lane(message), message.order, *_lane(message), message.order, answered, MAX_REPORTS),
    )
    return sorted((_message(row) for row in rows), key=lambda report: report.order)


def hand_over(conn: sqlite3.Connection, message_id: str) -> None:
    """Note that the host has taken a person's message."""
    conn.execute("UPDATE messages SET handed = 1 WHERE message_id = ?", (message_id,))


def waiting(conn: sqlite3.Connection) -> list[Message]:
    """A person's messages that the host has not taken, oldest first."""
    return [_message(row) for row in conn.execute("SELECT * FROM messages WHERE handed = 0 ORDER BY ord")]


def _store(conn: sqlite3.Connection, effect: Storable) -> None:
    match effect:
        case Message():
            _put_message(conn, effect, effect.text, kind=effect.kind, state=effect.state)
            media.use(conn, effect.attachments)
            if effect.role == "user" and effect.sender is None:  # what is said in a room is for no host
                conn.execute("UPDATE messages SET handed = 0 WHERE message_id = ?", (effect.message_id,))
        case Commentary():
            _put_message(conn, effect, effect.text, kind="commentary", state="complete")
        case MessageStart():
            _put_message(conn, effect, "", kind="partial", state="aborted", live=1)
        case MessageUpdate():
            conn.execute(
                "UPDATE messages SET text = ? WHERE message_id = ? AND live = 1", (effect.text, effect.message_id)
            )
        case MessageStop():
            _put_message(conn, effect, effect.final_text, kind=effect.kind, state=effect.state)
        case ToolStart():
            conn.execute(
                "INSERT INTO tool_calls (tool_call_id, chat_id, thread_id, turn_id, idx, ord, ts, name, preview, args,"
                " truncated, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running')",
                (
                    effect.tool_call_id,
                    effect.chat_id,
                    effect.thread_id or "",
                    effect.turn_id,
                    effect.index,
                    effect.order,
                    effect.ts,
                    effect.name,
                    effect.preview,
                    codec.encode(effect.args).decode(),
                    effect.truncated,
                ),
            )
        case ToolEnd():
            conn.execute(
                "UPDATE tool_calls SET state = ?, duration = ?, output_preview = ? WHERE tool_call_id = ?",
                (effect.state, effect.duration, effect.output_preview, effect.tool_call_id),
            )
        case ToolDetail():
            args = codec.encode(effect.args).decode()[:MAX_KEPT] if effect.args is not None else None
            conn.execute(
                "UPDATE tool_calls SET full_args = COALESCE(?, full_args), output = COALESCE(?, output)"
                " WHERE tool_call_id = ?",
                (args, effect.output[-MAX_KEPT:] if effect.output is not None else None, effect.tool_call_id),
            )
        case TurnStarted():
            conn.execute(
                "INSERT INTO turns (turn_id, chat_id, thread_id, started) VALUES (?, ?, ?, ?)",
                (effect.turn_id, effect.chat_id, effect.thread_id or "", effect.ts),
            )
        case TurnEnded():
            conn.execute(
                "UPDATE turns SET ended = ?, outcome = ?, error = ? WHERE turn_id = ?",
                (effect.ts, effect.outcome, effect.error, effect.turn_id),
            )
        case ChannelCreated(channel=channel) | ChannelRenamed(channel=channel) | ChannelDeleted(channel=channel):
            channels.put(conn, channel)
        case ReadMarked():
            reading.mark(conn, effect)
        case RequestOpened() | RequestClosed():
            questions.put(conn, effect)
        case MessageHidden() | MessageShown():
            hiding.put(conn, effect)
        case Typing():
            pass
        case _:
            assert_never(effect)


def _put_message(
    conn: sqlite3.Connection,
    frame: Message | Commentary | MessageStart | MessageStop,
    text: str,
    *,
    kind: str,
    state: str,
    live: int = 0,
) -> None:
    """Insert a message, or complete the bubble that it began as; its place never changes."""
    known = conn.execute("SELECT id, live FROM messages WHERE message_id = ?", (frame.message_id,)).fetchone()
    role = "assistant" if isinstance(frame, Commentary) else frame.role
    files = frame.attachments if isinstance(frame, Message) else []
    stored = conn.execute(
        "INSERT INTO messages (message_id, chat_id, thread_id, ord, ts, turn_id, role, kind, state, text, reasoning,"
        " model, tokens, client_id, reply_to, replaces, job_id, job_name, sender, attachments, live)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (message_id) DO UPDATE SET kind = excluded.kind, state = excluded.state, text = excluded.text,"
        " reasoning = excluded.reasoning, model = excluded.model, tokens = excluded.tokens, live = excluded.live",
        (
            frame.message_id,
            frame.chat_id,
            frame.thread_id or "",
            frame.order,
            frame.ts,
            frame.turn_id,
            role,
            kind,
            state,
            text,
            None if isinstance(frame, MessageStart) else frame.reasoning,
            frame.model if isinstance(frame, Message | MessageStop) else None,
            frame.tokens if isinstance(frame, Message | MessageStop) else None,
            frame.client_id if isinstance(frame, Message) else None,
            frame.reply_to if isinstance(frame, Message) else None,
            frame.replaces if isinstance(frame, Message) else None,
            frame.job.id if isinstance(frame, Message) and frame.job else None,
            frame.job.name if isinstance(frame, Message) and frame.job else None,
            codec.encode(frame.sender).decode() if isinstance(frame, Message) and frame.sender else None,
            codec.encode(files).decode() if files else None,
            live,
        ),
    )
    if not live and (known is None or known["live"]):
        rowid = known["id"] if known else stored.lastrowid
        assert rowid is not None  # noqa: S101 - an INSERT that did not raise has a rowid
        search.index(conn, rowid, search.findable(text, files), Lane(frame.chat_id, frame.thread_id), role)


def _lane(frame: Message) -> tuple[str, str]:
    return frame.chat_id, frame.thread_id or ""


def _message(row: sqlite3.Row) -> Message:
    return Message(
        message_id=row["message_id"],
        chat_id=row["chat_id"],
        thread_id=row["thread_id"] or None,
        role=row["role"],
        sender=msgspec.json.decode(row["sender"], type=Sender) if row["sender"] else None,
        text=row["text"],
        kind=row["kind"],
        state=row["state"],
        reasoning=row["reasoning"],
        model=row["model"],
        tokens=row["tokens"],
        client_id=row["client_id"],
        reply_to=row["reply_to"],
        replaces=row["replaces"],
        job=JobRef(id=row["job_id"], name=row["job_name"]) if row["job_id"] else None,
        attachments=media.told(row["attachments"]),
        turn_id=row["turn_id"],
        ts=row["ts"],
        order=row["ord"],
    )


def _card(row: sqlite3.Row) -> ToolCard:
    return ToolCard(
        chat_id=row["chat_id"],
        thread_id=row["thread_id"] or None,
        turn_id=row["turn_id"],
        index=row["idx"],
        tool_call_id=row["tool_call_id"],
        name=row["name"],
        preview=row["preview"],
        args=msgspec.json.decode(row["args"]),
        truncated=bool(row["truncated"]),
        state=row["state"],
        duration=row["duration"],
        output_preview=row["output_preview"],
        ts=row["ts"],
        order=row["ord"],
    )
