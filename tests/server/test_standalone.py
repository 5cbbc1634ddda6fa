"""Reports: where they go, once each, and that what another process stores reaches the devices without a gap.

`standalone.py` itself needs a host (tests/host has it); here its transaction is made on a connection of one's own.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from directory_kit import JOB, CronHost, events, new_thread, numbers, post, post_elsewhere, seen, whole_turn

from hermes_iris import reports, watcher
from hermes_iris.config import Home
from hermes_iris.moment import Moment
from hermes_iris.protocol.frames import Channel, JobRef, Message
from hermes_iris.reports import Report
from hermes_iris.store import channels, connect, messages, transaction
from support import CHAT, Gateway, Held, Wire, gateway, new_id

CHILD = """
import sys
from pathlib import Path
from directory_kit import post_elsewhere
from hermes_iris.config import Home
from hermes_iris.reports import Report
for number in range(int(sys.argv[2])):
    post_elsewhere(Home(Path(sys.argv[1])), Report("android", f"foreign {number}"))
"""


@pytest.fixture(autouse=True)
def _in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "FOREIGN_EVERY", 0.01)


async def elsewhere(running: Gateway, report: Report) -> str:
    return await asyncio.to_thread(post_elsewhere, running.home, report)


async def told(wire: Wire, text: str) -> dict[str, Any]:
    """The message event with a text."""
    return await seen(wire, lambda frame: frame["type"] == "message" and frame["text"] == text)


def said(wire: Wire) -> list[tuple[str, str | None, str, str]]:
    """Lane, role and text of each message that came."""
    return [
        (event["chat_id"], event.get("thread_id"), event["role"], event["text"])
        for event in events(wire)
        if event["type"] == "message"
    ]


# ---------------------------------------------------------------- from another process


async def test_what_another_process_stores_reaches_every_device(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as one, running.wire() as other:
        message_id = await elsewhere(running, Report("android", "# Rain", JOB, "job_1@1"))
        for wire in (one, other):
            event = await told(wire, "# Rain")
            assert (event["message_id"], event["role"], event["seq"]) == (message_id, "cron", 1)
            assert event["job"] == {"id": JOB.id, "name": JOB.name}
        page = await one.ask("history", chat_id=CHAT)
        assert [entry["text"] for entry in page["entries"]] == ["# Rain"]


async def test_own_and_foreign_events_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    count = 40
    async with gateway(tmp_path) as running, running.wire() as one, running.wire() as other:

        async def foreign() -> None:
            for number in range(count):
                await elsewhere(running, Report("android", f"foreign {number}", JOB, f"job_1@{number}"))

        async def own() -> None:
            for number in range(count):
                said = {"client_id": new_id(), "chat_id": CHAT, "text": f"own {number}"}
                await one.send({"type": "message.send", **said})
                await post(running.service.hub, Report("android", f"posted {number}"))
                await whole_turn(running.service.hub, name=f"turn_{number}")

        await asyncio.gather(foreign(), own())
        last = await elsewhere(running, Report("android", "the end"))
        for wire in (one, other):
            assert (await told(wire, "the end"))["message_id"] == last
            assert numbers(wire) == list(range(1, 5 * count + 2))
            for kind in ("foreign", "own", "posted"):
                texts = [text for *_, text in said(wire) if text.startswith(kind)]
                assert texts == [f"{kind} {number}" for number in range(count)]
        assert events(one) == events(other)


async def test_several_processes_at_once(tmp_path: Path) -> None:
    """Real ones, each with a connection per message."""
    kit = Path(__file__).parent
    path = [str(kit), str(kit.parent), *sys.path]
    async with gateway(tmp_path) as running, running.wire() as wire:
        command = [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n{CHILD}", str(tmp_path), "10"]
        children = [
            await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
            for _ in range(3)
        ]
        for number in range(10):
            await wire.say(f"own {number}")
        for child in children:
            _, problem = await child.communicate()
            assert child.returncode == 0, problem.decode()
        await elsewhere(running, Report("android", "the end"))
        await told(wire, "the end")
        assert numbers(wire) == list(range(1, 42))
        assert sorted(text for *_, role, text in said(wire) if role == "notice" and text != "the end") == sorted(
            f"foreign {number}" for number in range(10) for _ in range(3)
        )


async def test_a_foreign_event_comes_before_an_own_one_that_is_newer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when nobody has looked around meanwhile."""
    monkeypatch.setattr(watcher, "FOREIGN_EVERY", 3_600.0)
    async with gateway(tmp_path) as running, running.wire() as wire:
        await elsewhere(running, Report("android", "foreign"))
        await wire.say("own")
        await told(wire, "own")
        assert [text for *_, text in said(wire)] == ["foreign", "own"]
        assert numbers(wire) == [1, 2]


