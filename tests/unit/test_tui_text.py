"""Text for the terminal: what it may not hold, and values as people read them."""

import pytest
from hypothesis import given, strategies as st

from hermes_iris.tui.text import arguments, clean, duration, one_line, sentence, size


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("as it\n is", "as it\n is"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0\x1b\\picture", "picture"),
        ("\x1b[unfinished", "nfinished"),
        ("\x1b", ""),
        ("a\tb", "a    b"),
        ("a\r\nb\rc\x0bd\x0ce\x85f\u2028g\u2029h", "a\nb\nc\nd\ne\nf\ng\nh"),
        ("bell\x07 back\x08 null\x00 del\x7f c1\x81", "bell back null del c1"),
        ("\u202eevil\u2066\u200f", "evil"),
        ("half \ud800", "half "),
        ("[bold]stays[/bold]", "[bold]stays[/bold]"),
        ("👩‍👩‍👧 漢字", "👩‍👩‍👧 漢字"),
    ],
)
def test_only_what_a_terminal_would_obey_is_taken_out(text: str, plain: str) -> None:
    assert clean(text) == plain


@given(st.text())
def test_a_line_is_one_line_and_short(text: str) -> None:
    line = one_line(text, 20)
    assert "\n" not in line
    assert len(line) <= 20
    assert line == clean(line)


def test_a_long_line_is_cut() -> None:
    assert one_line("x " * 500, 9) == "x x x x …"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0.0 s"), (0.44, "0.4 s"), (9.96, "10 s"), (59.4, "59 s"), (185, "3 min 05 s"), (3720, "1 h 02 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(("count", "text"), [(12, "12 B"), (3400, "3.4 kB"), (5_600_000, "5.6 MB")])
def test_sizes(count: int, text: str) -> None:
    assert size(count) == text


def test_arguments_are_a_command_or_json() -> None:
    assert arguments({"command": "ls\x1b[2J"}) == "ls"
    assert arguments('{"command": "ls"}') == "ls"
    assert arguments({"command": 1}) == '{\n  "command": 1\n}'
    assert arguments('{"a": "é"}') == '{\n  "a": "é"\n}'
    assert arguments('{"cut\x07') == '{"cut'
    assert arguments({}) == ""


def test_a_refusal_is_a_sentence() -> None:
    assert sentence("$.text is `too` long") == "Text is too long."
    assert sentence("Really?") == "Really?"
