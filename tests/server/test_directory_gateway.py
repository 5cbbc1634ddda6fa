"""Channels, threads and answers to reports through a whole gateway, over real sockets."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from directory_kit import JOB, CronHost, events, job, new_thread, numbers, post

from hermes_iris.address import Lane
from hermes_iris.reports import Report
from hermes_iris.store import channels
from support import CHAT, Gateway, Wire, gateway, handed, new_id


async def snapshot(running: Gateway) -> list[dict[str, Any]]:
    entries = await running.service.store.read(channels.directory)
    return [dict(msgspec.to_builtins(entry)) for entry in entries]


async def made(wire: Wire, name: str = "Reports", **more: Any) -> str:
    answer = await wire.ask("channel.create", name=name, **more)
    assert answer["type"] == "channel.accepted", answer
    return str(answer["chat_id"])


async def refused(wire: Wire, kind: str, **fields: Any) -> tuple[str, str]:
    answer = await wire.ask(kind, **fields)
    assert answer["type"] == "error", answer
    return answer["code"], answer["message"]


# ---------------------------------------------------------------- the directory


async def test_two_devices_see_the_same_changes_in_the_same_order(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as one, running.wire() as other:
        chat_id = await made(one, "Reports")
        await new_thread(other, "Trip")
        await asyncio.gather(
            one.ask("channel.rename", chat_id=chat_id, name="Cron Reports"),
            other.ask("channel.set_threads", chat_id=CHAT, on=True),
        )
        await asyncio.gather(
            one.ask("channel.set_automation", chat_id=chat_id, on=True),
            other.ask("channel.rename", chat_id=CHAT, thread_id="t_1", name="Kyoto"),
        )
        await other.ask("channel.delete", chat_id=CHAT, thread_id="t_1")
        await one.ask("channel.restore", chat_id=CHAT, thread_id="t_1")
        await asyncio.gather(one.settle(), other.settle())
        assert events(one) == events(other)
        assert numbers(one) == list(range(1, 9))
        view = {(entry["chat_id"], entry.get("thread_id")): entry for entry in one.seen[0]["directory"]}
        for event in events(one):
            view[event["channel"]["chat_id"], event["channel"].get("thread_id")] = event["channel"]
        fresh = await snapshot(running)
        assert sorted(view.values(), key=repr) == sorted(fresh, key=repr)
        async with running.wire() as later:
            assert later.seen[0]["directory"] == fresh


async def test_a_device_that_comes_back_gets_the_changes_that_it_missed(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        device = await running.pair()
        async with running.wire(device) as wire:
            here = (wire.seen[0]["epoch"], wire.seen[0]["seq"])
        async with running.wire() as other:
            await made(other)
            await other.settle()
        async with running.wire(device, here) as wire:
            await wire.settle()
            assert wire.seen[0]["mode"] == "resumed"
            assert events(wire) == events(other)
            assert [event["type"] for event in events(wire)] == ["channel.created"]


async def test_a_request_that_is_asked_again_changes_nothing(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        request = {"client_id": new_id(), "name": "Reports"}
        first = await wire.ask("channel.create", **request)
        assert await wire.ask("channel.create", **request) == first
        assert (await wire.ask("channel.create", **{**request, "name": "Other"}))["code"] == "conflict"
        await wire.settle()
        assert [event["type"] for event in events(wire)] == ["channel.created"]


async def test_a_refusal_names_the_field_and_the_connection_goes_on(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        for code, field, kind, fields in (
            ("conflict", "$.name", "channel.create", {"name": "DEFAULT"}),
            ("invalid_frame", "$.name", "channel.create", {"name": "a\u200bb"}),
            ("not_found", "$.chat_id", "channel.delete", {"chat_id": "android:chan_9"}),
            ("not_found", "$.thread_id", "channel.restore", {"chat_id": CHAT, "thread_id": "t_9"}),
            ("unsupported", "$.chat_id", "channel.delete", {"chat_id": CHAT}),
            ("unsupported", "$.chat_id", "channel.set_automation", {"chat_id": CHAT, "on": True}),
        ):
            told = await refused(wire, kind, **fields)
            assert told[0] == code
            assert field in told[1]
        await wire.settle()
        assert events(wire) == []


async def test_there_are_no_more_channels_than_there_may_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "MAX_CHANNELS", 2)
    async with gateway(tmp_path) as running, running.wire() as wire:
        await made(wire)
        assert (await refused(wire, "channel.create", name="More"))[0] == "too_large"


async def test_nobody_writes_into_an_automation_channel(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        chat_id = await made(wire)
        await wire.ask("channel.set_automation", chat_id=chat_id, on=True)
        for text in ("hi", "/status", "/stop"):
            code, message = await refused(wire, "message.send", chat_id=chat_id, text=text)
            assert (code, "$.chat_id" in message) == ("unsupported", True)
        await wire.ask("channel.set_automation", chat_id=chat_id, on=False)
        assert (await wire.say("hi", chat_id=chat_id))["type"] == "message.accepted"
        await handed(running.service.store)
        assert running.host.texts == ["hi"]


# ---------------------------------------------------------------- threads of messages


async def test_a_thread_its_message_and_its_answer_are_one_however_often_it_is_sent(tmp_path: Path) -> None:
    request = {"client_id": new_id(), "chat_id": CHAT, "text": "Plan the trip", "auto_thread": True}
    async with gateway(tmp_path) as running, running.wire() as wire, running.wire() as other:
        await wire.ask("channel.set_threads", chat_id=CHAT, on=True)
        accepted = await wire.ask("message.send", **request)
        assert accepted["thread_id"] == "t_1"
        assert await other.ask("message.send", **request) == accepted
        await asyncio.gather(*(wire.send({"type": "message.send", **request}) for _ in range(3)))
        await asyncio.gather(wire.settle(), other.settle())
        for each in (wire, other):
            created, echo = events(each)[1:]
            assert (created["type"], created["auto"]) == ("channel.created", True)
            assert (created["channel"]["name"], created["channel"]["name_source"]) == ("Plan the trip", "derived")
            assert (echo["text"], echo["thread_id"], echo["seq"]) == ("Plan the trip", "t_1", accepted["seq"])
        await handed(running.service.store)
        assert running.host.texts == ["Plan the trip"]
    async with gateway(tmp_path) as running, running.wire() as wire:
        assert await wire.ask("message.send", **request) == accepted, "also after a restart"
        assert [entry.get("thread_id") for entry in await snapshot(running)] == [None, "t_1"]
        assert (await wire.ask("message.send", **{**request, "client_id": new_id()}))["thread_id"] == "t_2"


async def test_messages_of_many_devices_at_once_get_a_thread_each(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        await wire.ask("channel.set_threads", chat_id=CHAT, on=True)
        asked = {"chat_id": CHAT, "auto_thread": True}
        for number in range(20):
            await wire.send({"type": "message.send", "client_id": new_id(), "text": f"{number}", **asked})
        await wire.settle()
        lanes = {event["thread_id"]: event["text"] for event in events(wire) if event["type"] == "message"}
        named = {
            event["channel"]["thread_id"]: event["channel"]["name"]
            for event in events(wire)
            if event["type"] == "channel.created"
        }
        assert lanes == named
        assert len(lanes) == 20
        assert numbers(wire) == list(range(1, 42))


# ---------------------------------------------------------------- answers to reports


async def test_an_answer_to_a_report_opens_a_thread_and_brings_the_report(tmp_path: Path) -> None:
    host = CronHost()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        chat_id = await made(wire)
        await wire.ask("channel.set_automation", chat_id=chat_id, on=True)
        hub = running.service.hub
        older = await post(hub, Report(chat_id, "Rain.", JOB, "job_1@1"))
        await post(hub, Report(chat_id, "Sun.", JOB, "job_1@2"))
        accepted = await wire.say("Why?", chat_id=chat_id, reply_to=older)
        assert (accepted["chat_id"], accepted["thread_id"]) == (chat_id, "t_1")
        await wire.settle()
        created, echo = events(wire)[-2:]
        entry = created["channel"]
        assert (created["type"], created["auto"], entry["name"]) == ("channel.created", True, JOB.name)
        assert (entry["parent_chat_id"], entry["thread_id"]) == (chat_id, "t_1")
        assert (echo["reply_to"], echo["thread_id"]) == (older, "t_1")
        page = await wire.ask("history", chat_id=chat_id, thread_id="t_1")
        assert page["entries"][0]["reply_to"] == older
        assert (await wire.say("And now?", chat_id=chat_id, thread_id="t_1"))["thread_id"] == "t_1"
        await handed(running.service.store)
        assert host.contexts == {"Why?": ["Rain."], "And now?": []}
        assert host.delivered[0].thread_id == "t_1"


async def test_a_message_brings_the_reports_since_the_person_s_last_one_in_that_lane(tmp_path: Path) -> None:
    host = CronHost()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        hub, other = running.service.hub, await made(wire)
        for target, text in (("android", "r1"), (other, "o1"), ("android", "r2")):
            await post(hub, Report(target, text, JOB))
        await post(hub, Report("android", "a notice"))
        await wire.say("first")
        await wire.say("second")
        third = await post(hub, Report("android", "r3", JOB))
        await wire.say("elsewhere", chat_id=other)
        await wire.say("third")
        await post(hub, Report("android", "r4", JOB))
        await wire.say("fourth, on r3", reply_to=third)
        await wire.say("fifth")
        await wire.say("sixth")
        await handed(running.service.store)
    assert host.contexts == {
        "first": ["r1", "r2"],
        "second": [],
        "elsewhere": ["o1"],
        "third": ["r3"],
        "fourth, on r3": ["r3"],
        "fifth": ["r4"],
        "sixth": [],
    }


async def test_the_answered_report_comes_with_those_since_the_last_message(tmp_path: Path) -> None:
    host = CronHost()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        hub = running.service.hub
        await new_thread(wire, "Daily")
        target = f"{CHAT}:t_1"
        first = await post(hub, Report(target, "r1", JOB))
        await wire.say("seen", thread_id="t_1")
        await post(hub, Report(target, "r2", JOB))
        await wire.say("both", thread_id="t_1", reply_to=first)
        await handed(running.service.store)
    assert host.contexts == {"seen": ["r1"], "both": ["r1", "r2"]}


async def test_the_answered_report_is_never_crowded_out_by_newer_ones(tmp_path: Path) -> None:
    host = CronHost()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        hub = running.service.hub
        await new_thread(wire, "Daily")
        ids = [await post(hub, Report(f"{CHAT}:t_1", f"r{number}", JOB)) for number in range(30)]
        await wire.say("on the first", thread_id="t_1", reply_to=ids[0])
        await handed(running.service.store)
    told = host.contexts["on the first"]
    assert told[0] == "r0"
    assert told[-1] == "r29"
    assert len(told) <= 11


# ---------------------------------------------------------------- cron jobs


async def test_jobs_are_listed_with_their_lanes(tmp_path: Path) -> None:
    host = CronHost()
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        assert (await wire.ask("cron.list"))["jobs"] == []
        chat_id = await made(wire, "Cron Reports")
        host.known = {
            "late": job("late", "android:cron reports", next_run=20.0),
            "soon": job("soon", "android", next_run=10.0, error="timed out"),
            "far": job("far", "telegram:1"),
        }
        listed = (await wire.ask("cron.list"))["jobs"]
        assert [(each["id"], each.get("chat_id")) for each in listed] == [
            ("soon", CHAT),
            ("late", chat_id),
            ("far", None),
        ]
        assert listed[0]["error"] == "timed out"


async def test_a_job_is_sent_to_another_lane(tmp_path: Path) -> None:
    host = CronHost(known={"weather": job("weather", "android")})
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        chat_id = await made(wire)
        thread_id = await new_thread(wire, "Trip")
        for lane in (Lane(chat_id), Lane(CHAT, thread_id)):
            where = {"chat_id": lane.chat_id, **({"thread_id": lane.thread_id} if lane.thread_id else {})}
            assert (await wire.ask("cron.set_target", job_id="weather", **where))["type"] == "ack"
            (listed,) = (await wire.ask("cron.list"))["jobs"]
            assert Lane(listed["chat_id"], listed.get("thread_id")) == lane
        assert host.known["weather"].deliver == ("android:android:default:t_1",)


async def test_a_job_is_not_sent_to_what_is_not_there(tmp_path: Path) -> None:
    host = CronHost(known={"weather": job("weather", "android")})
    async with gateway(tmp_path, host) as running, running.wire() as wire:
        gone = await made(wire)
        await wire.ask("channel.delete", chat_id=gone)
        for field, fields in (
            ("$.job_id", {"job_id": "nothing", "chat_id": CHAT}),
            ("$.chat_id", {"job_id": "weather", "chat_id": "android:chan_9"}),
            ("$.chat_id", {"job_id": "weather", "chat_id": gone}),
            ("$.thread_id", {"job_id": "weather", "chat_id": CHAT, "thread_id": "t_9"}),
        ):
            code, message = await refused(wire, "cron.set_target", **fields)
            assert (code, field in message) == ("not_found", True), message
        assert host.known["weather"].deliver == ("android",)
