"""What the rehearsal answers to a request; pure, and the only door from the wire to the scenarios.

Invariants: the same request always gets the same reply; a tool is called only when the caller offers it, under the
caller's own name for it, or through the caller's bridge; a wake-up never starts a scenario, so nothing that the
rehearsal wrote can make it go on forever.
"""

import re

from . import host
from .scenarios import DEFAULT, SCENARIOS, woken
from .turn import Turn
from .wire import Call, Failure, Reply, Request

NAMED = re.compile(r"\brehearse\s+([a-z0-9]+)", re.IGNORECASE)

LOOSE = 80
"""Characters up to which single words count as a wish; in a longer text they are there by chance."""

ALIASES = {"cronjob": ("cronjob", "cronjob_manage")}
"""Tools that the two supported hosts call by different names, the newer name last."""

BRIDGE = "tool_call"
"""The newer host's tool that reaches those it does not list (Hermes `tools/tool_search.py`)."""


def reply(request: Request) -> Reply | Failure:
    """The reply to one request."""
    aside = host.side_reply(request)
    if aside is not None:
        return aside
    turn = _turn(request)
    if host.WAKE_UP.search(turn.heard):
        return woken(turn)
    wanted = SCENARIOS[choose(turn.said)].play(turn)
    return wanted if isinstance(wanted, Failure) else _offered(wanted, turn)


def choose(said: str) -> str:
    """The name of the scenario that a person asks for."""
    named = [str(name).lower() for name in NAMED.findall(said)]
    known = [name for name in named if name in SCENARIOS]
    if known:
        return known[-1]
    words = " ".join(said.casefold().split())
    for scenario in SCENARIOS.values():
        if scenario.chip and scenario.chip.casefold() in words:
            return scenario.name
    if len(words) <= LOOSE:
        for scenario in SCENARIOS.values():
            if any(word in words for word in scenario.words):
                return scenario.name
    return DEFAULT


def _turn(request: Request) -> Turn:
    last, rounds, results = host.exchange(request.messages)
    users = [message for message in request.messages if message.role == "user"]
    return Turn(
        said=host.said(last) if last else "",
        heard=last.text if last else "",
        picture=bool(last and last.has_picture),
        rounds=rounds,
        results=results,
        everything=[message.text for message in users],
        given=[line for message in request.messages for line in message.text.splitlines()],
        tools={tool.function.name: tool.function.parameters or {} for tool in request.tools or []},
    )


def _offered(wanted: Reply, turn: Turn) -> Reply:
    """The reply with its calls under the names that the caller knows."""
    calls = [_reach(call, turn) for call in wanted.calls]
    if None not in calls:
        return Reply(wanted.text, wanted.reasoning, tuple(call for call in calls if call), wanted.pace)
    missing = ", ".join(sorted({f"`{call.name}`" for call in wanted.calls}))
    text = f"I would call {missing} now, but no such tool is offered to me here, so there is nothing to show."
    return Reply(text, wanted.reasoning, (), wanted.pace)


def _reach(call: Call, turn: Turn) -> Call | None:
    names = ALIASES.get(call.name, (call.name,))
    for name in names:
        if name in turn.tools:
            return Call(name, call.arguments)
    if BRIDGE in turn.tools:
        return Call(BRIDGE, {"calls": [{"name": names[-1], "arguments": call.arguments}]})
    return None
