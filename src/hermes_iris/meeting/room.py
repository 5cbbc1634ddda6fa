"""What an agent does about each message of a room: answer it, keep it as context, or stop. Pure.

`heard(state, said, seat, now)` takes in a message, `begin` says what the next turn is about, `ended` closes it.

Invariants, for any sequence of messages:

- an agent never answers itself, a notice, or an agent that does not address it;
- a conversation of agents ends: `guard.hops` where they pass on the hop tag, `guard.run` where they do not;
- people are never throttled, and one word of theirs stops every agent before any model is asked;
- at most one turn runs; what comes meanwhile waits, and what waits is given to the host once, in order;
- the state is bounded, and all of it is data that can be stored.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from ..protocol.types import UnixTime
from . import mentions
from .guard import Guard
from .said import Said, SenderKind
from .signals import Resume, Revoke, Rule, Stop, Tripped

MAX_PENDING = 40
"""Messages that are kept for the next turn."""

MAX_TEXTS = 48
"""Texts of agents that are remembered to notice one that repeats itself."""

MAX_TEXT = 400
"""Characters by which a text is remembered."""

MAX_OWN = 64
"""Own messages that are remembered, to know a reply to one."""


class Verdict(enum.Enum):
    """What becomes of a message, and why."""

    ANSWER = "answer"
    KNOWN = "it was heard before"
    OWN = "it is an own message"
    NOTICE = "it is a notice"
    STOP = "a person stops the agents"
    GO = "a person lets the agents go on"
    UNADDRESSED = "it addresses somebody else, or nobody"
    STOPPED = "a person has stopped the agents"
    STALE = "it is too old"
    HOPS = "too many agents answered each other in a row"
    RUN = "agents have said too much since a person spoke"
    REPEATED = "it says the same again"
    PAUSED = "the pause after too many turns is not over"
    PAIR = "the two agents wake each other too often"
    TURNS = "agents ask for too many turns"


RULES = {
    Verdict.HOPS: Rule.HOPS,
    Verdict.RUN: Rule.RUN,
    Verdict.REPEATED: Rule.REPEAT,
    Verdict.PAIR: Rule.PAIR,
    Verdict.TURNS: Rule.ROOM,
}
"""Limits of which the room is told, once until a person speaks."""


@dataclass(frozen=True, slots=True)
class Seat:
    """An agent's place in a room."""

    me: str
    names: Mapping[str, tuple[str, ...]]
    """By what each agent of the room is called, this one included."""

    guard: Guard
    always: bool = False
    """Whether a person's message that addresses nobody is meant for this agent."""


class Pending(msgspec.Struct, frozen=True):
    """A message that no turn has been given yet."""

    said: Said
    asks: bool


class Turn(msgspec.Struct, frozen=True):
    """What the host is asked."""

    trigger: Said
    context: tuple[Said, ...]
    """What was said before it and since the last turn, oldest first."""

    left_out: int
    """Messages before that were too many to keep."""


class Caused(msgspec.Struct, frozen=True):
    """A turn that an agent has caused."""

    by: str
    at: UnixTime


class State(msgspec.Struct, frozen=True):
    """All that an agent knows of a room."""

    last: str = ""
    """Archive id of the newest message."""

    run: int = 0
    """Messages of agents since a person spoke."""

    caused: tuple[Caused, ...] = ()
    paused_until: UnixTime = 0.0
    texts: tuple[tuple[str, str], ...] = ()
    own: tuple[str, ...] = ()
    stopped: bool = False
    told: bool = False
    """Whether the room knows that a limit has tripped."""

    pending: tuple[Pending, ...] = ()
    left_out: int = 0
    turn: Turn | None = None
    """The turn that runs."""


class Heard(NamedTuple):
    """What came of a message."""

    state: State
    verdict: Verdict
    tell: Tripped | None = None
    """What the room is to be told of a limit."""


def heard(state: State, said: Said, seat: Seat, now: UnixTime) -> Heard:
    """Take in the next message of the room's archive."""
    if said.archive_id == state.last:
        return Heard(state, Verdict.KNOWN)
    person = said.sender.kind is SenderKind.PERSON
    state = replace(state, last=said.archive_id, run=0 if person else state.run + 1, told=state.told and not person)
    if said.sender.own:
        return Heard(_own(state, said), Verdict.OWN)
    if person and (order := _order(said, seat)):
        return Heard(_obey(state, said, order), order)
    if said.notice or isinstance(said.signal, Revoke | Tripped):
        return Heard(state, Verdict.NOTICE)
    state, verdict = _weigh(state, said, seat, now)
    state = _keep(state, Pending(said, asks=verdict is Verdict.ANSWER))
    if state.told or verdict not in RULES:
        return Heard(state, verdict)
    until = state.paused_until if verdict is Verdict.TURNS else 0.0
    return Heard(replace(state, told=True), verdict, Tripped(RULES[verdict], until))


