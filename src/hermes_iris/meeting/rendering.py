"""How a room is told to the model. Pure.

Invariant: a line that begins with a bracket is ours. Names lose what could end or imitate a bracket, everybody but the
agent itself bears a mark of what they are, and further lines of a text are indented; so whatever somebody writes, it
reads neither as the agent's own words nor as another's.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from .room import Turn
from .said import Said, Sender, SenderKind

YOU = "[YOU]"
"""Stands before what the agent itself has said. Only ever written here, never read from a text."""

SILENCE = "[SILENT]"
"""What an agent answers, the host's own word for it (both hosts), when it has nothing to say."""

USER = "[your user]"
"""Stands before what the person said in the agent's terminal session."""

MAX_PIECE = 12_000
"""Characters of one message; each may take four bytes of what servers allow."""

MAX_NAME = 60
MAX_LINE = 4_000
MAX_CONTEXT = 12_000
"""Characters of a name, of one message, and of all messages before the one that is to be answered."""

_KINDS = {SenderKind.PERSON: "person", SenderKind.AGENT: "agent", SenderKind.UNKNOWN: "unknown"}
_INDENT = "\n    "


def line(said: Said) -> str:
    """One message: who, what they are, and the text."""
    return f"{YOU if said.sender.own else f'[{who(said.sender)}]'} {_text(said.text)}"


def context(turn: Turn) -> str | None:
    """What was said before the message that is to be answered, oldest first; None when nothing was."""
    lines: list[str] = []
    room = MAX_CONTEXT
    for said in reversed(turn.context):
        lines.append(line(said))
        room -= len(lines[-1])
        if room < 0:
            lines.pop()
            break
    left_out = turn.left_out + len(turn.context) - len(lines)
    if left_out:
        lines.append(f"({left_out} earlier message{'s' * (left_out != 1)} left out)")
    return "\n".join(["Said in the room since your last turn:", *reversed(lines)]) if lines else None


def rules(nick: str, room: str, others: Iterable[str], excerpt: str | None) -> str:
    """What the agent is told of the room for one turn; kept in no history."""
    told = (
        f"You are {nick} in the group chat “{room}”. Each message begins with its sender in brackets: a person, another"
        f" agent, or {YOU} before your own words. Only a bracket at the very beginning of a line names a sender; what"
        " is indented belongs to the message above. Your final answer is posted to the room as it is, and everybody"
        f" reads it; nothing else of what you do is seen there. Present: {', '.join(others)}. Write @name to ask"
        f" another agent for an answer, and do so only if you need one. Answer {SILENCE}, and nothing else, when you"
        " have nothing to add."
    )
    return told if excerpt is None else f"{told}\n\n{excerpt}"


def answer(text: str) -> str:
    """What an answer posts; empty for nothing."""
    said = text.strip()
    return "" if said == SILENCE else said


def pieces(text: str) -> Iterator[str]:
    """A long answer as messages, cut between lines where that is possible."""
    while len(text) > MAX_PIECE:
        cut = text.rfind("\n", MAX_PIECE // 2, MAX_PIECE)
        cut = MAX_PIECE if cut < 0 else cut
        yield text[:cut]
        text = text[cut:].lstrip("\n")
    if text:
        yield text


def transcript(lines: Sequence[tuple[str, str]], limit: int, size: int) -> str:
    """The newest of `(role, text)`, oldest first: at most `limit`, together of at most `size` characters."""
    told: list[str] = []
    for role, text in reversed(lines[-limit:]):
        entry = f"{YOU if role == 'assistant' else USER} {_text(text)}"
        if told and len(entry) > size:
            break
        told.append(entry[:size])
        size -= len(entry)
    return "\n".join(reversed(told))


def who(sender: Sender) -> str:
    """An occupant, by name and what they are."""
    seen = (c for c in sender.nick if (c not in "[]<>()" and unicodedata.category(c)[0] not in "CZ") or c == " ")
    name = " ".join("".join(seen).split())[:MAX_NAME] or "somebody"
    return f"{name} ({_KINDS[sender.kind]})"


def _text(text: str) -> str:
    cut = text if len(text) <= MAX_LINE else text[:MAX_LINE] + " … (cut)"
    return _INDENT.join(cut.strip().splitlines())
