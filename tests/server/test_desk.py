"""What people are asked: open on every device, answered once, closed with a reason."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hermes_iris import desk as desk_module, questions
from hermes_iris.address import DEFAULT_LANE
from hermes_iris.desk import Desk
from hermes_iris.errors import Conflict, NotFound
from hermes_iris.host import Ending
from hermes_iris.protocol.frames import Question
from hermes_iris.questions import Answer
from hermes_iris.store import questions as kept
from hermes_iris.turns import calls
from support import CHAT, Gateway, gateway, new_id, wait_until


@dataclass
class Waits:
    """The host's side of a request; `reply` is what it says to the answer."""

    reply: str | None = None
    over: Ending | None = None
    failure: Exception | None = None
    answers: list[Answer] = field(default_factory=list)
    held: asyncio.Event | None = None

    async def settle(self, answer: Answer) -> str | None:
        if self.held:
            await self.held.wait()
        if self.failure:
            raise self.failure
        self.answers.append(answer)
        return self.reply

    def ending(self) -> Ending | None:
        return self.over


def approval(expires_at: float | None = None) -> Question:
    return questions.approval("rm -r x", "recursive delete", expires_at, session=True, permanent=True)


async def opened(running: Gateway, waits: Waits, question: Question | None = None) -> str:
    return await running.service.desk.open(DEFAULT_LANE, question or approval(), waits)


@pytest.fixture(autouse=True)
def _quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk_module, "LOOK_EVERY", 0.01)


async def test_the_first_answer_counts_and_the_others_see_by_whom(tmp_path: Path) -> None:
    waits = Waits()
    async with gateway(tmp_path) as running:
        phone, laptop = await running.pair("Phone"), await running.pair("Laptop")
        async with running.wire(phone) as first, running.wire(laptop) as second:
            request_id = await opened(running, waits)
            card = await second.until("request.opened")
            assert card["question"]["detail"] == "rm -r x"
            answer = await first.ask("request.answer", request_id=request_id, choices=["session"])
            assert answer["type"] == "ack"
            late = await second.ask("request.answer", request_id=request_id, choices=["deny"])
            assert (late["type"], late["code"]) == ("error", "conflict")
            assert "Phone" in late["message"]
            (closed,) = [frame for frame in second.seen if frame["type"] == "request.closed"]
            assert (closed["outcome"], closed["answer"], closed["by_name"]) == (
                "answered",
                "Allow in this session",
                "Phone",
            )
    assert [answer.values for answer in waits.answers] == [("session",)]


