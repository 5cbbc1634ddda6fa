import pytest
from hypothesis import given, strategies as st

from hermes_iris.meeting import mentions

NAMES = {"mohe": ("mohe", "墨和", "M.H."), "mohe2": ("mohe-2",), "zhiwei": ("zhiwei", "Zhi Wei")}


@pytest.mark.parametrize(
    ("text", "agents"),
    [
        ("@mohe what is it?", {"mohe"}),
        ("ask @MOHE.", {"mohe"}),
        ("@mohe你好", {"mohe"}),
        ("你好@mohe，在吗", {"mohe"}),
        ("＠mohe：在吗", {"mohe"}),
        ("@ mohe hello", {"mohe"}),
        ("mohe: please do X", {"mohe"}),
        ("mohe，请做", {"mohe"}),
        ("mohe, zhiwei: both of you", {"mohe", "zhiwei"}),
        ("@zhi wei, and you?", {"zhiwei"}),
        ("@墨和你好", {"mohe"}),
        ("@M.H. hello", {"mohe"}),
        ("(@mohe)", {"mohe"}),
        ("@mohe-2 is another", {"mohe2"}),
        ("@mohe @zhiwei", {"mohe", "zhiwei"}),
        ("mohe said so", set()),
        ("I asked mohe: nothing came", set()),
        ("@moheart", set()),
        ("@mohe_", set()),
        ("@mohe-3", set()),
        ("@mohe@example.org", set()),
        ("mail a@mohe.example", set()),
        ("@@mohe", set()),
        ("> @mohe said", set()),
        ("look:\n  > @mohe said\nright?", set()),
        ("run `@mohe` now", set()),
        ("run ``a ` @mohe`` now", set()),
        ("```\n@mohe\n```", set()),
        ("~~~ sh\n@mohe\nwithout an end", set()),
        ("> @zhiwei asks\n@mohe answer", {"mohe"}),
        ("```\ncode\n```\n@mohe see above", {"mohe"}),
        ("", set()),
    ],
)
def test_addressed(text: str, agents: set[str]) -> None:
    assert mentions.addressed(text, NAMES) == agents


def test_without_names_nobody_is_addressed() -> None:
    assert mentions.addressed("@mohe", {}) == frozenset()
    assert mentions.addressed("@ :", {"mohe": ("", " ")}) == frozenset()


@given(st.text(), st.sampled_from(["mohe", "a+b", "(x", "墨和", "\\d", "É"]))
def test_any_name_in_any_text(text: str, name: str) -> None:
    names = {"one": (name,)}
    assert mentions.addressed(text, names) <= {"one"}
    assert mentions.addressed(f"@{name} {text}", names) == {"one"}


@pytest.mark.parametrize("text", ["stop", " STOP!! ", "@mohe stop.", "mohe: stop", "＠mohe，stop", "stop @mohe"])
def test_without_names_and_points_a_word_is_left(text: str) -> None:
    assert mentions.without(text, {"mohe": ("mohe", "")}) == "stop"


def test_a_word_inside_of_a_sentence_is_not_left_alone() -> None:
    assert mentions.without("mohe, do not stop", {"mohe": ("mohe",)}) == "do not stop"
