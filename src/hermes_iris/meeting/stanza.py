"""Stanzas of a room, read and built. Pure.

Invariants: who said something is the occupant that the room named, by real address, never a nick or a child element
that the sender wrote; what cannot be read is no message; a built message has only characters that XML allows.

Sources: XEP-0045 (rooms), XEP-0085 (chat states), XEP-0203 (delay), XEP-0313 (archive), XEP-0334 (hints), XEP-0359
(ids), XEP-0372 (mentions), XEP-0428 and XEP-0461 (replies).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement

from . import signals
from .catchup import Ask
from .signals import NAMESPACE, Signal

CLIENT = "jabber:client"
MUC = "http://jabber.org/protocol/muc"
MUC_USER = f"{MUC}#user"
SIDS = "urn:xmpp:sid:0"
DELAY = "urn:xmpp:delay"
STATES = "http://jabber.org/protocol/chatstates"
REPLY = "urn:xmpp:reply:0"
FALLBACK = "urn:xmpp:fallback:0"
REFERENCE = "urn:xmpp:reference:0"
ARCHIVE = "urn:xmpp:mam:2"
FORWARD = "urn:xmpp:forward:0"
RSM = "http://jabber.org/protocol/rsm"
STANZAS = "urn:ietf:params:xml:ns:xmpp-stanzas"

MAX_HOP = 1_000
"""More agents in a row than that nobody counts."""

SELF = "110"
CREATED = "201"
"""Status codes of XEP-0045, section 15.6."""

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Occupant:
    """Somebody in a room, as the room tells."""

    nick: str
    jid: str
    """Bare JID; empty when the room does not tell."""
    affiliation: str
    here: bool
    """False when they have just left."""
    codes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Heard:
    """A message with text, live or from the archive."""

    archive_id: str
    origin_id: str
    nick: str
    jid: str
    """As the archive has it; live messages leave it to the occupants."""
    text: str
    stamp: str
    """When it was said (XEP-0082); empty when the message does not tell, and it is now."""
    hop: int
    notice: bool
    reply_to: str
    signal: Signal | None


def bare(jid: str) -> str:
    """A JID without its resource, lower case."""
    return jid.partition("/")[0].lower()


def resource(jid: str) -> str:
    """The resource of a JID: in a room the nick."""
    return jid.partition("/")[2]


def clean(text: str) -> str:
    """A text without the characters that XML forbids: one of them would end the connection."""
    return _NOT_XML.sub("", text)


def read_presence(presence: Element) -> Occupant:
    """Who an available or unavailable presence of a room is about."""
    item = presence.find(f"{{{MUC_USER}}}x/{{{MUC_USER}}}item")
    attributes = {} if item is None else item.attrib
    return Occupant(
        nick=resource(presence.get("from", "")),
        jid=bare(attributes.get("jid", "")),
        affiliation=attributes.get("affiliation", "none"),
        here=presence.get("type") != "unavailable",
        codes=frozenset(each.get("code", "") for each in presence.iterfind(f"{{{MUC_USER}}}x/{{{MUC_USER}}}status")),
    )


def read_message(message: Element, room: str, archived: tuple[str, str] | None = None) -> Heard | None:
    """A message of a room; None when it has no text or no place in the archive.

    Args:
        message: a `groupchat` message from the room.
        room: the room's bare JID.
        archived: id and time by the archive, for a message that was read there.
    """
    sender = message.get("from", "")
    body = message.find(f"{{{CLIENT}}}body")
    archive_id, stamp = archived or (_stanza_id(message, room), _delay(message))
    if not archive_id or body is None or not body.text or message.get("type") != "groupchat" or bare(sender) != room:
        return None
    turn = message.find(f"{{{NAMESPACE}}}turn")
    reply = message.find(f"{{{REPLY}}}reply")
    return Heard(
        archive_id=archive_id,
        origin_id=message.get("id", ""),
        nick=resource(sender),
        jid=_archived_jid(message) if archived else "",
        text=_without_quote(message, body.text),
        stamp=stamp,
        hop=0 if turn is None else _number(turn.get("hop", "")),
        notice=turn is not None and turn.get("notice") == "true",
        reply_to="" if reply is None else reply.get("id", ""),
        signal=signals.read(message),
    )


def read_state(message: Element) -> bool | None:
    """Whether the sender of a message composes one; None when it says nothing about that."""
    for child in message:
        if child.tag.startswith(f"{{{STATES}}}"):
            return child.tag == f"{{{STATES}}}composing"
    return None


def read_archived(message: Element, room: str) -> Heard | str | None:
    """A result of an archive query: the message, or the id alone of one without text; None if it is no result."""
    result = message.find(f"{{{ARCHIVE}}}result")
    if result is None or not (archive_id := result.get("id", "")):
        return None
    forwarded = result.find(f"{{{FORWARD}}}forwarded")
    inner = None if forwarded is None else forwarded.find(f"{{{CLIENT}}}message")
    if forwarded is None or inner is None:
        return archive_id
    return read_message(inner, room, (archive_id, _delay(forwarded))) or archive_id


def body(text: str, hop: int, reply_to: str, notice: bool, signal: Signal | None, origin_id: str) -> list[Element]:
    """The child elements of a message to a room, its text first."""
    children = [_element(CLIENT, "body"), _element(SIDS, "origin-id", id=origin_id)]
    children[0].text = clean(text)
    children.append(_element(NAMESPACE, "turn", hop=str(hop), **({"notice": "true"} if notice else {})))
    if reply_to:
        children.append(_element(REPLY, "reply", id=reply_to))
    if signal:
        children.append(signals.element(signal))
    children.append(_element(STATES, "active"))
    return children


def mentions(text: str, room: str, nicks: Iterable[str]) -> list[Element]:
    """References to occupants whose `@nick` is in a text, for clients that show them."""
    found = ((nick, re.search(rf"@{re.escape(nick)}(?![0-9A-Za-z_-])", text)) for nick in nicks)
    return [
        _element(
            REFERENCE,
            "reference",
            type="mention",
            uri=f"xmpp:{room}/{nick}",
            begin=str(place.start()),
            end=str(place.end()),
        )
        for nick, place in found
        if place
    ]


def archive_query(query_id: str, ask: Ask) -> Element:
    """A query for a page of the archive."""
    query = _element(ARCHIVE, "query", queryid=query_id)
    rsm = SubElement(query, f"{{{RSM}}}set")
    SubElement(rsm, f"{{{RSM}}}max").text = str(ask.limit)
    for name, place in (("after", ask.after), ("before", ask.before)):
        if place is not None:
            SubElement(rsm, f"{{{RSM}}}{name}").text = place or None
    return query


def read_end(answer: Element) -> tuple[bool, str]:
    """Whether nothing lies beyond a page of the archive, and the id of its last entry."""
    fin = answer.find(f"{{{ARCHIVE}}}fin")
    last = None if fin is None else fin.find(f"{{{RSM}}}set/{{{RSM}}}last")
    return fin is None or fin.get("complete") == "true", "" if last is None else last.text or ""


def condition(stanza: Element) -> tuple[str, str]:
    """The condition of an error stanza (RFC 6120, section 8.3.3), and what it says in words."""
    error = stanza.find(f"{{{CLIENT}}}error")
    if error is None:
        return "undefined-condition", ""
    names = [child.tag.removeprefix(f"{{{STANZAS}}}") for child in error if child.tag.startswith(f"{{{STANZAS}}}")]
    text = error.find(f"{{{STANZAS}}}text")
    return next((name for name in names if name != "text"), "undefined-condition"), (
        "" if text is None else text.text or ""
    )


def _element(namespace: str, name: str, **attributes: str) -> Element:
    return Element(f"{{{namespace}}}{name}", attributes)


def _stanza_id(message: Element, room: str) -> str:
    """The id that the room gave; what others claim is not looked at."""
    ids = (each.get("id", "") for each in message.iterfind(f"{{{SIDS}}}stanza-id") if each.get("by") == room)
    return next(ids, "")


def _archived_jid(message: Element) -> str:
    """The real address that the archive has: it comes last, after all that the sender wrote."""
    items = message.findall(f"{{{MUC_USER}}}x/{{{MUC_USER}}}item")
    return bare(items[-1].get("jid", "")) if items else ""


def _delay(parent: Element) -> str:
    delay = parent.find(f"{{{DELAY}}}delay")
    return "" if delay is None else delay.get("stamp", "")


def _without_quote(message: Element, text: str) -> str:
    """A text without the quoted part that only serves clients that know no replies."""
    for fallback in message.iterfind(f"{{{FALLBACK}}}fallback"):
        part = fallback.find(f"{{{FALLBACK}}}body")
        if fallback.get("for") == REPLY and part is not None:
            begin, end = _number(part.get("start", "")), _number(part.get("end", ""), len(text))
            return text[:begin] + text[end:] if begin < end < len(text) else text
    return text


def _number(text: str, most: int = MAX_HOP) -> int:
    return min(int(text), most) if re.fullmatch("[0-9]{1,9}", text) else 0


def join() -> Element:
    """Asks a room to let one in, and for nothing of what was said before: the archive has that."""
    request = _element(MUC, "x")
    SubElement(request, f"{{{MUC}}}history", maxstanzas="0")
    return request


def ping() -> Element:
    """Asks whether one is still in a room (XEP-0410)."""
    return _element("urn:xmpp:ping", "ping")


def composing(on: bool) -> Element:
    """The chat state of somebody who writes, or has stopped to."""
    return _element(STATES, "composing" if on else "paused")
