"""What the gateway notices by itself: cron jobs, a model's names, what the host must be told."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest
from directory_kit import CronHost, events, job, new_thread, seen, whole_turn

from hermes_iris import watcher
from hermes_iris.address import Lane
from support import CHAT, Wire, gateway, wait_until


@pytest.fixture(autouse=True)
def _in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FOREIGN_EVERY", "JOBS_EVERY", "TITLE_EVERY"):
        monkeypatch.setattr(watcher, name, 0.01)


async def renamed(wire: Wire, **fields: Any) -> dict[str, Any]:
    """The entry of the first `channel.renamed` with these fields."""

    def fits(frame: dict[str, Any]) -> bool:
        return frame["type"] == "channel.renamed" and all(frame["channel"].get(k) == v for k, v in fields.items())

    return dict((await seen(wire, fits))["channel"])


async def looked(host: CronHost, method: str = "jobs", times: int = 3) -> None:
    """Wait until the watcher has asked the host a few times more."""
    before = host.asked.get(method, 0)
    await wait_until(lambda: host.asked.get(method, 0) >= before + times)


# ---------------------------------------------------------------- reports that the host gave up


async def test_a_report_that_the_host_gave_up_is_told_of_once_a_run(tmp_path: Path) -> None:
    def notices(wire: Wire) -> list[str]:
        return [event["text"] for event in events(wire) if event.get("role") == "notice"]

    given_up = job("a", "android:Nowhere", undelivered=True, last_run=1.0)
    host = CronHost()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        host.known["a"] = given_up
        await wire.until("message", role="notice", chat_id=CHAT)
        await looked(host)
        await wire.settle()
        assert len(notices(wire)) == 1
        assert "android:Nowhere" in notices(wire)[0]
        host.known["a"] = given_up._replace(last_run=2.0)
        await wire.until("message", role="notice", chat_id=CHAT)
        assert len(notices(wire)) == 2
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        await looked(host)
        await wire.settle()
        assert notices(wire) == [], "a restart tells of the same run again"


# ---------------------------------------------------------------- counts of jobs


async def test_jobs_are_counted_in_the_channels_that_they_report_into(tmp_path: Path) -> None:
    host = CronHost()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        chat_id = (await wire.ask("channel.create", name="Cron Reports"))["chat_id"]
        host.known["a"] = job("a", "android:Cron Reports")
        assert (await renamed(wire, chat_id=chat_id, cron_jobs=1))["name"] == "Cron Reports"
        host.known["b"] = job("b", "android:1", "android")
        assert await renamed(wire, chat_id=chat_id, cron_jobs=2)
        assert await renamed(wire, chat_id=CHAT, cron_jobs=1)
        host.known["a"] = host.known["a"]._replace(enabled=False)
        await wait_until(lambda: host.asked["jobs"] > 0)
        del host.known["b"]
        await looked(host)
        await wire.settle()
        last = {event["channel"]["chat_id"]: event["channel"] for event in events(wire)}
        assert [last[each].get("cron_jobs", 0) for each in (chat_id, CHAT)] == [0, 0]


async def test_nothing_is_told_while_nothing_changes(tmp_path: Path) -> None:
    host = CronHost(known={"a": job("a", "android")})
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        await looked(host)
        await wire.settle()
        before = running.service.hub.position.seq
        await looked(host)
        await wire.settle()
        assert running.service.hub.position.seq == before == 1
    async with gateway(tmp_path, host) as running:
        await looked(host)
        assert running.service.hub.position.seq == before, "the counts are kept over a restart"


async def test_a_job_follows_the_default_channel(tmp_path: Path) -> None:
    host = CronHost(known={"a": job("a", "android")})
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        chat_id = (await wire.ask("channel.create", name="Home"))["chat_id"]
        await wire.ask("channel.set_default", chat_id=chat_id)
        entry = await renamed(wire, chat_id=chat_id, cron_jobs=1)
        assert entry["is_default"]
        await wire.ask("channel.delete", chat_id=CHAT)
        host.known["b"] = job("b", "android:default")
        await looked(host)
        await wire.settle()
        last = {event["channel"]["chat_id"]: event["channel"] for event in events(wire)}
        assert last[CHAT].get("cron_jobs", 0) == 0, "no job reports into what was deleted"


async def test_a_new_target_is_counted_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "JOBS_EVERY", 3_600.0)
    monkeypatch.setattr(watcher, "FOREIGN_EVERY", 3_600.0)
    host = CronHost(known={"a": job("a", "telegram")})
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        await wait_until(lambda: host.asked.get("jobs"))
        await wire.ask("cron.set_target", job_id="a", chat_id=CHAT)
        assert await renamed(wire, chat_id=CHAT, cron_jobs=1)


# ---------------------------------------------------------------- a model's names


async def begun(wire: Wire, text: str = "Plan the trip") -> Lane:
    """A thread that a message began."""
    await wire.ask("channel.set_threads", chat_id=CHAT, on=True)
    accepted = await wire.say(text, auto_thread=True)
    return Lane(accepted["chat_id"], accepted["thread_id"])


async def test_a_thread_is_named_by_the_model_once_its_turn_is_over(tmp_path: Path) -> None:
    host = CronHost()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        lane = await begun(wire)
        await whole_turn(running.service.hub, lane)
        await looked(host, "title")
        host.titles[lane] = '"Kyoto in May"'
        entry = await renamed(wire, thread_id=lane.thread_id, name_source="llm")
        assert entry["name"] == "Kyoto in May"
        asked = host.asked["title"]
        await looked(host)
        assert host.asked["title"] == asked, "nobody asks any more"


async def test_a_late_name_of_the_model_never_replaces_a_person_s(tmp_path: Path) -> None:
    host = CronHost()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        lane = await begun(wire)
        await whole_turn(running.service.hub, lane)
        await looked(host, "title", 1)
        await wire.ask("channel.rename", chat_id=lane.chat_id, thread_id=lane.thread_id, name="Mine")
        host.titles[lane] = "Kyoto"
        await looked(host)
        await wire.settle()
        names = [event["channel"]["name"] for event in events(wire) if event["type"] == "channel.renamed"]
        assert names == ["Default", "Mine"]


async def test_a_name_that_comes_while_a_person_gives_one_is_dropped(tmp_path: Path) -> None:
    """The host's answer is older than the person's: what counts is the entry inside the transaction."""

    class Slow(CronHost):
        answer = asyncio.Event()

        async def title(self, lane: Lane) -> str | None:
            self._note("title")
            await self.answer.wait()
            return "Kyoto"

    host = Slow()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        lane = await begun(wire)
        await whole_turn(running.service.hub, lane)
        await wait_until(lambda: host.asked.get("title"))
        await wire.ask("channel.rename", chat_id=lane.chat_id, thread_id=lane.thread_id, name="Mine")
        host.answer.set()
        await looked(host)
        await wire.settle()
        assert events(wire)[-1]["channel"]["name"] == "Mine"


async def test_only_threads_without_a_name_of_their_own_are_asked_for(tmp_path: Path) -> None:
    host = CronHost()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        named = Lane(CHAT, await new_thread(wire, "Trip"))
        host.titles = {named: "Kyoto", Lane(CHAT): "Chat"}
        await whole_turn(running.service.hub, named, "turn_1")
        await whole_turn(running.service.hub, Lane(CHAT), "turn_2")
        await looked(host)
        assert "title" not in host.asked
        assert not [event for event in await wire.settle() if event["type"] == "channel.renamed"]


async def test_nobody_waits_for_a_name_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "TITLE_FOR", 0.0)
    host = CronHost()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        lane = await begun(wire)
        await whole_turn(running.service.hub, lane)
        await wait_until(lambda: host.asked.get("title"))
        await looked(host)
        asked = host.asked["title"]
        await looked(host)
        assert host.asked["title"] == asked
        monkeypatch.setattr(watcher, "TITLE_FOR", 60.0)
        host.titles[lane] = "Kyoto"
        await whole_turn(running.service.hub, lane, "turn_2")
        assert await renamed(wire, name="Kyoto")


async def test_a_turn_in_a_thread_that_nobody_knows_keeps_no_other_from_its_name(tmp_path: Path) -> None:
    """The host may have sessions of its own, e.g. of an older database."""
    host = CronHost()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        lane = await begun(wire)
        await whole_turn(running.service.hub, Lane(CHAT, "t_99"), "turn_1")
        await whole_turn(running.service.hub, lane, "turn_2")
        host.titles[lane] = "Kyoto"
        assert await renamed(wire, name="Kyoto")


# ---------------------------------------------------------------- what the host is told


async def test_the_host_knows_the_channels_from_the_start_and_after_every_change(tmp_path: Path) -> None:
    host = CronHost()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        await wait_until(lambda: host.directories)
        assert [entry.name for entry in host.directories[0]] == ["Default"]
        chat_id = (await wire.ask("channel.create", name="Reports"))["chat_id"]
        await wait_until(lambda: [entry.name for entry in host.directories[-1]] == ["Default", "Reports"])
        await wire.ask("channel.rename", chat_id=chat_id, name="Cron")
        await wait_until(lambda: host.directories[-1][-1].name == "Cron")
        await wire.ask("channel.delete", chat_id=chat_id)
        await wait_until(lambda: host.directories[-1][-1].archived)
        await looked(host)
        told = len(host.directories)
        await wire.say("hi")
        await looked(host)
        assert len(host.directories) == told, "a message changes no name"


# ---------------------------------------------------------------- what goes wrong


async def test_a_duty_that_fails_holds_up_no_other_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "JOBS_EVERY", 0.05)
    host = CronHost(broken={"jobs": RuntimeError("broken file")})
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        lane = await begun(wire)
        host.titles[lane] = "Kyoto"
        await whole_turn(running.service.hub, lane)
        assert await renamed(wire, name="Kyoto")
        await wait_until(lambda: host.directories)
        host.known["a"] = job("a", "android")
        del host.broken["jobs"]
        assert await renamed(wire, chat_id=CHAT, cron_jobs=1)


@pytest.mark.parametrize("method", ["jobs", "title", "directory_changed"])
async def test_a_failure_is_logged_once_however_often_it_comes(
    tmp_path: Path, method: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the real rates: looks that have nothing to ask lie between two that fail."""
    monkeypatch.setattr(watcher, "JOBS_EVERY", 0.05)
    monkeypatch.setattr(watcher, "TITLE_EVERY", 0.05)
    host = CronHost(broken={method: RuntimeError("broken file")})
    with caplog.at_level(logging.ERROR, watcher.__name__):
        async with gateway(tmp_path, host) as running, running.wire() as wire:
            lane = await begun(wire)
            await whole_turn(running.service.hub, lane)
            await looked(host, method, 4)
    assert len(caplog.records) == 1


async def test_the_host_is_told_of_the_channels_again_when_it_could_not_listen(tmp_path: Path) -> None:
    host = CronHost(broken={"directory_changed": OSError("disk full")})
    async with gateway(tmp_path, host):
        await wait_until(lambda: host.asked.get("directory_changed"))
        del host.broken["directory_changed"]
        await wait_until(lambda: host.directories)


async def test_a_host_that_never_answers_does_not_keep_the_gateway_from_ending(tmp_path: Path) -> None:
    class Stuck(CronHost):
        async def jobs(self) -> list[Any]:
            self._note("jobs")
            await asyncio.Event().wait()
            return []

    host = Stuck()
    async with asyncio.timeout(5), gateway(tmp_path, host):
        await wait_until(lambda: host.asked.get("jobs"))
