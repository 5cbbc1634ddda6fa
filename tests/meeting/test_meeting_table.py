"""An agent at a room of a real server; the host is played by the test."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from hermes_iris.attending import memory
from hermes_iris.attending.memory import Memory
from hermes_iris.attending.table import Table
from hermes_iris.meeting.config import Agent, Meeting, Person, Room
from hermes_iris.meeting.connection import Connection
from hermes_iris.meeting.guard import Guard
from hermes_iris.meeting.room import Turn
from hermes_iris.meeting.said import Said
from hermes_iris.meeting.signals import Lease, Revoke, Rule, Tripped
from hermes_iris.meeting.state import Phase, RoomState
from hermes_iris.store import Store, connect
from hermes_iris.turns import calls

from .presence import Presence, present
from .server import PERSON, ROOM, XmppServer

MOHE = Agent(name="mohe", jid="mohe@meeting.localhost")
ZHIWEI = Agent(name="zhiwei", jid="zhiwei@meeting.localhost")
MEETING = Meeting(
    rooms=(Room(jid=ROOM, name="coregroup"),),
    agents=(MOHE, ZHIWEI),
    person=Person(jid="ada@meeting.localhost", nick="ada"),
    guard=Guard(hops=2),
)


@dataclass
class PlayedHost:
    """What a host does with a turn is up to the test; `act` is called for each."""

    act: Callable[["PlayedHost", Turn], Awaitable[None]]
    table: Table = field(init=False)
    turns: list[Turn] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    prepared: list[str] = field(default_factory=list)
    """What was done before the turns, in its order."""
    leased: bool = True
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for something that the table does."""
        async with asyncio.timeout(20), self.changed:
            await self.changed.wait_for(condition)

    async def _happened(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    async def settle(self, room: str, said: Said) -> None:
        self.prepared.append(f"settled for {said.text}")

    async def ask(self, room: str, turn: Turn) -> None:
        self.turns.append(turn)
        await self._happened()
        await self.act(self, turn)

    async def interrupt(self, room: str, said: Said) -> None:
        self.stopped.append(said.text)
        await self._happened()

    async def mirror(self, said: Said) -> bool:
        self.prepared.append(f"mirrored {said.text}")
        return True

    async def revoke(self, room: str) -> bool:
        was, self.leased = self.leased, False
        return was

    def reply(self, text: str, *, more: bool = False) -> None:
        """The model's reply, and the host's delivery of it."""
        self.table.post(calls.ModelReplied("t", text, more))
        self.table.call(calls.Sent(text, calls.Origin.SEGMENT if more else calls.Origin.ANSWER))

    def end(self, outcome: str = "success") -> None:
        self.table.call(calls.Processed(outcome))  # type: ignore[arg-type]


async def answers(host: PlayedHost, turn: Turn) -> None:
    """A turn as hosts usually have it."""
    host.table.post(calls.TurnBegan("t"))
    host.reply(f"answer to {turn.trigger.text}")
    host.end()


@asynccontextmanager
async def seated(server: XmppServer, home: Path, host: PlayedHost) -> AsyncIterator[PlayedHost]:
    """mohe at its table."""
    store = await asyncio.to_thread(Store, home / "channels.db")

    async def hear(said: Said) -> None:
        await host.table.hear(said)

    joined = asyncio.Event()

    def stands(state: RoomState) -> None:
        host.table.changed()
        if state.phase is Phase.JOINED:
            joined.set()

    connection = Connection(server.account("mohe"), [ROOM], store, hear, stands)
    host.table = Table(ROOM, MOHE, Memory(store, MEETING, MOHE), connection, host)
    task = asyncio.create_task(host.table.run())
    connection.start()
    try:
        async with asyncio.timeout(20):
            await joined.wait()
        yield host
    finally:
        await connection.close()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.to_thread(store.close)


def said_by(person: Presence, nick: str) -> list[str]:
    return [said.text for said in person.heard if said.sender.nick == nick]


@asynccontextmanager
async def ada_and_mohe(
    server: XmppServer, tmp_path: Path, act: Callable[[PlayedHost, Turn], Awaitable[None]]
) -> AsyncIterator[tuple[Presence, PlayedHost]]:
    async with (
        present(server.account(PERSON), tmp_path / "ada") as ada,
        seated(server, tmp_path / "mohe", PlayedHost(act)) as mohe,
    ):
        await ada.until_joined()
        await ada.until(lambda: len(ada.connection.occupants(ROOM)) == 2)
        yield ada, mohe


async def test_an_answer_names_what_it_answers(server: XmppServer, tmp_path: Path) -> None:
    async with ada_and_mohe(server, tmp_path, answers) as (ada, mohe):
        asked = await ada.say("@mohe hello")
        await ada.until(lambda: said_by(ada, "mohe"))
        answer = ada.heard[-1]
        assert (answer.text, answer.hop, answer.reply_to) == ("answer to @mohe hello", 1, asked)
        assert [on for _, on in ada.composing] == [True, False]
        await ada.say("@mohe again")
        await ada.until(lambda: len(said_by(ada, "mohe")) == 2)
        assert mohe.turns[1].context == ()


async def test_only_the_final_answer_is_posted(server: XmppServer, tmp_path: Path) -> None:
    async def act(host: PlayedHost, turn: Turn) -> None:
        host.table.post(calls.TurnBegan("t"))
        host.reply("I look", more=True)
        host.table.post(calls.ToolBegan("t", "c", "terminal", {}))
        host.table.post(calls.ToolDone("t", "c", "ok", 0.1, "secret"))
        host.table.call(calls.Sent("⏳ still working"))
        host.reply("[SILENT]" if "silent" in turn.trigger.text else "done")
        host.table.call(calls.Sent("a notice of the host"))
        host.end()

    async with ada_and_mohe(server, tmp_path, act) as (ada, mohe):
        await ada.say("@mohe be silent")
        await ada.say("@mohe speak")
        await ada.until(lambda: said_by(ada, "mohe"))
        assert said_by(ada, "mohe") == ["done"]
        assert mohe.stopped == []


async def test_a_host_that_is_done_before_it_began_is_waited_for(server: XmppServer, tmp_path: Path) -> None:
    """Hosts report this of messages that come while they start."""

    async def act(host: PlayedHost, turn: Turn) -> None:
        host.end()
        asyncio.get_running_loop().call_soon(lambda: asyncio.ensure_future(answers(host, turn)))

    async with ada_and_mohe(server, tmp_path, act) as (ada, _):
        await ada.say("@mohe hello")
        await ada.until(lambda: said_by(ada, "mohe"))


async def test_a_host_that_refuses_does_not_stop_the_room(server: XmppServer, tmp_path: Path) -> None:
    async def act(host: PlayedHost, turn: Turn) -> None:
        if "first" in turn.trigger.text:
            raise RuntimeError("the host's own fault")
        await answers(host, turn)

    async with ada_and_mohe(server, tmp_path, act) as (ada, mohe):
        await ada.say("@mohe first")
        await mohe.until(lambda: mohe.turns)
        await ada.say("@mohe second")
        await ada.until(lambda: said_by(ada, "mohe"))
        assert said_by(ada, "mohe") == ["answer to @mohe second"]


async def test_a_stop_silences_the_turn_that_runs(server: XmppServer, tmp_path: Path) -> None:
    begun = asyncio.Event()

    async def act(host: PlayedHost, turn: Turn) -> None:
        host.table.post(calls.TurnBegan("t"))
        begun.set()

    async with ada_and_mohe(server, tmp_path, act) as (ada, mohe):
        await ada.say("@mohe hello")
        async with asyncio.timeout(20):
            await begun.wait()
        await ada.say("停")
        await mohe.until(lambda: mohe.stopped)
        mohe.reply("too late")
        mohe.end()
        mohe.act = answers
        await ada.say("@mohe and now")
        await ada.until(lambda: said_by(ada, "mohe"))
        assert said_by(ada, "mohe") == ["answer to @mohe and now"]


async def test_a_turn_that_died_is_asked_again_and_answered_once(server: XmppServer, tmp_path: Path) -> None:
    async def dies(host: PlayedHost, turn: Turn) -> None:
        host.table.post(calls.TurnBegan("t"))
        host.reply("the answer")

    async with present(server.account(PERSON), tmp_path / "ada") as ada:
        await ada.until_joined()
        async with seated(server, tmp_path / "mohe", PlayedHost(dies)):
            await ada.until(lambda: len(ada.connection.occupants(ROOM)) == 2)
            await ada.say("@mohe hello")
            await ada.until(lambda: said_by(ada, "mohe"))

        async def again(host: PlayedHost, turn: Turn) -> None:
            host.table.post(calls.TurnBegan("t"))
            host.reply("the answer" if "hello" in turn.trigger.text else "another answer")
            host.end()

        async with seated(server, tmp_path / "mohe", PlayedHost(again)) as mohe:
            await mohe.until(lambda: mohe.turns)
            await ada.say("@mohe more")
            await ada.until(lambda: "another answer" in said_by(ada, "mohe"))
            assert said_by(ada, "mohe") == ["the answer", "another answer"]
            assert [turn.trigger.text for turn in mohe.turns] == ["@mohe hello", "@mohe more"]


async def test_a_limit_is_told_once(server: XmppServer, tmp_path: Path) -> None:
    async with (
        ada_and_mohe(server, tmp_path, answers) as (ada, mohe),
        present(server.account("zhiwei"), tmp_path / "zhiwei") as zhiwei,
    ):
        await zhiwei.until_joined()
        await zhiwei.say("@mohe one", hop=2)
        await zhiwei.say("@mohe two", hop=2)
        await ada.say("@mohe hello")
        await ada.until(lambda: any(text.startswith("answer") for text in said_by(ada, "mohe")))
        notice, answer = (said for said in ada.heard if said.sender.nick == "mohe")
        assert (notice.notice, notice.signal) == (True, Tripped(Rule.HOPS))
        assert answer.text == "answer to @mohe hello"
        assert [said.text for said in mohe.turns[0].context] == ["@mohe one", "@mohe two"]


async def test_own_words_of_elsewhere_go_into_the_host_s_history(server: XmppServer, tmp_path: Path) -> None:
    async with ada_and_mohe(server, tmp_path, answers) as (ada, mohe):
        await mohe.table.say("from my terminal")
        await ada.until(lambda: said_by(ada, "mohe"))
        await ada.say("@mohe hello")
        await ada.until(lambda: len(said_by(ada, "mohe")) == 2)
        assert mohe.prepared == ["settled for @mohe hello", "mirrored from my terminal"]
        assert mohe.turns[0].context == ()


async def test_a_person_revokes_a_lease_once(server: XmppServer, tmp_path: Path) -> None:
    async with (
        ada_and_mohe(server, tmp_path, answers) as (ada, mohe),
        present(server.account("zhiwei"), tmp_path / "zhiwei") as zhiwei,
    ):
        await zhiwei.until_joined()
        revoke = Revoke(agent=MOHE.jid)
        await zhiwei.connection.post(ROOM, "revoke", hop=0, signal=revoke)
        await ada.until(lambda: said_by(ada, "zhiwei"))
        assert mohe.leased, "an agent cannot revoke"
        for _ in range(2):
            await ada.connection.post(ROOM, "revoke", hop=0, signal=revoke)
        await ada.until(lambda: said_by(ada, "mohe"))
        assert not mohe.leased
        assert ada.heard[-1].signal == Lease(until=0)


async def test_who_is_there_is_kept_for_the_command_line(server: XmppServer, tmp_path: Path) -> None:
    async with ada_and_mohe(server, tmp_path, answers) as (ada, _):
        await ada.say("@mohe hello")
        await ada.until(lambda: said_by(ada, "mohe"))
        conn = connect(tmp_path / "mohe/channels.db")
        seen = memory.seen(conn, MOHE, ROOM)
        conn.close()
    assert seen is not None
    assert (seen.phase, seen.occupants) == ("joined", ("ada (person)", "mohe (agent)"))
    assert msgspec.json.decode(msgspec.json.encode(seen), type=memory.Presence) == seen
