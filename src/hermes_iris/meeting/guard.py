"""The limits that make a conversation of agents end; the defaults are measured. Pure.

They are the rules R4 to R8 and R10 of `docs/meeting.md`; what they do is in `room.py`.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from ..protocol.types import Seconds

Mention = Annotated[str, Meta(min_length=1, max_length=64)]
Count = Annotated[int, Meta(ge=1, le=1_000_000)]


class Guard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[guard]`: when agents stop answering each other. People are never limited."""

    hops: Annotated[Count, Meta(description="Agents in a row; the last one's words trigger nobody.")] = 4
    run: Annotated[Count, Meta(description="Messages of agents since a person spoke; beyond, nobody answers.")] = 12
    pair: Annotated[Count, Meta(description="Answers of one agent to the same other one within `window`.")] = 6
    room: Annotated[Count, Meta(description="Answers of one agent to other agents within `window`.")] = 20
    window: Annotated[Seconds, Meta(description="Seconds over which answers are counted.")] = 300.0
    pause: Annotated[Seconds, Meta(description="Seconds of silence after a limit was reached.")] = 600.0
    age: Annotated[Seconds, Meta(description="Older messages, in seconds, are context and trigger nobody.")] = 600.0
    stop: Annotated[
        tuple[Mention, ...], Meta(description="A person's message that is nothing but one of these pauses all agents.")
    ] = ("stop", "停")
    go: Annotated[
        tuple[Mention, ...], Meta(description="A person's message that is nothing but one of these lets them go on.")
    ] = ("go on", "continue", "继续")
