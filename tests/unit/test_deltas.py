"""Texts told by their new end: what one side makes, the other understands, in every script."""

import pytest
from hypothesis import given, strategies as st

from hermes_iris.protocol import codec, deltas
from hermes_iris.protocol.frames import MessageUpdate

scripts = st.text(st.sampled_from("aé你好😀👩\u200d\U00020000"), max_size=12)


def whole(text: str) -> MessageUpdate:
    return MessageUpdate(message_id="m_1", text=text)


def javascript_length(text: str) -> int:
    """What `text.length` is there: characters outside of the basic plane count twice."""
    return sum(2 if ord(char) > 0xFFFF else 1 for char in text)


@given(scripts)
def test_places_are_counted_as_javascript_counts(text: str) -> None:
    assert deltas.units(text) == javascript_length(text)


@given(st.lists(scripts, min_size=1, max_size=8))
def test_whoever_applies_what_was_made_has_the_text(texts: list[str]) -> None:
    """Texts that grow, shrink and change."""
    known = ""
    for text in texts:
        update = deltas.delta(known, whole(text)) or whole(text)
        travelled = codec.decode_server(codec.encode(update))
        assert isinstance(travelled, MessageUpdate)
        applied = deltas.applied(known, travelled)
        assert applied == text
        known = applied


@given(scripts.filter(bool), scripts)
def test_a_text_that_grew_is_told_by_its_end(before: str, more: str) -> None:
    delta = deltas.delta(before, whole(before + more))
    assert delta is not None
    assert (delta.text, delta.append) == (None, more)


@pytest.mark.parametrize(("before", "after"), [("Hello", "Hell"), ("Hello", "Help me"), ("", "Hi"), ("a", "")])
def test_what_did_not_grow_is_told_as_a_whole(before: str, after: str) -> None:
    assert deltas.delta(before, whole(after)) is None


@pytest.mark.parametrize("known", [None, "", "Hi", "Hello!", "😀😀😀"])
def test_a_piece_of_another_text_is_left_out(known: str | None) -> None:
    assert deltas.applied(known, MessageUpdate(message_id="m_1", offset=5, append=" you")) is None


def test_a_piece_has_no_piece() -> None:
    assert deltas.delta("Hi", MessageUpdate(message_id="m_1", offset=0, append="Hi there")) is None
