"""What a room has to be like, and how its owner makes it so. Pure.

Invariant: nothing of an owner's form is changed but what a meeting needs.

Sources: XEP-0045, sections 6.4 (what a room says of itself), 10.2 (the owner's form) and 9.3 (members).
"""

from collections.abc import Mapping
from xml.etree.ElementTree import Element, SubElement

from .stanza import ARCHIVE, MUC

DISCO = "http://jabber.org/protocol/disco#info"
OWNER = f"{MUC}#owner"
ADMIN = f"{MUC}#admin"
FORM = "jabber:x:data"

NEEDED: Mapping[str, str] = {
    "muc_membersonly": "it lets anybody in",
    "muc_nonanonymous": "it hides who is who",
    "muc_persistent": "it ends when it is empty",
    ARCHIVE: "it keeps no archive",
}
"""What a room must say of itself, and what it is like when it does not."""

_WANTED: Mapping[str, str] = {
    "muc#roomconfig_membersonly": "1",
    "muc#roomconfig_whois": "anyone",
    "muc#roomconfig_persistentroom": "1",
    "muc#roomconfig_enablearchiving": "1",
    "muc#roomconfig_mam": "1",
    "mam": "1",
}
"""The fields of the form; the last three are what servers call the archive."""

MEMBERS = ("owner", "admin", "member")
"""Affiliations of those whom a members-only room lets in."""


def question() -> Element:
    """Asks a room what it is like."""
    return Element(f"{{{DISCO}}}query")


def amiss(answer: Element) -> list[str]:
    """What of a room is not as a meeting needs it, in words."""
    features = {each.get("var") for each in answer.iter(f"{{{DISCO}}}feature")}
    return [text for feature, text in NEEDED.items() if feature not in features]


def form_question() -> Element:
    """Asks a room for its owner's form."""
    return Element(f"{{{OWNER}}}query")


def filled(answer: Element) -> Element:
    """The owner's form as the room gave it, with what a meeting needs, to be sent back."""
    query = Element(f"{{{OWNER}}}query")
    form = SubElement(query, f"{{{FORM}}}x", type="submit")
    for field in answer.iterfind(f"{{{OWNER}}}query/{{{FORM}}}x/{{{FORM}}}field"):
        name = field.get("var")
        if not name or field.get("type") == "fixed":
            continue
        given = SubElement(form, f"{{{FORM}}}field", var=name)
        values = [each.text or "" for each in field.iterfind(f"{{{FORM}}}value")]
        for value in [_WANTED[name]] if name in _WANTED else values:
            SubElement(given, f"{{{FORM}}}value").text = value
    return query


def members_question(affiliation: str) -> Element:
    """Asks a room who has an affiliation."""
    query = Element(f"{{{ADMIN}}}query")
    SubElement(query, f"{{{ADMIN}}}item", affiliation=affiliation)
    return query


def members(answer: Element) -> set[str]:
    """The bare JIDs of an answer."""
    return {each.get("jid", "").lower() for each in answer.iter(f"{{{ADMIN}}}item")}


def admission(jid: str) -> Element:
    """Makes somebody a member; Prosody looks at the first item of a request only."""
    query = Element(f"{{{ADMIN}}}query")
    SubElement(query, f"{{{ADMIN}}}item", affiliation="member", jid=jid)
    return query
