"""The host's `config.yaml`: which settings Iris needs there, and how they get in without disturbing anything else.

Invariants: an edit changes only the lines it is about, so comments, order, quotes and spacing stay; merging twice
changes nothing the second time; what an edit made is read back before it is returned; nothing here touches the disk.

Facts about both hosts: a plugin loads only when `plugins.enabled` names it and `plugins.disabled` does not
(`hermes_cli/plugins.py`); the top-level `streaming` block is shared by all platforms, wins over `gateway.streaming`,
and on 0.22 a platform can only narrow it (`gateway/config.py`); `display.platforms.<name>.<key>` falls back to
`display.<key>` (`gateway/display_config.py`).
"""

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from .address import PLATFORM
from .errors import SetupError

PLUGIN = "hermes-iris"
"""The plugin's name in `plugins.enabled`, both as an entry point and as a folder."""

REHEARSAL_MODEL = "iris-rehearsal"

Block = dict[str, Any]
"""Settings as nested mappings with values or lists as leaves; a list means: these are among the items."""


class Setting(NamedTuple):
    """A host setting that Iris looks best with."""

    path: tuple[str, ...]
    good: tuple[bool | str, ...]
    """Values that work; the first is the one that Iris writes."""
    default: bool | str
    """What the host takes when nothing is set."""
    effect: str
    """What one sees when it is otherwise."""

    @property
    def name(self) -> str:
        """The path as people write it."""
        return ".".join(self.path)


_OURS = ("display", "platforms", PLATFORM)

RECOMMENDED = (
    Setting(("streaming", "enabled"), (True,), False, "answers arrive whole instead of word by word"),
    Setting(
        ("streaming", "transport"), ("edit", "auto"), "auto", "answers stream as drafts that are thrown away, or not"
    ),
    Setting((*_OURS, "streaming"), (True,), True, "answers arrive whole instead of word by word"),
    Setting(
        (*_OURS, "show_reasoning"),
        (False,),
        False,
        "with streaming off, Hermes 0.22 can replace a whole answer by `gateway.reasoning.block`",
    ),
    Setting(
        (*_OURS, "tool_progress"),
        ("off",),
        "all",
        "the host writes lines about tools, which Iris drops",
    ),
    Setting((*_OURS, "interim_assistant_messages"), (True,), True, "remarks between two tool calls are missing"),
    Setting((*_OURS, "long_running_notifications"), (False,), True, "long turns send `Working …` notices"),
)

MEETING = (
    Setting(
        ("display", "busy_input_mode"),
        ("queue",),
        "interrupt",
        "what is said in a meeting room interrupts the agent that answers there",
    ),
    Setting(("display", "busy_ack_enabled"), (False,), True, "the host says in a meeting room that the agent is busy"),
)
"""What a home needs whose agent is in a meeting room; nothing but answers is to be said there."""


def recommended() -> Block:
    """The plugin and every recommended setting, as a nested mapping."""
    block: Block = {"plugins": {"enabled": [PLUGIN]}}
    for setting in RECOMMENDED:
        _put(block, setting.path, setting.good[0])
    block["streaming"]["cursor"] = ""
    return block


def rehearsal(port: int) -> Block:
    """The model block of a home that answers from the rehearsal model on this port."""
    address = {"base_url": f"http://127.0.0.1:{port}/v1"}
    return {"model": {"default": REHEARSAL_MODEL, "provider": "custom", **address, "api_key": "rehearsal"}}


def private(port: int) -> Block:
    """Everything in the `config.yaml` of a home that `iris up` makes.

    Lazy installs are off there: otherwise the host runs pip inside its own environment during the first turn.
    """
    return {**rehearsal(port), **recommended(), "security": {"allow_lazy_installs": False}}


def additions(config: Mapping[str, Any]) -> Block:
    """What `iris install` puts into a home that somebody already uses.

    Ours are `plugins.enabled` and `display.platforms.android`: set in full, so that a later change of a general
    display setting does not reach Iris. The `streaming` block belongs to all platforms: it is only switched on when
    nobody has decided about it, because on Hermes 0.22 no platform streams otherwise; its transport and cursor work
    as they are. Lazy installs and the model are the owner's business.
    """
    block: Block = {"plugins": {"enabled": [PLUGIN]}}
    for setting in RECOMMENDED:
        if setting.path[0] == "display":
            _put(block, setting.path, setting.good[0])
    decided = _at(config, ("streaming",)) or _at(config, ("gateway", "streaming"))
    return block if decided else {**block, "streaming": {"enabled": True}}


