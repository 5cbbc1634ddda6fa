"""What every frame is: the four classes that the declared ones derive from."""

from typing import Generic, TypeVar

from msgspec import Struct

from .types import ClientId, Seq

Answer = TypeVar("Answer", bound="Frame")


class Frame(Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """Base of every frame."""


class Request(Frame, Generic[Answer], frozen=True, kw_only=True):
    """A client frame that gets exactly one answer: an `Answer` with the same `client_id`, or an `error`."""

    client_id: ClientId


class Reply(Frame, frozen=True, kw_only=True):
    """A server frame that answers one request."""

    client_id: ClientId


class Event(Frame, frozen=True, kw_only=True):
    """A server frame that is stored in the event log and numbered."""

    seq: Seq = 0
