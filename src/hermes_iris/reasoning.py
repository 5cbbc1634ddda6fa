"""Telling an answer from the thinking around it. Pure.

The host hands over reasoning apart from the text wherever it can; these functions cover where it does not: thinking
written inline by the model, and a prefix that the host's own display setting puts before an answer.

A text on its way is looked at with each piece that comes, so what most texts have none of is looked for first: the full
patterns take 300 ns a character.
"""

import re

_TAGS = ("think", "thinking", "reasoning", "thought", "reasoning_scratchpad")
_TAG = "|".join(_TAGS)
# As the hosts do: a tag counts at the beginning of a line or behind another only, since answers speak of tags too.
_START = "|".join(["^", *(f"(?<=</{tag}>)" for tag in _TAGS)])
_THINK = re.compile(rf"(?:{_START})[ \t]*<({_TAG})>(.*?)(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE | re.MULTILINE)
_ANY = re.compile(rf"</?(?:{_TAG})>", re.IGNORECASE)
_END = re.compile(rf"</(?:{_TAG})>\s*", re.IGNORECASE)
# A host with a cursor puts it at the end of a preview, and newer ones close open Markdown behind it.
_CURSORS = "▉█"
_CURSOR = re.compile(rf"[ \t]*[{_CURSORS}](?=[\s*_`~)\]>|]*\Z)")
_MESSAGE_KEY = re.compile(r"[a-z_]+(?:\.[a-z_]+)+\Z")


def split(text: str) -> tuple[str, str]:
    """An answer and the thinking that stands inline in it: `(answer, thinking)`."""
    if not _ANY.search(text):
        return bare(text), ""
    thinking = "\n\n".join(match[2].strip() for match in _THINK.finditer(text) if match[2].strip())
    return bare(text), thinking


def bare(text: str) -> str:
    """A whole text as it is shown: no thinking tags, no blank lines around it."""
    if _ANY.search(text):
        text = _END.sub("", _THINK.sub("", text))
    return text.strip("\n")


def clean(text: str) -> str:
    """A text on its way as it is shown: as `bare`, and without the host's cursor."""
    shown = bare(text)
    return _CURSOR.sub("", shown).strip("\n") if any(cursor in shown for cursor in _CURSORS) else shown


def preview(text: str) -> str:
    """A text that is still being written, as `clean`, and without the path of a file that the host is about to send."""
    before, _, last = (shown := clean(text)).rpartition("\n")
    # The hosts take the directive out once they know where its path ends.
    return before.strip("\n") if last.lstrip(" \t").startswith("MEDIA:") else shown


def without_keys(text: str) -> str:
    """A text of the host without the lines that are bare keys of a text it has no translation for."""
    return "\n".join(line for line in text.splitlines() if not _MESSAGE_KEY.match(line.strip())).strip("\n")


def same(left: str, right: str) -> bool:
    """Whether two texts differ in white space only."""
    return left.split() == right.split()


def begins(part: str, whole: str) -> bool:
    """Whether `whole` begins with the words of `part`; its last word may be cut."""
    return " ".join(whole.split()).startswith(" ".join(part.split()))


def delivered(host_text: str, model_text: str) -> str:
    """What to show when the host delivers `host_text` for an answer that the model gave as `model_text`.

    The host may have put its display of reasoning before the answer or a footer behind it: then the answer alone is
    shown. It may have delivered the bare key of a text it has no translation for: then too. Otherwise the host changed
    the answer on purpose (attachments taken out, a plugin at work), and its text counts.
    """
    whole = bare(host_text)
    if model_text and (model_text in whole or _MESSAGE_KEY.match(whole)):
        return model_text
    return clean(host_text)
