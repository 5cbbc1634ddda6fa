"""A person without a pointer gets everywhere, sees where they are, and comes back to where they were."""

from playwright.async_api import Browser, Page, expect

from support import Gateway

from .kit import TOUCH, answered, opened

FOCUS = """(({ activeElement: node }) =>
    node === document.body ? "nothing" : node.ariaLabel || node.innerText || node.localName)(document)"""

HEARD = """() => {
    const said = [];
    const hear = ({ target }) => {
        const near = target.nodeType === 1 ? target : target.parentElement;
        const text = near?.closest("[role=status], [aria-live=polite]")?.innerText.trim();
        if (text && said.at(-1) !== text) said.push(text);
    };
    const options = { subtree: true, childList: true, characterData: true };
    new MutationObserver((changes) => changes.forEach(hear)).observe(document.body, options);
    return said;
}"""


async def tabbed_through(page: Page, steps: int) -> list[str]:
    """What has the focus, one press of Tab after another; each of it shows that it has it."""
    seen = []
    for _ in range(steps):
        await page.keyboard.press("Tab")
        seen.append(str(await page.evaluate(FOCUS)))
        outline = await page.evaluate(
            "[document.activeElement, document.activeElement.closest('.composer-box')].some(node => node && "
            "(getComputedStyle(node).outlineStyle !== 'none' || getComputedStyle(node).boxShadow !== 'none'))"
        )
        assert outline or seen[-1] == "nothing", f"{seen[-1]} does not show that it has the focus"
    return seen


async def test_the_first_step_leads_to_the_composer(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as page:
        await answered(running, "An answer.")
        await page.get_by_role("button", name="Search everything").focus()
        await page.keyboard.press("Shift+Tab")
        skip = page.get_by_role("button", name="Go to the message field")
        await expect(skip).to_be_focused()
        await expect(skip).to_be_in_viewport()
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("Message", exact=True)).to_be_focused()
        await expect(skip).not_to_be_in_viewport()


async def test_tab_gets_to_everything_and_shows_where_it_is(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as page:
        await answered(running, "| a | b |\n|---|---|\n| 1 | 2 |\n\n```sh\nls\n```")
        await expect(page.locator("article.answer pre")).to_be_visible()
        await page.get_by_role("button", name="Go to the message field").focus()
        seen = await tabbed_through(page, 24)
        for name in (
            "Go to the message field",
            "New channel",
            "Settings",
            "Channel menu",
            "Conversation",
            "Code",
            "Table",
        ):
            assert name in seen, f"{name} is not among {seen}"
        assert "Message" in seen


async def test_a_dialog_keeps_the_focus_and_gives_it_back(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as page:
        for name, title in (
            ("Settings", "Settings"),
            ("Connected · 1 device", "Devices"),
            ("Search everything", "Search"),
        ):
            button = page.locator("#sidebar").get_by_role("button", name=name)
            await button.focus()
            await page.keyboard.press("Enter")
            dialog = page.get_by_role("dialog", name=title)
            await expect(dialog).to_be_visible()
            for _ in range(30):
                await page.keyboard.press("Tab")
                # Between its end and its beginning is the browser's own part.
                inside = await page.evaluate(
                    "document.activeElement === document.body || document.activeElement.closest('dialog') !== null"
                )
                assert inside, f"the focus left {title}"
            await page.keyboard.press("Escape")
            await expect(dialog).to_have_count(0)
            await expect(button).to_be_focused()


async def test_a_menu_and_a_search_give_the_focus_back(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as page:
        more = page.get_by_role("button", name="Channel menu")
        await more.focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("menuitem").first).to_be_focused()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Escape")
        await expect(more).to_be_focused()
        field = page.get_by_label("Message", exact=True)
        await field.focus()
        await page.keyboard.press("Control+k")
        await expect(page.get_by_role("combobox", name="Search")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(field).to_be_focused()


async def test_the_drawer_keeps_the_focus_and_gives_it_back(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running, **TOUCH) as page:
        menu = page.get_by_role("button", name="Channels", exact=True)
        await menu.focus()
        await page.keyboard.press("Enter")
        await expect(page.locator("#sidebar [aria-current]")).to_be_focused()
        for _ in range(15):
            await page.keyboard.press("Tab")
            assert await page.evaluate("document.activeElement.closest('main, .skip') === null"), "it left the drawer"
        await page.keyboard.press("Escape")
        await expect(menu).to_be_focused()
        await menu.press("Enter")
        await page.get_by_role("button", name="Search everything").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("combobox", name="Search")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(menu).to_be_focused()


async def test_a_reply_is_announced_once_and_politely(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as page:
        heard = await page.evaluate_handle(HEARD)
        await answered(running, "A long answer.\n\n" * 30)
        await expect(page.locator(".turn-end")).to_be_visible()
        await expect(page.get_by_role("status").filter(has_text="Reply complete")).to_have_count(1)
        assert await heard.json_value() == ["Replying", "Reply complete"]
        assert await page.locator('[role="log"]').get_attribute("aria-live") == "off"