async def test_what_was_stored_while_no_gateway_ran_is_there_when_it_starts(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        device = await running.pair()
        async with running.wire(device) as wire:
            await wire.say("before")
            here = (wire.seen[0]["epoch"], (await told(wire, "before"))["seq"])
    await asyncio.to_thread(post_elsewhere, Home(tmp_path), Report("android", "meanwhile"))
    async with gateway(tmp_path) as running, running.wire(device, here) as wire:
        await told(wire, "meanwhile")
        assert (wire.seen[0]["mode"], numbers(wire)) == ("resumed", [2])


async def test_the_first_delivery_may_come_before_the_first_gateway(tmp_path: Path) -> None:
    await asyncio.to_thread(post_elsewhere, Home(tmp_path), Report("android", "early"))
    async with gateway(tmp_path) as running, running.wire() as wire:
        assert [entry["chat_id"] for entry in wire.seen[0]["directory"]] == [CHAT]
        page = await wire.ask("history", chat_id=CHAT)
        assert [entry["text"] for entry in page["entries"]] == ["early"]


async def test_a_commit_that_fails_hides_no_foreign_event_after_it(tmp_path: Path) -> None:
    """Its numbers are given out again: to another process, perhaps."""
    async with gateway(tmp_path) as running, running.wire() as wire:
        await wire.say("before")
        await told(wire, "before")
        held = Held(running.service.store)
        lost = asyncio.create_task(post(running.service.hub, Report("android", "lost")))
        also_lost = asyncio.create_task(post(running.service.hub, Report("android", "lost, too")))
        await asyncio.sleep(0)
        broken = running.service.store.submit(lambda conn: conn.execute("ROLLBACK"))
        held.release()
        results = await asyncio.gather(lost, also_lost, asyncio.wrap_future(broken), return_exceptions=True)
        assert all(isinstance(result, Exception) for result in results), "the group could not be committed"
        await elsewhere(running, Report("android", "foreign"))
        await wire.say("own")
        await told(wire, "own")
        assert [text for *_, text in said(wire)] == ["before", "foreign", "own"]
        assert numbers(wire) == [1, 2, 3]


# ---------------------------------------------------------------- where a report goes


@pytest.fixture
async def running(tmp_path: Path) -> Any:
    """A gateway with a channel `Cron Reports`, a deleted one and two that are called alike."""
    async with gateway(tmp_path, CronHost()) as running, running.wire() as wire:
        for name in ("Cron Reports", "Gone", "Twins"):
            await wire.ask("channel.create", name=name)
        await wire.ask("channel.delete", chat_id="android:chan_2")
        twin = Channel(chat_id="android:chan_9", name="twins", kind="channel", created=9.0)
        await running.service.store.write(lambda conn: channels.put(conn, twin))
        yield running


@pytest.mark.parametrize("deliver", [elsewhere, lambda running, report: post(running.service.hub, report)])
@pytest.mark.parametrize(
    "target",
    ["android:1", "android:chan_1", "android:android:chan_1", "Cron Reports", "android:cron reports", "1"],
)
async def test_an_explicit_target_wins(running: Gateway, deliver: Any, target: str) -> None:
    async with running.wire() as wire:
        await deliver(running, Report(target, "# Rain", JOB, "job_1@1"))
        await told(wire, "# Rain")
        assert said(wire) == [("android:chan_1", None, "cron", "# Rain")]


async def test_a_thread_is_a_target_too(running: Gateway) -> None:
    async with running.wire() as wire:
        thread_id = await new_thread(wire, "Weekly")
        for target in (f"android:default:{thread_id}", "Default / weekly"):
            await elsewhere(running, Report(target, f"to {target}", JOB))
            assert (await told(wire, f"to {target}"))["thread_id"] == thread_id


async def test_without_a_target_a_report_goes_to_the_default_channel_of_now(running: Gateway) -> None:
    async with running.wire() as wire:
        await wire.ask("channel.set_default", chat_id="android:chan_1")
        await elsewhere(running, Report("android", "# Rain", JOB))
        assert (await told(wire, "# Rain"))["chat_id"] == "android:chan_1"


@pytest.mark.parametrize("deliver", [elsewhere, lambda running, report: post(running.service.hub, report)])
@pytest.mark.parametrize(
    ("target", "parts"),
    [
        ("android:Nowhere At All", ["Nowhere At All"]),
        ("android:chan_77", ["chan_77"]),
        ("android:default:t_77", ["t_77"]),
        ("Gone", ["Gone"]),
        ("android:chan_2", ["chan_2"]),
        ("TWINS", ["TWINS", "android:chan_3", "android:chan_9"]),
        ("", []),
        ("x " * 500, ["x x", "…"]),
    ],
)
async def test_an_unknown_target_is_told_of_in_the_default_channel(
    running: Gateway, deliver: Any, target: str, parts: list[str]
) -> None:
    async with running.wire() as wire:
        message_id = await deliver(running, Report(target, "# Rain", JOB, "job_1@1"))
        report = await told(wire, "# Rain")
        notice = await seen(wire, lambda frame: frame["type"] == "message" and frame["role"] == "notice")
        assert (report["message_id"], report["chat_id"], report["role"]) == (message_id, CHAT, "cron")
        assert (notice["chat_id"], notice["seq"]) == (CHAT, report["seq"] + 1)
        assert notice["order"] > report["order"]
        assert all(part in notice["text"] for part in [JOB.name, *parts])
        assert len(notice["text"]) < 500
        page = await wire.ask("history", chat_id=CHAT)
        assert [entry["role"] for entry in page["entries"]] == ["cron", "notice"]


async def test_a_message_without_a_job_is_a_notice_and_so_is_its_way(running: Gateway) -> None:
    async with running.wire() as wire:
        await elsewhere(running, Report("Nowhere", "Hello"))
        await told(wire, "Hello")
        await wire.settle()
        (first, second) = said(wire)
        assert first == (CHAT, None, "notice", "Hello")
        assert second[:3] == (CHAT, None, "notice")
        assert second[3].startswith("A message was meant for “Nowhere”")


# ---------------------------------------------------------------- once each


async def test_a_run_is_delivered_once_whoever_delivers_it(running: Gateway) -> None:
    report = Report("Cron Reports", "# Rain", JOB, "job_1@1")
    async with running.wire() as wire:
        first = await post(running.service.hub, report)
        again = [await elsewhere(running, report), await post(running.service.hub, report)]
        again.append(await elsewhere(running, report._replace(target="android:chan_1")))
        await elsewhere(running, Report("android", "the end"))
        await told(wire, "the end")
        assert again == [first] * 3
        assert [text for *_, text in said(wire)] == ["# Rain", "the end"]


async def test_a_run_is_delivered_once_also_by_many_at_the_same_time(running: Gateway) -> None:
    report = Report("Cron Reports", "# Rain", JOB, "job_1@1")
    deliveries = [elsewhere(running, report) for _ in range(8)] + [post(running.service.hub, report) for _ in range(8)]
    assert len(set(await asyncio.gather(*deliveries))) == 1


async def test_a_run_that_has_no_place_is_told_of_once(running: Gateway) -> None:
    report = Report("Nowhere", "# Rain", JOB, "job_1@1")
    async with running.wire() as wire:
        assert await elsewhere(running, report) == await elsewhere(running, report)
        await post(running.service.hub, Report("android", "the end"))
        await told(wire, "the end")
        assert [role for _, _, role, _ in said(wire)] == ["cron", "notice", "notice"]


@pytest.mark.parametrize(
    "other",
    [
        Report("Cron Reports", "# Rain", JOB, "job_1@2"),
        Report("android", "# Rain", JOB, "job_1@1"),
        Report("Cron Reports", "# Rain", JobRef(id="job_2", name="Weather"), "job_2@1"),
        Report("Cron Reports", "# Rain", JOB),
    ],
    ids=["another run", "another lane", "another job", "a run that is not known"],
)
async def test_what_only_looks_the_same_is_delivered_twice(running: Gateway, other: Report) -> None:
    async with running.wire() as wire:
        first = await elsewhere(running, Report("Cron Reports", "# Rain", JOB, "job_1@1"))
        second = await elsewhere(running, other)
        await seen(wire, lambda frame: frame.get("message_id") == second)
        assert first != second
        assert [text for *_, text in said(wire)] == ["# Rain"] * 2


async def test_a_run_of_several_parts_loses_none(running: Gateway) -> None:
    """The host may cut a report that is long for other platforms."""
    async with running.wire() as wire:
        for part in ("one", "two"):
            await elsewhere(running, Report("android", part, JOB, "job_1@1"))
        await told(wire, "two")
        assert [text for *_, text in said(wire)] == ["one", "two"]


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[Any]:
    conn = connect(tmp_path / "own.db")
    with transaction(conn):
        channels.ensure_default(conn, 1.0)
    yield conn
    conn.close()


def test_a_run_is_forgotten_after_a_while_but_not_its_message(conn: Any) -> None:
    def deliver(order: int, ts: float) -> str:
        with transaction(conn):
            delivered = reports.deliver(conn, Report("android", "# Rain", JOB, "job_1@1"), Moment(order, ts))
            messages.record(conn, delivered.frames)
        return delivered.message_id

    first = deliver(64, 100.0)
    reports.forget_old(conn, 100.0 + reports.KEPT_FOR)
    assert deliver(128, 200.0) == first
    reports.forget_old(conn, 101.0 + reports.KEPT_FOR)
    assert deliver(192, 300.0) != first
    kept = messages.get(conn, first)
    assert isinstance(kept, Message)
    assert kept.job == JOB
