"""Telling an answer from the thinking around it."""

import pytest
from hypothesis import given, strategies as st

from hermes_iris import reasoning

TAGS = ("think", "thinking", "reasoning", "thought", "REASONING_SCRATCHPAD")
"""As the hosts know them (`gateway/stream_consumer.py` of 0.19)."""


@pytest.mark.parametrize("tag", [*TAGS, "Think", "THINKING"])
class TestThinkingInside:
    def test_at_the_beginning_it_is_taken_out(self, tag: str) -> None:
        assert reasoning.split(f"<{tag}>\nHm.\n</{tag}>\n\nThe answer.") == ("The answer.", "Hm.")

    def test_without_its_end_it_is_all_that_follows(self, tag: str) -> None:
        assert reasoning.split(f"<{tag}>Hm, and") == ("", "Hm, and")
        assert reasoning.split(f"The answer.\n<{tag}>Hm, and") == ("The answer.", "Hm, and")

    def test_several_are_put_together(self, tag: str) -> None:
        text = f"<{tag}>A.</{tag}>One.\n<{tag}> </{tag}>\n<{tag}>B.</{tag}>Two."
        answer, thinking = reasoning.split(text)
        assert answer.split() == ["One.", "Two."]
        assert thinking == "A.\n\nB."

    def test_it_is_not_shown(self, tag: str) -> None:
        assert reasoning.clean(f"<{tag}>Hm.</{tag}>\n\nThe answer.") == "The answer."
        assert reasoning.clean(f"<{tag}>Hm") == ""

    def test_an_end_without_its_beginning_leaves_no_tag(self, tag: str) -> None:
        assert tag not in reasoning.split(f"Hm.\n</{tag}>\n\nThe answer.")[0]
        assert tag not in reasoning.clean(f"Hm.\n</{tag}>\n\nThe answer.")

    def test_who_speaks_of_a_tag_does_not_think(self, tag: str) -> None:
        """Hosts take a tag for one at the beginning of a line only, since answers speak of tags too."""
        for text in (f"Models write <{tag}> before they think.", f"Use `<{tag}>`: it hides what follows."):
            assert reasoning.split(text) == (text, "")
            assert reasoning.clean(text) == text


@pytest.mark.parametrize(
    "text",
    ["a < b", "<thinker>x</thinker>", "<b>bold</b>", "think>", "```html\n<p>\n```", "", "<thin"],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert reasoning.split(text) == (text, "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Hello ▉", "Hello"),
        ("Hello▉", "Hello"),
        ("Hello █\n", "Hello"),
        ("**bold ▉**", "**bold**"),
        ("```\ncode ▉\n```", "```\ncode\n```"),
        ("▉", ""),
        ("\n\n  Hello\n", "  Hello"),
        ("a ▉ b", "a ▉ b"),
        ("no cursor", "no cursor"),
    ],
)
def test_a_cursor_and_blank_lines_around_are_not_shown(text: str, shown: str) -> None:
    assert reasoning.clean(text) == shown


@pytest.mark.parametrize("text", ["a ██\nb █████", "| 2024 | ███ |", "```\na █\n```"])
def test_blocks_that_the_model_wrote_are_no_cursor(text: str) -> None:
    """A cursor is the host's, and only in what it shows of a text on its way."""
    assert reasoning.split(text) == (text, "")
    assert reasoning.delivered(text, text) == text


@given(st.text("ab \n<>/", max_size=40))
def test_a_text_without_tags_and_cursor_only_loses_blank_lines(text: str) -> None:
    assert reasoning.clean(text) == reasoning.split(text)[0] == text.strip("\n")


def test_many_tags_take_no_long_time() -> None:
    assert reasoning.clean("<think>x</think>" * 20_000) == ""
    assert reasoning.clean("<think>\n" * 20_000) == ""
    assert reasoning.clean("▉ " * 20_000 + "x").endswith("x")


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [("a b", "a  b", True), ("\na\n\nb", "a b", True), ("a", "a b", False), ("", " \n", True), ("ab", "a b", False)],
)
def test_white_space_makes_no_difference(left: str, right: str, same: bool) -> None:
    assert reasoning.same(left, right) == reasoning.same(right, left) == same


@pytest.mark.parametrize(
    ("part", "whole", "begins"),
    [
        ("", "Look.", True),
        ("Lo", "Look.", True),
        ("Look.", "Look.", True),
        ("Look  aro", "Look\naround.", True),
        ("Look. Then", "Look.", False),
        ("look", "Look.", False),
        ("ook", "Look.", False),
    ],
)
def test_a_preview_begins_a_text(part: str, whole: str, begins: bool) -> None:
    assert reasoning.begins(part, whole) == begins


@given(st.text(max_size=30), st.integers(0, 30))
def test_every_beginning_of_a_text_begins_it(text: str, cut: int) -> None:
    assert reasoning.begins(text[:cut], text)


@pytest.mark.parametrize(
    ("host", "model", "shown"),
    [
        ("Hi.", "Hi.", "Hi."),
        ("\n\nHi. ▉", "Hi.", "Hi."),
        ("💭 **Reasoning:**\n```\nHm.\n```\n\nHi.", "Hi.", "Hi."),
        ("> 💭 **Reasoning:**\n> Hm.\n\nHi.", "Hi.", "Hi."),
        ("Hi.\n\nmodel · 1%", "Hi.", "Hi."),
        ("gateway.reasoning.block", "Hi.", "Hi."),
        ("gateway.reasoning.block", "", "gateway.reasoning.block"),
        ("gateway.reasoning.block and more", "Hi.", "gateway.reasoning.block and more"),
        ("Here it is.", "Here it is: MEDIA:/tmp/x.png", "Here it is."),
        ("<think>Hm.</think>Hi.", "Hi.", "Hi."),
        ("Hi.", "", "Hi."),
        ("", "Hi.", ""),
    ],
)
def test_what_is_shown_of_a_delivery(host: str, model: str, shown: str) -> None:
    assert reasoning.delivered(host, model) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Look.\nMEDIA:/tmp/a.p", "Look."),
        ("Look.\n\n  MEDIA:/tmp/my chart ▉", "Look."),
        ("MEDIA:/tmp/a", ""),
        ("MEDIA:/tmp/a.png\nThere it is.", "MEDIA:/tmp/a.png\nThere it is."),
        ("The word MEDIA: is a directive", "The word MEDIA: is a directive"),
    ],
)
def test_a_preview_hides_the_file_to_come(text: str, shown: str) -> None:
    assert reasoning.preview(text) == shown
