"""What a tool call looks like to a person."""

import json
from typing import Any

import pytest
from frame_strategies import json_values
from hypothesis import given, strategies as st

from hermes_iris import tools
from hermes_iris.protocol import codec
from hermes_iris.tools import MAX_ARG, MAX_ARGS, MAX_OUTPUT, MAX_PREVIEW, Call

SURROGATE = "\ud800"
arguments = st.dictionaries(st.text(max_size=10), json_values, max_size=6)


# ---------------------------------------------------------------- the bridge


def test_a_plain_call_is_itself() -> None:
    assert tools.unwrap("terminal", {"command": "ls"}) == Call("terminal", {"command": "ls"})


def test_behind_the_bridge_stands_the_tool_that_is_meant() -> None:
    inside = {"name": "read_file", "arguments": {"path": "x"}}
    assert tools.unwrap("tool_call", {"calls": [inside]}) == Call("read_file", {"path": "x"})


@pytest.mark.parametrize(
    "args",
    [
        {},
        {"calls": []},
        {"calls": "x"},
        {"calls": ["x"]},
        {"calls": [{"name": "a", "arguments": {}}] * 2},
        {"calls": [{"name": 1, "arguments": {}}]},
        {"calls": [{"name": "a", "arguments": "{}"}]},
        {"calls": [{"arguments": {}}]},
    ],
)
def test_a_bridge_that_holds_no_single_call_is_shown_as_it_is(args: dict[str, Any]) -> None:
    assert tools.unwrap("tool_call", args) == Call("tool_call", args)


def test_only_the_bridge_is_unwrapped() -> None:
    args = {"calls": [{"name": "a", "arguments": {}}]}
    assert tools.unwrap("terminal", args) == Call("terminal", args)


# ---------------------------------------------------------------- the line


@pytest.mark.parametrize(
    ("args", "line"),
    [
        ({}, ""),
        ({"n": 5, "flags": ["a"]}, ""),
        ({"zzz": "first", "other": "second"}, "first"),
        ({"zzz": "first", "path": "x.txt"}, "x.txt"),
        ({"path": "x.txt", "command": "ls"}, "ls"),
        ({"command": "  ", "path": "x.txt"}, "x.txt"),
        ({"command": 5, "query": "q"}, "q"),
        ({"command": " ls \\\n\t-l\n"}, "ls \\ -l"),
        ({"command": "x" * MAX_PREVIEW}, "x" * MAX_PREVIEW),
        ({"command": "x" * (MAX_PREVIEW + 1)}, "x" * (MAX_PREVIEW - 1) + "…"),
    ],
)
def test_the_line_is_the_most_telling_argument(args: dict[str, Any], line: str) -> None:
    assert tools.preview(args) == line


@given(arguments)
def test_the_line_is_one_and_short(args: dict[str, Any]) -> None:
    line = tools.preview(args)
    assert len(line) <= MAX_PREVIEW
    assert line.splitlines() in ([], [line])


# ---------------------------------------------------------------- arguments


def test_short_arguments_travel_whole() -> None:
    args = {"command": "x" * MAX_ARG, "n": 5, "more": [1, {"a": None}]}
    assert tools.capped(args) == (args, False)
    assert tools.capped({}) == ({}, False)


def test_a_long_text_is_cut_and_said_to_be() -> None:
    assert tools.capped({"command": "x" * (MAX_ARG + 1), "n": 1}) == ({"command": "x" * MAX_ARG + "…", "n": 1}, True)


def test_too_much_in_all_is_summed_up() -> None:
    args = {"a": "x" * 900, "b": ["y" * 50] * 80, "c": 5, "d": ["z"]}
    cut, truncated = tools.capped(args)
    assert truncated
    assert cut["a"] == "x" * MAX_PREVIEW + "…"
    assert cut["b"] == json.dumps(args["b"])[:MAX_PREVIEW] + "…"
    assert (cut["c"], cut["d"]) == (5, ["z"])


def test_too_many_arguments_are_fewer() -> None:
    cut, truncated = tools.capped({f"argument {n}": "x" * 50 for n in range(100)})
    assert truncated
    assert list(cut) == [f"argument {n}" for n in range(20)]


def test_arguments_that_json_does_not_know_are_no_reason_to_fail() -> None:
    assert tools.capped({"a": object})[1] is False
    assert tools.capped({"a": [object] * 500})[1] is True


@given(arguments)
def test_arguments_are_unchanged_or_said_to_be_cut(args: dict[str, Any]) -> None:
    cut, truncated = tools.capped(args)
    assert truncated == (cut != args)


def _travelling(args: dict[str, Any]) -> int:
    return len(codec.encode(tools.capped(args)[0]).decode())


