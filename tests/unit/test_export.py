"""What is generated from the declarations."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from frame_strategies import tag
from msgspec import inspect as mi

from hermes_iris.cli import main
from hermes_iris.protocol import export
from hermes_iris.protocol.export import CLIENT, SERVER
from hermes_iris.protocol.frames import Event, Frame, Request

ROOT = Path(__file__).parents[2]
FRAMES = CLIENT + SERVER


def _walk(value: Any) -> Any:
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _walk(inner)


def test_the_schema_defines_every_frame_and_every_reference_leads_somewhere() -> None:
    schema = json.loads(export.json_schema())
    definitions = schema["$defs"]
    for cls in FRAMES:
        assert definitions[cls.__name__]["properties"]["type"] == {"enum": [tag(cls)]}
        assert definitions[cls.__name__]["description"]
    for node in _walk(schema):
        if isinstance(node, dict) and isinstance(node.get("$ref"), str):
            assert node["$ref"].removeprefix("#/$defs/") in definitions


@pytest.mark.parametrize(("name", "group"), [("ClientFrame", CLIENT), ("ServerFrame", SERVER)])
def test_the_schema_says_who_sends_what(name: str, group: tuple[type[Frame], ...]) -> None:
    schema = json.loads(export.json_schema())
    side = schema["$defs"][name]
    assert {node["$ref"].removeprefix("#/$defs/") for node in side["anyOf"]} == {cls.__name__ for cls in group}


def test_the_patterns_of_the_schema_are_spelled_for_javascript_too() -> None:
    """`\\Z` and the like are Python's own."""
    for node in _walk(json.loads(export.json_schema())):
        if isinstance(node, dict) and isinstance(node.get("pattern"), str):
            assert not re.search(r"\\[AZ]|\(\?P", node["pattern"])


def _typescript() -> str:
    return "\n".join(export.typescript().values())


def _interface(name: str) -> str:
    found = re.search(rf"^export interface {name} {{\n(.*?)^}}", _typescript(), re.MULTILINE | re.DOTALL)
    assert found, f"no interface {name}"
    return found[1]


@pytest.mark.parametrize("cls", FRAMES, ids=lambda cls: cls.__name__)
def test_typescript_has_every_field_of_every_frame(cls: type[Frame]) -> None:
    body = _interface(cls.__name__)
    assert f'  type: "{tag(cls)}";' in body
    for field in mi.type_info(cls).fields:  # type: ignore[attr-defined]
        mark = "" if field.required else r"\?"
        assert re.search(rf"^  {field.encode_name}{mark}: .+;$", body, re.MULTILINE), field.encode_name


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Hello", "level: LevelRange;"),
        ("Hello", "capabilities?: string[];"),
        ("Hello", "resume?: Position;"),
        ("Message", 'role: "assistant" | "cron" | "notice" | "user";'),
        ("Message", "tokens?: number;"),
        ("Typing", "on: boolean;"),
        ("ToolStart", "args?: Record<string, unknown>;"),
        ("HistoryPage", "entries: (Message | ToolCard | RequestCard)[];"),
        ("HelloAck", "directory: Channel[];"),
        ("Position", "seq: number;"),
    ],
)
def test_typescript_spells_each_kind_of_type(name: str, line: str) -> None:
    assert f"  {line}\n" in _interface(name)


def test_typescript_has_the_unions_and_the_answers() -> None:
    text = _typescript()
    for name, group in (("ClientFrame", CLIENT), ("ServerFrame", SERVER)):
        assert f"export type {name} = {' | '.join(cls.__name__ for cls in group)};\n" in text
    assert "export type StoredEvent = Message | " in text
    answers = _interface("Answers")
    assert '  "message.send": MessageAccepted;\n' in answers
    assert answers.count("\n") == sum(issubclass(cls, Request) for cls in CLIENT)


def test_typescript_declares_each_name_once() -> None:
    names = re.findall(r"^export (?:interface|type) (\w+)", _typescript(), re.MULTILINE)
    assert len(names) == len(set(names))


def test_null_that_says_more_than_absence_stays_in_typescript() -> None:
    assert export._ts(mi.UnionType((mi.StrType(), mi.NoneType()))) == "string | null"


def test_a_type_that_typescript_has_no_word_for_stops_the_generation() -> None:
    with pytest.raises(TypeError, match="no TypeScript"):
        export._ts(mi.type_info(bytes))


def test_an_optional_union_loses_its_null_only() -> None:
    kind = mi.UnionType((mi.StrType(), mi.IntType(), mi.NoneType()))
    field = mi.Field(name="x", encode_name="x", type=kind, required=False, default=None)
    assert export._ts(export._present(field)) == "string | number"


@pytest.mark.parametrize("group", [CLIENT, SERVER], ids=["client", "server"])
def test_markdown_has_a_table_for_every_frame(group: tuple[type[Frame], ...]) -> None:
    sections = {}
    for part in export.markdown().split("\n## "):
        title, _, rest = part.removeprefix("## ").partition("\n")
        sections[title] = {piece.split("`")[1]: piece for piece in rest.split("\n### ")[1:] if piece.startswith("`")}
    frames = sections["Client to server" if group is CLIENT else "Server to client"]
    assert list(frames) == [tag(cls) for cls in group]
    for cls in group:
        for name in cls.__struct_fields__:
            assert f"| `{name}` |" in frames[tag(cls)]
        assert ("Stored and numbered." in frames[tag(cls)]) == issubclass(cls, Event)
        assert ("Answer: `" in frames[tag(cls)]) == issubclass(cls, Request)


def test_markdown_has_a_table_for_every_part() -> None:
    parts = export.markdown().partition("## Parts")[2]
    for name in ("LevelRange", "DeviceInfo", "Position", "Channel", "Policy"):
        assert f"### {name}\n" in parts


def test_markdown_tables_have_four_columns_in_every_row() -> None:
    for line in export.markdown().splitlines():
        if line.startswith("|"):
            assert len(re.split(r"(?<!\\)\|", line)) == 6, line


@pytest.mark.parametrize("cls", FRAMES, ids=lambda cls: cls.__name__)
def test_every_frame_says_what_it_is(cls: type[Frame]) -> None:
    """A class without a docstring of its own would show that of its base."""
    assert vars(cls)["__doc__"]


def test_nothing_that_is_generated_is_stale(capsys: pytest.CaptureFixture[str]) -> None:
    """If this fails: run `iris schema` and commit what it writes."""
    assert main(["schema", "--check", "--root", str(ROOT)]) == 0, capsys.readouterr().err


def test_what_is_stale_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--check", "--root", str(tmp_path)]) == 1
    assert "schema.json" in capsys.readouterr().err
    assert main(["schema", "--root", str(tmp_path)]) == 0
    assert main(["schema", "--check", "--root", str(tmp_path)]) == 0
    (tmp_path / "docs" / "protocol.md").write_text("# By hand\n", encoding="utf-8")
    assert main(["schema", "--check", "--root", str(tmp_path)]) == 1
    assert main(["schema", "--root", str(tmp_path)]) == 0
    assert (tmp_path / "docs" / "protocol.md").read_text(encoding="utf-8").startswith("# By hand\n")
