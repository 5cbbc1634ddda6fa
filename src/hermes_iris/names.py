"""Names of channels and threads: what is allowed, and what a conversation is called before anybody names it. Pure."""

import re
import unicodedata

from .errors import InvalidFrame
from .protocol.types import NameSource

MAX_NAME = 80
"""Characters of a name."""

MAX_DERIVED = 48
"""Characters of a name that is made from someone's opening words."""

_RANK: dict[NameSource, int] = {"derived": 0, "llm": 1, "user": 2}
_HIDDEN = {"Cc", "Cf", "Cs", "Co"}
_JOINERS = "\u200c\u200d"
"""Cannot be seen either, but some scripts and emoji are spelled with them."""

_QUOTES = " \"'“”‘’「」"
_MARKUP = re.compile(r"[*_`#>\[\]|~]+")


def checked(name: str) -> str:
    """A person's name for something, white space folded.

    Raises:
        InvalidFrame: it is empty, too long, or has characters that cannot be seen.
    """
    folded = " ".join(name.split())
    if not folded.strip(_JOINERS + " "):
        raise InvalidFrame("$.name must have at least one character that can be seen")
    if len(folded) > MAX_NAME:
        raise InvalidFrame(f"$.name has at most {MAX_NAME} characters")
    if any(unicodedata.category(char) in _HIDDEN and char not in _JOINERS for char in folded):
        raise InvalidFrame("$.name has a character that cannot be seen")
    return folded


def derived(text: str) -> str:
    """A name from the opening words of a message."""
    return opening(text, MAX_DERIVED) or "New topic"


def opening(text: str, most: int) -> str:
    """How a text begins: its first line that says something, without marks, cut between words."""
    lines = (_seen(_MARKUP.sub(" ", line)) for line in text.splitlines())
    line = next((line for line in lines if line), "")
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    words = cut.rpartition(" ")[0]
    # Some scripts have no spaces, and some words no end: then the cut is as good as any.
    return (words if len(words) > most // 2 else cut).rstrip(" ,.;:") + "…"


def outranks(new: NameSource, old: NameSource) -> bool:
    """Whether a name of one source may replace one of another: a person's always, a model's never a person's."""
    return _RANK[new] >= _RANK[old]


def from_model(title: str) -> str | None:
    """A model's title as a name, None when it is of no use."""
    return _seen(_seen(title).strip(_QUOTES)[:MAX_NAME]) or None


def _seen(text: str) -> str:
    """What can be seen of a text, white space folded; empty when that is nothing."""
    kept = (c for c in text if c.isspace() or c in _JOINERS or unicodedata.category(c) not in _HIDDEN)
    folded = " ".join("".join(kept).split())
    return folded if folded.strip(_JOINERS + " ") else ""
