"""A person takes part in a room from the app, in a real browser over a real server; others are clients of their own."""

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page, expect

from hermes_iris.meeting.signals import Lease, Revoke, Rule, Stop, Tripped
from host.axe import assert_presentable
from host.browser import PHONE, chromium, say
from support import Gateway, gateway, wait_until

from .app import NAME, configure, in_room, opened
from .presence import Presence, present
from .server import PERSON, ROOM, XmppServer, password

TURN = 20_000
"""Milliseconds that something may take to get through a room."""

KEYS = """(field, keys) => keys.forEach((key) =>
    field.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true })))"""
"""Presses keys faster than anything is drawn."""


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as browser:
        yield browser


@pytest.fixture
async def running(server: XmppServer, tmp_path: Path) -> AsyncIterator[Gateway]:
    async with in_room(tmp_path / "home", server) as running:
        yield running


@pytest.fixture
async def mohe(server: XmppServer, running: Gateway, tmp_path: Path) -> AsyncIterator[Presence]:
    """Another client in the room, with the account of an agent."""
    async with present(server.account("mohe"), tmp_path / "mohe") as mohe:
        await mohe.until_joined()
        yield mohe


async def assert_said(page: Page, name: str, text: str) -> None:
    await expect(page.get_by_role("article", name=name).filter(has_text=text)).to_be_visible(timeout=TURN)


async def test_a_person_takes_part(browser: Browser, running: Gateway, mohe: Presence) -> None:
    async with opened(browser, running) as page:
        await say(page, "Good morning, @mohe")
        await mohe.until(lambda: mohe.texts == ["Good morning, @mohe"])
        told = mohe.heard[0].sender
        assert (told.nick, told.kind.value, told.own) == ("Ada", "person", False)
        await expect(page.get_by_role("article", name="You")).to_have_count(1)
        await expect(page.locator(".mine.delivered")).to_have_count(1)

        mohe.connection.composing(ROOM, True)
        await expect(page.get_by_text("mohe is writing")).to_be_visible(timeout=TURN)
        await mohe.say("Good morning, **Ada**", hop=1)
        await assert_said(page, "mohe, agent", "Good morning, Ada")
        await expect(page.get_by_text("mohe is writing")).to_have_count(0)
        await mohe.say("What is to be done?", hop=1)
        await expect(page.locator(".said.first")).to_have_count(1)

        await page.keyboard.press("Control+f")
        await page.get_by_role("combobox", name="Search").fill("morning")
        await expect(page.get_by_role("option")).to_have_count(2, timeout=TURN)
        await expect(page.get_by_role("option").first).to_contain_text("mohe")
        await page.keyboard.press("Escape")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("screen", [{}, {"viewport": PHONE, "has_touch": True, "is_mobile": True}])
async def test_a_room_is_clean_for_axe(
    browser: Browser, running: Gateway, mohe: Presence, theme: str, screen: dict[str, object]
) -> None:
    async with opened(browser, running, color_scheme=theme, reduced_motion="reduce", **screen) as page:
        room = page.get_by_role("region", name="Room")
        await expect(room.get_by_role("button", name="Stop all")).to_be_visible(timeout=TURN)
        await assert_presentable(page, "empty room")
        await mohe.say("Good morning, **Ada**", hop=1)
        await assert_said(page, "mohe, agent", "Good morning, Ada")
        lease = Lease(time.time() + 3000, "Trip to Oslo")
        await mohe.connection.post(ROOM, "From my terminal", hop=0, signal=lease)
        await expect(room.get_by_text("mohe shares its terminal session “Trip to Oslo”")).to_be_visible(timeout=TURN)
        await mohe.connection.post(ROOM, "I pause.", hop=1, notice=True, signal=Tripped(Rule.RUN))
        await expect(room.get_by_text("mohe is silent until a person speaks")).to_be_visible(timeout=TURN)
        await assert_presentable(page, "room")
        await page.get_by_label("Message", exact=True).fill("Hi @")
        await expect(page.get_by_role("option").first).to_be_visible()
        await assert_presentable(page, "mentions")


async def test_what_a_person_types_is_seen_and_names_are_completed(
    browser: Browser, running: Gateway, mohe: Presence
) -> None:
    async with opened(browser, running) as page:
        field = page.get_by_label("Message", exact=True)
        await field.press_sequentially("Hi @x")
        await mohe.until(lambda: [on for _, on in mohe.composing] == [True])
        await expect(page.get_by_role("option", name="xiaoguo")).to_be_visible()
        await field.press("Escape")
        await expect(page.get_by_role("option")).to_have_count(0)
        await field.fill("")
        await field.press_sequentially("Hi @")
        await expect(page.get_by_role("option").first).to_contain_text("mohe")
        await field.evaluate(KEYS, ["ArrowDown", "ArrowUp", "Tab"])
        await expect(field).to_have_value("Hi @mohe ")
        await field.press("Enter")
        await mohe.until(lambda: mohe.texts == ["Hi @mohe "])
        await mohe.until(lambda: not mohe.composing[-1][1])
        await page.get_by_role("button", name="2 here: who").click()
        listed = page.get_by_role("list", name="Members").get_by_role("listitem")
        await expect(listed).to_contain_text(["Ada (you)", "mohe", "xiaoguo", "zhiwei"])
        await expect(listed.filter(has_text="not here")).to_have_count(2)
        await page.keyboard.press("Escape")
        await expect(listed).to_have_count(0)


