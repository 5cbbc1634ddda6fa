"""What a person does with messages, in a real Chromium over a real host: with the mouse, the keys and a finger."""

import re
import secrets
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from .browser import PHONE, TURN, all_drawn, assert_nothing_is_open, away, chromium, opened, say
from .gateway import Gateway

pytestmark = [
    pytest.mark.browser,
    pytest.mark.only_beside("v22"),
    pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module"),
]

TOUCH = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
CLIPBOARD = ["clipboard-read", "clipboard-write"]


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as launched:
        yield launched


async def new_channel(page: Page, about: str) -> str:
    """Make a channel of a name of its own and be in it: by the palette, as a person at the keyboard would."""
    name = f"{about} {secrets.token_hex(3)}"
    await page.keyboard.press("Control+k")
    await page.get_by_role("combobox", name="Search").fill("new channel")
    await page.get_by_role("option", name="New channel").click()
    await page.get_by_label("Channel name").fill(name)
    await page.keyboard.press("Enter")
    await expect(page.locator("h1")).to_have_text(name)
    return name


async def ask(page: Page, text: str) -> Locator:
    """Say something and wait for the end of the turn; its answer."""
    await all_drawn(page)
    ends = await page.locator(".turn-end").count()
    await say(page, text)
    await expect(page.locator(".turn-end")).to_have_count(ends + 1, timeout=TURN)
    await assert_nothing_is_open(page)
    return page.locator("article.answer").last


def row(message: Locator) -> Locator:
    return message.locator("xpath=ancestor-or-self::div[contains(@class, 'row')]")


async def choose(page: Page, deed: str) -> None:
    await page.get_by_role("menuitem", name=deed, exact=True).click()
    await expect(page.get_by_role("menu")).to_have_count(0)


async def test_reply_is_quoted_jumps_and_reaches_the_agent(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, context):
        await new_channel(page, "Replies")
        answer = await ask(page, "rehearse plainnr")
        await ask(page, "rehearse long")
        await answer.first.scroll_into_view_if_needed()
        first = page.locator("article.answer").first
        await first.hover()
        await row(first).get_by_role("button", name="Message actions").click()
        await choose(page, "Reply")
        replying = page.locator(".replying")
        await expect(replying).to_contain_text("A plain answer of the rehearsal model")
        await expect(page.get_by_label("Message", exact=True)).to_be_focused()
        await page.reload()
        await expect(replying).to_contain_text("Agent")
        await ask(page, "rehearse echoctx")
        await expect(page.locator("article.answer").last).to_contain_text("without any thought before it.")
        quote = page.locator("button.quote")
        await expect(quote).to_contain_text("A plain answer of the rehearsal model")
        await quote.click()
        await expect(page.locator(".row.found")).to_contain_text("A plain answer")
        await expect(first).to_be_in_viewport()

        phone_page = await context.new_page()
        await phone_page.goto(page.url)
        await expect(phone_page.locator("button.quote")).to_contain_text("A plain answer")

        await replying.wait_for(state="detached")
        await page.get_by_label("Message", exact=True).focus()
        await page.locator("article.mine").last.click(button="right")
        await choose(page, "Reply")
        await expect(replying).to_contain_text("You")
        await page.keyboard.press("Escape")
        await expect(replying).to_have_count(0)


