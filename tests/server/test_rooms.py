"""The person's rooms over a gateway's own hub: stored once, in the archive's order, and shown as they stand."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hermes_iris.config import Home, Settings
from hermes_iris.errors import Conflict, IrisError, NotFound, Unsupported
from hermes_iris.hub import Hub
from hermes_iris.meeting import rooms, shown
from hermes_iris.meeting.rooms import Plan, Rooms
from hermes_iris.meeting.signals import Lease, Resume, Revoke, Rule, Stop, Tripped
from hermes_iris.meeting.state import Phase, Reason, RoomState as Standing
from hermes_iris.protocol.frames import (
    Ack,
    CronSetTarget,
    LeaseRevoke,
    Message,
    MessageAccepted,
    MessageSend,
    RoomState,
    RoomStop,
    RoomTyping,
    TurnStop,
)
from hermes_iris.store import channels, messages, reading
from room_kit import ADA, MOHE, PLAN, ROOM, ZHIWEI, FakeRoom
from support import LIMIT, FakeHost, Seat, answers, hub, new_id, shown as shown_state, wait_until

LANE = shown.lane_of(ROOM)


class Gateway:
    """A hub with the person's rooms in it."""

    def __init__(self, middle: Hub, joined: Rooms, room: FakeRoom) -> None:
        self.hub = middle
        self.rooms = joined
        self.room = room
        self.seat = Seat(middle)

    async def messages(self) -> list[Message]:
        page = await self.hub.store.read(lambda conn: messages.history(conn, LANE, 100))
        return [entry for entry in page.entries if isinstance(entry, Message)]

    async def texts(self) -> list[str]:
        return [message.text for message in await self.messages()]

    async def state(self, condition: Callable[[RoomState], object] = lambda state: True) -> RoomState:
        """What a device is shown of the room, once a condition holds of it."""
        async with asyncio.timeout(LIMIT):
            while True:
                await self.seat.take()
                told = [frame for frame in self.seat.frames if frame["type"] == "room.state"]
                state = msgspec.convert(told[-1], RoomState)
                if condition(state):
                    return state
                await asyncio.sleep(0.005)

    def send(self, text: str, client_id: str | None = None, **more: Any) -> Any:
        request = MessageSend(client_id=client_id or new_id(), chat_id=LANE.chat_id, text=text, **more)
        return self.rooms.send(request)


@asynccontextmanager
async def gateway(path: Path, room: FakeRoom, plan: Plan = PLAN) -> AsyncIterator[Gateway]:
    async with hub(path) as middle:
        joined = await Rooms.open(middle, plan, room.join)
        try:
            running = Gateway(middle, joined, room)
            await running.seat.join()
            yield running
        finally:
            await joined.close()


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with gateway(tmp_path / "channels.db", FakeRoom()) as running:
        await running.room.link.enter()
        yield running


async def test_what_is_said_is_stored_once_in_the_order_of_the_archive(running: Gateway) -> None:
    first = await running.room.say(MOHE, "one")
    await running.room.say(ZHIWEI, "two")
    await running.room.link.on_said(first)
    assert await running.texts() == ["one", "two"]
    statuses = await running.hub.store.read(reading.statuses)
    assert statuses[LANE].unread == 2
    assert not await running.hub.store.read(messages.waiting), "nothing of it is for the host"


async def test_an_own_word_is_accepted_before_the_room_has_it_and_seen_when_it_has(running: Gateway) -> None:
    client_id = new_id()
    answer = await running.send("Hello all", client_id)
    assert (answer.seq, await running.texts()) == (None, [])
    await running.room.say(MOHE, "before you")
    await running.room.link.deliver()
    echo = (await running.messages())[1]
    assert (echo.text, echo.role, echo.client_id, echo.message_id) == (
        "Hello all",
        "user",
        client_id,
        answer.message_id,
    )
    assert await running.send("Hello all", client_id) == answer
    await running.room.link.deliver()
    assert await running.texts() == ["before you", "Hello all"], "a retry says nothing twice"
    with pytest.raises(Conflict):
        await running.send("something else", client_id)