async def test_a_phone_has_all_of_it(browser: Browser, running: Gateway, mohe: Presence) -> None:
    async with opened(browser, running, viewport=PHONE, has_touch=True, is_mobile=True) as page:
        field = page.get_by_label("Message", exact=True)
        await field.tap()
        await field.press_sequentially("@m")
        await page.get_by_role("option", name="mohe").tap()
        await expect(field).to_have_value("@mohe ")
        await field.press_sequentially("hello")
        await page.get_by_role("button", name="Send").tap()
        await mohe.until(lambda: mohe.texts == ["@mohe hello"])
        await mohe.say("A line without a place to break: " + "x" * 300, hop=1)
        await assert_said(page, "mohe, agent", "A line without")
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_stop_all_the_lease_and_limits_are_shown_and_acted_upon(
    browser: Browser, running: Gateway, mohe: Presence
) -> None:
    async with opened(browser, running) as page:
        room = page.get_by_role("region", name="Room")
        lease = Lease(time.time() + 3000, "Trip to Oslo")
        await mohe.connection.post(ROOM, "From my terminal", hop=0, signal=lease)
        await expect(room.get_by_text("mohe shares its terminal session “Trip to Oslo”")).to_be_visible(timeout=TURN)
        await room.get_by_role("button", name="Revoke what mohe shares").click()
        await mohe.until(lambda: any(said.signal == Revoke(mohe.account.jid) for said in mohe.heard))
        await mohe.connection.post(ROOM, "It is shared no longer.", hop=0, notice=True, signal=Lease(0.0))
        await expect(room.get_by_text("shares its terminal session")).to_have_count(0, timeout=TURN)

        await mohe.connection.post(ROOM, "I pause.", hop=1, notice=True, signal=Tripped(Rule.RUN))
        await expect(room.get_by_text("mohe is silent until a person speaks")).to_be_visible(timeout=TURN)

        await room.get_by_role("button", name="Stop all").click()
        await mohe.until(lambda: mohe.heard[-1].signal == Stop())
        assert not mohe.heard[-1].notice
        await expect(room.get_by_text("You stopped the agents.")).to_be_visible(timeout=TURN)
        await expect(room.get_by_text("mohe is silent")).to_have_count(0)
        await room.get_by_role("button", name="Let them go on").click()
        await expect(room.get_by_role("button", name="Stop all")).to_be_visible(timeout=TURN)
        await mohe.until(lambda: mohe.texts[-2:] == ["stop", "go on"])


async def test_a_server_that_is_killed_loses_and_doubles_nothing(
    browser: Browser, server: XmppServer, running: Gateway, mohe: Presence
) -> None:
    async with opened(browser, running) as page:
        room = page.get_by_role("region", name="Room")
        await say(page, "one")
        await mohe.until(lambda: mohe.texts == ["one"])
        await expect(page.locator(".mine.delivered")).to_have_count(1)  # it came back to this client as well
        server.kill()
        await expect(room.get_by_role("status").filter(has_text="Not in the room.")).to_be_visible(timeout=TURN)
        await say(page, "two")
        await mohe.connection.post(ROOM, "three", hop=1)
        await say(page, "four")
        await expect(page.get_by_text("Waiting for the room")).to_have_count(2)
        await page.reload()
        server.start()
        await expect(room.get_by_text("Not in the room.")).to_have_count(0, timeout=TURN)
        await mohe.until(lambda: len(mohe.texts) == 4)
        await expect(page.locator(".mine.delivered, .said")).to_have_count(4, timeout=TURN)
        assert sorted(mohe.texts) == ["four", "one", "three", "two"]
        shown = await page.locator(".mine.delivered .bubble, .said .words .markdown").all_inner_texts()
        assert [text.strip() for text in shown] == mohe.texts, "the order is that of the archive"
        assert [text for text in mohe.texts if text != "three"] == ["one", "two", "four"]


async def test_a_gateway_that_stops_and_comes_back_has_what_was_said_meanwhile(
    browser: Browser, server: XmppServer, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    async with in_room(home, server) as first, present(server.account("mohe"), tmp_path / "mohe") as mohe:
        await mohe.until_joined()
        async with opened(browser, first) as page:
            port = first.port
            await say(page, "one")
            await mohe.until(lambda: mohe.texts == ["one"])
            await first.service.stop()
            await mohe.say("two", hop=1)
            await mohe.say("three", hop=1)
            async with in_room(home, server, port=port):
                await assert_said(page, "mohe, agent", "three")
                await expect(page.locator(".mine, .said")).to_have_count(3)
                await expect(page.locator(".mine.delivered")).to_have_count(1)


async def test_a_wrong_password_is_told_and_the_rest_of_the_app_goes_on(
    browser: Browser, server: XmppServer, tmp_path: Path
) -> None:
    root = tmp_path / "home"
    configure(root, server, secret="not" + password(PERSON))
    async with gateway(root) as running, opened(browser, running) as page:
        room = page.get_by_role("region", name="Room")
        await expect(room.get_by_role("status")).to_contain_text("does not take the password", timeout=TURN)
        await page.get_by_role("button", name="Default").click()
        await say(page, "Hello, my own agent")
        await wait_until(lambda: running.host.texts == ["Hello, my own agent"])
        await page.get_by_role("button", name=NAME).click()
        await say(page, "kept until then")
        await expect(page.get_by_text("Waiting for the room")).to_be_visible()
