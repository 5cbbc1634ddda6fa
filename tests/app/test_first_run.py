"""The first minutes: what an empty lane offers, steps on the rehearsal model, and how a real one is connected."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from hermes_iris import hostconfig
from hermes_iris.config import Home
from hermes_iris.rehearsal.script import choose
from host.browser import say
from support import Gateway, gateway, wait_until

from .kit import TOUCH, answered, opened


@pytest.fixture
async def rehearsing(tmp_path: Path) -> AsyncIterator[Gateway]:
    """A gateway of a home whose model is the rehearsal."""
    home = Home(tmp_path / "home")
    home.root.mkdir()
    home.host_config.write_text(hostconfig.merge("", hostconfig.private(4711)))
    async with gateway(home.root) as running:
        yield running


@pytest.mark.parametrize("screen", [{}, TOUCH], ids=["desktop", "phone"])
async def test_steps_lead_from_one_scene_to_the_next(
    browser: Browser, rehearsing: Gateway, screen: dict[str, Any]
) -> None:
    async with opened(browser, rehearsing, **screen) as page:
        steps = page.get_by_role("list", name="What to try")
        await steps.get_by_role("button", name="Show me a tool").click()
        await expect(page.locator("article.mine")).to_have_text("Use a tool and tell me what you found")
        await wait_until(lambda: len(rehearsing.host.texts) == 1)
        await answered(rehearsing, "The run was real.")
        guide = page.get_by_role("group", name="What to try")
        await expect(guide.get_by_role("button", name="Think about it")).to_be_visible()
        await expect(guide.get_by_role("button", name="Show me a tool")).to_have_count(0)
        await guide.get_by_role("button", name="Think about it").click()
        await expect(page.locator("article.mine")).to_have_count(2)
        await guide.get_by_role("button", name="Connect a real model").click()
        dialog = page.get_by_role("dialog", name="Connect a real model")
        await expect(dialog).to_contain_text("model:\n  default: name-of-the-model")
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await page.keyboard.press("Escape")
        await expect(guide.get_by_role("button", name="Connect a real model")).to_be_focused()
        await guide.get_by_role("button", name="Show no more of these").click()
        await expect(guide).to_have_count(0)
        await page.reload()
        await expect(page.locator("article.mine")).to_have_count(2)
        await expect(guide).to_have_count(0)
    assert [choose(text) for text in rehearsing.host.texts] == ["tool", "riddle"]


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
async def test_the_rehearsal_knows_every_step(browser: Browser, rehearsing: Gateway, locale: str) -> None:
    # By another label of the field than `opened` waits for, so that both languages are asked.
    context = await browser.new_context(locale=locale)
    page = await context.new_page()
    await page.goto(f"{rehearsing.url}/#pair={await rehearsing.code()}")
    steps = page.locator(".empty-lane ul button, .guide ul button:not(.strong)")
    await expect(steps).to_have_count(6)
    for taken in range(6):
        await steps.first.click()
        await wait_until(lambda taken=taken: len(rehearsing.host.texts) == taken + 1)
        await expect(steps).to_have_count(5 - taken)
    scenes = {choose(text) for text in rehearsing.host.texts}
    assert scenes == {"tool", "riddle", "clarify", "long", "toolerr", "menu"}
    await context.close()


async def test_a_real_model_is_asked_in_ones_own_time(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as page:
        await page.get_by_role("list", name="Suggestions").get_by_role("button").first.click()
        field = page.get_by_label("Message", exact=True)
        await expect(field).to_have_value("What can you do for me?")
        await expect(field).to_be_focused()
        await say(page, "What can you do?")
        await wait_until(lambda: running.host.texts == ["What can you do?"])
        await answered(running, "A lot.")
        await expect(page.locator("article.answer")).to_have_count(1)
        await expect(page.get_by_role("button", name="Connect a real model")).to_have_count(0)