async def test_a_word_from_another_client_of_the_person_is_an_own_one_too(running: Gateway) -> None:
    await running.room.say(ADA, "from my desk", origin_id="x" * 200)
    [message] = await running.messages()
    assert (message.role, message.client_id) == ("user", None)


async def test_what_the_room_refuses_is_told_and_waits_no_longer(running: Gateway) -> None:
    running.room.refuses = "members may not speak"
    answer = await running.send("Hello?")
    await running.room.link.deliver()
    await wait_until(lambda: running.hub.position.seq >= 3)
    words, why = await running.messages()
    assert (words.message_id, words.state) == (answer.message_id, "error")
    assert "members may not speak" in why.text


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"text": "/stop"}, Unsupported),
        ({"text": "x", "thread_id": "t_1"}, NotFound),
        ({"text": "x", "reply_to": "m_1"}, Unsupported),
        ({"text": "x", "attachments": ["f_1"]}, Unsupported),
    ],
)
async def test_what_a_room_does_not_have_is_refused(
    running: Gateway, more: dict[str, Any], error: type[IrisError]
) -> None:
    with pytest.raises(error, match=r"\$\."):
        await running.send(**more)
    assert not running.room.link.waiting


async def test_an_unknown_room_is_not_found(running: Gateway) -> None:
    for request, ask in (
        (RoomStop(client_id=new_id(), chat_id="android:room_x", on=True), running.rooms.stop),
        (RoomTyping(client_id=new_id(), chat_id="android:room_x", on=True), running.rooms.composing),
        (LeaseRevoke(client_id=new_id(), chat_id="android:room_x", agent=MOHE.jid), running.rooms.revoke),
    ):
        with pytest.raises(NotFound, match=r"\$.chat_id"):
            await ask(request)  # type: ignore[operator]
    assert LANE.chat_id in running.rooms
    assert "android:room_x" not in running.rooms


async def test_members_come_go_write_and_those_of_the_configuration_are_known(running: Gateway) -> None:
    told = await running.state(lambda state: state.link == "joined")
    assert [(m.name, m.kind, m.here, m.own) for m in told.members] == [
        ("Ada", "person", True, True),
        ("mohe", "agent", False, False),
        ("zhiwei", "agent", False, False),
    ]
    running.room.here.append(MOHE)
    running.room.link.on_occupants(ROOM)
    running.room.link.on_composing(ROOM, MOHE, True)
    await running.state(lambda state: [m.name for m in state.members if m.typing] == ["mohe"])
    await running.room.say(MOHE, "done")
    await running.state(lambda state: not any(m.typing for m in state.members))
    running.room.link.on_composing(ROOM, MOHE, True)
    running.room.here.remove(MOHE)
    running.room.link.on_occupants(ROOM)
    told = await running.state(lambda state: [m.name for m in state.members if m.here] == ["Ada"])
    assert not any(m.typing for m in told.members)


async def test_that_the_person_writes_is_shown_to_the_room(running: Gateway) -> None:
    for on in (True, False):
        await running.rooms.composing(RoomTyping(client_id=new_id(), chat_id=LANE.chat_id, on=on))
    assert running.room.composed == [True, False]


async def test_stop_all_and_go_on_travel_through_the_room(running: Gateway) -> None:
    await running.rooms.stop(RoomStop(client_id=new_id(), chat_id=LANE.chat_id, on=True))
    assert [signal for _, signal in running.room.link.waiting.values()] == [Stop()]
    assert (await running.state()).stopped_by is None, "not before the room has it"
    await running.room.link.deliver()
    assert (await running.state(lambda state: state.stopped_by)).stopped_by == "Ada"
    await running.rooms.stop(RoomStop(client_id=new_id(), chat_id=LANE.chat_id, on=False))
    assert [signal for _, signal in running.room.link.waiting.values()] == [Resume()]
    await running.room.link.deliver()
    await running.state(lambda state: state.stopped_by is None)
    assert [(message.role, message.text) for message in await running.messages()] == [
        ("notice", "stop"),
        ("notice", "go on"),
    ]


