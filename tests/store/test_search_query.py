"""Queries: whatever a person types is literal, and what is found is what contains it."""

import re
import unicodedata

import pytest
from hypothesis import given, settings, strategies as st
from search_kit import find_among, found, hits, memory, record, said, tell

from hermes_iris.store import search

TEXTS = (
    "hello world C++ foo-bar",
    "foo bar a b it's",
    "\N{ROCKET} deploy 日本語",
    "path/to/file.py x@y.com",
    "",
    "AND OR NOT NEAR",
)

PIECES = (
    "C++", "foo-bar", '"', '""', '"unbalanced', "it's", "(", ")", "()", "((a)", "AND", "OR", "NOT", "a AND",
    "AND a", "NEAR", "NEAR(a b", "NEAR(a b, 2)", "near/3", "a:b", "body:hello", "place:x", "nosuch:hello", "*",
    "a*", "*a", "a**", "^a", "a^b", "{a b}:c", "{body place}:", "-a", "+a", "a + b", "a.b", "path/to/file.py",
    "x@y.com", "#tag", "$HOME", "50%", "a,b", "'; DROP TABLE messages;--", "\N{ROCKET}",
    "\N{HEAVY BLACK HEART}\ufe0f", "日本", "né", "", "   ", "\t\n", "a\0b", "\0", "\\", "[x]", "<b>", "a|b",
    "a&b", "~", "`code`", "\ud800", "\udfff", "\u202eabc", "שלום", "مرحبا", "\u0301", "\ue000", "role:",
    "role:user", "role:nobody", 'role:"user"', "channel:", 'channel:"', 'channel:"Two Words"', 'channel:"\0"',
    "channel:channel:", "\ufdfa",
)  # fmt: skip


@pytest.mark.parametrize("order", ["newest", "best"])
def test_no_piece_of_syntax_raises(order: str) -> None:
    with memory() as conn:
        tell(conn, TEXTS)
        for piece in PIECES:
            for query in (piece, f"{piece} a", f"a {piece}", f'"{piece}"', f'"{piece}', piece * 60, f"{piece} " * 60):
                hits(conn, query[:500], order=order)  # type: ignore[arg-type]


anything = st.one_of(
    st.text(st.characters(), max_size=40),
    st.text(max_size=500),
    st.lists(st.one_of(st.sampled_from(PIECES), st.text(st.characters(), max_size=3)), max_size=40).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=80).map(" ".join),
    st.characters().map(lambda char: char * 500),
)


@settings(max_examples=400)
@given(anything, st.sampled_from(["newest", "best"]))
def test_any_text_is_a_query(query: str, order: str) -> None:
    with memory() as conn:
        tell(conn, TEXTS)
        page, after = hits(conn, query[:500], order=order)  # type: ignore[arg-type]
        assert len(page) <= len(TEXTS)
        assert after is None


@settings(max_examples=200)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_can_be_stored_and_is_found_by_the_words_in_it(text: str) -> None:
    """Each word that is made of plain letters and stands alone."""
    for word in re.findall(r"(?<!\S)[a-z]+(?!\S)", text):
        assert find_among([text], f'"{word}"') == [1]
    find_among([text], text[:500])


# ---------------------------------------------------------------- scripts without blanks

CJK = "日本語東京人々二〇年あいアー한국가平成\U00020000\U0002b820"
mixed = st.lists(
    st.one_of(
        st.text(CJK, min_size=1, max_size=6),
        st.sampled_from(["abc", "Abc-12", "é", " ", "\n", "，", "・", "2026", "ｱｲ", "㍻", "ａｂｃ", "。"]),
    ),
    max_size=8,
).map("".join)


def squeezed(text: str) -> str:
    """A text as it is compared: one form of each character, and only letters, since a line may break anywhere."""
    normal = unicodedata.normalize("NFKC", text)
    return "".join(char if unicodedata.category(char)[0] in "LN" else "" for char in normal)


