"""The app without its gateway, in a real Chromium over a real host: it starts, shows, keeps and sends exactly once."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, WebSocketRoute, async_playwright, expect

from hermes_iris.client import new_id
from hermes_iris.config import Home
from hermes_iris.protocol.frames import DeviceRevoke
from hermes_iris.store import connect

from .browser import FLAGS, TURN, assert_nothing_is_open, away, chromium, executable, opened, say, until
from .gateway import Gateway

pytestmark = [
    pytest.mark.browser,
    pytest.mark.only_beside("v19"),
    pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module"),
]

SAVED = """expected => new Promise(resolve => {
    const opening = indexedDB.databases().then(([{ name }]) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => {
            const reading = request.result.transaction("lanes").objectStore("lanes").getAll();
            reading.onsuccess = () => {
                request.result.close();
                resolve(reading.result.some(lane => lane.entries.some(entry => entry.text?.includes(expected))));
            };
        };
    });
})"""
"""Whether a message with this text is in the browser's database."""


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as launched:
        yield launched


async def shell_is_kept(page: Page) -> None:
    """Wait until the app can start from this browser alone."""
    await page.wait_for_function("() => navigator.serviceWorker.controller !== null")


def times_stored(running: Gateway, text: str) -> int:
    conn = connect(Home(running.home).database)
    (count,) = conn.execute("SELECT COUNT(*) FROM messages WHERE text = ? AND role = 'user'", (text,)).fetchone()
    conn.close()
    return int(count)


async def reaches_the_store(running: Gateway, text: str) -> None:
    for _ in range(500):
        if times_stored(running, text):
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{text!r} was not stored\n{running.tail()}")


async def answered(page: Page) -> None:
    await expect(page.locator("article.answer").last).to_contain_text("plain answer", timeout=2 * TURN)
    await expect(page.locator(".turn-end").last).to_be_visible(timeout=TURN)


async def test_starts_and_shows_what_it_has(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, context):
        await say(page, "rehearse plain about a lighthouse")
        await answered(page)
        await until(page, SAVED, "plain answer")
        await shell_is_kept(page)
        with away(running):
            await page.close()
            page = await context.new_page()
            await page.goto(running.url)
            await expect(page.locator("article.mine")).to_have_text("rehearse plain about a lighthouse")
            await expect(page.locator("article.answer")).to_contain_text("plain answer")
            await expect(page.get_by_role("heading", level=1)).to_have_text("Default")
            await expect(page.get_by_role("status").filter(has_text="Not connected")).to_be_visible(timeout=TURN)
            await assert_nothing_is_open(page)
        await expect(page.get_by_role("status").filter(has_text="Not connected")).to_have_count(0, timeout=TURN)
        await expect(page.locator("article")).to_have_count(2)