async def test_a_lease_is_shown_until_it_ends_or_the_agent_ends_it(running: Gateway) -> None:
    now = running.hub.clock.now().ts
    await running.room.say(MOHE, "From my terminal", signal=Lease(now + 60, "Oslo"))
    await running.room.say(ZHIWEI, "Mine, too", signal=Lease(now + 0.3))
    await running.state(lambda state: [lease.name for lease in state.leases] == ["mohe", "zhiwei"])
    await running.state(lambda state: [lease.title for lease in state.leases] == ["Oslo"])
    await running.rooms.revoke(LeaseRevoke(client_id=new_id(), chat_id=LANE.chat_id, agent=MOHE.jid))
    assert [signal for _, signal in running.room.link.waiting.values()] == [Revoke(MOHE.jid)]
    await running.room.link.deliver()
    await running.room.say(MOHE, "It is shared no longer.", signal=Lease(0.0), notice=True)
    await running.state(lambda state: not state.leases)


async def test_what_signals_led_to_is_there_after_a_restart(tmp_path: Path) -> None:
    room = FakeRoom()
    async with gateway(tmp_path / "channels.db", room):
        await room.say(ADA, "stop", signal=Stop())
        await room.say(MOHE, "Too much", signal=Tripped(Rule.RUN), notice=True)
    assert room.link.closed
    async with gateway(tmp_path / "channels.db", room) as after:
        told = await after.state(lambda state: state.stopped_by)
        assert [(limit.name, limit.rule) for limit in told.limits] == [("mohe", "run")]
        assert told.link == "connecting"
        assert await after.texts() == ["stop", "Too much"]


async def test_a_failure_is_shown_with_its_reason_and_heals(running: Gateway) -> None:
    running.room.link.fail(Reason.NICK_TAKEN, "somebody else has the nick Ada")
    told = await running.state(lambda state: state.link == "failed")
    assert (told.failure, told.why) == ("nick_taken", "somebody else has the nick Ada")
    assert not any(member.here for member in told.members)
    await running.send("kept meanwhile")
    await running.room.link.enter()
    await running.state(lambda state: state.link == "joined" and not state.why)


async def test_a_gap_of_the_archive_is_told_in_the_lane(running: Gateway) -> None:
    running.room.link.on_state(Standing(ROOM, Phase.GAP, text="something is missing"))
    await wait_until(lambda: running.hub.position.seq >= 2)
    [notice] = await running.messages()
    assert (notice.role, notice.text) == ("notice", "something is missing")
    await running.state(lambda state: state.link == "joined")


async def test_a_set_up_that_cannot_work_is_shown_and_nothing_can_be_said(tmp_path: Path) -> None:
    plan = PLAN._replace(account=None, problem="person (ada@example.org) has no password here")
    room = FakeRoom()
    async with gateway(tmp_path / "channels.db", room, plan) as running:
        told = await running.state()
        assert (told.link, told.failure) == ("failed", "setup")
        assert "no password" in told.why
        with pytest.raises(Unsupported, match="no password"):
            await running.send("Hello")
        assert not room.links


async def test_a_file_that_cannot_be_read_leaves_the_rooms_that_were_there_with_the_reason(tmp_path: Path) -> None:
    async with gateway(tmp_path / "channels.db", FakeRoom()):
        pass
    async with gateway(tmp_path / "channels.db", FakeRoom(), Plan(problem="meeting.toml: $.rooms is wrong")) as running:
        assert (await running.state()).why == "meeting.toml: $.rooms is wrong"
        entry = await running.hub.store.read(lambda conn: channels.get(conn, *LANE))
        assert not entry.archived


