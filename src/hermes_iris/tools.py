"""What a tool call looks like to a person: name, one-line preview, capped arguments, outcome, output. Pure.

Decides by structure only (keys, exit codes, statuses of the host), never by the wording of a text.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from .protocol.types import ToolState

MAX_PREVIEW = 120
"""Characters of a preview."""

MAX_ARG = 1_000
"""Characters of one string in the arguments that travel."""

MAX_ARGS = 4_000
"""Characters of all arguments that travel, as JSON."""

MAX_OUTPUT = 2_000
"""Characters of an output preview: its last part, where results and errors stand."""

BRIDGE = "tool_call"
"""The tool through which newer hosts reach the tools that they do not load up front."""

_TELLING = ("command", "path", "file_path", "query", "url", "pattern", "question", "goal", "name", "code", "text")
_OUTPUT = ("output", "content", "result", "error", "diff", "message")


class Call(NamedTuple):
    """A tool call as the person should see it."""

    name: str
    args: dict[str, Any]


def unwrap(name: str, args: Mapping[str, Any]) -> Call:
    """Look behind the bridge of newer hosts (`tool_call` with one call inside) to the tool that is meant."""
    calls = args.get("calls") if name == BRIDGE else None
    if isinstance(calls, list) and len(calls) == 1 and isinstance(calls[0], dict):
        inner = calls[0]
        if isinstance(inner.get("name"), str) and isinstance(inner.get("arguments"), dict):
            name, args = inner["name"], inner["arguments"]
    return Call(name, _sound(args))


def preview(args: Mapping[str, Any]) -> str:
    """One line that says what the call is about: the most telling argument, else the first that is a text."""
    texts = {key: value for key, value in args.items() if isinstance(value, str) and value.strip()}
    chosen = next((texts[key] for key in _TELLING if key in texts), next(iter(texts.values()), ""))
    line = " ".join(chosen.split())
    return line if len(line) <= MAX_PREVIEW else line[: MAX_PREVIEW - 1] + "…"


def capped(args: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The arguments as they travel, and whether anything was cut."""
    cut = {key: _cap(value) for key, value in args.items()}
    changed = cut != dict(args)
    if _length(cut) <= MAX_ARGS:
        return cut, changed
    cut = {key: _summary(value) for key, value in list(cut.items())[:20]}
    while _length(cut) > MAX_ARGS:
        cut.popitem()
    return cut, True


def outcome(status: str, result: str) -> ToolState:
    """How a call ended. A terminal's exit code counts even where the host reports the call itself as done (0.19)."""
    if status == "blocked":
        return "blocked"
    exit_code = _decoded(result).get("exit_code")
    if isinstance(exit_code, int) and exit_code != 0:
        return "error"
    return "ok" if status == "ok" else "error"


def output(result: str) -> str:
    """The text of a result (a JSON object of the host, else the text itself)."""
    fields = _decoded(result)
    parts = [value for key in _OUTPUT if isinstance(value := fields.get(key), str) and value.strip()]
    return _encodable((parts[0] if parts else result).strip("\n"))


def output_preview(result: str) -> str:
    """The last part of a result's text."""
    text = output(result)
    return text if len(text) <= MAX_OUTPUT else "…" + text[-MAX_OUTPUT:]


def _decoded(result: str) -> dict[str, Any]:
    try:
        value = json.loads(result)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _length(args: Mapping[str, Any]) -> int:
    return len(json.dumps(args, default=str, ensure_ascii=False))


def _encodable(text: str) -> str:
    """A text without half surrogate pairs, which no encoder takes."""
    return text.encode("utf-8", "replace").decode()


def _sound(args: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments as plain JSON values that can be encoded."""
    sound: dict[str, Any] = json.loads(_encodable(json.dumps(args, default=str, ensure_ascii=False)))
    return sound


def _cap(value: Any) -> Any:
    if isinstance(value, str) and len(value) > MAX_ARG:
        return value[:MAX_ARG] + "…"
    return value


def _summary(value: Any) -> Any:
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return value if len(text) <= MAX_PREVIEW else text[:MAX_PREVIEW] + "…"