def meeting() -> Block:
    """Every setting that a home in a meeting needs, as a nested mapping."""
    block: Block = {}
    for setting in MEETING:
        _put(block, setting.path, setting.good[0])
    return block


def deviations(config: Mapping[str, Any], settings: Iterable[Setting] = RECOMMENDED) -> list[tuple[Setting, object]]:
    """The settings that are otherwise than Iris wants them, each with the value that the host takes instead."""
    effective = [(setting, _effective(config, setting)) for setting in settings]
    return [(setting, value) for setting, value in effective if not any(_same(value, good) for good in setting.good)]


def is_enabled(config: Mapping[str, Any]) -> bool:
    """Whether the host loads the plugin."""
    return PLUGIN in _names(config, "enabled") and not is_disabled(config)


def is_disabled(config: Mapping[str, Any]) -> bool:
    """Whether the host is told never to load the plugin; this wins over `plugins.enabled`."""
    return PLUGIN in _names(config, "disabled")


def model_name(config: Mapping[str, Any]) -> str:
    """The model that a home talks to, or an empty text."""
    model = config.get("model")
    return str(model.get("default") or "") if isinstance(model, Mapping) else str(model or "")


def rehearsal_port(config: Mapping[str, Any]) -> int | None:
    """Where a home expects the rehearsal model; None when it has another model.

    Raises:
        SetupError: the model is the rehearsal, but its address has no port.
    """
    if model_name(config) != REHEARSAL_MODEL:
        return None
    address = _at(config, ("model", "base_url"))
    try:
        port = urlsplit(str(address)).port
    except ValueError:
        port = None
    if port is None:
        raise SetupError(f"model.base_url of the rehearsal model must be http://127.0.0.1:PORT/v1, not {address}")
    return port


def parse(text: str, source: str) -> dict[str, Any]:
    """Read a `config.yaml`; an empty one has no settings.

    Raises:
        SetupError: it is no YAML or no mapping; the text names the file and the line.
    """
    try:
        data = YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as exc:
        line = f", line {exc.problem_mark.line + 1}" if exc.problem_mark else ""
        raise SetupError(f"{source}{line}: {_one_line(exc.problem or exc.context)}") from exc
    except (YAMLError, ValueError) as exc:
        raise SetupError(f"{source}: {_one_line(exc)}") from exc
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise SetupError(f"{source}: settings must be `name: value` lines, this is a {type(data).__name__}")
    return data


def merge(text: str, settings: Block, source: str = "config.yaml") -> str:
    """The text with these settings in it; the same text when they all are there.

    Raises:
        SetupError: bad YAML, or something other than a block or a list stands in the way; the text says where.
    """
    old = parse(text, source)
    expected = _merged(old, settings)
    if expected == old:
        return text
    new = text if text.endswith("\n") or not text else text + _newline(text)
    root = YAML(typ="safe", pure=True).compose(new)
    edits = list(_mapping_edits(new, None, root, settings, (source,))) if root else [_at_end(new, settings)]
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        new = new[: edit.start] + edit.new + new[edit.end :]
    with suppress(SetupError):
        if parse(new, source) == expected:
            return new
    raise SetupError(f"{source} is written in a way that cannot be edited safely; add by hand: {shown(settings)}")