def begin(state: State, seat: Seat) -> tuple[State, Turn | None]:
    """The next turn, None while one runs or nobody asks: what a person asked last, else what an agent did."""
    if state.turn or state.stopped:
        return state, None
    if state.run > seat.guard.run:  # agents asked before the run was over; it is over for them too
        listened = (entry if _is_person(entry.said) else Pending(entry.said, asks=False) for entry in state.pending)
        state = replace(state, pending=tuple(listened))
    asking = [place for place, entry in enumerate(state.pending) if entry.asks]
    if not asking:
        return state, None
    last = next((place for place in reversed(asking) if _is_person(state.pending[place].said)), asking[-1])
    turn = Turn(
        trigger=state.pending[last].said,
        context=tuple(entry.said for entry in state.pending[:last]),
        left_out=state.left_out,
    )
    return replace(state, pending=state.pending[last + 1 :], left_out=0, turn=turn), turn


def ended(state: State) -> State:
    """The turn that ran is over."""
    return replace(state, turn=None)


def restored(state: State) -> State:
    """The state of a gateway that died: the turn that ran has not been answered and is to be given again."""
    if state.turn is None:
        return state
    again = (*(Pending(said, False) for said in state.turn.context), Pending(state.turn.trigger, True))
    return replace(state, pending=(*again, *state.pending), left_out=state.turn.left_out + state.left_out, turn=None)


def _own(state: State, said: Said) -> State:
    """An own message: an answer is in the host's history, what was said elsewhere, e.g. in a terminal, is not."""
    ids = (*state.own, said.archive_id, said.origin_id or said.archive_id)[-MAX_OWN:]
    state = replace(state, own=ids)
    return state if said.hop or said.notice else _keep(state, Pending(said, asks=False))


def _order(said: Said, seat: Seat) -> Verdict | None:
    """Whether a person stops the agents or lets them go on, all or this one: by a signal, or by the word alone."""
    if isinstance(said.signal, Stop | Resume):
        return Verdict.STOP if isinstance(said.signal, Stop) else Verdict.GO
    targets = mentions.addressed(said.text, seat.names)
    if targets and seat.me not in targets:
        return None
    word = mentions.without(said.text, seat.names)
    for order, words in ((Verdict.STOP, seat.guard.stop), (Verdict.GO, seat.guard.go)):
        if word in map(mentions.folded, words):
            return order
    return None


def _obey(state: State, said: Said, order: Verdict) -> State:
    """Nothing that was asked before a stop is answered after it."""
    pending = tuple(Pending(entry.said, asks=False) for entry in state.pending)
    state = replace(state, stopped=order is Verdict.STOP, pending=pending if order is Verdict.STOP else state.pending)
    return _keep(state, Pending(said, asks=False))


def _weigh(state: State, said: Said, seat: Seat, now: UnixTime) -> tuple[State, Verdict]:
    """Whether a message is to be answered."""
    targets = mentions.addressed(said.text, seat.names)
    person = _is_person(said)
    # An agent's reply is no address: agents reply to everything that they answer.
    called = seat.me in targets or (person and said.reply_to != "" and said.reply_to in state.own)
    if not called and not (person and seat.always and not targets):
        return state, Verdict.UNADDRESSED
    if state.stopped and not (person and called):
        return state, Verdict.STOPPED
    if now - said.ts > seat.guard.age:
        return state, Verdict.STALE
    if person:
        return replace(state, stopped=False), Verdict.ANSWER
    return _throttle(state, said, seat.guard, now)


def _throttle(state: State, said: Said, guard: Guard, now: UnixTime) -> tuple[State, Verdict]:
    """Whether an agent may cause a turn."""
    by = said.sender.jid or said.sender.nick
    text = (by, " ".join(said.text.split())[:MAX_TEXT])
    repeated = text in state.texts
    caused = tuple(turn for turn in state.caused if turn.at > now - guard.window)
    state = replace(state, caused=caused, texts=(*state.texts, text)[-MAX_TEXTS:])
    if said.hop >= guard.hops:
        return state, Verdict.HOPS
    if state.run > guard.run:
        return state, Verdict.RUN
    if repeated:
        return state, Verdict.REPEATED
    if now < state.paused_until:
        return state, Verdict.PAUSED
    if sum(turn.by == by for turn in caused) >= guard.pair:
        return state, Verdict.PAIR
    if len(caused) >= guard.room:
        return replace(state, paused_until=now + guard.pause), Verdict.TURNS
    return replace(state, caused=(*caused, Caused(by, now))), Verdict.ANSWER


def _keep(state: State, entry: Pending) -> State:
    """Keep a message for the next turn; the oldest make room, those that ask last."""
    pending = [*state.pending, entry]
    if len(pending) <= MAX_PENDING:
        return replace(state, pending=tuple(pending))
    del pending[next((place for place, old in enumerate(pending) if not old.asks), 0)]
    return replace(state, pending=tuple(pending), left_out=state.left_out + 1)


def _is_person(said: Said) -> bool:
    return said.sender.kind is SenderKind.PERSON
