"""Frames of what a person is asked, and of the commands that they can give."""

from typing import Annotated

from msgspec import Meta, Struct, field

from .base import Event, Frame, Reply, Request
from .directory import Ack
from .types import (
    MAX_TEXT,
    ChatId,
    ChoiceStyle,
    DeviceId,
    Order,
    RequestId,
    RequestKind,
    RequestOutcome,
    ThreadId,
    TurnId,
    UnixTime,
)


class Choice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One of the answers that a question offers."""

    value: Annotated[str, Meta(description="What `request.answer` carries.")]
    label: str
    group: Annotated[str, Meta(description="A heading that it stands under.")] = ""
    current: Annotated[bool, Meta(description="What holds now.")] = False
    style: ChoiceStyle = "plain"


class Question(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a person is asked, and which answers fit."""

    kind: RequestKind
    title: Annotated[str, Meta(description="One line that says what it is about.")]
    prompt: Annotated[str, Meta(description="Markdown.")] = ""
    detail: Annotated[str, Meta(description="What exactly is asked about, e.g. the command; plain text.")] = ""
    choices: list[Choice] = field(default_factory=list)
    multiple: Annotated[bool, Meta(description="Whether several choices may be taken.")] = False
    free_text: Annotated[bool, Meta(description="Whether a text of one's own answers it.")] = False
    dismissible: Annotated[bool, Meta(description="Whether it can be put away without an answer.")] = False
    expires_at: Annotated[UnixTime | None, Meta(description="Until when an answer counts.")] = None


class SlashCommand(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A slash command of the host."""

    name: Annotated[str, Meta(description="Without the slash.")]
    description: str
    category: str = ""
    args: Annotated[str, Meta(description="What may follow it, e.g. `[name]`.")] = ""
    subcommands: Annotated[list[str], Meta(description="Words that may come first behind it.")] = field(
        default_factory=list
    )
    aliases: list[str] = field(default_factory=list)


class RequestOpened(Event, frozen=True, kw_only=True, tag="request.opened"):
    """The agent or its host asks the person something; the first answer of any device counts."""

    request_id: RequestId
    chat_id: ChatId
    thread_id: ThreadId | None = None
    turn_id: Annotated[TurnId | None, Meta(description="The turn that waits for the answer.")] = None
    question: Question
    ts: UnixTime
    order: Order


class RequestClosed(Event, frozen=True, kw_only=True, tag="request.closed"):
    """Nobody waits for an answer any more: one came, its time is over, or the turn that asked is."""

    request_id: RequestId
    chat_id: ChatId
    thread_id: ThreadId | None = None
    outcome: RequestOutcome
    answer: Annotated[str, Meta(description="The answer, as a person reads it.")] = ""
    by_device: Annotated[DeviceId | None, Meta(description="The device that answered.")] = None
    by_name: Annotated[str | None, Meta(description="Its name.")] = None
    ts: UnixTime


class RequestCard(Frame, frozen=True, kw_only=True, tag="request"):
    """A request as `history` tells it: `request.opened` and `request.closed` in one."""

    request_id: RequestId
    chat_id: ChatId
    thread_id: ThreadId | None = None
    turn_id: TurnId | None = None
    question: Question
    outcome: Annotated[RequestOutcome | None, Meta(description="None while it is open.")] = None
    answer: str = ""
    by_device: DeviceId | None = None
    by_name: str | None = None
    ts: UnixTime
    order: Order


class RequestAnswer(Request[Ack], frozen=True, kw_only=True, tag="request.answer"):
    """Answer a request: with choices, with a text where it takes one, or put it away where that is possible."""

    request_id: RequestId
    choices: Annotated[list[str], Meta(description="Values of its choices.", max_length=64)] = field(
        default_factory=list
    )
    text: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)] | None = None
    dismiss: bool = False


class Commands(Reply, frozen=True, kw_only=True, tag="commands.list"):
    """The host's slash commands, as far as they work here."""

    commands: list[SlashCommand]


class CommandsList(Request[Commands], frozen=True, kw_only=True, tag="commands.list"):
    """Fetch the slash commands."""
