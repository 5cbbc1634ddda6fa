"""Every main screen is clean for axe, in both themes, on a desktop and on a phone."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from hermes_iris import hostconfig, questions
from hermes_iris.address import DEFAULT_LANE
from hermes_iris.config import Home
from host.axe import assert_presentable, complaints
from server.test_desk import Waits
from support import CHAT, Gateway, gateway

from .kit import TOUCH, answered, opened

EVERYTHING = r"""# A heading

Words with `code`, *emphasis*, a [link](https://example.org), and $E = mc^2$.

| a | b | c |
|---|--:|---|
| one | 2 | a cell with a text that is long enough to make a table scroll on any phone, however wide it may be |

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"  # a comment that is long enough to make the block scroll on any screen, however wide it is
```

$$x = 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19 + 20 + 21 + 22 + 23 + 24$$

- [x] done
- [ ] not done

1. one

   ```sh
   ls
   ```

> quoted ![a picture](https://example.org/a.png)
"""

SCREENS = {
    f"{size}-{theme}": {**options, "color_scheme": theme, "reduced_motion": "reduce"}
    for size, options in {"desktop": {}, "phone": TOUCH}.items()
    for theme in ("light", "dark")
}


@pytest.fixture(params=list(SCREENS))
def screen(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(SCREENS[request.param])


async def press(page: Page, name: str) -> None:
    """A button of the left column, which is a drawer on a phone."""
    if await page.get_by_role("button", name="Channels", exact=True).is_visible():
        await page.get_by_role("button", name="Channels", exact=True).click()
    await page.locator("#sidebar").get_by_role("button", name=name).click()


async def test_before_and_after_pairing(browser: Browser, tmp_path: Path, screen: dict[str, Any]) -> None:
    home = Home(tmp_path / "home")
    home.root.mkdir()
    home.host_config.write_text(hostconfig.merge("", hostconfig.private(4711)))
    async with gateway(home.root, link_base="https://iris.example") as running:
        context = await browser.new_context(**screen)
        page = await context.new_page()
        await page.goto(running.url)
        await expect(page.get_by_label("Code or link")).to_be_visible()
        await assert_presentable(page, "pairing")
        await context.close()
        async with opened(browser, running, **screen) as page:
            await expect(page.get_by_role("list", name="What to try")).to_be_visible()
            await assert_presentable(page, "empty lane")
            await page.get_by_role("button", name="Connect a real model").click()
            await expect(page.get_by_role("dialog", name="Connect a real model")).to_be_visible()
            await assert_presentable(page, "connect a model")
            await page.keyboard.press("Escape")
            await press(page, "Connected")
            await expect(page.get_by_role("dialog", name="Devices")).to_be_visible()
            await assert_presentable(page, "devices")
            await page.get_by_role("button", name="Pair a phone").click()
            await expect(page.get_by_role("img", name="QR code")).to_be_visible()
            await assert_presentable(page, "invitation")


async def test_a_lane_with_everything(browser: Browser, running: Gateway, screen: dict[str, Any]) -> None:
    async with opened(browser, running, **screen) as page:
        await page.get_by_label("Message", exact=True).fill("Please look at these")
        await page.locator('input[type="file"]').first.set_input_files(
            [
                {"name": "a.png", "mimeType": "image/png", "buffer": PIXEL},
                {"name": "b.txt", "mimeType": "text/plain", "buffer": b"b"},
            ]
        )
        await expect(page.get_by_role("button", name="Remove a.png")).to_be_visible()
        await assert_presentable(page, "files to send")
        await page.get_by_role("button", name="Send", exact=True).click()
        await expect(page.locator("article.mine.delivered")).to_be_visible()
        await answered(running, EVERYTHING)
        await expect(page.locator("math")).to_have_count(2)
        await running.service.desk.open(
            DEFAULT_LANE, questions.approval("rm -r x", "recursive delete", None, session=True, permanent=True), Waits()
        )
        await expect(page.get_by_role("heading", name="Allow this command?")).to_be_visible()
        await page.locator("li.tool").get_by_role("button").first.click()
        await expect(page.locator(".tool-detail")).to_contain_text("README.md")
        await assert_presentable(page, "lane")
        await page.get_by_role("button", name="Channel menu").click()
        await expect(page.get_by_role("menu")).to_be_visible()
        await assert_presentable(page, "menu")
        await page.keyboard.press("Escape")
        await page.get_by_label("Message", exact=True).fill("/n")
        await expect(page.get_by_role("option", name="/new")).to_be_visible()
        await assert_presentable(page, "commands")
        await page.get_by_label("Message", exact=True).fill("")
        await page.get_by_role("button", name="Open a.png").click()
        await expect(page.get_by_role("dialog", name="a.png")).to_be_visible()
        await assert_presentable(page, "picture")


async def test_what_lies_over_a_lane(browser: Browser, running: Gateway, screen: dict[str, Any]) -> None:
    async with running.wire() as wire:
        await wire.ask("channel.create", kind="channel", name="Cron Reports")
        await wire.ask("channel.set_threads", chat_id=CHAT, on=True)
        await wire.ask("channel.create", kind="thread", parent_chat_id=CHAT, name="A topic")
    async with opened(browser, running, **screen) as page:
        await answered(running, "A platypus was seen.")
        await expect(page.get_by_role("navigation", name="Topics")).to_be_visible()
        await assert_presentable(page, "topics")
        menu = page.get_by_role("button", name="Channels", exact=True)
        if await menu.is_visible():
            await menu.click()
            await expect(page.get_by_role("button", name="Close channels")).to_be_visible()
            await assert_presentable(page, "drawer")
            await page.keyboard.press("Escape")
        await press(page, "Settings")
        await expect(page.get_by_role("dialog", name="Settings")).to_be_visible()
        await assert_presentable(page, "settings")
        await page.keyboard.press("Escape")
        if await page.get_by_role("button", name="Close channels").is_visible():
            await page.keyboard.press("Escape")
        await page.keyboard.press("Control+k")
        await expect(page.get_by_role("option").first).to_be_visible()
        await assert_presentable(page, "switcher")
        await page.get_by_role("combobox", name="Search").fill("platypus")
        await expect(page.get_by_role("option").filter(has_text="was seen")).to_be_visible()
        await assert_presentable(page, "search")
        await page.get_by_role("combobox", name="Search").fill("nothing of that kind")
        await expect(page.get_by_text("Nothing was found")).to_be_visible()
        await assert_presentable(page, "nothing found")


async def test_axe_would_find_something(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as page:
        await page.evaluate("document.querySelector('.composer textarea').removeAttribute('aria-label')")
        await page.evaluate("document.querySelector('.composer textarea').removeAttribute('placeholder')")
        assert any(line.startswith("label:") for line in await complaints(page))


PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c020000000b4944415478da6364f80f00010501012718e366"
    "0000000049454e44ae426082"
)
