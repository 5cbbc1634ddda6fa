"""Names: what a person may write, what is made of their words, and which name replaces which."""

import unicodedata
from itertools import product

import pytest
from hypothesis import given, strategies as st

from hermes_iris.errors import InvalidFrame
from hermes_iris.names import MAX_DERIVED, MAX_NAME, checked, derived, from_model, opening, outranks
from hermes_iris.protocol.types import NameSource

FAMILY = "👨‍👩‍👧"
"""Three people and the joiners between them."""

# ---------------------------------------------------------------- a person's name


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Reports", "Reports"),
        ("  Cron \t Reports\n", "Cron Reports"),
        ("a\u00a0b\u3000c", "a b c"),
        ("two\u2028lines", "two lines"),
        ("天气 报告", "天气 报告"),
        ("مرحبا", "مرحبا"),
        (f"{FAMILY} trip", f"{FAMILY} trip"),
        ("❤️ 1️⃣", "❤️ 1️⃣"),
        ("می\u200cخواهم", "می\u200cخواهم"),  # Persian is spelled with non-joiners
        ("e\u0301", "e\u0301"),
        ("#a/b:c <d> *e*", "#a/b:c <d> *e*"),
        ("x", "x"),
        ("x" * 80, "x" * 80),
        ("字" * 80, "字" * 80),
        (f"{'x' * 40}   {'x' * 39}", f"{'x' * 40} {'x' * 39}"),
    ],
)
def test_a_name_is_kept_with_its_white_space_folded(name: str, kept: str) -> None:
    assert checked(name) == kept


@pytest.mark.parametrize("name", ["", " ", "\n", "\u3000\u00a0\t", "\u2028"])
def test_a_name_that_shows_nothing_is_refused(name: str) -> None:
    with pytest.raises(InvalidFrame, match=r"\$\.name"):
        checked(name)


@pytest.mark.parametrize(
    "char",
    [
        "\x00",
        "\x07",
        "\x1b",
        "\x7f",
        "\x9b",
        "\u200b",  # zero-width space
        "\u200e",
        "\u200f",
        "\u202a",
        "\u202e",  # right-to-left override
        "\u2066",
        "\u2069",
        "\u2060",
        "\ufeff",
        "\u00ad",
        "\ud800",
        "\ue000",
    ],
    ids=lambda char: f"{ord(char):x}",
)
@pytest.mark.parametrize("around", ["{}", "a{}b", "{}b", "a{}"])
def test_a_name_with_a_character_that_cannot_be_seen_is_refused(char: str, around: str) -> None:
    with pytest.raises(InvalidFrame, match=r"\$\.name"):
        checked(around.format(char))


@pytest.mark.parametrize("name", ["\u200d", "\u200d\u200d", " \u200d "])
def test_a_joiner_that_joins_nothing_is_no_name(name: str) -> None:
    """It would be a channel without anything to see or to click on."""
    with pytest.raises(InvalidFrame, match=r"\$\.name"):
        checked(name)


@pytest.mark.parametrize("name", ["\U0001fae9 Sleep", "\U0001faea"])
def test_an_emoji_that_is_newer_than_this_python_is_a_name(name: str) -> None:
    """A phone's keyboard is newer than the gateway's tables of characters."""
    assert checked(name) == name


@pytest.mark.parametrize("name", ["x" * 81, "字" * 81, "x y" * 27])
def test_a_name_that_is_too_long_is_refused(name: str) -> None:
    with pytest.raises(InvalidFrame, match=rf"\$\.name.*{MAX_NAME}"):
        checked(name)


def test_white_space_that_is_folded_away_does_not_count() -> None:
    assert checked(f"{' ' * 100}a{' ' * 100}b") == "a b"


@given(st.text(max_size=100))
def test_a_checked_name_is_one_line_and_stays_as_it_is(text: str) -> None:
    try:
        name = checked(text)
    except InvalidFrame:
        return
    assert checked(name) == name
    assert 0 < len(name) <= MAX_NAME
    assert len(name.splitlines()) == 1
    assert name == " ".join(text.split())


