"""What a person may be asked, and which answers fit. Pure.

Invariant: an answer that passed `check` is one that the question offers; what is shown of the host's texts has no bare
message keys in it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from . import reasoning
from .errors import InvalidFrame
from .protocol.frames import Choice, Question, RequestAnswer
from .protocol.types import UnixTime

MAX_CHOICES = 400
"""Choices of one question; a host may know thousands of models."""

MAX_DETAIL = 20_000
"""Characters of a command that a person can be expected to judge."""

ONCE = Choice(value="once", label="Allow once", style="primary")
SESSION = Choice(value="session", label="Allow in this session")
ALWAYS = Choice(value="always", label="Always allow")
DENY = Choice(value="deny", label="Deny", style="danger")

PROCEED = Choice(value="once", label="Proceed", style="primary")
PROCEED_ALWAYS = Choice(value="always", label="Proceed, and never ask again")
CANCEL = Choice(value="cancel", label="Cancel")


class Answer(NamedTuple):
    """What a person answered; with neither values nor a text they put the question away."""

    values: tuple[str, ...] = ()
    text: str = ""
    told: str = ""
    """The answer as a person reads it."""


def check(question: Question, request: RequestAnswer) -> Answer:
    """The answer that a request carries.

    Raises:
        InvalidFrame: it is none to this question.
    """
    if sum((bool(request.choices), request.text is not None, request.dismiss)) != 1:
        raise InvalidFrame("$.choices, $.text and $.dismiss exclude each other, and one of them is needed")
    if request.dismiss:
        if not question.dismissible:
            raise InvalidFrame("$.dismiss does not fit: this request needs an answer")
        return Answer()
    if request.text is not None:
        if not question.free_text or not request.text.strip():
            raise InvalidFrame("$.text does not fit: take one of the choices")
        return Answer(text=request.text.strip(), told=request.text.strip())
    labels = {choice.value: choice.label for choice in question.choices}
    if len(request.choices) > 1 and not question.multiple:
        raise InvalidFrame("$.choices has more than one: this request takes one choice")
    if not all(value in labels for value in request.choices):
        raise InvalidFrame("$.choices names something that is not offered")
    values = tuple(dict.fromkeys(request.choices))
    return Answer(values, told=", ".join(labels[value] for value in values))


def label(question: Question, value: str) -> str:
    """What a value that was chosen elsewhere is called; what is no choice is a text of the person's own."""
    return next((choice.label for choice in question.choices if choice.value == value), value)


def as_list(values: Sequence[str]) -> str:
    """Several values as the host's tools take them: a JSON list."""
    return json.dumps(list(values), ensure_ascii=False)


def approval(
    command: str, description: str, expires_at: UnixTime | None, *, session: bool, permanent: bool
) -> Question:
    """Whether a command may run; of the answers that go on the safest comes first."""
    choices = [ONCE, *([SESSION] if session else []), *([ALWAYS] if session and permanent else []), DENY]
    return Question(
        kind="approval",
        title=reasoning.without_keys(description),
        detail=command if len(command) <= MAX_DETAIL else command[:MAX_DETAIL] + "…",
        choices=choices,
        expires_at=expires_at,
    )


def clarification(
    question: str, choices: Sequence[str] | None, expires_at: UnixTime | None, *, multiple: bool
) -> Question:
    """A question of the agent, with or without choices; a text of one's own answers it too."""
    return Question(
        kind="question",
        title="",
        prompt=reasoning.without_keys(question),
        choices=[Choice(value=str(choice), label=str(choice)) for choice in (choices or ())[:MAX_CHOICES]],
        multiple=multiple,
        free_text=True,
        dismissible=True,
        expires_at=expires_at,
    )


def confirmation(command: str, title: str, message: str, expires_at: UnixTime | None) -> Question:
    """Whether a slash command with consequences shall run."""
    return Question(
        kind="confirm",
        title=reasoning.without_keys(title) or f"/{command}",
        prompt=reasoning.without_keys(message),
        choices=[PROCEED, PROCEED_ALWAYS, CANCEL],
        expires_at=expires_at,
    )


def picker(title: str, choices: Iterable[Choice], expires_at: UnixTime | None) -> Question:
    """A setting to choose."""
    return Question(
        kind="choice",
        title=reasoning.without_keys(title) or "Choose",
        choices=list(choices)[:MAX_CHOICES],
        dismissible=True,
        expires_at=expires_at,
    )


def options(choices: Iterable[Mapping[str, Any]]) -> list[Choice]:
    """The choices of the host's choice picker: `value`, `label`, `is_current`."""
    return [
        Choice(
            value=str(choice["value"]),
            label=reasoning.without_keys(str(choice.get("label") or "")) or str(choice["value"]),
            current=bool(choice.get("is_current")),
        )
        for choice in choices
    ]


def models(
    providers: Iterable[Mapping[str, Any]], current_model: str, current_provider: str
) -> dict[str, tuple[Choice, str, str]]:
    """Each model that the host offers, by the value of its choice, with its own id and that of its provider."""
    found: dict[str, tuple[Choice, str, str]] = {}
    for provider in providers:
        slug = str(provider.get("slug") or "")
        for model in map(str, provider.get("models") or ()):
            choice = Choice(
                value=f"{slug}:{model}",
                label=model,
                group=str(provider.get("name") or slug),
                current=model == current_model and (slug == current_provider or bool(provider.get("is_current"))),
            )
            found[choice.value] = (choice, model, slug)
    return found
