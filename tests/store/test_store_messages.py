"""Messages, tool calls and turns: what is kept, how it is paged, and what a restart makes of it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.errors import NotFound
from hermes_iris.moment import Moment
from hermes_iris.protocol import codec
from hermes_iris.protocol.frames import (
    Commentary,
    Message,
    MessageStart,
    MessageStop,
    MessageUpdate,
    ToolCard,
    ToolEnd,
    ToolStart,
    TurnEnded,
    TurnStarted,
    Typing,
)
from hermes_iris.store import channels, connect, log, messages, migrations, orphans, transaction
from hermes_iris.store.database import sqlite3
from hermes_iris.turns import Effect, ToolDetail

CHAT = DEFAULT_LANE.chat_id
OTHER = Lane("android:other")
THREAD = Lane(CHAT, "t_1")


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    conn = connect(tmp_path / "channels.db")
    yield conn
    conn.close()


def at(lane: Lane) -> dict[str, str | None]:
    return {"chat_id": lane.chat_id, "thread_id": lane.thread_id}


def said(n: int, lane: Lane = DEFAULT_LANE, role: str = "user", **more: object) -> Message:
    return Message(**at(lane), message_id=f"m_{n}", role=role, text=f"text {n}", ts=n / 8, order=n, **more)  # type: ignore[arg-type]


def start(n: int, lane: Lane = DEFAULT_LANE) -> MessageStart:
    return MessageStart(**at(lane), message_id=f"m_{n}", role="assistant", turn_id="turn_1", ts=n / 8, order=n)  # type: ignore[arg-type]


def update(n: int, text: str) -> MessageUpdate:
    return MessageUpdate(message_id=f"m_{n}", text=text)


def stop(n: int, text: str, lane: Lane = DEFAULT_LANE, **more: object) -> MessageStop:
    kind = more.pop("kind", "final")
    return MessageStop(
        **at(lane), message_id=f"m_{n}", role="assistant", turn_id="turn_1", final_text=text, kind=kind,
        ts=n / 8, order=n, **more,
    )  # type: ignore[arg-type]  # fmt: skip


def tool(n: int, lane: Lane = DEFAULT_LANE, **more: object) -> ToolStart:
    return ToolStart(
        **at(lane), turn_id="turn_1", index=1, tool_call_id=f"tool_{n}", name="terminal", ts=n / 8, order=n, **more
    )  # type: ignore[arg-type]


def tool_end(n: int, lane: Lane = DEFAULT_LANE, **more: object) -> ToolEnd:
    return ToolEnd(**at(lane), turn_id="turn_1", index=1, tool_call_id=f"tool_{n}", name="terminal", **more)  # type: ignore[arg-type]


def record(conn: sqlite3.Connection, *effects: Effect) -> list[int]:
    with transaction(conn):
        return messages.record(conn, effects)


def history(
    conn: sqlite3.Connection, lane: Lane = DEFAULT_LANE, before: int | None = None, limit: int = 50
) -> messages.Page:
    return messages.history(conn, lane, limit, before=before)


def ids(entries: Sequence[Message | ToolCard]) -> list[str]:
    return [entry.message_id if isinstance(entry, Message) else entry.tool_call_id for entry in entries]


# ---------------------------------------------------------------- what is recorded


def test_events_are_numbered_and_ephemerals_are_not(conn: sqlite3.Connection) -> None:
    effects: list[Effect] = [
        TurnStarted(**at(DEFAULT_LANE), turn_id="turn_1", ts=0.0),  # type: ignore[arg-type]
        Typing(**at(DEFAULT_LANE), on=True),  # type: ignore[arg-type]
        start(1),
        update(1, "so far"),
        stop(1, "done"),
        tool(2),
        ToolDetail("tool_2", args={"a": 1}),
    ]
    assert record(conn, *effects) == [1, 2, 3]
    kinds = [msgspec.json.decode(event.body)["type"] for event in log.between(conn, 0, 9)]
    assert kinds == ["turn.started", "message.stop", "tool.start"]


def test_a_logged_event_has_no_number_in_its_body(conn: sqlite3.Connection) -> None:
    """The number is put in front when it travels; two would be one too many."""
    record(conn, msgspec.structs.replace(said(1), seq=77))
    (event,) = log.between(conn, 0, 1)
    assert "seq" not in msgspec.json.decode(event.body)


@pytest.mark.parametrize(
    "told",
    [
        said(1, client_id="client-0001"),
        said(1, role="assistant", reasoning="thought", model="a/model", tokens=12, turn_id="turn_1"),
        said(1, role="assistant", kind="partial", state="aborted"),
        said(1, role="notice", lane=THREAD),
        said(1, role="cron"),
    ],
)
def test_history_tells_a_message_as_it_was_told_live(conn: sqlite3.Connection, told: Message) -> None:
    record(conn, told)
    assert history(conn, Lane(told.chat_id, told.thread_id)).entries == [told]


def test_what_is_stored_equals_message_stop(conn: sqlite3.Connection) -> None:
    end = stop(1, "the whole text", reasoning="thought", model="a/model", tokens=7)
    record(conn, start(1), update(1, "the whole"), end)
    (stored,) = history(conn).entries
    assert isinstance(stored, Message)
    told = {name: getattr(end, name) for name in end.__struct_fields__ if name not in ("seq", "final_text")}
    assert {name: getattr(stored, name) for name in told} == told
    assert stored.text == end.final_text


def test_message_stop_of_a_bubble_that_never_began_creates_it(conn: sqlite3.Connection) -> None:
    record(conn, stop(1, "whole", kind="commentary"))
    (stored,) = history(conn).entries
    assert isinstance(stored, Message)
    assert (stored.text, stored.kind) == ("whole", "commentary")


def test_a_place_is_fixed_at_first_sight(conn: sqlite3.Connection) -> None:
    record(conn, start(1), said(2), msgspec.structs.replace(stop(1, "done"), order=9, ts=9.0))
    assert [(entry.order, entry.ts) for entry in history(conn).entries] == [(1, 1 / 8), (2, 2 / 8)]


def test_an_update_after_the_stop_changes_nothing(conn: sqlite3.Connection) -> None:
    record(conn, start(1), stop(1, "done"), update(1, "late"))
    assert [entry.text for entry in history(conn).entries if isinstance(entry, Message)] == ["done"]


def test_commentary_is_kept_as_a_message_of_its_kind(conn: sqlite3.Connection) -> None:
    record(
        conn, Commentary(chat_id=CHAT, message_id="m_1", turn_id="turn_1", text="", reasoning="why", ts=1.0, order=1)
    )
    (stored,) = history(conn).entries
    assert isinstance(stored, Message)
    assert (stored.role, stored.kind, stored.text, stored.reasoning) == ("assistant", "commentary", "", "why")


def test_a_tool_card_is_start_and_end_in_one(conn: sqlite3.Connection) -> None:
    args = {"command": "ls", "nested": {"a": [1, None]}}
    record(conn, tool(1, args=args, preview="ls", truncated=True))
    (running,) = history(conn).entries
    record(conn, tool_end(1, ok=False, state="error", duration=1.5, output_preview="no such file"))
    (ended,) = history(conn).entries
    assert isinstance(running, ToolCard)
    assert isinstance(ended, ToolCard)
    assert (running.state, running.args, running.preview, running.truncated) == ("running", args, "ls", True)
    assert (ended.state, ended.duration, ended.output_preview) == ("error", 1.5, "no such file")
    assert (ended.args, ended.order, ended.index) == (args, 1, 1)


def test_tool_details_are_kept_whole_and_do_not_wipe_each_other_out(conn: sqlite3.Connection) -> None:
    record(conn, tool(1), ToolDetail("tool_1", args={"text": "x" * 5000}))
    record(conn, ToolDetail("tool_1", output="y" * (messages.MAX_KEPT + 5) + "end"))
    row = conn.execute("SELECT full_args, output FROM tool_calls").fetchone()
    assert msgspec.json.decode(row["full_args"]) == {"text": "x" * 5000}
    assert len(row["output"]) == messages.MAX_KEPT
    assert row["output"].endswith("end")


def test_last_order_is_that_of_whatever_came_last(conn: sqlite3.Connection) -> None:
    assert messages.last_order(conn) == 0
    record(conn, said(5), start(7))
    assert messages.last_order(conn) == 7
    record(conn, tool(9, OTHER))
    assert messages.last_order(conn) == 9


# ---------------------------------------------------------------- pages


def test_a_page_has_the_newest_messages_oldest_first(conn: sqlite3.Connection) -> None:
    record(conn, *[said(n) for n in range(1, 6)])
    assert history(conn, limit=3) == messages.Page([said(3), said(4), said(5)], True)
    assert history(conn, before=3, limit=3) == messages.Page([said(1), said(2)], False, True)
    assert history(conn, before=1, limit=3) == messages.Page([], False, True)


@pytest.mark.parametrize(("count", "more"), [(2, False), (3, False), (4, True)])
def test_has_more_is_told_exactly(conn: sqlite3.Connection, count: int, more: bool) -> None:
    record(conn, *[said(n) for n in range(1, count + 1)])
    assert history(conn, limit=3).has_more is more


def test_tool_cards_stand_between_their_messages(conn: sqlite3.Connection) -> None:
    """A card belongs to the page of the message before it; those before the first message to the oldest page."""
    record(conn, tool(1), said(2), tool(3), tool(4), said(5), tool(6), said(7), tool(8))
    newest = history(conn, limit=1)
    middle = history(conn, before=7, limit=1)
    oldest = history(conn, before=5, limit=1)
    assert (ids(newest.entries), newest.has_more) == (["m_7", "tool_8"], True)
    assert (ids(middle.entries), middle.has_more) == (["m_5", "tool_6"], True)
    assert (ids(oldest.entries), oldest.has_more) == (["tool_1", "m_2", "tool_3", "tool_4"], False)


def test_bubbles_that_still_stream_are_not_in_history(conn: sqlite3.Connection) -> None:
    record(conn, said(1), start(2), update(2, "so far"), said(3))
    assert ids(history(conn).entries) == ["m_1", "m_3"]
    assert history(conn, limit=2).has_more is False
    record(conn, stop(2, "done"))
    assert ids(history(conn).entries) == ["m_1", "m_2", "m_3"]


def test_lanes_never_see_each_other(conn: sqlite3.Connection) -> None:
    lanes = [DEFAULT_LANE, OTHER, THREAD, Lane(OTHER.chat_id, "t_1")]
    for n in range(1, 25):
        lane = lanes[n % 4]
        record(conn, tool(n, lane) if n % 3 == 0 else said(n, lane))
    for k, lane in enumerate(lanes):
        entries = history(conn, lane).entries
        assert [entry.order for entry in entries] == [n for n in range(1, 25) if n % 4 == k]
        assert {Lane(entry.chat_id, entry.thread_id) for entry in entries} == {lane}


@settings(max_examples=80, deadline=None)
@given(kinds=st.lists(st.sampled_from(["said", "tool", "live", "elsewhere"]), max_size=25), limit=st.integers(1, 6))
def test_pages_join_without_gap_or_double(kinds: list[str], limit: int) -> None:
    conn = sqlite3.connect(":memory:", isolation_level=None)
    conn.row_factory = sqlite3.Row
    migrations.migrate(conn)
    make = {"said": said, "tool": tool, "live": start, "elsewhere": lambda n: said(n, OTHER)}
    record(conn, *[make[kind](n) for n, kind in enumerate(kinds, 1)])
    joined: list[str] = []
    before, has_more, pages = None, True, 0
    while has_more:
        entries, has_more, _ = history(conn, before=before, limit=limit)
        assert sum(isinstance(entry, Message) for entry in entries) <= limit
        assert entries or not has_more
        joined = ids(entries) + joined
        before = entries[0].order if entries else None
        pages += 1
    conn.close()
    prefix = {"said": "m", "tool": "tool"}
    assert joined == [f"{prefix[kind]}_{n}" for n, kind in enumerate(kinds, 1) if kind in prefix]
    assert pages == max(1, -(-kinds.count("said") // limit))


def test_a_page_is_cut_before_it_has_too_many_bytes(conn: sqlite3.Connection) -> None:
    """A byte more in the oldest entry and it would stand on the next page."""
    record(conn, *[said(n) for n in range(1, 5)])
    told = history(conn).entries
    room = sum(len(codec.encode(entry)) for entry in told[1:])
    for less, kept in ((0, told[1:]), (1, told[2:])):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(messages, "MAX_PAGE", room - less)
            assert history(conn) == messages.Page(kept, True)


def test_an_entry_that_is_too_large_for_any_page_has_one_of_its_own(conn: sqlite3.Connection) -> None:
    huge = msgspec.structs.replace(said(2), text="\N{SNOWMAN}" * messages.MAX_PAGE)
    record(conn, said(1), huge, said(3))
    assert history(conn) == messages.Page([said(3)], True)
    assert history(conn, before=3) == messages.Page([huge], True, True)
    assert history(conn, before=2) == messages.Page([said(1)], False, True)


@pytest.mark.parametrize(("count", "more"), [(messages.MAX_CARDS, False), (messages.MAX_CARDS + 1, True)])
def test_a_page_is_cut_before_it_has_too_many_cards(conn: sqlite3.Connection, count: int, more: bool) -> None:
    record(conn, *[tool(n) for n in range(1, count + 1)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "MAX_PAGE", 1 << 30)
        newest = history(conn)
        assert [entry.order for entry in newest.entries] == list(range(count - messages.MAX_CARDS + 1, count + 1))
        assert newest.has_more is more
        older = history(conn, before=newest.entries[0].order)
        assert ([entry.order for entry in older.entries], older.has_more) == ([1] if more else [], False)


@settings(max_examples=150, deadline=None)
@given(
    kinds=st.lists(st.sampled_from(["said", "tool", "tool", "live", "elsewhere"]), max_size=25),
    limit=st.integers(1, 6),
    max_bytes=st.integers(1, 1500),
    max_cards=st.integers(1, 4),
)
def test_pages_that_were_cut_join_without_gap_or_double(
    kinds: list[str], limit: int, max_bytes: int, max_cards: int
) -> None:
    conn = sqlite3.connect(":memory:", isolation_level=None)
    conn.row_factory = sqlite3.Row
    migrations.migrate(conn)
    make = {"said": said, "tool": tool, "live": start, "elsewhere": lambda n: said(n, OTHER)}
    record(conn, *[make[kind](n) for n, kind in enumerate(kinds, 1)])
    expected = [n for n, kind in enumerate(kinds, 1) if kind in ("said", "tool")]
    joined: list[int] = []
    before, has_more = None, True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(messages, "MAX_PAGE", max_bytes)
        patch.setattr(messages, "MAX_CARDS", max_cards)
        while has_more:
            entries, has_more, _ = history(conn, before=before, limit=limit)
            assert sum(isinstance(entry, Message) for entry in entries) <= limit
            assert sum(isinstance(entry, ToolCard) for entry in entries) <= max_cards
            assert len(entries) == 1 or sum(len(codec.encode(entry)) for entry in entries) <= max_bytes
            joined = [entry.order for entry in entries] + joined
            assert has_more is (len(joined) < len(expected))
            before = entries[0].order if entries else None
    conn.close()
    assert joined == expected


# ---------------------------------------------------------------- restart


def test_orphans_close_bubbles_then_tools_then_turns_of_every_lane(conn: sqlite3.Connection) -> None:
    record(
        conn,
        TurnStarted(chat_id=CHAT, turn_id="turn_1", ts=1.0),
        TurnStarted(chat_id=OTHER.chat_id, turn_id="turn_2", ts=2.0),
        tool(3),
        tool(4),
        tool_end(4, ok=True, state="ok", duration=2.0, output_preview="fine"),
        start(5),
        update(5, "checkpoint"),
        start(6, OTHER),
    )
    effects = orphans.closing(conn, Moment(1000, 50.0))
    assert [type(effect).__name__ for effect in effects] == [
        "MessageStop", "MessageStop", "ToolEnd", "TurnEnded", "TurnEnded",
    ]  # fmt: skip
    record(conn, *effects)
    first, second, bubble = history(conn).entries
    assert isinstance(first, ToolCard)
    assert isinstance(second, ToolCard)
    assert isinstance(bubble, Message)
    assert (first.state, second.state, second.output_preview) == ("cancelled", "ok", "fine")
    assert (bubble.text, bubble.kind, bubble.state, bubble.order) == ("checkpoint", "partial", "aborted", 5)
    assert [entry.order for entry in history(conn, OTHER).entries] == [6]
    ended = conn.execute("SELECT turn_id, ended, outcome, error FROM turns ORDER BY turn_id").fetchall()
    assert [tuple(row)[:3] for row in ended] == [("turn_1", 50.0, "interrupted"), ("turn_2", 50.0, "interrupted")]
    assert all(row["error"] for row in ended)


def test_after_that_nothing_is_an_orphan_any_more(conn: sqlite3.Connection) -> None:
    record(conn, TurnStarted(chat_id=CHAT, turn_id="turn_1", ts=1.0), start(2), tool(3))
    record(conn, *orphans.closing(conn, Moment(1000, 50.0)))
    assert orphans.closing(conn, Moment(2000, 60.0)) == []


def test_what_ended_by_itself_is_no_orphan(conn: sqlite3.Connection) -> None:
    record(
        conn,
        TurnStarted(chat_id=CHAT, turn_id="turn_1", ts=1.0),
        start(2),
        stop(2, "done"),
        tool(3),
        tool_end(3, ok=False, state="blocked", duration=0.0),
        TurnEnded(chat_id=CHAT, turn_id="turn_1", outcome="success", ts=3.0),
        said(4),
    )
    assert orphans.closing(conn, Moment(1000, 50.0)) == []


def test_only_peoples_messages_wait_for_the_host_until_it_has_them(conn: sqlite3.Connection) -> None:
    record(conn, said(3), said(1, OTHER), said(2, role="assistant"), said(4, role="notice"), start(5))
    assert [message.message_id for message in messages.waiting(conn)] == ["m_1", "m_3"]
    messages.hand_over(conn, "m_1")
    assert messages.waiting(conn) == [said(3)]
    messages.hand_over(conn, "m_3")
    assert messages.waiting(conn) == []


# ---------------------------------------------------------------- directory


def test_the_default_channel_is_made_once_and_keeps_its_age(conn: sqlite3.Connection) -> None:
    channels.ensure_default(conn, 5.0)
    channels.ensure_default(conn, 9.0)
    (entry,) = channels.directory(conn)
    assert (entry.chat_id, entry.kind, entry.is_default, entry.created) == (CHAT, "default", True, 5.0)
    assert channels.get(conn, CHAT, None) == entry


@pytest.mark.parametrize(
    ("chat_id", "thread_id", "named"), [(OTHER.chat_id, None, r"^\$\.chat_id"), (CHAT, "t_9", r"^\$\.thread_id")]
)
def test_what_is_not_in_the_directory_is_not_found(
    conn: sqlite3.Connection, chat_id: str, thread_id: str | None, named: str
) -> None:
    channels.ensure_default(conn, 5.0)
    with pytest.raises(NotFound, match=named):
        channels.get(conn, chat_id, thread_id)