# ---------------------------------------------------------------- a name made of someone's words


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("hi", "hi"),
        ("Plan the trip to Kyoto", "Plan the trip to Kyoto"),
        ("\n\n   \nFirst that says something\nsecond", "First that says something"),
        ("# Heading\ntext", "Heading"),
        ("> quoted\nanswer", "quoted"),
        ("**Bold** and `code` and ~~gone~~", "Bold and code and gone"),
        ("***\n---x", "---x"),
        ("[a link](https://example.org)", "a link (https://example.org)"),
        ("| a | b |", "a b"),
        ("```\nprint(1)\n```", "print(1)"),
        ("  many   spaces  ", "many spaces"),
        ("one\ttab", "one tab"),
        ("\u202eevil\u200b", "evil"),
        ("bell\x07", "bell"),
        ("今天天气怎么样", "今天天气怎么样"),
        ("", "New topic"),
        (" \n\t", "New topic"),
        ("***", "New topic"),
        ("\u200b\u202e", "New topic"),
        ("x" * 48, "x" * 48),
        ("字" * 48, "字" * 48),
    ],
)
def test_a_name_from_opening_words(text: str, name: str) -> None:
    assert derived(text) == name


def test_the_opening_of_a_text_is_as_long_as_the_caller_says() -> None:
    assert opening("***", 10) == ""
    assert opening("## one **two** three\nfour", 40) == "one two three"
    assert opening("one two three four", 12) == "one two…"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("word " * 20, "word word word word word word word word word…"),
        ("Could you please look at the logs, then, of yesterday", "Could you please look at the logs, then, of…"),
        ("Could you please look at the logs of the day, of yesterday", "Could you please look at the logs of the day…"),
        ("x" * 49, "x" * 47 + "…"),
        ("字" * 49, "字" * 47 + "…"),
        ("a " + "x" * 60, "a " + "x" * 45 + "…"),
        ("x" * 30 + " " + "y" * 30, "x" * 30 + "…"),
        ("x" * 25 + " " + "y" * 60, "x" * 25 + "…"),
        ("x" * 24 + " " + "y" * 60, "x" * 24 + " " + "y" * 22 + "…"),
    ],
)
def test_a_long_opening_is_cut_between_words_where_there_are_any(text: str, name: str) -> None:
    assert derived(text) == name


@given(st.text() | st.text("word *#字. \n\t", max_size=200))
def test_a_derived_name_is_a_name(text: str) -> None:
    name = derived(text)
    assert 0 < len(name) <= MAX_DERIVED
    assert name == " ".join(name.split())
    assert not any(unicodedata.category(char) in {"Cc", "Cs"} for char in name)
    assert derived(name) == name or "…" in name


def test_an_emoji_stays_one_emoji() -> None:
    assert derived(f"{FAMILY} trip") == f"{FAMILY} trip"
    assert from_model(f"{FAMILY} trip") == f"{FAMILY} trip"


# ---------------------------------------------------------------- a model's name


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Weather in Kyoto", "Weather in Kyoto"),
        ('"Weather in Kyoto"', "Weather in Kyoto"),
        ("「京都天气」", "京都天气"),
        (" “ Weather ” ", "Weather"),
        ("Weather\nin Kyoto", "Weather in Kyoto"),
        ("a\u202eb", "ab"),
        ("x" * 81, "x" * 80),
        (f"{'x' * 79} y", "x" * 79),
        ("", None),
        (" \n", None),
        ('""', None),
        ('" "', None),
        ("\u200b", None),
    ],
)
def test_a_model_s_title_as_a_name(title: str, name: str | None) -> None:
    assert from_model(title) == name


@given(st.text(max_size=120) | st.text("\"' ab\n“”", max_size=8))
def test_a_model_s_name_is_a_name(title: str) -> None:
    name = from_model(title)
    assert name is None or (name == " ".join(name.split()) and 0 < len(name) <= MAX_NAME)


# ---------------------------------------------------------------- which name replaces which

SOURCES: tuple[NameSource, ...] = ("derived", "llm", "user")


@pytest.mark.parametrize(("new", "old"), list(product(SOURCES, SOURCES)))
def test_a_name_replaces_one_of_the_same_or_a_lower_rank(new: NameSource, old: NameSource) -> None:
    assert outranks(new, old) == (SOURCES.index(new) >= SOURCES.index(old))


def test_a_late_name_of_a_model_never_replaces_a_person_s() -> None:
    assert not outranks("llm", "user")
    assert outranks("user", "llm")
