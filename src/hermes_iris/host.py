"""What Iris asks of the program that it is a plugin of; `adapter.py` answers for Hermes, tests for themselves."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from .address import Lane
from .jobs import HostJob
from .protocol.frames import Channel, Hit, Message, SessionLine, SlashCommand
from .protocol.types import JobId, RequestOutcome, Role, SessionId
from .questions import Answer


class HostSession(NamedTuple):
    """A session of the host that is no lane."""

    title: str
    source: str
    lines: list[SessionLine]


class Context(NamedTuple):
    """What the agent has to know beside a person's message."""

    reports: Sequence[Message] = ()
    """Cron reports that came into the lane before it, oldest first; the agent has not seen them."""

    answered: Message | None = None
    """What the message answers, unless that is one of the reports."""

    replaced: Message | None = None
    """What the person said before and takes back with this message."""


class Ending(NamedTuple):
    """How a request ended on the host's side, with the answer as a person reads it."""

    outcome: RequestOutcome
    answer: str = ""


class Waiting(Protocol):
    """The host's side of an open request."""

    async def settle(self, answer: Answer) -> str | None:
        """Give the host a person's answer; what it says to that, if anything.

        Raises:
            Conflict: the host cannot take it now.
            NotFound: nobody waits for it any more.
        """

    def ending(self) -> Ending | None:
        """How the request ended without an answer from here, None while somebody waits. Quick: it is asked often."""


class Host(Protocol):
    """A host."""

    async def deliver(self, message: Message, channel: Channel, context: Context) -> None:
        """Give a person's message to the agent of its lane; returns when the host has taken it."""

    async def stop(self, lane: Lane) -> None:
        """Interrupt the running turn of a lane."""

    async def title(self, lane: Lane) -> str | None:
        """What the host's model calls the conversation of a lane, if it has named it."""

    async def jobs(self) -> list[HostJob]:
        """The host's cron jobs."""

    async def set_target(self, job_id: JobId, target: str) -> None:
        """Let a cron job deliver to a target. Raises `NotFound` when there is no such job."""

    async def directory_changed(self, directory: Sequence[Channel]) -> None:
        """Make the names of channels known to the host, as targets."""

    async def search(self, needles: Sequence[str], role: Role | None, limit: int) -> list[Hit]:
        """What was said in the host's sessions that are no lanes of Iris, newest first; all needles are in each hit."""

    async def session(self, session_id: SessionId) -> HostSession:
        """Such a session, to read. Raises `NotFound`."""

    async def slash_commands(self) -> list[SlashCommand]:
        """The slash commands that a person can give here."""
