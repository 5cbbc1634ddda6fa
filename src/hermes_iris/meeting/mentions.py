"""Whom a text addresses. Pure.

Invariants: what is quoted or code addresses nobody; a name counts as a whole only, where letters are those of ASCII, so
that `@mohe你好` addresses mohe and `@moheart` does not; full-width punctuation is as good as its ASCII twin.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping

_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_QUOTE = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_CODE = re.compile(r"(`+)[^`].*?\1")
_BEFORE = "(?<![0-9a-z_@.])"
_AFTER = "(?![0-9a-z_]|[-.@][0-9a-z])"

Names = Mapping[str, Iterable[str]]
"""By what each agent is called: its name, its nick, further ones."""


def addressed(text: str, names: Names) -> frozenset[str]:
    """The agents that a text addresses: `@name` anywhere, `name:` or `name,` at its beginning."""
    plain = _spoken(text)
    called = {folded(word): agent for agent, words in names.items() for word in words if word.strip()}
    if not called:
        return frozenset()
    # The longest first: of two names that begin alike the longer one is meant.
    name = "|".join(re.escape(word) for word in sorted(called, key=len, reverse=True))
    found = {called[match[1]] for match in re.finditer(rf"{_BEFORE}@[ \t]?({name}){_AFTER}", plain)}
    opening = re.compile(rf"\s*@?({name})\s*[:,、]")
    place = 0
    while match := opening.match(plain, place):
        found.add(called[match[1]])
        place = match.end()
    return frozenset(found)


def without(text: str, names: Names) -> str:
    """A text without the names that it addresses, folded for comparison with a word."""
    plain = _spoken(text)
    for word in sorted((folded(word) for words in names.values() for word in words), key=len, reverse=True):
        plain = re.sub(rf"(?:{_BEFORE}@[ \t]?|\A\s*){re.escape(word)}{_AFTER}", " ", plain) if word else plain
    return " ".join(plain.split()).strip(" .,:;!?~、。…")


def _spoken(text: str) -> str:
    """What the sender says in their own words, folded."""
    return _CODE.sub(" ", _QUOTE.sub("", _FENCE.sub("", folded(text))))


def folded(text: str) -> str:
    """A text as it is compared: one form for characters that look alike, one case."""
    return unicodedata.normalize("NFKC", text).casefold()
