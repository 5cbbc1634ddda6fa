"""A text that grows, told by its new end. Pure.

Invariants: places count UTF-16 code units, as JavaScript's `length` does, so that both sides agree on every script;
what was not extended but replaced has no delta; a delta that does not fit changes nothing.
"""

from .frames import MessageUpdate

CAPABILITY = "delta"
"""What a device says in `hello.capabilities`."""


def units(text: str) -> int:
    """The length of a text in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def delta(before: str, update: MessageUpdate) -> MessageUpdate | None:
    """The update for who has the text `before`; None when it must be told as a whole."""
    text = update.text
    if text is None or not before or not text.startswith(before):
        return None
    return MessageUpdate(message_id=update.message_id, offset=units(before), append=text[len(before) :])


def applied(before: str | None, update: MessageUpdate) -> str | None:
    """The text after an update; None when it is a delta to another text than `before`."""
    if update.text is not None:
        return update.text
    if before is None or units(before) != update.offset:
        return None
    return before + (update.append or "")
