"""Getting about in the terminal: lanes, topics, paging, search, what is read, connections that break."""

import re
from pathlib import Path
from typing import Any

import pytest

from hermes_iris import watcher
from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.host import HostSession
from hermes_iris.protocol.frames import Hit, JobRef, Message, SessionLine, SnippetPart
from hermes_iris.store import connect, messages, reading, transaction
from hermes_iris.tui import session
from hermes_iris.turns import calls
from support import CHAT, Gateway, gateway, handed, texts, wait_until

from .screen import WIDE, Terminal, answered, chat, terminal


async def made(running: Gateway, kind: str, name: str, **more: Any) -> Lane:
    """A channel or a thread that somebody else has made."""
    async with running.wire() as wire:
        parent = {"parent_chat_id": CHAT} if kind == "thread" else {}
        answer = await wire.ask("channel.create", name=name, kind=kind, **parent)
        for setting in more:
            await wire.ask(f"channel.set_{setting}", chat_id=answer["chat_id"], on=True)
        return Lane(answer["chat_id"], answer.get("thread_id"))


async def test_lanes_are_listed_with_their_marks_and_opened(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        builds = await made(running, "channel", "Build Log")
        await made(running, "channel", "Reports", automation=True)
        await made(running, "thread", "Kyoto in May")
        for text in ("one", "two"):
            await answered(running, text, builds)
        async with terminal(running) as shown:
            await shown.sees(r"★ Default .*\n.*# Kyoto in May.*\n.*Channels.*\n.*  Build Log +2▕")
            await shown.pilot.press("ctrl+b", "down", "down", "down", "enter")
            await shown.sees("Build Log .*connected")
            await shown.sees(r"one(.|\n)*two")
            await shown.sees(r"  Build Log +2▕", gone=True)
            await shown.pilot.press("alt+down")
            await shown.sees("Only reports come here")
            await shown.say("not for people")
            assert shown.app.query_one("#composer").text == ""
            await shown.pilot.press("alt+up", "alt+up")
            await shown.sees("Default › Kyoto in May .*connected")


async def test_topics_and_channels_are_made_and_opened(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        await shown.pilot.press("ctrl+t")
        await shown.sees("A new topic")
        await shown.say("Trip")
        await shown.sees("Default › Trip .*connected")
        await shown.say("Where to?")
        await wait_until(lambda: shown.gateway.host.delivered)
        assert shown.gateway.host.delivered[0].thread_id == "t_1"
        await shown.pilot.press("ctrl+n")
        await shown.sees("A new channel")
        await shown.pilot.press("escape")
        await shown.sees("A new channel", gone=True)
        await shown.pilot.press("ctrl+n", *"Builds", "enter")
        await shown.sees("Builds .*connected")


async def test_a_message_in_a_split_channel_opens_its_thread(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        async with shown.gateway.wire() as wire:
            await wire.ask("channel.set_threads", chat_id=CHAT, on=True)
        await shown.until(lambda: shown.app.session.model.entry and shown.app.session.model.entry.threads)
        await shown.say("Plan a trip")
        await shown.sees("Default › .*connected")
        await shown.sees("Plan a trip")
        await shown.sees("on its way|waiting for", gone=True)
        lane = shown.app.session.model.place
        assert lane.thread_id
        await answered(shown.gateway, "To Oslo?", lane)
        await shown.sees("To Oslo")


async def test_a_lane_that_is_deleted_is_left(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        lane = await made(running, "channel", "Builds")
        async with terminal(running, place=lane) as shown:
            await shown.sees("Builds .*connected")
            async with running.wire() as wire:
                await wire.ask("channel.delete", chat_id=lane.chat_id)
            await shown.sees("Default .*connected")


@pytest.fixture
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "PAGE", 12)


def numbers(shown: Terminal) -> list[int]:
    """The numbers of the remarks in view."""
    return [int(line.split()[-1]) for line in shown.lane if "remark " in line]


async def press_until(shown: Terminal, key: str, seen: str) -> None:
    """Press a key until something is in view; nothing is left out on the way."""
    for _ in range(20):
        if seen in shown.lane:
            return
        before = numbers(shown)
        await shown.pilot.press(key)
        await shown.until(lambda: not shown.app.session._loading and not shown.app.session.is_changed)
        await shown.pilot.pause()
        after = numbers(shown)
        assert after == list(range(after[0], after[-1] + 1)), "nothing is left out"
        assert after[-1] >= before[0] - 1, "nothing is jumped over"
        assert after[0] <= before[-1] + 1, "nothing is jumped over"
    raise AssertionError(f"{seen} is not on\n{shown.screen}")


async def test_whoever_scrolls_up_reads_on_where_they_were(tmp_path: Path, short_pages: None) -> None:
    async with gateway(tmp_path) as running:
        for n in range(36):
            await running.service.hub.call(DEFAULT_LANE, calls.Sent(f"remark {n}"))
        async with terminal(running) as shown:
            await shown.sees("remark 35")
            await press_until(shown, "pageup", "remark 0")
            await shown.host(calls.Sent("the newest"))
            await shown.until(lambda: "the newest" in texts(shown.app.session.model.state))
            await shown.until(lambda: not shown.app.session.is_changed)
            assert "remark 0" in shown.lane, "what comes does not take the reader away"
            await shown.pilot.press("ctrl+end")
            await shown.sees("the newest")


async def test_a_hit_of_the_search_is_shown_in_its_lane_and_the_way_back(tmp_path: Path, short_pages: None) -> None:
    async with gateway(tmp_path) as running:
        lane = await made(running, "channel", "Builds")
        for n in range(40):
            await running.service.hub.call(lane, calls.Sent(f"{'the needle of ' if n == 8 else ''}remark {n}"))
        async with terminal(running) as shown:
            await shown.pilot.press("ctrl+f")
            await shown.type("needle")
            await shown.sees(r"Builds  Notice: the needle")
            await shown.pilot.press("enter")
            await shown.sees("Builds  earlier · Ctrl")
            await shown.sees(r"the needle of remark 8\n(.|\n)*remark 9")
            assert shown.app.query_one(".found")
            await press_until(shown, "pagedown", "remark 39")
            assert shown.app.session.model.excerpt is None, "reading on leads to the end"
            await shown.pilot.press("ctrl+f", *"needle")
            await shown.sees("1 found")
            await shown.pilot.press("down", "enter")
            await shown.sees("the needle")
            await shown.pilot.press("ctrl+end")
            await shown.sees("remark 39")
            await shown.pilot.press("ctrl+f", *"nothing like it")
            await shown.sees("Nothing was found")


async def test_a_hit_outside_of_iris_can_be_read(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        host = shown.gateway.host
        host.elsewhere = [
            Hit(session_id="s1", session="Old talk", role="user", snippet=[SnippetPart(text="a whale")], ts=1.0)
        ]
        host.sessions = {"s1": HostSession("Old talk", "cli", [SessionLine(role="user", text="I saw a whale", ts=1.0)])}
        await shown.pilot.press("ctrl+f", *"whale")
        await shown.sees(r"Old talk \(elsewhere\)  You: a whale")
        await shown.pilot.press("enter")
        await shown.sees(r"Old talk · cli .*\n(.|\n)*user: I saw a whale")
        await shown.pilot.press("escape")
        await shown.sees("I saw a whale", gone=True)


async def test_what_is_seen_is_read_on_all_devices(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        store = shown.gateway.service.store
        await answered(shown.gateway, "first")
        await shown.sees("first")
        await shown.until(lambda: not shown.app.session.model.state.unread)
        seen = await store.read(lambda conn: reading.place(conn, DEFAULT_LANE))
        assert seen
        shown.app.on_app_blur()
        await answered(shown.gateway, "second")
        await shown.sees("second")
        await shown.until(lambda: not shown.app.session.is_changed)
        assert shown.app.session.model.state.unread == {DEFAULT_LANE: 1}
        assert await store.read(lambda conn: reading.place(conn, DEFAULT_LANE)) == seen
        shown.app.on_app_focus()
        await shown.until(lambda: not shown.app.session.model.state.unread)


async def test_where_it_was_read_up_to_is_marked(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        lane = await made(running, "channel", "Builds")
        await answered(running, "fresh", lane)
        async with terminal(running) as shown:
            shown.app.session.open(lane)
            await shown.sees(r"new\n(.|\n)*fresh")


async def test_a_report_has_a_chip_and_is_answered_in_a_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watcher, "FOREIGN_EVERY", 0.01)
    async with gateway(tmp_path) as running:
        lane = await made(running, "channel", "Reports", automation=True)
        async with terminal(running, place=lane) as shown:
            await shown.sees("Nothing was said here yet")
            job = JobRef(id="j", name="Morning [brief]")
            report = {"message_id": "m_report", "role": "cron", "text": "Rain all [day]", "ts": 1.0, "order": 5}
            conn = connect(running.home.database)
            with transaction(conn):
                messages.record(conn, [Message(**report, chat_id=lane.chat_id, job=job)])
            conn.close()
            await shown.sees(r"⏰ Morning \[brief\](.|\n)*Rain all \[day\]")
            await shown.pilot.press("ctrl+r")
            await shown.sees(r"Answers ⏰ Morning \[brief\]")
            await shown.pilot.press("escape")
            await shown.sees(r"Answers ⏰", gone=True)
            await shown.pilot.press("ctrl+r")
            await shown.say("All day?")
            await shown.sees(r"Reports › Morning brief .*connected")
            await wait_until(lambda: running.host.delivered)
            assert running.host.delivered[0].reply_to == "m_report"


async def test_a_break_of_the_connection_is_shown_and_nothing_is_lost(tmp_path: Path, in_no_time: None) -> None:
    async with gateway(tmp_path) as first:
        device, port = await first.pair(), first.port
        async with terminal(first, client=first.client(device)) as shown:
            await first.service.stop()
            await shown.sees("connecting …")
            await shown.say("Are you there?")
            await shown.sees(r"Are you there\?\n.*waiting for the gateway")
            await shown.pilot.press("ctrl+q")
            await shown.sees("Not sent yet: 1")
            async with gateway(tmp_path, port=port) as second:
                await shown.sees("● connected")
                await handed(second.service.store)
                assert second.host.texts == ["Are you there?"]
                await shown.sees("waiting for the gateway", gone=True)
                await answered(second, "I am.")
                await shown.sees("I am")
                assert shown.screen.count("Are you there") == 1


async def test_a_device_that_is_revoked_ends_with_the_reason(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        device = await running.pair()
        async with terminal(running, client=running.client(device)) as shown, running.wire() as wire:
            await wire.ask("device.revoke", device_id=device.info.id)
            await wait_until(lambda: shown.app.return_value is not None)
            assert re.search("(?i)token", str(shown.app.return_value))


async def test_a_narrow_terminal_shows_lanes_on_demand(tmp_path: Path) -> None:
    async with chat(tmp_path, (60, 20)) as shown:
        assert not shown.app.query_one("#lanes").display
        await shown.pilot.press("ctrl+b")
        await shown.until(lambda: shown.app.query_one("#lanes").display)
        await shown.pilot.press("ctrl+b")
        await shown.until(lambda: not shown.app.query_one("#lanes").display)
        await shown.pilot.resize_terminal(*WIDE)
        await shown.until(lambda: shown.app.query_one("#lanes").display)