@settings(max_examples=300)
@given(st.lists(mixed, min_size=1, max_size=6), st.data())
def test_exactly_the_texts_that_contain_it_are_found_by_any_part_in_cjk(texts: list[str], data: st.DataObject) -> None:
    parts = [run[at:] for text in texts for run in re.findall(f"[{CJK}]+", text) for at in range(len(run))]
    part = data.draw(st.sampled_from(parts) if parts else st.text(CJK, min_size=1, max_size=2))
    query = part[: data.draw(st.integers(1, 5))]
    expected = [n for n, text in enumerate(texts, 1) if squeezed(query) in squeezed(text)]
    assert find_among(texts, query) == expected
    assert find_among(texts, f'"{query}"') == expected


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("二〇〇七年", "二〇"),
        ("二〇〇七年", "〇七"),
        ("二〇〇七年", "〇"),
        ("佐々木さん", "々木"),
        ("いすゞ自動車", "ゞ自"),
        ("ㄅㄆㄇㄈ", "ㄆㄇ"),
        ("サーバー", "ーバ"),
        ("ｻｰﾊﾞｰ", "サーバ"),
        ("サーバ", "ｻｰﾊﾞ"),
        ("配置Docker环境", "环"),
        ("配置Docker环境", "置docker"),
        ("配置Docker环境", "Docker环"),
        ("配置Docker环境", "dock"),
        ("한국어", "국어"),
        ("한국어", unicodedata.normalize("NFD", "한")),
    ],
)
def test_cjk_is_found_by_any_part(text: str, query: str) -> None:
    assert find_among([text], query) == [1]


@pytest.mark.parametrize(("text", "query"), [("日本", "本日"), ("日語本", "日本"), ("日x本", "日本"), ("人", "々")])
def test_cjk_in_another_order_is_not_found(text: str, query: str) -> None:
    assert find_among([text], query) == []


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The DEPLOY failed", "deploy"),
        ("the deploy failed", "DEPLOY"),
        ("ÉCOLE", "école"),
        ("café", "cafe"),
        ("cafe", "café"),
        (unicodedata.normalize("NFD", "café"), "café"),
        ("Tiếng Việt", "tieng viet"),
        ("ПРИВЕТ", "привет"),
        ("ΚΑΛΗΜΕΡΑ", "καλημερα"),
        ("ｆｕｌｌ", "full"),
        ("deployment", "deploy"),
        ("deployment", "de"),
        ("foo-bar", "foo-ba"),
        ("path/to/file.py", "to/file"),
        ("C++ and C", "C++"),
        ("it's", "it's"),
        ("version 0.22", "0.22"),
        ("snake_case_name", "case_na"),
        ("x", "x"),
        ("deploy now", "deploy \N{ROCKET}"),
        ("deploy now", "deploy \N{HEAVY BLACK HEART}\ufe0f"),
        ("deploy now", "\ufe0f deploy"),
        ("deploy now", "-- deploy && !"),
    ],
)
def test_a_word_is_found(text: str, query: str) -> None:
    assert find_among([text, "nothing of it"], query) == [1]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("deployment", "d"),
        ("deployment", "ploy"),
        ("deployment", '"deploy"'),
        ("the end of world", '"the world"'),
        ("bar foo", "foo-bar"),
        ("hello", "hello world"),
        ("hello", "hello 日"),
        ("role user", "lane"),
        ("hello", "roleuser"),
    ],
)
def test_what_only_looks_alike_is_not_found(text: str, query: str) -> None:
    assert find_among([text], query) == []


words = st.sampled_from(["deploy", "done", "error", "cron", "日本", "report"])


@given(st.lists(st.lists(words, max_size=4), min_size=1, max_size=6), st.lists(words, min_size=1, max_size=3))
def test_every_word_must_be_there_in_any_order(texts: list[list[str]], query: list[str]) -> None:
    expected = [n for n, text in enumerate(texts, 1) if set(query) <= set(text)]
    assert find_among([" ".join(text) for text in texts], " ".join(query)) == expected


