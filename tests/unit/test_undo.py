"""Taking back from a host: nothing but what is meant, once, and it is known whether it was done."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from hermes_iris import undo
from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.protocol.frames import Attachment, Message
from hermes_iris.undo import PREFIX, Spoken, Undo, is_of

FILE = Attachment(id="0" * 32, name="plan.pdf", type="application/pdf", size=1, kind="document")


def message(text: str = "Hello", message_id: str = "m_2", **more: object) -> Message:
    return Message(message_id=message_id, chat_id="android:default", role="user", text=text, ts=1.0, order=1, **more)  # type: ignore[arg-type]


@dataclass
class Transcript:
    """A host that remembers, and does what it is told; `late` replies before it has done it."""

    spoken: list[Spoken]
    obeys: bool = True
    late: bool = False
    busy: int = 0
    """How often it is still found at work."""

    busy_after: int = 0
    """The same, once it was given the command."""

    commands: list[str] = field(default_factory=list)
    stopped: list[Lane] = field(default_factory=list)
    undo: Undo = field(init=False)

    def __post_init__(self) -> None:
        self.undo = Undo(self.stop, self.command, lambda lane: self.busy > 0 and self._rest(), self.read)

    def _rest(self) -> bool:
        self.busy -= 1
        return True

    async def stop(self, lane: Lane) -> None:
        self.stopped.append(lane)
        self.undo.processed(lane, "m_2")

    async def command(self, lane: Lane, message_id: str) -> None:
        self.commands.append(message_id)
        assert self.busy == 0, "on a host at work a command is lost"
        assert self.undo.confirms(lane, "undo")
        assert not self.undo.confirms(lane, "new")
        assert not self.undo.confirms(Lane("android:chan_1"), "undo")
        remove: Callable[[], object] = (lambda: self.spoken.pop(0)) if self.obeys else (lambda: None)
        asyncio.get_running_loop().call_later(0.02 if self.late else 0.0, remove)
        self.busy = self.busy_after
        self.undo.processed(lane, message_id)

    async def read(self, lane: Lane) -> list[Spoken]:
        await asyncio.sleep(0)
        return list(self.spoken)


EARLIER = Spoken(1, None, "Before")
LAST = Spoken(3, None, "[Replying to: “x”]\n\nHello")


@pytest.mark.parametrize("late", [False, True])
async def test_the_last_exchange_is_undone_once(late: bool) -> None:
    host = Transcript([LAST, EARLIER], late=late)
    assert await host.undo.take_back(DEFAULT_LANE, message())
    assert (host.commands, host.spoken, host.stopped) == ([f"{PREFIX}m_2"], [EARLIER], [])
    assert not host.undo.confirms(DEFAULT_LANE, "undo"), "what a person types later is theirs to confirm"


async def test_nothing_is_given_to_a_host_that_is_still_at_work() -> None:
    host = Transcript([LAST, EARLIER], busy=3)
    assert await host.undo.take_back(DEFAULT_LANE, message())
    assert (host.busy, len(host.commands)) == (0, 1)


async def test_what_is_given_next_does_not_interrupt_the_undoing() -> None:
    host = Transcript([LAST, EARLIER], busy_after=3)
    assert await host.undo.take_back(DEFAULT_LANE, message())
    assert (host.busy, len(host.commands)) == (0, 1)


async def test_a_turn_that_runs_is_stopped_first() -> None:
    host = Transcript([LAST, EARLIER])
    host.undo.given(DEFAULT_LANE)
    assert await host.undo.take_back(DEFAULT_LANE, message())
    assert await Transcript([LAST]).undo.take_back(DEFAULT_LANE, message()), "also where nothing came before"
    assert (host.stopped, host.spoken) == ([DEFAULT_LANE], [EARLIER])


async def test_a_host_may_write_down_a_stopped_turn_a_little_later() -> None:
    host = Transcript([EARLIER])
    host.undo.given(DEFAULT_LANE)
    asyncio.get_running_loop().call_later(0.1, lambda: host.spoken.insert(0, LAST))
    assert await host.undo.take_back(DEFAULT_LANE, message())
    assert host.spoken == [EARLIER]


async def test_what_a_host_never_wrote_down_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo, "SETTLE", 0.05)
    host = Transcript([EARLIER])
    host.undo.given(DEFAULT_LANE)
    assert not await host.undo.take_back(DEFAULT_LANE, message())
    assert (host.commands, host.spoken) == ([], [EARLIER])


@pytest.mark.parametrize("spoken", [[], [EARLIER], [EARLIER, LAST]])
async def test_nothing_is_undone_where_the_last_exchange_is_another_one(spoken: list[Spoken]) -> None:
    host = Transcript(list(spoken))
    assert not await host.undo.take_back(DEFAULT_LANE, message())
    assert (host.commands, host.spoken) == ([], spoken)


async def test_a_host_that_does_not_undo_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo, "PATIENCE", 0.05)
    host = Transcript([LAST], obeys=False)
    assert not await host.undo.take_back(DEFAULT_LANE, message())
    assert len(host.commands) == 1


@pytest.mark.parametrize(
    ("spoken", "said", "same"),
    [
        (Spoken(1, "m_2", "anything"), message(), True),
        (Spoken(1, "m_1", "Hello"), message(), False),
        (Spoken(1, None, "Hello"), message(), True),
        (Spoken(1, None, "context\n\nHello\n\nfiles"), message(), True),
        (Spoken(1, None, "Hello you"), message(), False),
        (Spoken(1, None, "I say Hello"), message(), False),
        (Spoken(1, None, "a\nb\nc"), message("  b\nc \n"), True),
        (Spoken(1, None, "[The user sent a document: 'plan.pdf']"), message("", attachments=[FILE]), True),
        (Spoken(1, None, "[The user sent a document: 'other.pdf']"), message("", attachments=[FILE]), False),
    ],
)
def test_what_was_said_is_known_by_its_id_or_by_whole_lines(spoken: Spoken, said: Message, same: bool) -> None:
    assert is_of(spoken, said) is same
