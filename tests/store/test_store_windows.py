"""Windows into a lane's history: before, after and around a place, and whether there is more on either side."""

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from search_kit import memory, record, said, start

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.protocol.frames import Message, ToolCard, ToolStart
from hermes_iris.store import messages

OTHER = Lane("android:other")


def tool(n: int) -> ToolStart:
    return ToolStart(
        chat_id=DEFAULT_LANE.chat_id, turn_id="turn_1", index=1, tool_call_id=f"tool_{n}", name="x", ts=n / 8, order=n
    )


MAKE: dict[str, Any] = {
    "said": lambda n: said(n, f"text {n}"),
    "tool": tool,
    "live": start,
    "elsewhere": lambda n: said(n, "elsewhere", OTHER),
    "nothing": None,
}


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    with memory() as conn:
        yield conn


def fill(conn: sqlite3.Connection, kinds: list[str]) -> list[int]:
    """Store entries of these kinds at the places 2, 4, …; returns the places of those that a page has."""
    record(conn, *[MAKE[kind](2 * n) for n, kind in enumerate(kinds, 1) if MAKE[kind]])
    return [2 * n for n, kind in enumerate(kinds, 1) if kind in ("said", "tool")]


def window(conn: sqlite3.Connection, limit: int = 3, **place: int) -> tuple[list[int], bool, bool]:
    page = messages.history(conn, DEFAULT_LANE, limit, **place)  # type: ignore[arg-type]
    return [entry.order for entry in page.entries], page.has_more, page.has_newer


kinds = st.lists(st.sampled_from(["said", "said", "tool", "tool", "live", "elsewhere", "nothing"]), max_size=20)


@settings(max_examples=200)
@given(kinds, st.integers(0, 45), st.integers(1, 6), st.integers(1, 1500), st.integers(1, 4))
def test_windows_around_a_place_and_beyond_join_without_gap_or_double(
    kinds: list[str], place: int, limit: int, max_bytes: int, max_cards: int
) -> None:
    with memory() as conn, pytest.MonkeyPatch.context() as patch:
        expected = fill(conn, kinds)
        patch.setattr(messages, "MAX_PAGE", max_bytes)
        patch.setattr(messages, "MAX_CARDS", max_cards)
        joined, older, newer = window(conn, limit, around=place)
        assert joined or not (older or newer)
        while older:
            entries, older, _ = window(conn, limit, before=joined[0])
            assert entries
            joined = entries + joined
        while newer:
            entries, _, newer = window(conn, limit, after=joined[-1])
            assert entries
            joined += entries
        assert joined == expected


@settings(max_examples=200)
@given(kinds, st.integers(0, 45), st.integers(1, 6), st.sampled_from(["before", "after", "around"]))
def test_each_side_is_told_exactly(kinds: list[str], place: int, limit: int, side: str) -> None:
    with memory() as conn:
        expected = fill(conn, kinds)
        entries, has_more, has_newer = window(conn, limit, **{side: place})
        first, last = (entries[0], entries[-1]) if entries else (place, place - (side == "before"))
        if side == "after" and not entries:
            first = place + 1
        assert has_more is any(order < first for order in expected)
        assert has_newer is any(order > last for order in expected)
        assert entries == [order for order in expected if first <= order <= last]


@pytest.mark.parametrize("limit", range(1, 8))
def test_a_window_has_at_most_as_many_messages_as_asked(conn: sqlite3.Connection, limit: int) -> None:
    fill(conn, ["said", "tool"] * 9)
    for place in range(0, 40):
        for side in ("before", "after", "around"):
            page = messages.history(conn, DEFAULT_LANE, limit, **{side: place})  # type: ignore[arg-type]
            assert sum(isinstance(entry, Message) for entry in page.entries) <= limit


@given(kinds, st.integers(1, 8))
def test_around_a_message_contains_it(kinds: list[str], limit: int) -> None:
    with memory() as conn:
        for place in fill(conn, kinds):
            entries, _, _ = window(conn, limit, around=place)
            assert place in entries


def test_what_is_around_stands_on_both_sides(conn: sqlite3.Connection) -> None:
    fill(conn, ["said"] * 9)
    assert window(conn, 3, around=10) == ([8, 10, 12], True, True)
    assert window(conn, 5, around=10) == ([6, 8, 10, 12, 14], True, True)


def test_around_a_place_that_was_never_used(conn: sqlite3.Connection) -> None:
    fill(conn, ["said"] * 4)
    assert window(conn, 9, around=5) == ([2, 4, 6, 8], False, False)
    assert window(conn, 9, around=0) == ([2, 4, 6, 8], False, False)
    assert window(conn, 9, around=(1 << 53) - 1) == ([2, 4, 6, 8], False, False)
    assert window(conn, 3, around=(1 << 53) - 1) == ([6, 8], True, False)


def test_around_in_a_lane_without_anything(conn: sqlite3.Connection) -> None:
    assert window(conn, 9, around=5) == window(conn, 9) == ([], False, False)


def test_after_begins_with_the_nearest_and_takes_the_cards_of_its_last_message(conn: sqlite3.Connection) -> None:
    fill(conn, ["said", "tool", "said", "tool", "said", "tool"])
    assert window(conn, 1, after=2) == ([4, 6], True, True)
    assert window(conn, 1, after=6) == ([8, 10, 12], True, False)
    assert window(conn, 1, after=10) == ([12], True, False)
    assert window(conn, 1, after=12) == ([], True, False)


def test_cards_alone_are_a_window(conn: sqlite3.Connection) -> None:
    fill(conn, ["tool"] * 3)
    page = messages.history(conn, DEFAULT_LANE, 2, around=4)
    assert [entry.order for entry in page.entries if isinstance(entry, ToolCard)] == [2, 4, 6]
