"""Snapshot plus events is the fresh snapshot: whatever the host does, whenever a device joins, leaves or comes back."""

import asyncio
import random
import threading
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from hermes_iris import hub as hub_module
from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.commands import Commands
from hermes_iris.hub import Hub
from hermes_iris.protocol.frames import MessageSend
from hermes_iris.turns import calls
from hermes_iris.turns.calls import Call, Origin
from support import CHAT, FakeHost, Seat, answers, hub, new_id, shown

LANES = (DEFAULT_LANE, Lane(CHAT, "t_1"), Lane("android:other"))
TEXTS = ("Hello", "Hello you", "Let me look.", "", "<think>hm</think>Hi")

TURNS = st.sampled_from(["t1", "t2"])
TOOLS = st.sampled_from(["c1", "c2"])
WORDS = st.sampled_from(TEXTS)
CALLS: st.SearchStrategy[Call] = st.one_of(
    st.builds(calls.TurnBegan, TURNS),
    st.builds(calls.ModelReplied, TURNS, WORDS, st.booleans()),
    st.builds(calls.ToolBegan, TURNS, TOOLS, st.just("terminal"), st.just({"command": "ls"})),
    st.builds(calls.ToolDone, TURNS, TOOLS, st.sampled_from(["ok", "error", "blocked"]), st.just(0.25), WORDS),
    st.builds(calls.TurnReported, TURNS, st.sampled_from(["success", "failure"])),
    st.builds(calls.Sent, WORDS, st.sampled_from(list(Origin))),
    st.builds(calls.Sent, WORDS, st.just(Origin.PREVIEW)),
    st.builds(calls.Edited, st.just("the last one"), WORDS, st.booleans()),
    st.builds(calls.TypingSet, st.booleans()),
    st.builds(calls.Processed, st.sampled_from(["success", "cancelled", "failure"])),
)
STEPS = st.one_of(
    st.tuples(st.sampled_from(["call", "call", "task", "post"]), st.sampled_from(LANES), CALLS),
    st.tuples(st.sampled_from(["say", "back", "joins", "reads", "end"])),
)


class World:
    """A hub under a script: two devices that are there all the time, others that come and go."""

    def __init__(self, middle: Hub, commands: Commands) -> None:
        self.middle = middle
        self.commands = commands
        self.seats = [Seat(middle), Seat(middle)]
        self._bubbles: dict[Lane, str] = {}
        self._tasks: list[asyncio.Task[Any]] = []

    async def step(self, kind: str, lane: Lane = DEFAULT_LANE, call: Call | None = None) -> None:
        match kind:
            case "say":
                self._start(self.commands.answer(MessageSend(client_id=new_id(), chat_id=CHAT, text="Hi")))
            case "back":
                await self.seats[-1].again()
            case "joins":
                self.seats.append(Seat(self.middle))
                await self.seats[-1].join()
            case "reads":
                await self.seats[-1].take()
            case "end":
                self.middle.end_turns("interrupted")
            case _ if call is not None:
                await self._tell(kind, lane, call)

    async def _tell(self, kind: str, lane: Lane, call: Call) -> None:
        if isinstance(call, calls.Edited):
            call = calls.Edited(self._bubbles.get(lane, "m_0"), call.text, call.final)
        if kind == "post":
            self.middle.post(lane, call)
        elif kind == "call":
            await self._call(lane, call)
        else:
            self._start(self._call(lane, call))

    async def _call(self, lane: Lane, call: Call) -> None:
        moment = await self.middle.call(lane, call)
        if isinstance(call, calls.Sent):
            self._bubbles[lane] = moment.name("m")

    def _start(self, work: Any) -> None:
        self._tasks.append(asyncio.create_task(work))

    async def agree(self) -> None:
        """All that were ever told anything now show what a newcomer is shown."""
        await asyncio.gather(*self._tasks)
        await self.middle.drain()
        newcomer = Seat(self.middle)
        await newcomer.join()
        for seat in self.seats:
            await seat.settle()
            assert seat.state.position == newcomer.state.position
            assert shown(seat.state) == shown(newcomer.state)
        assert self.seats[0].events == list(range(1, self.middle.position.seq + 1))


async def play(path: Path, drive: Callable[[World], Any]) -> None:
    async with hub(path) as middle, answers(middle, FakeHost()) as commands:
        world = World(middle, commands)
        for seat in world.seats:
            await seat.join()
        await drive(world)
        await world.agree()


@pytest.mark.parametrize("checkpoint", [0.0, 1.0])
def test_every_device_ends_with_what_a_newcomer_is_shown(checkpoint: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "CHECKPOINT", checkpoint)

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(script=st.lists(STEPS, max_size=40))
    def scripts(script: list[tuple[Any, ...]]) -> None:
        async def drive(world: World) -> None:
            for step in script:
                await world.step(*step)

        with TemporaryDirectory() as folder:
            asyncio.run(play(Path(folder) / "channels.db", drive))

    scripts()


async def test_many_turns_from_many_threads_while_devices_come_and_go(tmp_path: Path) -> None:
    """Twenty lanes at once, hooks that post from threads of their own: every lane keeps its text."""
    chance = random.Random(3)
    lanes = [Lane("android:default", f"t_{n}") for n in range(20)]

    async def turn(world: World, lane: Lane) -> None:
        middle = world.middle
        await middle.call(lane, calls.TypingSet(True))
        await asyncio.to_thread(middle.post, lane, calls.TurnBegan("t1"))
        whole = f"the text of {lane.thread_id}"
        bubble = (await middle.call(lane, calls.Sent("", Origin.PREVIEW))).name("m")
        for end in range(1, len(whole)):
            await middle.call(lane, calls.Edited(bubble, whole[:end], final=False))
        await asyncio.to_thread(middle.post, lane, calls.ModelReplied("t1", whole, more=False))
        await middle.call(lane, calls.Edited(bubble, whole, final=True))
        await middle.call(lane, calls.Processed("success"))

    async def comings_and_goings(world: World, stop: threading.Event) -> None:
        while not stop.is_set():
            await asyncio.sleep(0.002)
            await world.step(chance.choice(["back", "joins", "reads", "reads"]))

    async def drive(world: World) -> None:
        stop = threading.Event()
        others = asyncio.create_task(comings_and_goings(world, stop))
        await asyncio.gather(*(turn(world, lane) for lane in lanes))
        stop.set()
        await others
        entries = list((await world.seats[0].settle()).state.entries.values())
        assert {entry.thread_id: entry.text for entry in entries} == {
            lane.thread_id: f"the text of {lane.thread_id}" for lane in lanes
        }

    await play(tmp_path / "channels.db", drive)