async def test_reply_written_offline_waits_with_its_quote(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await new_channel(page, "Offline replies")
        await ask(page, "rehearse plainnr")
        with away(running):
            await expect(page.get_by_role("status").filter(has_text="Not connected")).to_be_visible(timeout=TURN)
            await page.locator("article.answer").first.click(button="right")
            await choose(page, "Reply")
            await say(page, "rehearse echoctx")
            await expect(page.get_by_text("Not sent yet")).to_be_visible()
            await expect(page.locator("button.quote")).to_contain_text("A plain answer")
            await page.reload()
            await expect(page.locator("button.quote")).to_contain_text("A plain answer")
        await expect(page.locator("article.answer").last).to_contain_text("thought before it.", timeout=2 * TURN)
        await expect(page.locator("article.mine")).to_have_count(2)


async def test_edit_and_send_again_makes_the_agent_forget(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _), opened(browser, running) as (other, _):
        await new_channel(page, "Edits")
        await ask(page, "rehearse plainnr one")
        await ask(page, "rehearse plainnr tow")
        field = page.get_by_label("Message", exact=True)
        await field.fill("half a thought")
        await page.locator("article.mine").last.click(button="right")
        await choose(page, "Edit and send again")
        await expect(field).to_have_value("rehearse plainnr tow")
        await page.keyboard.press("Escape")
        await expect(field).to_have_value("half a thought")
        await page.locator("article.mine").last.click(button="right")
        await choose(page, "Edit and send again")
        await field.fill("rehearse echoctx two")
        await field.press("Enter")
        answer = page.locator("article.answer").last
        await expect(answer).to_contain_text("I was sent 2 user messages", timeout=TURN)
        await expect(answer).to_contain_text("rehearse echoctx two")
        await expect(answer).not_to_contain_text("tow")
        await expect(field).to_have_value("half a thought")
        fold = page.get_by_role("button", name="Earlier version")
        await expect(fold).to_have_count(1)
        await expect(page.locator("article.mine")).to_have_text(["rehearse plainnr one", "rehearse echoctx two"])
        await fold.click()
        await expect(page.locator(".past article.mine")).to_have_text("rehearse plainnr tow")
        await expect(page.locator(".past article.answer")).to_have_count(1)
        await fold.click()

        await other.goto(page.url)
        await expect(other.get_by_role("button", name="Earlier version")).to_be_visible()
        await page.locator("article.answer").last.click(button="right")
        await choose(page, "Ask again")
        await expect(page.get_by_role("button", name="2 earlier versions")).to_be_visible(timeout=TURN)
        await expect(page.locator(".turn-end")).to_have_count(2, timeout=TURN)
        await expect(answer).to_contain_text("I was sent 2 user messages")


async def test_what_is_being_answered_can_be_put_right(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await new_channel(page, "Hasty")
        await say(page, "rehearse slow")
        await expect(page.locator("article.answer")).to_contain_text("This answer is slow", timeout=TURN)
        await page.locator("article.mine").last.click(button="right")
        await choose(page, "Edit and send again")
        field = page.get_by_label("Message", exact=True)
        await field.fill("rehearse echoctx")
        await field.press("Enter")
        await expect(page.locator("article.answer").last).to_contain_text("I was sent 1 user message:", timeout=TURN)
        await assert_nothing_is_open(page)
        await expect(page.locator("article.notice")).to_have_count(0)


async def test_copy_link_and_delete_for_me(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, context), opened(browser, running) as (other, _):
        await context.grant_permissions(CLIPBOARD, origin=running.url)
        await new_channel(page, "Copies")
        await ask(page, "rehearse plain")
        await ask(page, "rehearse long")
        answer = page.locator("article.answer").first
        clipboard = "navigator.clipboard.readText()"
        await answer.click(button="right")
        await choose(page, "Copy text")
        await expect(page.get_by_text("Copied.", exact=True)).to_be_visible()
        assert (await page.evaluate(clipboard)).startswith("This is a plain answer of the rehearsal model")
        await answer.click(button="right")
        await choose(page, "Copy as Markdown")
        await expect(page.get_by_text("Copied.", exact=True)).to_have_count(2)
        assert (await page.evaluate(clipboard)).startswith("This is a **plain answer**")
        await answer.click(button="right")
        await choose(page, "Copy link")
        await expect(page.get_by_text("The link to this message was copied.")).to_be_visible()
        link = await page.evaluate(clipboard)
        assert re.fullmatch(re.escape(running.url) + r"/#/chan_\d+@\d+", link)

        found = context.pages[0]
        second = await context.new_page()
        await second.goto(link)
        for _ in range(2):
            await expect(second.locator(".row.found")).to_contain_text("This is a plain answer")
            await expect(second.locator("article.answer").first).to_be_in_viewport()
            await second.reload()
        await second.close()
        await found.evaluate("link => { location.href = link }", link)
        await expect(page.locator(".row.found")).to_contain_text("This is a plain answer")

        await other.goto(link)
        await expect(other.locator("article.answer")).to_have_count(2)
        await answer.click(button="right")
        await choose(page, "Delete for me")
        await expect(page.locator("article.answer")).to_have_count(1)
        await expect(other.locator("article.answer")).to_have_count(1)
        await page.get_by_role("button", name="Undo").click()
        await expect(page.locator("article.answer")).to_have_count(2)
        await expect(other.locator("article.answer")).to_have_count(2)
        await page.locator("article.mine").first.click(button="right")
        await choose(page, "Delete for me")
        await expect(other.locator("article.mine")).to_have_count(1)
        await page.reload()
        await expect(page.locator("article.mine")).to_have_text(["rehearse long"])


async def test_by_the_keyboard(browser: Browser, running: Gateway) -> None:
    """Every key of the sheet does what it says."""
    async with opened(browser, running) as (page, _):
        name = await new_channel(page, "Keys")
        field = page.get_by_label("Message", exact=True)
        await ask(page, "rehearse plainnr")
        await field.press("Shift+Enter")
        await expect(field).to_have_value("\n")
        await field.fill("")
        await field.press("ArrowUp")
        await expect(field).to_have_value("rehearse plainnr")
        await field.fill("")
        await field.press("?")
        await expect(field).to_have_value("?")
        await field.fill("")

        await field.press("Shift+Tab")
        focused = page.locator(":focus")
        for _ in range(12):
            if await focused.get_attribute("aria-label") == "Message actions":
                break
            await page.keyboard.press("Shift+Tab")
        await expect(focused).to_have_attribute("aria-label", "Message actions")
        await page.keyboard.press("Shift+F10")
        await expect(page.get_by_role("menuitem", name="Reply")).to_be_focused()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("menu")).to_have_count(0)
        await expect(focused).to_have_attribute("aria-label", "Message actions")
        await page.keyboard.press("ContextMenu")
        await expect(page.get_by_role("menuitem", name="Reply")).to_be_focused()
        await page.keyboard.press("r")
        await page.keyboard.press("Enter")
        await expect(page.locator(".replying")).to_be_visible()
        await expect(field).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page.locator(".replying")).to_have_count(0)

        for key in ("Control+/", "?"):
            if key == "?":
                await page.get_by_role("log").focus()
            await page.keyboard.press(key)
            sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
            await expect(sheet).to_be_visible()
            assert await sheet.locator("dt").count() == await sheet.locator("dd:has(kbd)").count() == 12
            await page.keyboard.press("Escape")
            await expect(page.locator("dialog")).to_have_count(0)

        heading = page.locator("h1")
        await page.keyboard.press("Alt+ArrowDown")
        await expect(heading).not_to_have_text(name)
        await page.keyboard.press("Alt+ArrowUp")
        await expect(heading).to_have_text(name)
        search = page.get_by_role("combobox", name="Search")
        for key, where in (("Control+k", "Everything"), ("Control+f", "This chat"), ("Control+Shift+f", "Everything")):
            await page.keyboard.press(key)
            await expect(search).to_be_focused()
            await expect(page.get_by_role("button", name=where, exact=True)).to_have_attribute("aria-pressed", "true")
            await page.keyboard.press("Escape")
            await expect(page.locator("dialog")).to_have_count(0)
        await page.keyboard.press("Alt+t")
        await expect(page.get_by_text("Threads are off in").or_(page.get_by_label("Topic name"))).to_be_visible()


