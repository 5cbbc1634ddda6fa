"""What the agent asks, commands and tool calls in a real Chromium over a real host, as a person uses them."""

import re
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from .browser import PHONE, TURN, all_drawn, assert_nothing_is_open, chromium, opened, say
from .gateway import Gateway

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module"),
]

PHONE_OPTIONS = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "color_scheme": "dark"}


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as launched:
        yield launched


def card(page: Page) -> Locator:
    """What waits for an answer above the composer."""
    return page.locator("section.request")


def asked(page: Page) -> Locator:
    """The last thing that was asked, at its place in the conversation."""
    return page.locator("article.asked").last


async def answer_of(page: Page, text: str) -> None:
    await expect(page.locator("article.answer").last).to_contain_text(text, timeout=TURN)


async def test_an_approval_is_answered_on_the_other_device(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (desktop, _), opened(browser, running, **PHONE_OPTIONS) as (phone, _):
        await say(desktop, "rehearse danger")
        for page in (desktop, phone):
            await expect(card(page)).to_contain_text("Allow this command?", timeout=2 * TURN)
            await expect(card(page).locator("pre")).to_contain_text("rm -rf")
            await expect(asked(page)).to_contain_text("Waiting for your answer")
        await expect(card(desktop).locator(".countdown")).to_have_text(re.compile(r"\d:\d\d"))
        width, inner = await phone.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width <= inner
        await card(phone).get_by_role("button", name="Allow once").tap()
        for page in (desktop, phone):
            await expect(card(page)).to_have_count(0)
            await expect(asked(page)).to_contain_text("Allow once — by")
        await answer_of(desktop, "You let me: the command ran.")
        await assert_nothing_is_open(desktop)
        order = await desktop.locator("article.mine, ul.tools, article.asked, article.answer").evaluate_all(
            "nodes => nodes.map(node => node.className.split(' ')[0])"
        )
        assert order == ["mine", "tools", "asked", "answer"]


async def test_an_approval_by_keyboard_after_a_reload(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await say(page, "rehearse danger")
        await expect(card(page)).to_be_visible(timeout=TURN)
        await page.reload()
        await expect(card(page)).to_be_visible(timeout=TURN)
        await page.get_by_label("Message", exact=True).focus()
        deny = card(page).get_by_role("button", name="Deny")
        for _ in range(6):  # past what stands before the field
            if not await deny.evaluate("button => button === document.activeElement"):
                await page.keyboard.press("Shift+Tab")
        await expect(deny).to_be_focused()
        await page.keyboard.press("Enter")
        await expect(asked(page)).to_contain_text("Deny — by")
        await answer_of(page, "The command did not run.")


async def test_a_typed_command_closes_the_card(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await say(page, "rehearse danger")
        await expect(card(page)).to_be_visible(timeout=TURN)
        await say(page, "/approve")
        await expect(card(page)).to_have_count(0, timeout=TURN)
        await expect(asked(page)).to_contain_text("Allow once")
        await answer_of(page, "You let me: the command ran.")


async def test_questions(browser: Browser, running: Gateway, host: str) -> None:
    async with opened(browser, running) as (page, _):
        await say(page, "rehearse clarify")
        await expect(card(page)).to_contain_text("Which colour should the rehearsal have?", timeout=TURN)
        await card(page).get_by_role("button", name="violet").click()
        if host == "v22":
            await expect(card(page)).to_contain_text("Which sizes?", timeout=TURN)
            await card(page).get_by_role("checkbox", name="M", exact=True).check()
            await card(page).get_by_role("checkbox", name="L", exact=True).check()
            await card(page).get_by_role("button", name="Answer with 2").click()
        await answer_of(page, "violet")
        await expect(card(page)).to_have_count(0)

        await say(page, "rehearse clarify")
        await expect(card(page)).to_contain_text("Which colour", timeout=TURN)
        await card(page).get_by_label("Another answer").fill("ochre")
        await card(page).get_by_label("Another answer").press("Enter")
        if host == "v22":
            await expect(card(page)).to_contain_text("Which sizes?", timeout=TURN)
            await card(page).get_by_role("button", name="Skip").click()
        await answer_of(page, "ochre")


async def test_commands_are_completed_and_confirmed(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await expect(page.get_by_role("button", name="Connected")).to_be_visible()
        field = page.get_by_label("Message", exact=True)
        await field.press_sequentially("/ne")
        offers = page.get_by_role("listbox", name="Commands")
        await expect(offers.get_by_role("option").first).to_contain_text("/new", timeout=TURN)
        await expect(offers.get_by_role("option").first).to_contain_text("[name]")
        await field.press("Tab")
        await expect(field).to_have_value("/new ")
        await expect(page.locator(".slash-reminder")).to_contain_text("[name]")
        await field.press("Enter")
        await expect(card(page)).to_be_visible(timeout=TURN)
        await card(page).get_by_role("button", name="Cancel").click()
        await expect(card(page)).to_have_count(0)
        await expect(asked(page)).to_contain_text("Cancel — by")

        await field.fill("/reasoning l")
        await expect(offers.get_by_role("option", name="low")).to_be_visible()
        await field.press("Escape")
        await expect(offers).to_have_count(0)
        await expect(field).to_have_value("/reasoning l")


async def test_the_model_picker(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await say(page, "/model")
        option = card(page).get_by_role("button", name="iris-rehearsal").first
        await expect(option).to_be_visible(timeout=TURN)
        await option.click()
        await expect(card(page)).to_have_count(0, timeout=TURN)
        await expect(asked(page)).to_contain_text("iris-rehearsal — by")


async def test_cron_from_the_composer(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await say(page, '/cron create "every 5h" "rehearse plainnr" --name "Made here"')
        await expect(page.locator(".notice").last).to_contain_text("Made here", timeout=TURN)


async def test_a_tool_call_in_full(browser: Browser, running: Gateway) -> None:
    """A long output is windowed; a difference and a picture are shown as such."""
    async with opened(browser, running) as (page, _):
        await say(page, "rehearse output")
        await answer_of(page, "Three outputs")
        rows = page.locator("ul.tools").last.locator("li.tool")
        await expect(rows).to_have_count(3)
        for at in range(3):
            await rows.nth(at).get_by_role("button").first.click()
        long = rows.nth(0).locator(".long-text")
        await expect(long).to_contain_text("line 1500 of 1500")
        assert await long.locator("pre > div").count() < 200
        await long.evaluate("box => { box.scrollTop = 0 }")
        await expect(long).to_contain_text("line 1 of 1500")
        await expect(rows.nth(1).locator(".hljs-addition").first).to_contain_text("+")
        picture = rows.nth(2).locator("img.tool-picture")
        await expect(picture).to_be_visible()
        assert await picture.evaluate("image => image.naturalWidth") > 0


async def test_a_turn_that_failed_is_tried_again(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await say(page, "rehearse error")
        await expect(page.locator(".turn-error").last).to_contain_text(
            "The rehearsal fails on request", timeout=2 * TURN
        )
        await page.reload()
        await expect(page.locator(".turn-error").last).to_contain_text("The rehearsal fails on request")
        await all_drawn(page)
        count = await page.locator("article.mine").count()
        await page.get_by_role("button", name="Retry").click()
        await expect(page.get_by_role("button", name="Earlier version")).to_have_count(1)
        await expect(page.locator("article.mine")).to_have_count(count)
        await expect(page.locator("article.mine").last).to_contain_text("rehearse error")
        await expect(page.get_by_role("button", name="Retry")).to_have_count(1, timeout=2 * TURN)
        await expect(page.locator(".turn-error")).to_have_count(1)
