"""A lane's address in its three spellings: on the wire, inside the host, as a cron target.

On the wire a channel is `android:chan_7`. The host cuts its session keys at ":" (Hermes `gateway/session.py`), so
inside the host the same channel is just `7`: of the ids of a plugin's platform, 0.19 takes only numbers for addresses
(`tools/send_message_tool.py`). A target may be spelled as either, with or without the platform and a thread. Invariant:
`from_host(*to_host(lane)) == lane` for every lane.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .errors import Conflict, NotFound
from .protocol.frames import Channel

PLATFORM = "android"
HOME_CHANNEL = "default"
"""Host form of the default channel."""

MINTED = "chan_"
"""Begins the id of a channel that a person made; a number follows."""

_NAME = r"[A-Za-z0-9_-]{1,64}"
_TARGET = re.compile(rf"(?:{PLATFORM}:){{0,2}}(?P<chat>{_NAME})(?::(?P<thread>{_NAME}))?\Z")


class Lane(NamedTuple):
    """A conversation of its own: a channel, or a thread under one. `chat_id` is in wire form."""

    chat_id: str
    thread_id: str | None = None


DEFAULT_LANE = Lane(f"{PLATFORM}:{HOME_CHANNEL}")


def parse(target: str) -> Lane:
    """Read a lane in any spelling: `android`, `7`, `chan_7`, `chan_7:t_31`, `android:7`, `android:android:chan_7:t_31`.

    Raises:
        NotFound: the text has none of these forms.
    """
    if target == PLATFORM:
        return DEFAULT_LANE
    match = _TARGET.match(target)
    if match is None or match["chat"] == PLATFORM:
        raise NotFound(f"no channel is spelled like this; say e.g. {PLATFORM}:chan_7 or {PLATFORM}:chan_7:t_31")
    chat = match["chat"]
    return Lane(f"{PLATFORM}:{MINTED}{chat}" if chat.isdecimal() else f"{PLATFORM}:{chat}", match["thread"])


def to_host(lane: Lane) -> tuple[str, str | None]:
    """The host's `chat_id` and `thread_id` of a lane."""
    chat = lane.chat_id.removeprefix(f"{PLATFORM}:")
    number = chat.removeprefix(MINTED)
    return number if number.isdecimal() else chat, lane.thread_id


def from_host(chat_id: str, thread_id: str | None) -> Lane:
    """The lane that the host means, also when it passes a whole target as the chat id (cron of Hermes 0.19).

    Raises:
        NotFound: the chat id has no known form.
    """
    lane = parse(chat_id)
    return Lane(lane.chat_id, thread_id) if thread_id else lane


def resolve(target: str, directory: Iterable[Channel]) -> Lane:
    """The lane that a person means: by any spelling of its address, or by the name of a channel.

    The bare platform is the default channel. Only what is not archived counts. Names are compared without case and
    without quotes around them; `NAME / THREAD` names a thread.

    Raises:
        NotFound: nothing is called like that.
        Conflict: several are; the text lists them.
    """
    entries = living(directory)
    known = {Lane(entry.chat_id, entry.thread_id) for entry in entries}
    plain = _unquoted(target)
    if plain == PLATFORM:
        return next((Lane(entry.chat_id) for entry in entries if entry.is_default), DEFAULT_LANE)
    try:
        lane = parse(plain)
    except NotFound:
        lane = None
    if lane in known:
        return lane
    names = [(full_name(entry, entries).casefold(), entry) for entry in entries]
    found: list[Channel] = []
    for wanted in _as_names(target):
        found = found or [entry for name, entry in names if name == wanted.casefold()]
    if len(found) > 1:
        spelled = ", ".join(f"{entry.name} ({spell(Lane(entry.chat_id, entry.thread_id))})" for entry in found)
        raise Conflict(f"several channels are called like this; name one by its address: {spelled}")
    if not found:
        raise NotFound("no channel has this name or address; `iris channels` lists them")
    return Lane(found[0].chat_id, found[0].thread_id)


def _as_names(target: str) -> Iterator[str]:
    """The names that a target may be meant as, most literal first: it may begin with a quote or `#` itself."""
    bare = target.strip()
    for text in (bare, _unquoted(bare)):
        name = text.removeprefix(f"{PLATFORM}:").strip()
        yield from (text, name, _unquoted(name), _unquoted(name).lstrip("#").strip())


def _unquoted(text: str) -> str:
    return text.strip().strip("\"'“”‘’").strip()


def living(directory: Iterable[Channel]) -> list[Channel]:
    """What is not archived, nor under a channel that is."""
    entries = [entry for entry in directory if not entry.archived]
    channels = {entry.chat_id for entry in entries if entry.thread_id is None}
    return [entry for entry in entries if entry.chat_id in channels]


def reachable(directory: Iterable[Channel]) -> list[Channel]:
    """What reports, posts and the host's threads can go to: what is living, but no rooms, which have members to ask."""
    return [entry for entry in living(directory) if entry.kind != "room"]


def full_name(entry: Channel, directory: Iterable[Channel]) -> str:
    """An entry's name as a target: a thread's behind that of its channel."""
    if entry.thread_id is None:
        return entry.name
    parent = next((other.name for other in directory if other.chat_id == entry.chat_id and not other.thread_id), "")
    return f"{parent} / {entry.name}"


def spell(lane: Lane) -> str:
    """A lane as a cron target, e.g. `android:android:chan_7:t_31`; every host and `parse` read it."""
    return f"{PLATFORM}:{lane.chat_id}" + (f":{lane.thread_id}" if lane.thread_id else "")
