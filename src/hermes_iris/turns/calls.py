"""What the host may tell of a turn: its adapter calls and its hooks, as values."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from ..protocol.frames import Attachment
from ..protocol.types import Outcome, Seconds


class Origin(Enum):
    """Where in the host a text comes from."""

    PREVIEW = auto()
    """The beginning of a streamed segment; edits follow."""

    SEGMENT = auto()
    """A whole segment from the stream consumer."""

    ANSWER = auto()
    """The final delivery of a turn that was not streamed."""

    PROGRESS = auto()
    """A line about tools that the operator's display settings asked for; the cards say it better."""

    OWN_COMMAND = auto()
    """The reply to a command that Iris itself gave, e.g. the one behind the Stop button."""

    OTHER = auto()
    """Anything else: commentary that is not streamed, acknowledgements, replies to slash commands, errors."""


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """Hook `pre_llm_call`."""

    host_turn: str


@dataclass(frozen=True, slots=True)
class ModelReplied:
    """Hook `post_api_request`: one model call is complete. `more`: it asks for tools, so it is not the last."""

    host_turn: str
    text: str
    more: bool
    reasoning: str = ""
    model: str | None = None
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class ModelFailed:
    """Hook `api_request_error`: one try of a model call failed; the host may try again. `error`: one line."""

    host_turn: str
    error: str


@dataclass(frozen=True, slots=True)
class ToolBegan:
    """Hook `pre_tool_call`."""

    host_turn: str
    host_call: str
    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolDone:
    """Hook `post_tool_call`. `status` is the host's: ok, error, blocked."""

    host_turn: str
    host_call: str
    status: str
    duration: Seconds
    result: str


@dataclass(frozen=True, slots=True)
class TurnReported:
    """Hook `on_session_end`: how the agent's loop ended; deliveries may still follow."""

    host_turn: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Sent:
    """`send`. The host is told that the message has the id `moment.name("m")`."""

    text: str
    origin: Origin = Origin.OTHER


@dataclass(frozen=True, slots=True)
class Attached:
    """`send_document`, `send_multiple_images` and their like: files, with what is said of them."""

    attachments: tuple[Attachment, ...]
    text: str = ""


@dataclass(frozen=True, slots=True)
class Edited:
    """`edit_message`."""

    message_id: str
    text: str
    final: bool


@dataclass(frozen=True, slots=True)
class TypingSet:
    """`send_typing` and `stop_typing`."""

    on: bool


@dataclass(frozen=True, slots=True)
class Processed:
    """`on_processing_complete`, or the owner of the turn is gone."""

    outcome: Outcome


Call = (
    TurnBegan
    | ModelReplied
    | ModelFailed
    | ToolBegan
    | ToolDone
    | TurnReported
    | Sent
    | Attached
    | Edited
    | TypingSet
    | Processed
)