async def test_a_device_that_comes_later_finds_it(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        request_id = await opened(running, Waits())
        async with running.wire() as wire:
            (card,) = wire.seen[0]["requests"]
            assert (card["request_id"], card["question"]["kind"]) == (request_id, "approval")
            page = await wire.ask("history", chat_id=CHAT)
            assert [entry["request_id"] for entry in page["entries"]] == [request_id]
            await wire.ask("request.answer", request_id=request_id, choices=["deny"])
        async with running.wire() as wire:
            assert "requests" not in wire.seen[0]
            page = await wire.ask("history", chat_id=CHAT)
            assert page["entries"][0]["outcome"] == "answered"


async def test_the_same_request_again_gets_the_first_result(tmp_path: Path) -> None:
    waits = Waits()
    async with gateway(tmp_path) as running, running.wire() as wire:
        request_id = await opened(running, waits)
        frame = {"type": "request.answer", "client_id": new_id(), "request_id": request_id, "choices": ["once"]}
        for _ in range(2):
            await wire.send(frame)
            await wire.until("ack", client_id=frame["client_id"])
    assert len(waits.answers) == 1


async def test_an_answer_that_does_not_fit_leaves_it_open(tmp_path: Path) -> None:
    waits = Waits()
    async with gateway(tmp_path) as running, running.wire() as wire:
        request_id = await opened(running, waits)
        refused = await wire.ask("request.answer", request_id=request_id, choices=["perhaps"])
        assert refused["code"] == "invalid_frame"
        assert (await wire.ask("request.answer", request_id=request_id, choices=["once"]))["type"] == "ack"
        unknown = await wire.ask("request.answer", request_id="ask_none", choices=["once"])
        assert unknown["code"] == "not_found"


async def test_a_host_that_cannot_take_it_now_is_asked_again(tmp_path: Path) -> None:
    waits = Waits(failure=Conflict("answer the other one first"))
    async with gateway(tmp_path) as running, running.wire() as wire:
        request_id = await opened(running, waits)
        assert (await wire.ask("request.answer", request_id=request_id, choices=["once"]))["code"] == "conflict"
        waits.failure = None
        assert (await wire.ask("request.answer", request_id=request_id, choices=["once"]))["type"] == "ack"


async def test_an_answer_that_nobody_waits_for_closes_the_card(tmp_path: Path) -> None:
    waits = Waits(failure=NotFound("nobody waits"))
    async with gateway(tmp_path) as running, running.wire() as wire:
        request_id = await opened(running, waits)
        assert (await wire.ask("request.answer", request_id=request_id, choices=["once"]))["code"] == "not_found"
        assert [frame["outcome"] for frame in await wire.settle() if frame["type"] == "request.closed"] == ["withdrawn"]


async def test_what_the_host_says_to_the_answer_is_a_notice(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        picker = questions.picker("Choose", questions.options([{"value": "a"}]), None)
        request_id = await opened(running, Waits(reply="Set to a."), picker)
        await wire.ask("request.answer", request_id=request_id, choices=["a"])
        notices = [frame for frame in await wire.settle() if frame["type"] == "message"]
        assert [(notice["role"], notice["text"]) for notice in notices] == [("notice", "Set to a.")]


async def test_a_device_that_goes_away_takes_its_answer_not_back(tmp_path: Path) -> None:
    waits = Waits(held=asyncio.Event())
    async with gateway(tmp_path) as running:
        request_id = await opened(running, waits)
        async with running.wire() as wire:
            await wire.send(
                {"type": "request.answer", "client_id": new_id(), "request_id": request_id, "choices": ["once"]}
            )
            await wait_until(lambda: request_id not in running.service.desk._open)
        assert waits.held is not None
        waits.held.set()
        await wait_until(lambda: waits.answers)
        async with running.wire() as wire:
            await wire.settle()
            assert "requests" not in wire.seen[0]


@pytest.mark.parametrize(
    "ending", [Ending("answered", "Allow once"), Ending("expired"), Ending("withdrawn")], ids=lambda e: e.outcome
)
async def test_what_ends_in_the_host_closes_the_card(tmp_path: Path, ending: Ending) -> None:
    waits = Waits()
    async with gateway(tmp_path) as running, running.wire() as wire:
        await opened(running, waits)
        await wire.until("request.opened")
        waits.over = ending
        closed = await wire.until("request.closed")
        assert (closed["outcome"], closed.get("answer", ""), closed.get("by_device")) == (*ending, None)


async def test_a_time_that_is_over_closes_it_where_the_host_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk_module, "GRACE", 0.0)
    async with gateway(tmp_path) as running, running.wire() as wire:
        request_id = await opened(running, Waits(), approval(running.service.hub.clock.now().ts + 0.02))
        assert (await wire.until("request.closed"))["outcome"] == "expired"
        late = await wire.ask("request.answer", request_id=request_id, choices=["once"])
        assert "time was over" in late["message"]


async def test_the_end_of_its_turn_closes_it(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        hub = running.service.hub
        await hub.call(DEFAULT_LANE, calls.TurnBegan("t1"))
        await opened(running, Waits())
        await hub.call(DEFAULT_LANE, calls.Processed("cancelled"))
        assert (await wire.until("request.closed"))["outcome"] == "withdrawn"
        assert not running.service.desk._open


async def test_a_new_picker_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    picker = questions.picker("Choose", questions.options([{"value": "a"}]), None)
    async with gateway(tmp_path) as running, running.wire() as wire:
        first = await opened(running, Waits(), picker)
        second = await opened(running, Waits(), picker)
        seen = await wire.settle()
        assert [(f["type"], f["request_id"]) for f in seen if f["type"].startswith("request.")] == [
            ("request.opened", first),
            ("request.closed", first),
            ("request.opened", second),
        ]


async def test_nothing_stays_open_when_the_gateway_stops(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        request_id = await opened(running, Waits())
    async with gateway(tmp_path) as running:
        card = await running.service.store.read(lambda conn: kept.find(conn, request_id))
        assert card is not None
        assert card.outcome == "interrupted"


async def test_what_a_killed_gateway_left_open_is_closed_at_the_next_start(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        device = await running.pair()
        async with running.wire(device) as wire:
            before = (wire.seen[0]["epoch"], wire.seen[0]["seq"])
        request_id = await opened(running, Waits())
        running.service.desk._open.clear()  # as if nobody were there to close it
    async with gateway(tmp_path) as running, running.wire(device, before) as wire:
        closed = await wire.until("request.closed", request_id=request_id)
        assert closed["outcome"] == "interrupted"
        assert "requests" not in wire.seen[0]


async def test_a_desk_without_requests_does_nothing(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        desk = Desk(running.service.hub)
        await desk.stop()
        assert desk._looking is None


async def test_tool_calls_in_full(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        hub, long = running.service.hub, "x" * 5_000 + "\nend"
        await hub.call(DEFAULT_LANE, calls.TurnBegan("t1"))
        await hub.call(DEFAULT_LANE, calls.ToolBegan("t1", "c1", "terminal", {"command": long}))
        await hub.call(DEFAULT_LANE, calls.ToolDone("t1", "c1", "ok", 0.1, long))
        start = await wire.until("tool.start")
        assert len(start["args"]["command"]) < 2_000
        whole = await wire.ask("tool.get", tool_call_id=start["tool_call_id"])
        assert whole["output"] == long
        assert "end" in whole["args"]
        assert (await wire.ask("tool.get", tool_call_id="tool_none"))["code"] == "not_found"


async def test_slash_commands_are_the_host_s(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        listed = await wire.ask("commands.list")
        assert listed["commands"] == [
            {"name": "new", "description": "Start anew.", "args": "[name]", "aliases": ["reset"]}
        ]


async def test_history_tells_how_turns_ended(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        hub = running.service.hub
        await wire.say("first")
        await hub.call(DEFAULT_LANE, calls.TurnBegan("t1"))
        await hub.call(DEFAULT_LANE, calls.ModelFailed("t1", "no such model"))
        await hub.call(DEFAULT_LANE, calls.Processed("success"))
        await wire.say("second")
        page = await wire.ask("history", chat_id=CHAT)
        (turn,) = page["turns"]
        assert (turn["outcome"], turn["error"]) == ("failure", "no such model")
        assert turn["started"] <= turn["ended"]
        older = await wire.ask("history", chat_id=CHAT, before=page["entries"][-1]["order"])
        assert older["turns"] == [turn], "a turn that left nothing belongs to the page before it"
        assert "turns" not in await wire.ask("history", chat_id="android:default", before=0)
