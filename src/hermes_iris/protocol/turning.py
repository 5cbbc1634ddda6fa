"""Frames about the work of the agent in a lane: that it began, goes on, and how it ended; and the wish to stop it."""

from typing import Annotated

from msgspec import Meta

from .base import Event, Frame, Request
from .directory import Ack
from .types import ChatId, Outcome, Seconds, ThreadId, TurnId, UnixTime


class TurnStop(Request[Ack], frozen=True, kw_only=True, tag="turn.stop"):
    """Interrupt the running turn of a lane."""

    chat_id: ChatId
    thread_id: ThreadId | None = None


class TurnStarted(Event, frozen=True, kw_only=True, tag="turn.started"):
    """The agent began to work in a lane."""

    turn_id: TurnId
    chat_id: ChatId
    thread_id: ThreadId | None = None
    ts: UnixTime


class TurnEnded(Event, frozen=True, kw_only=True, tag="turn.ended"):
    """The agent's last word on it; nothing of the turn is open any more."""

    turn_id: TurnId
    chat_id: ChatId
    thread_id: ThreadId | None = None
    outcome: Outcome
    error: Annotated[str | None, Meta(description="Why it failed, for the person.")] = None
    ts: UnixTime


class Typing(Frame, frozen=True, kw_only=True, tag="typing"):
    """The agent is busy in a lane. Expires by itself after `ttl`."""

    chat_id: ChatId
    thread_id: ThreadId | None = None
    on: bool
    ttl: Seconds = 0.0
