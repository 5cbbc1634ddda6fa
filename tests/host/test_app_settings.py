"""The settings of one browser in a real Chromium over a real host: each acts at once, and only there."""

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Page, expect

from .browser import PHONE, TURN, all_drawn, assert_nothing_is_open, chromium, opened, say
from .gateway import Gateway

pytestmark = [
    pytest.mark.browser,
    pytest.mark.only_beside("v22"),
    pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module"),
]


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as launched:
        yield launched


async def open_settings(page: Page) -> None:
    menu = page.locator(".menu-button")
    if await menu.is_visible():
        await menu.click()
    await page.get_by_role("button", name="Settings").click()


async def choose(page: Page, setting: str, choice: str) -> None:
    """Open the dialog, choose as a person does, close it by the keyboard."""
    await open_settings(page)
    await page.get_by_role("group", name=setting).get_by_role("radio", name=choice, exact=True).check()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    if await page.get_by_role("button", name="Close channels").is_visible():
        await page.keyboard.press("Escape")


async def background(page: Page) -> str:
    return str(await page.evaluate("getComputedStyle(document.body).backgroundColor"))


async def test_theme_and_text_size_stay_in_this_browser(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, context), opened(browser, running) as (other, _):
        light = await background(page)
        await choose(page, "Theme", "Dark")
        assert await background(page) != light
        await say(page, "rehearse plainnr")
        answer = page.locator("article.answer").last
        await expect(page.locator(".turn-end").last).to_be_visible(timeout=TURN)
        height = "node => node.getBoundingClientRect().height"
        before = await page.locator("article.mine").last.evaluate(height)
        await choose(page, "Text size", "Larger")
        assert await page.locator("article.mine").last.evaluate(height) > before * 1.2
        await page.reload()
        await expect(answer).to_be_visible()
        assert await background(page) != light
        assert await page.locator("article.mine").last.evaluate(height) > before * 1.2
        assert await background(other) == light
        second = await context.new_page()
        await second.goto(page.url)
        await expect(second.get_by_label("Message", exact=True)).to_be_visible()
        await choose(second, "Theme", "Light")
        await expect(page.locator("html[data-theme=light]")).to_have_count(1)
        assert await background(page) == light


async def test_what_is_shown_of_a_turn(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await say(page, "rehearse tool")
        await expect(page.locator("article.answer").last).to_contain_text("The run was real.", timeout=TURN)
        await assert_nothing_is_open(page)
        tools = page.locator("ul.tools")
        await expect(tools).to_have_count(1)
        await choose(page, "Tool calls", "Nothing")
        await expect(tools).to_have_count(0)
        await expect(page.locator("article.answer").last).to_contain_text("The run was real.")
        await choose(page, "Tool calls", "Everything")
        await expect(tools.locator(".tool-detail")).to_contain_text("Output")
        await choose(page, "Tool calls", "Truncated")
        await expect(tools).to_have_count(1)
        await expect(page.locator(".tool-detail")).to_have_count(0)

        await say(page, "rehearse longr")
        thoughts = page.locator(".reasoning").last.get_by_role("button", name="Reasoning").first
        await expect(page.locator(".turn-end")).to_have_count(2, timeout=TURN)
        await expect(thoughts).to_have_attribute("aria-expanded", "false")
        await choose(page, "Long reasoning", "Open")
        await expect(thoughts).to_have_attribute("aria-expanded", "true")

        await choose(page, "Replies", "At once")
        await all_drawn(page)
        answers = await page.locator("article.answer").count()
        await say(page, "rehearse slow")
        await expect(page.locator(".working")).to_contain_text("Working", timeout=TURN)
        async with opened(browser, running) as (other, _):
            await expect(other.locator("article.answer").last).to_contain_text("This answer is slow", timeout=TURN)
            await expect(page.locator("article.answer")).to_have_count(answers)
        await page.get_by_role("button", name="Stop").click()
        await expect(page.locator("article.answer").last).to_contain_text("This answer is slow", timeout=TURN)


@pytest.mark.parametrize("size", ["desktop", "phone"])
async def test_enter_and_the_dialog(browser: Browser, running: Gateway, size: str) -> None:
    options = {"viewport": PHONE, "has_touch": True, "is_mobile": True} if size == "phone" else {}
    async with opened(browser, running, **options) as (page, _):
        await choose(page, "To send, press", "Ctrl + Enter")
        field = page.get_by_label("Message", exact=True)
        await field.fill("rehearse plainnr")
        await field.press("Enter")
        await expect(field).to_have_value("rehearse plainnr\n")
        await all_drawn(page)
        count = await page.locator("article.mine").count()
        await field.press("Control+Enter")
        await expect(page.locator("article.mine")).to_have_count(count + 1)
        await expect(page.locator(".turn-end").last).to_be_visible(timeout=TURN)

        await open_settings(page)
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_be_visible()
        width, inner = await dialog.evaluate("node => [node.scrollWidth, node.clientWidth]")
        assert width <= inner
        for label in await dialog.locator("label").all():
            cut = await label.locator("span").evaluate("node => node.scrollWidth > node.clientWidth")
            assert not cut, await label.inner_text()