@given(st.lists(st.lists(words, max_size=5), min_size=1, max_size=6), st.lists(words, min_size=1, max_size=3))
def test_a_phrase_must_be_there_as_it_is(texts: list[list[str]], phrase: list[str]) -> None:
    n = len(phrase)
    expected = [k for k, text in enumerate(texts, 1) if any(text[at : at + n] == phrase for at in range(len(text)))]
    assert find_among([" ".join(text) for text in texts], f'"{" ".join(phrase)}"') == expected


def test_more_words_than_are_looked_for_are_passed_over() -> None:
    text = " ".join(f"word{n}" for n in range(search.MAX_TERMS))
    assert find_among([text], f"{text} missing") == [1]
    assert find_among([text], f"missing {text}") == []


# ---------------------------------------------------------------- beginnings

longer = st.text("tesz9é", max_size=3).map("Test".__add__)


@given(st.lists(st.lists(longer, max_size=3), min_size=1, max_size=30), longer, st.sampled_from([0, 1, 3, 16]))
def test_words_with_a_beginning_are_found_however_many_there_are(
    texts: list[list[str]], beginning: str, few: int
) -> None:
    expected = [
        n for n, text in enumerate(texts, 1) if any(_plain(word).startswith(_plain(beginning)) for word in text)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "FEW", few)
        assert find_among([" ".join(text) for text in texts], beginning) == expected
        assert find_among([" ".join(text) for text in texts], f"{beginning} {beginning.upper()}") == expected


def _plain(word: str) -> str:
    return word.lower().replace("é", "e")


def test_a_beginning_that_few_words_have_is_looked_up_as_these_words() -> None:
    with memory() as conn:
        tell(conn, ["deploy deployed", "deployment", *(f"number{n}" for n in range(search.FEW + 1)), "dep"])
        asked = list[str]()
        conn.set_trace_callback(asked.append)
        assert found(conn, "deploy") == [2, 1]
        assert any('("deploy" OR "deployed" OR "deployment")' in statement for statement in asked)
        assert len(found(conn, "number")) == search.FEW + 1
        assert any('"number"*' in statement for statement in asked)


# ---------------------------------------------------------------- qualifiers


@pytest.mark.parametrize("role", ["user", "assistant", "cron", "notice"])
def test_a_role_narrows_down(role: str) -> None:
    roles = ("user", "assistant", "cron", "notice")
    with memory() as conn:
        record(conn, *[said(n, "role user hello", role=each) for n, each in enumerate(roles, 1)])
        for query in (f"role:{role} hello", f"hello ROLE:{role.upper()}"):
            assert found(conn, query) == [roles.index(role) + 1]
        assert found(conn, "role:nobody hello") == []
        assert found(conn, '"role:user" hello') == [4, 3, 2, 1]


@pytest.mark.parametrize(
    ("text", "channel", "terms"),
    [
        ('channel:"Two Words" hi', "Two Words", ('"hi"*',)),
        ("hi channel:Default", "Default", ('"hi"*',)),
        ('CHANNEL:"Two   Words', "Two   Words", ()),
        ("channel:android:chan_7:t_31 hi", "android:chan_7:t_31", ('"hi"*',)),
        ("channel: hi", None, ('"channel"*', '"hi"*')),
        ('mychannel:"x y"', None, ('"mychannel x"*', '"y"*')),
        ('channel:"" hi', None, ('"channel"*', '"hi"*')),
    ],
)
def test_a_channel_is_named_by_a_qualifier(text: str, channel: str | None, terms: tuple[str, ...]) -> None:
    query = search.parse(text)
    assert query.channel == channel
    assert len(query.terms) == len(terms)
    if channel is not None:
        assert query.terms == terms


@pytest.mark.parametrize(
    "query",
    [
        "", " ", "\0", "...", "!?", '""', '"', "\N{ROCKET}", "\N{HEAVY BLACK HEART}\ufe0f", "role:user", "channel:x",
        'channel:"x y" role:cron', "(*)", "\ud800",
    ],
)  # fmt: skip
@pytest.mark.parametrize("order", ["newest", "best"])
def test_a_query_without_a_word_finds_nothing(query: str, order: str) -> None:
    with memory() as conn:
        tell(conn, TEXTS)
        assert hits(conn, query, order=order) == ([], None)  # type: ignore[arg-type]
