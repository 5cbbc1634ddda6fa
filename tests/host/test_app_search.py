"""Search and devices in a real Chromium over a real host, as a person uses them."""

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, expect

from .browser import TURN, chromium, opened, say
from .gateway import Gateway

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module"),
]


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as launched:
        yield launched


async def test_search_opens_what_was_said(browser: Browser, running: Gateway) -> None:
    """Ctrl+K from another channel, a few letters, Enter: the message is there, marked, and has the focus."""
    async with opened(browser, running) as (page, _):
        await say(page, "rehearse plainnr about a platypus 鸭嘴兽")
        await expect(page.locator("article.answer").last).to_contain_text("A plain answer", timeout=TURN)
        await page.get_by_role("button", name="New channel").click()
        await page.get_by_role("textbox", name="Channel name").fill("Elsewhere")
        await page.get_by_role("textbox", name="Channel name").press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Elsewhere")

        for words in ("platyp", "嘴兽"):
            await page.keyboard.press("Control+k")
            await page.get_by_role("combobox", name="Search").fill(words)
            hit = page.get_by_role("group", name="Messages").get_by_role("option").first
            await expect(hit.locator("mark").first).to_have_text(re.compile(words, re.IGNORECASE))
            await page.keyboard.press("Escape")

        await page.keyboard.press("Control+k")
        await page.get_by_role("combobox", name="Search").fill("platypus")
        await page.get_by_role("group", name="Messages").get_by_role("option").first.click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Default")
        found = page.locator(".row.found")
        await expect(found).to_contain_text("platypus")
        await expect(found).to_be_in_viewport()

        await page.keyboard.press("Control+k")
        await page.get_by_role("combobox", name="Search").fill('")) NEAR/0 * NOT platypus OR (')
        await expect(page.get_by_role("dialog", name="Search")).to_be_visible()


async def test_a_device_is_shut_out_from_another(browser: Browser, running: Gateway) -> None:
    """The newest device is listed first, but for the one that asks; revoking it takes it to the pairing screen."""
    async with opened(browser, running) as (page, _), opened(browser, running) as (other, _):
        await page.get_by_role("button", name=re.compile("devices?$")).click()
        devices = page.get_by_role("dialog", name="Devices")
        await expect(devices).to_contain_text("this device", ignore_case=True)
        shown = devices.get_by_role("listitem").filter(has_not_text=re.compile("this device", re.IGNORECASE))
        await shown.filter(has_text="connected").first.get_by_role("button", name="Revoke").click()
        await devices.get_by_role("group").get_by_role("button", name="Revoke", exact=True).click()
        await expect(other.get_by_label("Code or link")).to_be_visible(timeout=TURN)
        await expect(page.get_by_label("Message", exact=True)).to_have_count(1)