@pytest.mark.parametrize(
    "args",
    [
        {"content": "x" * 1_000_000},
        {f"argument {n}": "x" * 1000 for n in range(100)},
        {f"argument {n}": "好" * 1000 for n in range(100)},
        {f"argument {n}": '"\n\\' * 300 for n in range(100)},
        {"edits": [{"old": "x" * 1000, "new": "y" * 1000}] * 100},
        {"x" * 10_000: 1},
        {f"{n}{'x' * 1000}": "y" for n in range(20)},
    ],
    ids=["one", "many", "Chinese", "quotes", "nested", "one long name", "long names"],
)
def test_what_travels_keeps_its_limit(args: dict[str, Any]) -> None:
    """Counted in characters as they travel, whatever is long."""
    assert _travelling(args) <= MAX_ARGS
    assert tools.capped(args)[1]


# ---------------------------------------------------------------- the outcome


@pytest.mark.parametrize(
    ("status", "result", "state"),
    [
        ("ok", "", "ok"),
        ("ok", "plain text", "ok"),
        ("ok", '{"output": "x", "exit_code": 0}', "ok"),
        ("ok", '{"output": "x", "exit_code": 1}', "error"),
        ("ok", '{"output": "x", "exit_code": -15}', "error"),
        ("ok", '{"output": "x", "exit_code": "1"}', "ok"),
        ("ok", '{"output": "x", "exit_code": null}', "ok"),
        ("ok", '[{"exit_code": 1}]', "ok"),
        ("ok", '{"error": "told by the tool itself"}', "ok"),
        ("ok", "exit_code: 1", "ok"),
        ("error", '{"exit_code": 0}', "error"),
        ("error", "", "error"),
        ("timeout", "", "error"),
        ("blocked", '{"exit_code": 1}', "blocked"),
        ("blocked", "", "blocked"),
        ("ok", "[" * 100_000, "ok"),
    ],
)
def test_the_outcome_is_told_by_structure_never_by_words(status: str, result: str, state: str) -> None:
    assert tools.outcome(status, result) == state


# ---------------------------------------------------------------- the output


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("", ""),
        ("\nplain\ntext\n", "plain\ntext"),
        ("  kept  ", "  kept  "),
        ('{"output": "\\n a\\n b\\n", "exit_code": 0}', " a\n b"),
        ('{"content": "c", "output": "o"}', "o"),
        ('{"content": "c", "error": "e"}', "c"),
        ('{"output": "  ", "error": "e"}', "e"),
        ('{"output": "", "message": "m", "result": "r"}', "r"),
        ('{"output": 5, "exit_code": 0}', '{"output": 5, "exit_code": 0}'),
        ('{"rows": [1]}', '{"rows": [1]}'),
        ("[1, 2]", "[1, 2]"),
        ('"quoted"', '"quoted"'),
        ('{"output": "cut', '{"output": "cut'),
        ("[" * 100_000, "[" * 100_000),
    ],
)
def test_the_output_is_the_text_of_a_result(result: str, text: str) -> None:
    assert tools.output(result) == text


def test_the_preview_of_an_output_is_its_last_part() -> None:
    """Where results and errors stand."""
    assert tools.output_preview("x" * MAX_OUTPUT) == "x" * MAX_OUTPUT
    assert tools.output_preview(json.dumps({"output": "a" + "x" * MAX_OUTPUT})) == "…" + "x" * MAX_OUTPUT


@given(st.text() | json_values.map(json.dumps))
def test_any_result_has_an_outcome_and_an_output(result: str) -> None:
    assert tools.outcome("ok", result) in ("ok", "error")
    assert len(tools.output_preview(result)) <= MAX_OUTPUT + 1


# ---------------------------------------------------------------- half surrogate pairs


def test_an_output_with_half_a_surrogate_pair_can_be_encoded() -> None:
    """Terminals give bytes that are no UTF-8, JSON gives escapes; a frame that cannot be encoded is lost."""
    codec.encode(tools.output(f"a{SURROGATE}b"))
    codec.encode(tools.output(json.dumps({"output": f"a{SURROGATE}b"})))
    codec.encode(tools.output_preview(json.dumps({"output": f"a{SURROGATE}b"})))
    assert tools.output("好 👋") == "好 👋"


def test_arguments_with_half_a_surrogate_pair_can_be_encoded() -> None:
    call = tools.unwrap("terminal", {"command": f"a{SURROGATE}b", "more": [{SURROGATE: SURROGATE}], "good": "好 👋"})
    codec.encode(call.args)
    codec.encode(tools.capped(call.args)[0])
    codec.encode(tools.preview(call.args))
    assert call.args["good"] == "好 👋"
