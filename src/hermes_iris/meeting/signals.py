"""What the members of a room tell each other beside their words: stop, go on, shared sessions, limits.

A signal is one child element of a room message (`docs/meeting.md`); the message's text says the same for clients that
do not know it. Invariants: `read(element(signal)) == signal`; what is malformed, too long or unknown reads as no
signal; who gave a signal is the sender of its message, never an attribute, so that nobody can speak for another.
"""

import enum
from collections.abc import Iterable
from typing import Annotated, Any
from xml.etree.ElementTree import Element

import msgspec
from msgspec import Meta, Struct

NAMESPACE = "urn:hermes-iris:meeting:0"

Until = Annotated[float, Meta(description="Seconds since 1970, UTC; 0 for an end.", ge=0, le=1e11)]
Jid = Annotated[str, Meta(description="A bare JID.", min_length=1, max_length=1024)]
Title = Annotated[str, Meta(description="One line, for people.", max_length=80)]


class Rule(enum.Enum):
    """The limit that an agent ran into; the numbers are those of `docs/meeting.md`."""

    HOPS = "hops"
    """R4: too many agents in a row answered each other."""
    RUN = "run"
    """R5: too many messages of agents since a person spoke."""
    PAIR = "pair"
    """R6: two agents answered each other too often."""
    ROOM = "room"
    """R6: the agents of the room said too much."""
    REPEAT = "repeat"
    """R8: the same text once more."""


class Stop(Struct, frozen=True, tag_field="kind", tag="stop"):
    """A person stops all agents: none of them asks its model until `Resume`."""


class Resume(Struct, frozen=True, tag_field="kind", tag="resume"):
    """A person lets the agents go on."""


class Lease(Struct, frozen=True, tag_field="kind", tag="lease"):
    """The sender, an agent, shares one of its terminal sessions with the room; 0 ends it."""

    until: Until
    title: Title = ""
    """What the session is called."""


class Revoke(Struct, frozen=True, tag_field="kind", tag="revoke"):
    """A person ends the lease of an agent, who takes it from the configured person's real JID only."""

    agent: Jid


class Tripped(Struct, frozen=True, tag_field="kind", tag="tripped"):
    """The sender, an agent, ran into a limit, and is silent until then; 0 until a person speaks."""

    rule: Rule
    until: Until = 0.0


Signal = Stop | Resume | Lease | Revoke | Tripped


def element(signal: Signal) -> Element:
    """A signal as the child element of a message."""
    told: dict[str, Any] = msgspec.to_builtins(signal)
    kind = told.pop("kind")
    return Element(f"{{{NAMESPACE}}}{kind}", {name: str(value) for name, value in told.items()})


def read(children: Iterable[Element]) -> Signal | None:
    """The signal among the child elements of a message: the first that can be read."""
    prefix = f"{{{NAMESPACE}}}"
    for child in children:
        if child.tag.startswith(prefix):
            told = {**child.attrib, "kind": child.tag.removeprefix(prefix)}
            try:
                signal: Signal = msgspec.convert(told, Signal, strict=False)
            except msgspec.ValidationError:
                continue
            return signal
    return None
