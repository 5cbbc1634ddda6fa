"""Hits: where they are looked for, how they are paged, and what is shown of them."""

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st
from search_kit import found, hits, memory, record, said, start, stop, tell

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.protocol.frames import Attachment, Channel, ChannelDeleted, Commentary, MessageUpdate
from hermes_iris.protocol.types import SearchOrder
from hermes_iris.store import search

CHANNEL = Lane("android:chan_7")
THREAD = Lane("android:chan_7", "t_1")
OTHER_THREAD = Lane("android:chan_7", "t_12")
LONGER = Lane("android:chan_70")


@pytest.fixture
def conn() -> Iterator[sqlite3.Connection]:
    with memory() as conn:
        yield conn


# ---------------------------------------------------------------- where


LANES = (DEFAULT_LANE, CHANNEL, THREAD, OTHER_THREAD, LONGER, Lane(DEFAULT_LANE.chat_id, "t_1"))


@pytest.mark.parametrize(
    ("lane", "expected"),
    [
        (None, [6, 5, 4, 3, 2, 1]),
        (DEFAULT_LANE, [6, 1]),
        (CHANNEL, [4, 3, 2]),
        (THREAD, [3]),
        (OTHER_THREAD, [4]),
        (LONGER, [5]),
        (Lane("android:nowhere"), []),
        (Lane(CHANNEL.chat_id, "t_9"), []),
    ],
)
@pytest.mark.parametrize("order", ["newest", "best"])
def test_a_channel_is_searched_with_its_threads_and_a_thread_alone(
    conn: sqlite3.Connection, lane: Lane | None, expected: list[int], order: SearchOrder
) -> None:
    record(conn, *[said(n, "deploy", lane) for n, lane in enumerate(LANES, 1)])
    assert sorted(found(conn, "deploy", lane, order), reverse=True) == expected  # type: ignore[type-var]


def test_a_message_is_found_by_the_name_of_its_file(conn: sqlite3.Connection) -> None:
    plan = Attachment(id="0" * 32, name="Plan of the garden.pdf", type="application/pdf", size=1, kind="document")
    record(conn, said(1, "", attachments=[plan]), said(2, "Another garden"))
    (hit,), _ = hits(conn, "plan pdf")
    assert hit.message_id == "m_1"
    assert [part.text for part in hit.snippet if part.hit] == ["Plan", "pdf"]


def test_an_archived_lane_is_searched_too(conn: sqlite3.Connection) -> None:
    entry = Channel(chat_id=CHANNEL.chat_id, name="Old", kind="channel", created=0.0, archived=True)
    record(conn, said(1, "deploy", CHANNEL), ChannelDeleted(channel=entry))  # type: ignore[arg-type]
    assert found(conn, "deploy") == found(conn, "deploy", CHANNEL) == [1]


def test_a_hit_says_where_it_is(conn: sqlite3.Connection) -> None:
    record(conn, said(7, "the deploy", THREAD, role="cron"))
    ((hit,), after) = hits(conn, "deploy")
    assert (hit.chat_id, hit.thread_id, hit.message_id, hit.order) == (*THREAD, "m_7", 7)
    assert (hit.role, hit.ts, hit.session_id, after) == ("cron", 7 / 8, None, None)
    assert [(part.text, part.hit) for part in hit.snippet] == [("the ", False), ("deploy", True)]


# ---------------------------------------------------------------- what is indexed when


def test_a_bubble_is_found_once_and_only_after_its_end(conn: sqlite3.Connection) -> None:
    record(conn, start(1), MessageUpdate(message_id="m_1", text="deploy so far"))
    assert found(conn, "deploy") == []
    record(conn, said(2, "deploy"))
    record(conn, stop(1, "deploy done"))
    assert found(conn, "deploy") == [2, 1]
    record(conn, stop(1, "deploy done"), MessageUpdate(message_id="m_1", text="late"))
    assert found(conn, "deploy") == [2, 1]
    assert found(conn, "so far") == found(conn, "late") == []


def test_a_stop_of_a_bubble_that_never_began_is_found(conn: sqlite3.Connection) -> None:
    record(conn, stop(1, "deploy done"), stop(1, "deploy done"))
    assert found(conn, "done") == [1]


def test_a_second_stop_adds_nothing_to_what_is_found(conn: sqlite3.Connection) -> None:
    record(conn, start(1), stop(1, "deploy done"), stop(1, "other words"))
    assert found(conn, "done") == [1]
    assert found(conn, "other") == []


def test_a_remark_is_found(conn: sqlite3.Connection) -> None:
    remark = Commentary(chat_id=CHANNEL.chat_id, message_id="m_1", turn_id="turn_1", text="I look", ts=1.0, order=1)
    record(conn, remark)
    assert found(conn, "role:assistant look") == [1]


def test_what_was_rolled_back_is_not_found(conn: sqlite3.Connection) -> None:
    """The index is written in the transaction that stores the message."""
    with pytest.raises(sqlite3.Error):
        record(conn, said(1, "deploy"), said(2, None))  # type: ignore[arg-type]
    assert found(conn, "deploy") == []
    record(conn, said(3, "deploy"))
    assert found(conn, "deploy") == [3]


# ---------------------------------------------------------------- pages


texts = st.lists(st.sampled_from(["deploy", "deploy deploy", "deploy and more words", "other"]), max_size=20)