async def test_written_without_a_gateway_is_sent_once_after_a_reload(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await shell_is_kept(page)
        texts = [f"rehearse plain number {number}" for number in range(3)]
        with away(running):
            await expect(page.get_by_role("status").filter(has_text="Not connected")).to_be_visible(timeout=TURN)
            for text in texts:
                await say(page, text)
            await expect(page.get_by_text("Not sent yet")).to_have_count(3)
            await page.reload()
            mine = page.locator("article.mine.pending .bubble")
            await expect(mine).to_have_text(texts)
        await expect(page.locator("article.mine.pending")).to_have_count(0, timeout=2 * TURN)
        shown = await page.locator("article.mine .bubble").all_inner_texts()
        assert [text for text in shown if text in texts] == texts
        assert [times_stored(running, text) for text in texts] == [1, 1, 1]


@pytest.mark.parametrize("stored", [True, False])
async def test_gateway_killed_between_the_message_and_its_acceptance(
    browser: Browser, running: Gateway, stored: bool
) -> None:
    """Whether or not it was written down before the gateway died: after a reload there is exactly one."""
    text = f"rehearse plain {'after' if stored else 'before'} the commit"
    cut = False

    def wire(route: WebSocketRoute) -> None:
        server = route.connect_to_server()

        def upwards(message: str | bytes) -> None:
            if stored or not cut:
                server.send(message)

        def downwards(message: str | bytes) -> None:
            if not cut:
                route.send(message)

        route.on_message(upwards)
        server.on_message(downwards)

    async with opened(browser, running, wire) as (page, _):
        await shell_is_kept(page)
        await expect(page.get_by_text(re.compile("^Connected"))).to_be_visible(timeout=TURN)
        cut = True
        await say(page, text)
        await expect(page.locator("article.mine.pending .bubble")).to_have_text(text)
        if stored:
            await reaches_the_store(running, text)
        with away(running):
            assert times_stored(running, text) == int(stored)
            await page.reload()
            await expect(page.locator("article.mine.pending .bubble")).to_have_text(text)
            cut = False
        await expect(page.locator("article.mine.pending")).to_have_count(0, timeout=2 * TURN)
        await expect(page.locator("article.mine .bubble").filter(has_text=text)).to_have_count(1)
        assert times_stored(running, text) == 1


async def test_two_pages_share_one_outbox(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (left, context):
        await shell_is_kept(left)
        right = await context.new_page()
        await right.goto(running.url)
        await expect(right.get_by_label("Message", exact=True)).to_be_visible()
        with away(running):
            for page in (left, right):
                await expect(page.get_by_role("status").filter(has_text="Not connected")).to_be_visible(timeout=TURN)
            await say(left, "rehearse plain from the left")
            await say(right, "rehearse plain from the right")
            for page in (left, right):
                await expect(page.locator("article.mine.pending .bubble")).to_have_text(
                    ["rehearse plain from the left", "rehearse plain from the right"]
                )
            await left.close()
        await expect(right.locator("article.mine.pending")).to_have_count(0, timeout=2 * TURN)
        for side in ("left", "right"):
            assert times_stored(running, f"rehearse plain from the {side}") == 1


async def test_drafts_stay_in_their_channel_over_a_reload(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        field = page.get_by_label("Message", exact=True)
        await field.fill("half a thought")
        await page.get_by_role("button", name="New channel").click()
        await page.get_by_role("textbox", name="Channel name").fill("Drafts")
        await page.get_by_role("textbox", name="Channel name").press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Drafts")
        await expect(field).to_have_value("")
        await field.fill("another one")
        await page.reload()
        await expect(field).to_have_value("another one")
        await page.keyboard.press("Alt+ArrowUp")
        await expect(field).to_have_value("half a thought")


async def test_a_new_version_is_offered_and_taken(browser: Browser, running: Gateway, host_python: Path) -> None:
    (worker,) = host_python.parent.parent.glob("lib/python3*/site-packages/hermes_iris/static/sw.js")
    built = worker.read_text()
    async with opened(browser, running) as (page, _):
        await shell_is_kept(page)
        await page.get_by_label("Message", exact=True).fill("in the middle of it")
        offer = page.get_by_role("status").filter(has_text="A new version of Iris is ready.")
        await expect(offer).to_have_count(0)
        try:
            with away(running):
                worker.write_text(built.replace('"version":"', '"version":"newer-'))
            await expect(offer).to_be_visible(timeout=TURN)
            async with page.expect_navigation():
                await offer.get_by_role("button", name="Reload").click()
            await expect(page.get_by_label("Message", exact=True)).to_have_value("in the middle of it")
            kept = await page.evaluate("caches.keys()")
            assert [name.startswith("iris-shell-newer-") for name in kept] == [True]
        finally:
            worker.write_text(built)


async def test_keeps_its_own_files_and_no_answer_of_the_gateway(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await shell_is_kept(page)
        assert await page.evaluate("fetch('/healthz').then(answer => answer.ok)")
        kept = await page.evaluate(
            "caches.keys().then(([name]) => caches.open(name)).then(cache => cache.keys())"
            ".then(requests => requests.map(request => new URL(request.url).pathname))"
        )
        assert "/" in kept
        assert all(
            re.fullmatch(r"/|/assets/[\w.-]+|/iris[\w.-]*\.(svg|png)|/manifest\.webmanifest", path) for path in kept
        )


async def test_nothing_stays_when_the_pairing_ends(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, context):
        await say(page, "rehearse plain secret")
        await answered(page)
        await until(page, SAVED, "plain secret")
        await page.get_by_label("Message", exact=True).fill("a secret draft")
        device = json.loads(await page.evaluate("localStorage.getItem('iris.device')"))["id"]
        async with running.client() as client:
            await client.request(DeviceRevoke(client_id=new_id(), device_id=device))
        await expect(page.get_by_label("Code or link")).to_be_visible(timeout=TURN)
        await until(page, "() => indexedDB.databases().then(found => found.length === 0)")
        assert "secret" not in json.dumps(await page.evaluate("({...localStorage})"))
        assert context.pages == [page]


async def test_chromium_finds_it_installable(running: Gateway, tmp_path: Path) -> None:
    async with async_playwright() as playwright:
        context: BrowserContext = await playwright.chromium.launch_persistent_context(
            tmp_path / "profile", executable_path=executable(), args=FLAGS
        )
        page = await context.new_page()
        await page.goto(running.url)
        await shell_is_kept(page)
        session = await context.new_cdp_session(page)
        found: dict[str, Any] = await session.send("Page.getInstallabilityErrors")
        manifest: dict[str, Any] = await session.send("Page.getAppManifest")
        await context.close()
    assert found["installabilityErrors"] == []
    assert manifest["errors"] == []