async def test_rooms_that_are_no_longer_configured_are_hidden(tmp_path: Path) -> None:
    async with gateway(tmp_path / "channels.db", FakeRoom()):
        pass
    async with gateway(tmp_path / "channels.db", FakeRoom(), Plan()) as running:
        entry = await running.hub.store.read(lambda conn: channels.get(conn, *LANE))
        assert entry.archived
        assert LANE.chat_id not in running.rooms


async def test_a_device_that_joins_is_told_how_the_room_stands(running: Gateway) -> None:
    await running.state(lambda state: state.link == "joined")
    seat = Seat(running.hub)
    await seat.join()
    assert [frame["link"] for frame in seat.frames if frame["type"] == "room.state"] == ["joined"]


async def test_a_device_that_saw_it_all_ends_where_one_that_joins_now_begins(running: Gateway) -> None:
    await running.room.say(MOHE, "one", signal=Lease(running.hub.clock.now().ts + 60))
    await running.send("two")
    await running.room.link.deliver()
    running.room.here.append(MOHE)
    running.room.link.on_composing(ROOM, MOHE, True)
    await running.state(lambda state: state.leases and any(member.typing for member in state.members))
    fresh = Seat(running.hub)
    await fresh.join()
    assert shown_state((await running.seat.settle()).state) == shown_state(fresh.state)
    assert fresh.state.rooms


TOML = """
[server]
host = "127.0.0.1"
tls = false
[[rooms]]
jid = "core@rooms.example.org"
name = "Core"
[[agents]]
name = "mohe"
jid = "mohe@example.org"
"""
PERSON = '[person]\njid = "ada@example.org"\nnick = "Ada"\n'


@pytest.mark.parametrize(
    ("text", "has_meeting", "has_account", "problem"),
    [
        (None, False, False, ""),
        (TOML, False, False, ""),
        (TOML + PERSON, True, False, "has no password"),
        (TOML + PERSON + 'password_file = "secret"', True, True, ""),
        ("rooms = 5", False, False, r"\$.rooms"),
    ],
)
def test_the_plan_is_what_the_file_says(
    tmp_path: Path, text: str | None, has_meeting: bool, has_account: bool, problem: str
) -> None:
    home = Home(tmp_path)
    home.iris.mkdir()
    secret = home.iris / "secret"
    secret.write_text("pass")
    secret.chmod(0o600)
    if text is not None:
        home.meeting.write_text(text)
    plan = rooms.plan(home, Settings())
    assert (plan.meeting is not None, plan.account is not None) == (has_meeting, has_account)
    assert bool(plan.problem) == bool(problem)
    assert re.search(problem, plan.problem)


async def test_frames_of_a_room_lane_go_to_the_room_and_not_to_the_host(running: Gateway) -> None:
    host = FakeHost()
    async with answers(running.hub, host, running.rooms) as commands:
        accepted = await commands.answer(MessageSend(client_id=new_id(), chat_id=LANE.chat_id, text="Hello"))
        assert isinstance(accepted, MessageAccepted)
        assert len(running.room.link.waiting) == 1
        await running.room.link.deliver()
        for refused in (
            TurnStop(client_id=new_id(), chat_id=LANE.chat_id),
            CronSetTarget(client_id=new_id(), job_id="j", chat_id=LANE.chat_id),
        ):
            with pytest.raises(Unsupported, match=r"\$.chat_id is a room"):
                await commands.answer(refused)
        for carried_out in (
            RoomStop(client_id=new_id(), chat_id=LANE.chat_id, on=True),
            RoomTyping(client_id=new_id(), chat_id=LANE.chat_id, on=True),
            LeaseRevoke(client_id=new_id(), chat_id=LANE.chat_id, agent=MOHE.jid),
        ):
            assert isinstance(await commands.answer(carried_out), Ack)
    assert (host.delivered, host.stopped) == ([], [])