@settings(max_examples=150)
@given(texts, st.integers(1, 5), st.sampled_from(["newest", "best"]))
def test_pages_join_without_gap_or_double(texts: list[str], limit: int, order: SearchOrder) -> None:
    with memory() as conn:
        tell(conn, texts)
        joined: list[int | None] = []
        before: int | None = None
        pages = 0
        while pages == 0 or before is not None:
            page, before = hits(conn, "deploy", order=order, before=before, limit=limit)
            assert 0 < len(page) <= limit or not joined
            joined += [hit.order for hit in page]
            pages += 1
            assert pages <= len(texts) + 1, "there is no last page"
        expected = [n for n, text in enumerate(texts, 1) if "deploy" in text][::-1]
        assert joined == (expected if order == "newest" else found(conn, "deploy", order="best"))
        assert sorted(joined, reverse=True) == expected  # type: ignore[type-var]
        assert pages == max(1, -(-len(expected) // limit))


@given(texts, st.integers(1, 3), st.integers(0, 3))
def test_what_comes_between_two_pages_moves_nothing(texts: list[str], limit: int, more: int) -> None:
    with memory() as conn:
        tell(conn, texts)
        page, before = hits(conn, "deploy", limit=limit)
        first = [hit.order for hit in page]
        record(conn, *[said(100 + n, "deploy") for n in range(more)])
        rest = [hit.order for hit in hits(conn, "deploy", before=before)[0]] if before else []
        assert first + rest == [n for n, text in enumerate(texts, 1) if "deploy" in text][::-1]


def test_the_best_come_first(conn: sqlite3.Connection) -> None:
    filler = "and some words about quite other things " * 5
    tell(conn, [f"{filler} deploy", "deploy deploy deploy", f"{filler} deploy {filler}", "other"])
    assert found(conn, "deploy") == [3, 2, 1]
    assert found(conn, "deploy", order="best") == [2, 1, 3]


def test_the_best_are_looked_for_among_the_newest(conn: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "RANKED", 2)
    tell(conn, ["deploy deploy deploy", "deploy and other words", "deploy"])
    assert found(conn, "deploy", order="best") == [3, 2]


# ---------------------------------------------------------------- snippets


pieces = st.lists(
    st.sampled_from(["deploy", "DEPLOY", "日本", " ", "\n", "x", ".", "(a|b)", "word " * 9, "…"]), max_size=60
)
wanted = st.lists(st.sampled_from(["deploy", "日本", "日", "(a|b)", "x.", "deploy x", "missing"]), max_size=3)


@settings(max_examples=300)
@given(pieces.map("".join), wanted)
def test_a_snippet_is_a_piece_of_the_text_with_what_was_found_marked(text: str, needles: list[str]) -> None:
    line = " ".join(text.split())
    parts = search.snippet(text, tuple(needles))
    shown = "".join(part.text for part in parts)
    body = shown if shown == line else shown.removeprefix("…").removesuffix("…")
    assert body in line
    assert len(body) <= search.SNIPPET
    assert all(part.text for part in parts)
    lower = [needle.lower() for needle in needles]
    assert all(part.text.lower() in lower for part in parts if part.hit)
    assert any(part.hit for part in parts) == any(needle in line.lower() for needle in lower)
    unmarked = [part.text.lower() for part in parts if not part.hit]
    assert not any(needle in piece for piece in unmarked for needle in lower)


@pytest.mark.parametrize("before", [0, 10, 53, 54, 200])
@pytest.mark.parametrize("after", [0, 10, 107, 200])
def test_a_cut_is_told_at_the_side_where_it_is(before: int, after: int) -> None:
    text = "b" * before + "deploy" + "a" * after
    parts = search.snippet(text, ("deploy",))
    shown = "".join(part.text for part in parts)
    assert [part.text for part in parts if part.hit] == ["deploy"]
    body = shown.strip("…")
    assert shown.startswith("…") is (not text.startswith(body))
    assert shown.endswith("…") is (not text.endswith(body))


def test_a_snippet_begins_with_a_word() -> None:
    shown = "".join(part.text for part in search.snippet("one two three four " * 20 + "deploy", ("deploy",)))
    assert shown.removeprefix("…").split()[0] in ("one", "two", "three", "four")


@pytest.mark.parametrize("needle", ["deploy now", "DEPLOY NOW", "now"])
def test_a_find_deep_in_a_long_text_is_shown_with_what_is_around_it(needle: str) -> None:
    text = "word \n\n" * 3_000 + "please deploy\n   now, or later " + "\n word" * 3_000
    parts = search.snippet(text, (needle,))
    shown = "".join(part.text for part in parts)
    assert [part.text for part in parts if part.hit] == ["deploy now" if " " in needle else "now"]
    assert "please deploy now, or later word" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_a_snippet_of_a_text_that_is_found_by_a_long_phrase_marks_it() -> None:
    phrase = "日" * (search.SNIPPET - 40)
    parts = search.snippet("前" * 200 + phrase + "後", (phrase,))
    assert any(part.hit for part in parts)


def test_a_snippet_without_a_needle_is_the_beginning() -> None:
    assert [(part.text, part.hit) for part in search.snippet("café", ("cafe",))] == [("café", False)]
    (part,) = search.snippet("x" * 999, ())
    assert part.text == "x" * search.SNIPPET + "…"
    assert search.snippet(" \n", ("a",)) == []
