"""Read marks and devices through a running gateway: what the other devices learn, and who is shut out."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.client import Client, new_id, pair
from hermes_iris.errors import IrisError, Unauthorized
from hermes_iris.protocol.frames import DeviceRevoke
from hermes_iris.store import devices
from hermes_iris.turns import calls
from support import CHAT, LIMIT, Device, Gateway, Wire, gateway, wait_until


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with gateway(tmp_path) as running:
        yield running


async def answer(running: Gateway, turn: str, text: str, lane: Lane = DEFAULT_LANE) -> None:
    """A turn with an answer."""
    hub = running.service.hub
    await hub.call(lane, calls.TurnBegan(turn))
    await hub.call(lane, calls.ModelReplied(turn, text, more=False))
    await hub.call(lane, calls.Sent(text))
    await hub.call(lane, calls.Processed("success"))


async def lanes(running: Gateway, device: Device) -> list[dict[str, Any]]:
    """What a greeting says of the lanes."""
    async with running.wire(device) as wire:
        return list(wire.seen[0]["lanes"])


async def places(wire: Wire, **lane: str) -> list[int]:
    page = await wire.ask("history", **{"chat_id": CHAT, **lane})
    return [entry["order"] for entry in page["entries"] if entry.get("role") == "assistant"]


# ---------------------------------------------------------------- read marks


async def test_a_mark_reaches_the_other_devices_and_is_counted(running: Gateway) -> None:
    phone, desk = await running.pair("Phone"), await running.pair("Desk")
    await answer(running, "t1", "one")
    await answer(running, "t2", "two")
    assert await lanes(running, phone) == [{"chat_id": CHAT, "unread": 2}]
    async with running.wire(phone) as here, running.wire(desk) as there:
        first, second = await places(here)
        assert (await here.ask("read.mark", chat_id=CHAT, order=first))["type"] == "ack"
        told = await there.until("read.marked")
        assert (told["chat_id"], told["order"]) == (CHAT, first)
        assert await lanes(running, desk) == [{"chat_id": CHAT, "read": first, "unread": 1}]
        await there.ask("read.mark", chat_id=CHAT, order=second)
        assert (await here.until("read.marked", order=second))["seq"] == told["seq"] + 1
    assert await lanes(running, phone) == [{"chat_id": CHAT, "read": second}]


@pytest.mark.parametrize("lower", [0, 1])
async def test_a_mark_that_is_no_further_is_acknowledged_and_changes_nothing(running: Gateway, lower: int) -> None:
    async with running.wire() as here, running.wire() as there:
        await here.ask("read.mark", chat_id=CHAT, order=100)
        marked = await there.until("read.marked")
        for order in (100 * lower, 99 * lower):
            assert (await here.ask("read.mark", chat_id=CHAT, order=order))["type"] == "ack"
        seen = await there.settle()
        assert [frame["order"] for frame in seen if frame["type"] == "read.marked"] == [100]
        assert running.service.hub.position.seq == marked["seq"]
        assert (await lanes(running, await running.pair()))[0]["read"] == 100


async def test_a_device_that_was_away_learns_of_the_mark(running: Gateway) -> None:
    device = await running.pair()
    position = running.service.hub.position
    async with running.wire() as other:
        await other.ask("read.mark", chat_id=CHAT, order=7)
    async with running.wire(device, position) as wire:
        assert (await wire.until("read.marked"))["order"] == 7


@pytest.mark.parametrize(
    ("lane", "named"),
    [({"chat_id": "android:nowhere"}, "$.chat_id"), ({"chat_id": CHAT, "thread_id": "t_9"}, "$.thread_id")],
)
async def test_a_mark_in_a_lane_that_is_not_there_is_not_found(
    running: Gateway, lane: dict[str, str], named: str
) -> None:
    async with running.wire() as wire:
        refused = await wire.ask("read.mark", order=1, **lane)
    assert (refused["code"], refused["message"].partition(" ")[0]) == ("not_found", named)
    assert running.service.hub.position.seq == 0


async def test_a_greeting_tells_the_running_turn_and_what_is_unread_in_one(running: Gateway) -> None:
    hub = running.service.hub
    async with running.wire() as wire:
        created = await wire.ask("channel.create", name="Other", kind="channel")
        other = Lane(created["chat_id"])
        await answer(running, "t1", "one")
        (place,) = await places(wire)
        await wire.ask("read.mark", chat_id=CHAT, order=place - 1)
        await wire.ask("read.mark", chat_id=other.chat_id, order=5)
        await wire.settle()
        await hub.call(DEFAULT_LANE, calls.TurnBegan("t2"))
        turn = await wire.until("turn.started")
    told = await lanes(running, await running.pair())
    (default,) = [lane for lane in told if lane["chat_id"] == CHAT]
    assert (default["read"], default["unread"]) == (place - 1, 1)
    assert default["turn_id"] == turn["turn_id"]
    assert [lane for lane in told if lane["chat_id"] != CHAT] == [{"chat_id": other.chat_id, "read": 5}]
    assert len(told) == 2


# ---------------------------------------------------------------- devices


async def test_devices_are_listed_the_last_seen_first(running: Gateway) -> None:
    never, away, here = [await running.pair(name) for name in ("Never", "Away", "Here")]
    async with running.wire(away):
        pass
    await wait_until(lambda: away.info.id not in running.service.hub.connected())
    async with running.wire(here) as wire, running.wire(here):
        listed = (await wire.ask("device.list"))["devices"]
    assert [device["id"] for device in listed] == [here.info.id, away.info.id, never.info.id]
    assert [device["name"] for device in listed] == ["Here", "Away", "Never"]
    assert [device.get("connected", False) for device in listed] == [True, False, False]
    assert [device.get("this", False) for device in listed] == [True, False, False]
    assert listed[0]["last_seen"] >= listed[1]["last_seen"] > 0
    assert "last_seen" not in listed[2]
    assert not any("token" in field for device in listed for field in device)


async def test_a_device_is_called_something_else_by_any_of_them(running: Gateway) -> None:
    phone, mine = await running.pair("Chrome on Android"), await running.pair("Mine")
    async with running.wire(mine) as wire:
        assert (await wire.ask("device.rename", device_id=phone.info.id, name="  My  phone 📱 "))["type"] == "ack"
        listed = (await wire.ask("device.list"))["devices"]
        assert {device["id"]: device["name"] for device in listed} == {
            phone.info.id: "My phone 📱",
            mine.info.id: "Mine",
        }


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\x00b"])
async def test_a_name_that_cannot_be_read_is_refused(running: Gateway, name: str) -> None:
    device = await running.pair("Mine")
    async with running.wire(device) as wire:
        refused = await wire.ask("device.rename", device_id=device.info.id, name=name)
        assert (refused["code"], "$.name" in refused["message"]) == ("invalid_frame", True)
        assert [known["name"] for known in (await wire.ask("device.list"))["devices"]] == ["Mine"]


async def test_what_is_no_paired_device_has_no_name(running: Gateway) -> None:
    lost = await running.pair()
    async with running.wire() as wire:
        await wire.ask("device.revoke", device_id=lost.info.id)
        for device_id in ("dev_nobody", lost.info.id):
            refused = await wire.ask("device.rename", device_id=device_id, name="New")
            assert (refused["code"], refused["message"].partition(" ")[0]) == ("not_found", "$.device_id")


async def test_there_are_so_many_devices_and_no_more_and_the_code_stays_good(
    running: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devices, "MAX_DEVICES", 2)
    lost, code = await running.pair(), await running.code()
    await running.pair()
    with pytest.raises(IrisError, match="2 devices"):
        await pair(running.url, code, "Third", "script")
    async with running.wire(lost) as wire:
        await wire.send({"type": "device.revoke", "client_id": new_id(), "device_id": lost.info.id})
        assert await wire.closed() == 4401
    info, token = await pair(running.url, code, "Third", "script")
    assert (info.name, bool(token)) == ("Third", True)


async def test_a_revoked_device_is_shut_out_at_once_and_the_others_go_on(running: Gateway) -> None:
    lost, mine = await running.pair("Lost"), await running.pair("Mine")
    async with running.wire(lost) as one, running.wire(lost) as two, running.wire(mine) as wire:
        assert (await wire.ask("device.revoke", device_id=lost.info.id))["type"] == "ack"
        assert (await one.closed(), await two.closed()) == (4401, 4401)
        assert (await wire.say("still here"))["type"] == "message.accepted"
        assert not any(frame.get("text") == "still here" for frame in (*one.seen, *two.seen))
        listed = (await wire.ask("device.list"))["devices"]
        assert [device["id"] for device in listed] == [mine.info.id]
        async with running.open() as again:
            await again.send(lost.hello())
            assert (await again.receive())["code"] == "unauthorized"
            assert await again.closed() == 4401


async def test_a_device_may_revoke_itself(running: Gateway) -> None:
    device = await running.pair()
    async with running.wire(device) as wire:
        await wire.send({"type": "device.revoke", "client_id": new_id(), "device_id": device.info.id})
        assert await wire.closed() == 4401


async def test_what_is_no_paired_device_cannot_be_revoked(running: Gateway) -> None:
    lost = await running.pair()
    async with running.wire() as wire:
        await wire.ask("device.revoke", device_id=lost.info.id)
        for device_id in ("dev_nobody", lost.info.id, ""):
            refused = await wire.ask("device.revoke", device_id=device_id)
            assert (refused["code"], refused["message"].partition(" ")[0]) == ("not_found", "$.device_id")


async def test_a_retry_of_a_revocation_gets_the_first_answer(running: Gateway) -> None:
    """The client library sends a request again whose answer was lost."""
    lost = await running.pair()
    request = {"type": "device.revoke", "client_id": new_id(), "device_id": lost.info.id}
    async with running.wire() as wire:
        for _ in range(2):
            await wire.send(request)
            told = await wire.receive()
            assert (told["type"], told["client_id"]) == ("ack", request["client_id"]), told


async def test_the_client_of_a_revoked_device_says_so(running: Gateway) -> None:
    lost, mine = await running.pair("Lost"), await running.pair("Mine")
    async with running.client(lost) as client, running.client(mine) as other:
        frames = client.frames()
        assert type(await anext(frames)).__name__ == "HelloAck"
        await other.request(DeviceRevoke(client_id=new_id(), device_id=lost.info.id))
        async with asyncio.timeout(LIMIT):
            with pytest.raises(Unauthorized):
                await anext(frames)
            with pytest.raises(Unauthorized):
                await client.request(DeviceRevoke(client_id=new_id(), device_id=mine.info.id))
    with pytest.raises(Unauthorized):
        async with Client(running.url, lost.info, lost.token):
            pass
