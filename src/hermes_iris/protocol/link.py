"""Frames about the connection itself."""

from typing import Annotated

from msgspec import Meta, field

from ..errors import ErrorCode
from .asking import RequestCard
from .base import Frame
from .parts import Channel, DeviceInfo, LaneStatus, LevelRange, Policy, Position, ServerInfo
from .types import Epoch, ResumeMode, Seconds, Seq


class Hello(Frame, frozen=True, kw_only=True, tag="hello"):
    """The first frame of a connection, and only the first. Answered by `hello.ack`, then what was missed."""

    level: LevelRange
    device: DeviceInfo
    token: Annotated[str, Meta(description="The device's token from pairing.", max_length=128)]
    capabilities: Annotated[
        list[str],
        Meta(description="Optional features of the client: `delta`, it adds pieces to texts itself.", max_length=32),
    ] = field(default_factory=list)
    resume: Annotated[Position | None, Meta(description="Where to go on; without it everything is fetched anew.")] = (
        None
    )


class Ping(Frame, frozen=True, kw_only=True, tag="ping"):
    """Asks for a `pong`."""


class Pong(Frame, frozen=True, kw_only=True, tag="pong"):
    """Answers `ping`."""


class Failure(Frame, frozen=True, kw_only=True, tag="error"):
    """Something that the client sent was refused; the connection goes on."""

    code: ErrorCode
    message: Annotated[str, Meta(description="One line that names the field and says what to do.")]
    client_id: Annotated[str | None, Meta(description="Of the request that failed, if it is known.")] = None
    retryable: Annotated[bool, Meta(description="Whether the same request may work later.")] = False


class ServerClosing(Frame, frozen=True, kw_only=True, tag="server.closing"):
    """The gateway is about to stop; the connection will close."""

    reason: str
    back_in: Annotated[Seconds | None, Meta(description="When to try again.")] = None


class HelloAck(Frame, frozen=True, kw_only=True, tag="hello.ack"):
    """The connection is open. `resumed`: every event after the asked place follows. `reset`: start from nothing."""

    level: Annotated[int, Meta(description="The level both sides speak from here on.")]
    server: ServerInfo
    epoch: Epoch
    seq: Annotated[Seq, Meta(description="Number of the last event before this snapshot.")]
    mode: ResumeMode
    directory: list[Channel]
    lanes: list[LaneStatus]
    requests: Annotated[list[RequestCard], Meta(description="What waits for an answer, in any lane.")] = field(
        default_factory=list
    )
    policy: Policy
    features: Annotated[list[str], Meta(description="Optional features of the gateway.")]
