"""Notifications from end to end in a real Chromium: asked for by a press, delivered by a push service that reads what
comes, shown by the service worker, and gone once they are read.

Only the browser's own connection to its push service is missing: what the service got is handed to the browser as that
connection would (`ServiceWorker.deliverPushMessage`).
"""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, CDPSession, Locator, Page, Worker, expect

import push_service
from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.config import Home
from hermes_iris.store import pushes
from host.browser import chromium, paired, until
from push_service import PushService
from support import Gateway, gateway, wait_until

from .kit import TOUCH, answered

SUBSCRIPTION = """({ endpoint, p256dh, auth }) => {
    const KEY = "test.subscription";
    const made = (key) => ({
        endpoint,
        options: { applicationServerKey: Uint8Array.from(JSON.parse(key)).buffer },
        toJSON: () => ({ endpoint, keys: { p256dh, auth } }),
        unsubscribe: async () => { localStorage.removeItem(KEY); return true; },
    });
    if (!("PushManager" in globalThis)) return;
    PushManager.prototype.getSubscription = async () => {
        const key = localStorage.getItem(KEY);
        return key === null ? null : made(key);
    };
    PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey }) => {
        if (Notification.permission !== "granted" || !userVisibleOnly) throw new Error("not allowed");
        const key = JSON.stringify([...new Uint8Array(applicationServerKey)]);
        localStorage.setItem(KEY, key);
        return made(key);
    };
}"""
"""A browser's subscription at the push service of the test, which stays over a reload."""

SHOWS = """async (expected) => {
    const shown = await (await navigator.serviceWorker.ready).getNotifications();
    const texts = shown.map(({ title, body }) => `${title}: ${body}`);
    return JSON.stringify(texts) === JSON.stringify(expected);
}"""

CLICK = """async () => {
    self.opened = [];
    clients.openWindow = async (url) => { self.opened.push(url); };
    const [notification] = await registration.getNotifications();
    self.dispatchEvent(new NotificationEvent("notificationclick", { notification }));
}"""
"""A press on the newest notification. Only a real one may open a window."""

NOTED = """() => {
    const find = clients.matchAll.bind(clients);
    clients.matchAll = async (options) => {
        const pages = await find(options);
        self.focused = pages.map((page) => page.focused);
        return pages;
    };
}"""
"""From here on the worker notes what it was told of the pages when it was called."""

HOME = DEFAULT_LANE.chat_id


@pytest.fixture
def service() -> Iterator[PushService]:
    with push_service.running() as service:
        yield service


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with gateway(tmp_path / "home", push_hosts=["127.0.0.1"]) as running:
        yield running


@dataclass
class Person:
    """Somebody at a browser that can be called."""

    running: Gateway
    page: Page
    context: BrowserContext
    cdp: CDPSession
    called: push_service.Browser
    registrations: list[str] = field(default_factory=list)
    delivered: int = 0

    @property
    def worker(self) -> Worker:
        return self.context.service_workers[0]

    @property
    def section(self) -> Locator:
        return self.page.get_by_role("group", name="Notifications", exact=True)

    async def settings(self) -> None:
        menu = self.page.locator(".menu-button")
        if await menu.is_visible():
            await menu.click()
        await self.page.get_by_role("button", name="Settings").click()

    async def turn_on(self) -> None:
        await self.settings()
        await self.section.get_by_role("button", name="Turn on").click()
        await expect(self.section.get_by_role("button", name="Turn off")).to_be_visible()

    async def wish(self, name: str, on: bool) -> None:
        await self.section.get_by_role("checkbox", name=name).set_checked(on)
        await expect(self.section).to_have_attribute("aria-busy", "false")

    async def leave(self) -> None:
        """Look at something else."""
        while await self.page.get_by_role("dialog").count():
            await self.page.keyboard.press("Escape")
        await self.cdp.send("Emulation.setFocusEmulationEnabled", {"enabled": False})
        other = await self.context.new_page()
        await other.bring_to_front()
        await until(self.page, "() => !document.hasFocus()")
        await wait_until(lambda: not self.running.service.herald._board.looks)

    async def come_back(self) -> None:
        await self.page.bring_to_front()
        await self.cdp.send("Emulation.setFocusEmulationEnabled", {"enabled": True})
        await until(self.page, "() => document.hasFocus()")

    async def hears(self, note: dict[str, Any]) -> None:
        """The browser gets a message from its push service."""
        message = {"origin": self.running.url, "registrationId": self.registrations[-1], "data": json.dumps(note)}
        await self.cdp.send("ServiceWorker.deliverPushMessage", message)

    async def pushed(self) -> None:
        """Let the browser have the next thing that came for it."""
        await wait_until(lambda: len(self.called.received) > self.delivered)
        self.delivered += 1
        await self.hears(self.called.notes[self.delivered - 1])

    async def shows(self, *texts: str) -> None:
        """Wait until these notifications are there, the newest first, and no others."""
        await until(self.page, SHOWS, list(texts))


