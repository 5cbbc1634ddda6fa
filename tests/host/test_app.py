"""The app in a real Chromium over a real host: what the person sees of a turn."""

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, expect

from .browser import DESKTOP, PHONE, TURN, all_drawn, assert_nothing_is_open, chromium, new_code, opened, say
from .gateway import Gateway

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module"),
]


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as launched:
        yield launched


async def test_tool_turn_as_the_person_sees_it(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        assert "pair" not in page.url, "the code stays in the address"
        await say(page, "rehearse tool")
        await expect(page.locator("article.mine")).to_have_text("rehearse tool")
        await expect(page.get_by_role("button", name="Stop")).to_be_visible(timeout=TURN)

        answer = page.locator("article.answer")
        await expect(answer).to_contain_text("The run was real.", timeout=TURN)
        await expect(page.get_by_role("button", name="Send")).to_be_visible()
        await expect(page.locator("article.remark")).to_contain_text("I'll look around first.")
        await expect(page.locator("article.remark .reasoning-text")).to_have_text(
            "A tool is wanted. Listing a folder is harmless."
        )
        await expect(answer.locator(".reasoning-text")).to_have_text("The listing is here. I quote it.")

        row = page.locator("li.tool")
        await expect(row).to_have_count(1)
        await expect(row.get_by_role("img", name="done")).to_be_visible()
        await expect(row).to_contain_text("terminal")
        await expect(row).to_contain_text("pwd && ls")
        await expect(row.locator(".tool-time")).to_have_text(re.compile(r"[\d.]+ s"))
        await row.get_by_role("button").first.click()
        await expect(row.locator(".tool-detail")).to_contain_text("Output")
        await expect(row.locator(".tool-detail")).to_contain_text("/")
        await expect(page.locator(".turn-end .facts")).to_contain_text("iris-rehearsal")
        await expect(page.locator(".turn-end .facts")).to_contain_text("tokens")

        order = await page.locator("article.mine, article.remark, ul.tools, article.answer").evaluate_all(
            "nodes => nodes.map(node => node.className.split(' ')[0])"
        )
        assert order == ["mine", "remark", "tools", "answer"]
        await assert_nothing_is_open(page)

        before = await page.locator("article, ul.tools").all_inner_texts()
        await page.reload()
        await expect(page.locator("article.answer")).to_contain_text("The run was real.")
        after = await page.locator("article, ul.tools").all_inner_texts()
        assert [text.split("\n")[0] for text in after] == [text.split("\n")[0] for text in before]


async def test_two_devices_see_the_same(browser: Browser, running: Gateway) -> None:
    """A phone that is open beside the desktop follows live, and nothing overflows its width."""
    async with opened(browser, running) as (desktop, _):
        phone_options = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "color_scheme": "dark"}
        async with opened(browser, running, **phone_options) as (phone, _):
            await say(desktop, "rehearse long")
            for page in (desktop, phone):
                await expect(page.locator("article.answer").last).to_contain_text(
                    "That was the rehearsal of a long answer.", timeout=TURN
                )
            width, inner = await phone.evaluate("[document.documentElement.scrollWidth, innerWidth]")
            assert width <= inner
            assert await phone.locator("article.answer table").count() > 0


async def test_stop_button(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await say(page, "rehearse slow")
        await expect(page.locator("article.answer").last).to_contain_text("This answer is slow", timeout=TURN)
        await page.get_by_role("button", name="Stop").click()
        await expect(page.locator(".turn-end").last).to_contain_text("Stopped", timeout=TURN)
        await assert_nothing_is_open(page)


async def test_killed_gateway_leaves_no_spinner(browser: Browser, running: Gateway) -> None:
    """The page says that the connection is gone, comes back by itself, and shows how far the answer came."""
    async with opened(browser, running) as (page, _):
        await expect(page.locator("article.answer, .column.is-empty").first).to_be_visible()  # what was before is here
        await all_drawn(page)
        before = await page.locator("article.answer").count()
        await say(page, "rehearse slow")
        answer = page.locator("article.answer").nth(before)
        await expect(answer).to_contain_text("This answer is slow on purpose", timeout=TURN)
        running.kill()
        await expect(page.get_by_role("status").filter(has_text="Not connected")).to_be_visible(timeout=TURN)
        await say(page, "rehearse plain")
        await expect(page.get_by_text("Not sent yet")).to_be_visible()
        running.start()
        await expect(page.locator("article.answer").last).to_contain_text("plain answer", timeout=2 * TURN)
        await assert_nothing_is_open(page)
        assert (await page.locator("article.mine").all_inner_texts())[-2:] == ["rehearse slow", "rehearse plain"]


async def test_wrong_code_is_told_and_can_be_mended(browser: Browser, running: Gateway) -> None:
    context = await browser.new_context(viewport=DESKTOP)
    page = await context.new_page()
    await page.goto(f"{running.url}/#pair=WRONG-CODE1")
    await expect(page.get_by_role("alert")).to_contain_text("used or is too old")
    await page.get_by_label("Code or link").fill(new_code(running).lower())
    await page.get_by_role("button", name="Pair").click()
    await expect(page.get_by_label("Message", exact=True)).to_be_visible()
    await context.close()