async def test_the_palette_does_things(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):

        async def run(letters: str, option: str) -> None:
            await page.keyboard.press("Control+k")
            await page.get_by_role("combobox", name="Search").fill(letters)
            await expect(page.get_by_role("option", name=option)).to_have_attribute("aria-selected", "true")
            await page.keyboard.press("Enter")

        await run("dark", "Theme: dark")
        await expect(page.locator("html[data-theme=dark]")).to_have_count(1)
        await run("as the sys", "Theme: as the system")
        await expect(page.locator("html[data-theme=system]")).to_have_count(1)
        for letters, option, dialog in (
            ("sett", "Settings", "Settings"),
            ("dev", "Devices", "Devices"),
            ("short", "Keyboard shortcuts", "Keyboard shortcuts"),
        ):
            await run(letters, option)
            await expect(page.get_by_role("dialog", name=dialog)).to_be_visible()
            await page.keyboard.press("Escape")
            await expect(page.locator("dialog")).to_have_count(0)


async def test_with_a_finger(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running, **TOUCH) as (page, context):
        await page.get_by_role("button", name="Channels").click()
        await page.get_by_role("button", name="New channel").click()
        await page.get_by_label("Channel name").fill("Thumbs")
        await page.keyboard.press("Enter")
        await expect(page.locator("h1")).to_have_text("Thumbs")
        answer = await ask(page, "rehearse plainnr")
        box = await answer.bounding_box()
        assert box is not None
        cdp = await context.new_cdp_session(page)
        point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}

        async def hold() -> None:
            await cdp.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
            await expect(page.get_by_role("menu")).to_be_visible()
            await cdp.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

        await hold()
        for item in await page.get_by_role("menuitem").all():
            size = await item.bounding_box()
            assert size is not None
            assert size["height"] >= 44
        await page.get_by_role("menuitem", name="Reply").tap()
        await expect(page.locator(".replying")).to_contain_text("A plain answer")
        width, inner = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width <= inner
        await page.get_by_role("button", name="Cancel reply").tap()
        await hold()
        await page.get_by_role("menuitem", name="Select text").tap()
        assert "plain answer" in await page.evaluate("getSelection().toString()")
