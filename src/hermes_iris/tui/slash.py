"""Completing slash commands. Pure."""

import re
from collections.abc import Sequence

from ..protocol.frames import SlashCommand
from .text import one_line

_NAME = re.compile(r"/([\w-]*)\Z")
_CALLED = re.compile(r"/([\w-]+) +([\w-]*)\Z")


def fitting(text: str, commands: Sequence[SlashCommand]) -> list[SlashCommand]:
    """The commands whose name begins like this; those by an alias come after them."""
    typed = _NAME.match(text)
    if typed is None:
        return []
    begun = typed[1].lower()
    named = [command for command in commands if command.name.startswith(begun)]
    aliased = (command for command in commands if any(alias.startswith(begun) for alias in command.aliases))
    return named + [command for command in aliased if command not in named]


def completed(text: str, commands: Sequence[SlashCommand]) -> str | None:
    """A text with what has only one meaning written out; None where there is nothing to complete."""
    if _NAME.match(text):
        found = fitting(text, commands)
        if not found:
            return None
        takes_more = found[0].args or found[0].subcommands
        return f"/{found[0].name}{' ' if takes_more else ''}"
    called = _CALLED.match(text)
    if called is None:
        return None
    name, begun = called[1].lower(), called[2].lower()
    words = next((c.subcommands for c in commands if name in (c.name, *c.aliases)), [])
    word = next((word for word in words if word.startswith(begun) and word != begun), None)
    return f"/{name} {word}" if word else None


def hint(text: str, commands: Sequence[SlashCommand]) -> str:
    """One line about what is being typed; empty where it is no command."""
    found = fitting(text, commands)
    if len(found) > 1:
        return "Tab: " + "  ".join(f"/{command.name}" for command in found[:8])
    called = re.match(r"/([\w-]+)", text)
    known = found or [c for c in commands if called and called[1].lower() in (c.name, *c.aliases)]
    if not known:
        return ""
    return one_line(f"/{known[0].name} {known[0].args}".rstrip() + f" – {known[0].description}")
