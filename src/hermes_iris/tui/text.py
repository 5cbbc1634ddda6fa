"""Text from outside, made fit for a terminal, and values as a person reads them. Pure.

Invariants: what `clean` gives has no control character but the line feed, nothing that turns the direction of what
stands around it, and always encodes; a text that is clean is left as it is.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from ..protocol.types import Seconds

_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_UNFIT = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Controls (C0, C1), halves of characters, and marks of direction, by which a text could look like another one."""

_SEQUENCE = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    "|(?:\x1b[\\]P^_X]|[\x9d\x90\x9e\x9f\x98])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)"  # OSC and other strings
)
"""Whole sequences go with all that they consist of, so that no `[31m` is left of them."""


def clean(text: str) -> str:
    """A text without anything that a terminal would obey."""
    plain = _BREAKS.sub("\n", _SEQUENCE.sub("", text)).replace("\t", "    ")
    return _UNFIT.sub("", plain)


def one_line(text: str, most: int = 200) -> str:
    """A text as one line, cut where it is very long."""
    line = " ".join(clean(text[: 4 * most]).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def duration(seconds: Seconds) -> str:
    """`0.4 s`, `12 s`, `3 min 05 s`, `1 h 02 min`."""
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def size(count: int) -> str:
    """Bytes as `12 B`, `3.4 kB`, `5.6 MB`."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def arguments(args: Mapping[str, Any] | str) -> str:
    """A tool's arguments: a lone command as it is, everything else as JSON."""
    if isinstance(args, str):
        try:
            args = json.loads(args)
        except ValueError:  # it was cut
            return clean(str(args))
    if isinstance(args, Mapping) and list(args) == ["command"] and isinstance(args["command"], str):
        return clean(args["command"])
    return clean(json.dumps(args, indent=2, ensure_ascii=False)) if args else ""


def sentence(line: str) -> str:
    """What the gateway says of a failure, as a sentence."""
    plain = one_line(line).replace("`", "").replace("$.", "")
    return f"{plain[:1].upper()}{plain[1:]}{'' if plain.endswith(('.', '!', '?')) else '.'}"