@asynccontextmanager
async def person(
    browser: Browser, running: Gateway, service: PushService, *, allows: bool = True, **options: Any
) -> AsyncIterator[Person]:
    called = service.subscribe()
    link = f"{running.url}/#pair={await running.code()}"
    script = f"({SUBSCRIPTION})({json.dumps(called.subscription)})"
    if allows:
        options["permissions"] = ["notifications"]
    async with paired(browser, link, script=script, **options) as (page, context):
        cdp = await context.new_cdp_session(page)
        there = Person(running, page, context, cdp, called)
        cdp.on(
            "ServiceWorker.workerRegistrationUpdated",
            lambda event: there.registrations.extend(each["registrationId"] for each in event["registrations"]),
        )
        await cdp.send("ServiceWorker.enable")
        await page.wait_for_function("() => navigator.serviceWorker.controller !== null")
        yield there


async def garden(running: Gateway) -> Lane:
    """Another channel."""
    async with running.wire() as wire:
        return Lane((await wire.ask("channel.create", kind="channel", name="Garden"))["chat_id"])


@pytest.mark.parametrize("screen", [{}, TOUCH], ids=["desktop", "phone"])
async def test_from_an_answer_to_its_lane(
    browser: Browser, running: Gateway, service: PushService, screen: dict[str, Any]
) -> None:
    async with person(browser, running, service, **screen) as there:
        await there.turn_on()
        await there.leave()
        await answered(running, "The tea is ready.")
        await there.pushed()
        await there.shows("Iris: A new answer")
        await answered(running, "The cake, too.")
        await there.pushed()
        await there.shows("Iris: 2 new messages")
        await answered(running, "It has rained.", await garden(running))
        await there.pushed()
        await there.shows("Iris: A new answer", "Iris: 2 new messages")

        await there.worker.evaluate(CLICK)
        await expect(there.page.get_by_role("heading", level=1)).to_have_text("Garden")
        await expect(there.page.locator("article.answer")).to_contain_text("It has rained.")
        await there.shows("Iris: 2 new messages")
        await there.come_back()
        await there.page.keyboard.press("Alt+ArrowUp")
        await expect(there.page.locator("article.answer")).to_have_count(2)
        await there.shows()
    assert service.refused == []
    assert "rained" not in json.dumps(there.called.notes)


async def test_a_press_opens_the_app_at_the_lane_and_marks_it_as_read(
    browser: Browser, running: Gateway, service: PushService
) -> None:
    async with person(browser, running, service) as there, running.wire() as desk:
        lane = await garden(running)
        await there.turn_on()
        other = await there.context.new_page()
        there.cdp = await there.context.new_cdp_session(other)
        await there.cdp.send("ServiceWorker.enable")
        await there.page.close()
        await answered(running, "It has rained.", lane)
        await there.pushed()
        await until(there.worker, "async () => (await registration.getNotifications()).length === 1")
        await there.worker.evaluate(CLICK)
        (address,) = await there.worker.evaluate("self.opened")
        await other.goto(running.url + address)
        await expect(other.get_by_role("heading", level=1)).to_have_text("Garden")
        marked = await desk.until("read.marked", chat_id=lane.chat_id)
        assert marked["order"] >= there.called.notes[0]["order"]
        await until(other, SHOWS, [])


async def test_what_is_read_elsewhere_is_taken_back(browser: Browser, running: Gateway, service: PushService) -> None:
    async with person(browser, running, service) as there, running.wire() as desk:
        await there.turn_on()
        await there.leave()
        await answered(running, "The tea is ready.")
        await there.pushed()
        await there.shows("Iris: A new answer")
        # Before the gateway says so, to which the page would listen, too: here the push service alone tells it.
        note = there.called.notes[0]
        await there.hears({"type": "push.close", "chat_id": HOME, "order": note["order"] - 1})
        await there.hears({"type": "of.another.version", "chat_id": HOME})
        await there.hears({**note, "chat_id": "android:chan_1", "kind": "request"})
        await there.shows("Iris: Your agent asks you something", "Iris: A new answer")
        closing = {"type": "push.close", "chat_id": HOME, "order": note["order"]}
        await there.hears(closing)
        await there.shows("Iris: Your agent asks you something")
        await desk.ask("read.mark", chat_id=HOME, order=note["order"])
        await there.pushed()
        assert there.called.notes[1] == closing


async def test_the_app_in_the_foreground_shows_nothing(
    browser: Browser, running: Gateway, service: PushService
) -> None:
    async with person(browser, running, service) as there:
        lane = await garden(running)
        await there.turn_on()
        await there.page.keyboard.press("Escape")
        await answered(running, "The tea is ready.")
        await answered(running, "It has rained.", lane)
        await expect(there.page.get_by_role("button", name="Garden, 1 unread")).to_be_visible()
        note = {"type": "push.note", "chat_id": lane.chat_id, "kind": "final", "order": 1, "ts": 1.0}
        await there.worker.evaluate(NOTED)
        await there.hears(note)
        await until(there.worker, "() => self.focused?.includes(true)")
        await there.leave()
        await there.hears({**note, "chat_id": HOME})
        await there.shows("Iris: A new answer")
        assert there.called.received == [], "the gateway did not even call"