def diff(old: str, new: str, name: str = "config.yaml") -> str:
    """The change as a unified diff; empty when there is none."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), name, f"{name} (new)", lineterm="")
    return "".join(f"{line}\n" for line in lines)


class _Edit(NamedTuple):
    start: int
    end: int
    new: str


def _mapping_edits(
    text: str, key: Node | None, node: MappingNode, wanted: Block, path: tuple[str, ...]
) -> Iterator[_Edit]:
    """Edits inside a mapping: one for all keys that are missing, and those of the values that exist.

    The missing ones come first: of two insertions at one place, the later one ends up above.
    """
    present = {child.value: (child, value) for child, value in node.value}
    missing = {name: value for name, value in wanted.items() if name not in present}
    if missing and node.flow_style:
        yield _first_in_flow(node, shown(missing)[1:-1])
    elif missing and key:
        yield _below(text, key, _block(missing, node.start_mark.column))
    elif missing:
        yield _at_end(text, missing)
    for name in wanted:
        if name in present:
            yield from _value_edits(text, *present[name], wanted[name], (*path, name))


def _value_edits(text: str, key: Node, node: Node, wanted: Any, path: tuple[str, ...]) -> Iterator[_Edit]:
    """Edits that give one key its value."""
    if isinstance(node, MappingNode) and isinstance(wanted, dict):
        yield from _mapping_edits(text, key, node, wanted, path)
    elif isinstance(node, SequenceNode) and isinstance(wanted, list):
        yield from _list_edits(text, key, node, wanted)
    elif isinstance(node, ScalarNode) and not isinstance(wanted, dict | list):
        if not _same(_scalar(node), wanted):
            yield _Edit(node.start_mark.index, node.end_mark.index, shown(wanted))
    elif node.tag == "tag:yaml.org,2002:null":
        yield _below(text, key, _block(wanted, key.start_mark.column + 2))
        yield _Edit(node.start_mark.index, node.end_mark.index, "")
    else:
        kind = (
            "a block of settings" if isinstance(wanted, dict) else "a list" if isinstance(wanted, list) else "a value"
        )
        raise SetupError(f"{path[0]}, line {node.start_mark.line + 1}: {'.'.join(path[1:])} must be {kind}")


def _list_edits(text: str, key: Node, node: SequenceNode, wanted: list[str]) -> Iterator[_Edit]:
    present = [child.value for child in node.value]
    missing = [item for item in wanted if item not in present]
    if missing and node.flow_style:
        yield _first_in_flow(node, ", ".join(map(shown, missing)))
    elif missing:
        yield _below(text, key, _block(missing, node.start_mark.column))


def _first_in_flow(node: MappingNode | SequenceNode, inner: str) -> _Edit:
    at = node.start_mark.index + 1
    return _Edit(at, at, inner + (", " if node.value else ""))


def _below(text: str, key: Node, block: str) -> _Edit:
    """Put lines below the line of a key: what follows there, and the comments of it, stay together."""
    at = text.index("\n", key.end_mark.index) + 1
    return _Edit(at, at, block.replace("\n", _newline(text)))


def _at_end(text: str, settings: Block) -> _Edit:
    return _Edit(len(text), len(text), _block(settings, 0).replace("\n", _newline(text)))


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _block(value: Block | list[str], column: int) -> str:
    """Settings or the items of a list as lines of YAML."""
    pad = " " * column
    if isinstance(value, list):
        return "".join(f"{pad}- {shown(item)}\n" for item in value)
    lines = []
    for name, inner in value.items():
        nested = isinstance(inner, dict | list)
        lines.append(f"{pad}{name}:\n{_block(inner, column + 2)}" if nested else f"{pad}{name}: {shown(inner)}\n")
    return "".join(lines)


def shown(value: object) -> str:
    """A value as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {shown(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(shown, value)) + "]"
    if isinstance(value, str) and re.fullmatch(r"(?!null|true|false)[a-z][a-z-]{3,}", value):
        return value
    return json.dumps(value, default=str)


def _scalar(node: ScalarNode) -> object:
    """The value of a scalar; an unquoted `off` is false, as in the YAML that the hosts read."""
    return node.value if node.style else _boolean(node.value)


def _boolean(value: object) -> object:
    truths = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
    return truths.get(value.lower(), value) if isinstance(value, str) else value


def _same(value: object, wanted: object) -> bool:
    """Whether the host takes two values for the same; where `off` is a word, it reads false as that word."""
    if isinstance(wanted, bool):
        return _boolean(value) is wanted
    return value == wanted or (wanted == "off" and value is False)


def _merged(config: Any, wanted: Any) -> Any:
    """What a configuration is after an edit."""
    if isinstance(wanted, dict):
        old = config if isinstance(config, dict) else {}
        return {**old, **{name: _merged(old.get(name), value) for name, value in wanted.items()}}
    if isinstance(wanted, list):
        items = config if isinstance(config, list) else []
        return [*(item for item in wanted if item not in items), *items]
    return config if _same(config, wanted) else wanted


def _effective(config: Mapping[str, Any], setting: Setting) -> object:
    """What the host takes for a setting."""
    value = _at(config, setting.path)
    if value is None and setting.path[0] == "display" and setting.path[-1] != "streaming":
        value = _at(config, ("display", setting.path[-1]))
    if value is None and setting.path[0] == "streaming" and "streaming" not in config:
        value = _at(config, ("gateway", *setting.path))
    return setting.default if value is None else value


def _at(config: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        config = config.get(name) if isinstance(config, Mapping) else None
    return config


def _names(config: Mapping[str, Any], key: str) -> list[Any]:
    names = _at(config, ("plugins", key))
    return names if isinstance(names, list) else []


def _put(block: Block, path: tuple[str, ...], value: bool | str) -> None:
    for name in path[:-1]:
        block = block.setdefault(name, {})
    block[path[-1]] = value


def _one_line(problem: object) -> str:
    return " ".join(str(problem).split())