async def test_each_device_says_what_it_is_called_for(browser: Browser, running: Gateway, service: PushService) -> None:
    async with person(browser, running, service) as there:
        lane = await garden(running)
        await there.turn_on()
        await there.wish("Questions and approvals", False)
        await there.wish("Garden", False)
        await there.wish("Show what was said", True)
        (known,) = await running.service.store.read(pushes.listing)
        wishes = known.preferences
        assert (wishes.finals, wishes.requests, wishes.reports) == (True, False, True)
        assert (wishes.muted, wishes.details) == ([lane.chat_id], True)
        await there.page.reload()
        await there.settings()
        await expect(there.section.get_by_role("checkbox", name="Garden")).not_to_be_checked()
        await there.leave()
        await answered(running, "It has rained.", lane)
        await answered(running, "The **tea** is ready.")
        await there.pushed()
        await there.shows("Default: The **tea** is ready.")
        await there.come_back()
        await there.settings()
        await there.section.get_by_role("button", name="Turn off").click()
        await expect(there.section.get_by_role("button", name="Turn on")).to_be_visible()
        assert await running.service.store.read(pushes.listing) == []
        assert await there.page.evaluate("localStorage.getItem('test.subscription')") is None


async def test_a_call_speaks_the_language_of_the_app(browser: Browser, running: Gateway, service: PushService) -> None:
    async with person(browser, running, service) as there:
        await there.turn_on()
        await there.page.get_by_role("group", name="Language").get_by_role("radio", name="中文").check()
        await until(there.page, "() => document.documentElement.lang === 'zh-CN'")
        herald = running.service.herald
        await wait_until(lambda: [own.preferences.language for own in herald._subscriptions.values()] == ["zh"])
        await there.leave()
        await answered(running, "茶好了。")
        await there.pushed()
        await there.shows("Iris: 有新的回复")


async def test_a_gateway_with_another_key_gets_another_subscription(
    browser: Browser, tmp_path: Path, service: PushService
) -> None:
    async with gateway(tmp_path, push_hosts=["127.0.0.1"]) as first:
        port = first.port
        async with person(browser, first, service) as there:
            await there.turn_on()
            key = await there.page.evaluate("localStorage.getItem('test.subscription')")
            await first.service.stop()
            Home(tmp_path).push_key.unlink()
            async with gateway(tmp_path, port=port, push_hosts=["127.0.0.1"]) as second:
                there.running = second
                await until(
                    there.page, "(key) => ![key, null].includes(localStorage.getItem('test.subscription'))", key
                )
                await wait_until(lambda: second.service.herald._subscriptions)
                await there.leave()
                await answered(second, "The tea is ready.")
                await there.pushed()
                await there.shows("Iris: A new answer")
    assert service.refused == []


async def test_a_browser_that_was_told_no_says_so(browser: Browser, running: Gateway, service: PushService) -> None:
    async with person(browser, running, service, allows=False) as there:
        here = (await there.cdp.send("Target.getTargetInfo"))["targetInfo"]["browserContextId"]
        told = {"permission": {"name": "notifications"}, "setting": "denied", "browserContextId": here}
        await there.cdp.send("Browser.setPermission", {**told, "origin": running.url})
        await there.settings()
        await expect(there.section).to_contain_text("Blocked in this browser")
        await expect(there.section.get_by_role("button")).to_have_count(0)


async def test_a_gateway_that_cannot_says_what_is_missing(
    browser: Browser, tmp_path: Path, service: PushService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("post", "vapid"):
        monkeypatch.delitem(sys.modules, f"hermes_iris.push.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "httpcore", None)
    async with gateway(tmp_path) as running, person(browser, running, service) as there:
        await there.settings()
        await expect(there.section).to_contain_text("pip install 'hermes-iris[push]'")


async def test_without_a_secure_context_it_says_what_would_help(tmp_path: Path, service: PushService) -> None:
    async with (
        chromium("--host-resolver-rules=MAP iris.example 127.0.0.1") as browser,
        gateway(tmp_path, public_hosts=["iris.example"]) as running,
    ):
        link = f"{running.url.replace('127.0.0.1', 'iris.example')}/#pair={await running.code()}"
        page = await browser.new_page()
        await page.goto(link)  # nobody watches its console: it complains that the gateway's headers are of no use here
        await page.get_by_role("button", name="Settings").click()
        section = page.get_by_role("group", name="Notifications", exact=True)
        await expect(section).to_contain_text("over HTTPS")
        await page.close()
