"""A phone: the drawer by a finger, the back button, a keyboard on the screen."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, Page, expect

from support import Gateway

from .kit import TOUCH, answered, opened

WIDE = (
    "`" * 3
    + "\n"
    + "a line that is far too long for the screen of a phone, so that it goes to the side by itself\n"
    + "`" * 3
)


@asynccontextmanager
async def phone(browser: Browser, running: Gateway) -> AsyncIterator[Page]:
    async with running.wire() as wire:
        await wire.ask("channel.create", kind="channel", name="Cron Reports")
    async with opened(browser, running, **TOUCH) as page:
        yield page


async def at_cover(page: Page, wanted: bool) -> None:
    """Wait until the history is, or is not, at an entry for something that is open; by a promise, for the policy."""
    await page.evaluate(
        "wanted => new Promise(done => { const look = () => (history.state?.cover ?? false) === wanted"
        " ? done() : requestAnimationFrame(look); look(); })",
        wanted,
    )


async def swipe(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    """A finger that goes from one point to another."""
    session = await page.context.new_cdp_session(page)
    for kind, points in (
        ("touchStart", [start]),
        *(("touchMove", [_between(start, end, part / 8)]) for part in range(1, 9)),
        ("touchEnd", []),
    ):
        touches = [{"x": x, "y": y} for x, y in points]
        await session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})
    await session.detach()


def _between(start: tuple[float, float], end: tuple[float, float], part: float) -> tuple[float, float]:
    return start[0] + (end[0] - start[0]) * part, start[1] + (end[1] - start[1]) * part


async def test_the_drawer_follows_a_finger(browser: Browser, running: Gateway) -> None:
    async with phone(browser, running) as page:
        scrim = page.get_by_role("button", name="Close channels")
        await swipe(page, (8, 400), (180, 405))
        await expect(scrim).to_be_visible()
        await swipe(page, (300, 400), (120, 405))
        await expect(scrim).to_have_count(0)
        await swipe(page, (8, 400), (60, 600))
        await swipe(page, (300, 400), (389, 400))
        await expect(scrim).to_have_count(0)

        await answered(running, WIDE)
        code = page.locator("article.answer pre")
        await expect(code).to_be_visible()
        box = await code.bounding_box()
        assert box
        middle = box["y"] + box["height"] / 2
        await swipe(page, (box["x"] + 20, middle), (box["x"] + 200, middle))
        await expect(scrim).to_have_count(0)


async def test_back_closes_what_lies_over_the_chat_first(browser: Browser, running: Gateway) -> None:
    async with phone(browser, running) as page:
        menu = page.get_by_role("button", name="Channels", exact=True)
        await expect(page).to_have_url(re.compile("#/default$"))
        here = page.url
        await menu.tap()
        await page.get_by_role("button", name="Settings").tap()
        await expect(page.get_by_role("dialog", name="Settings")).to_be_visible()
        await page.go_back()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.get_by_role("button", name="Close channels")).to_be_visible()
        await page.go_back()
        await expect(page.get_by_role("button", name="Close channels")).to_have_count(0)
        await expect(menu).to_be_focused()
        assert page.url == here

        await page.get_by_role("button", name="Search in this chat").tap()
        await expect(page.get_by_role("dialog", name="Search")).to_be_visible()
        await page.go_back()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await page.get_by_role("button", name="Channel menu").tap()
        await expect(page.get_by_role("menu")).to_be_visible()
        await page.go_back()
        await expect(page.get_by_role("menu")).to_have_count(0)
        assert page.url == here


async def test_back_leads_from_lane_to_lane_whatever_was_open_between(browser: Browser, running: Gateway) -> None:
    async with phone(browser, running) as page:
        heading = page.get_by_role("heading", level=1)
        await expect(heading).to_have_text("Default")
        await page.get_by_role("button", name="Channels", exact=True).tap()
        await page.get_by_role("button", name="Settings").tap()
        await page.get_by_role("button", name="Close", exact=True).tap()
        await page.get_by_role("button", name="Cron Reports").tap()
        await expect(heading).to_have_text("Cron Reports")
        await expect(page).to_have_url(re.compile("chan_"))
        await page.go_back()
        await expect(heading).to_have_text("Default")
        await page.go_forward()
        await expect(heading).to_have_text("Cron Reports")

        # What is opened while something else is being left stays open.
        await page.get_by_role("button", name="Channels", exact=True).tap()
        await page.get_by_role("button", name="Close channels").tap(position={"x": 370, "y": 400})
        await page.keyboard.press("Control+k")
        await at_cover(page, True)
        await expect(page.get_by_role("dialog", name="Search")).to_be_visible()
        await page.go_back()
        await expect(page.get_by_role("dialog")).to_have_count(0)

        # What was closed by itself leaves nothing to go back to.
        await page.get_by_role("button", name="Search in this chat").tap()
        await page.get_by_role("button", name="Close", exact=True).tap()
        await at_cover(page, False)
        await page.go_back()
        await expect(heading).to_have_text("Default")


async def test_a_lane_that_is_opened_while_something_is_left_stays_open(browser: Browser, running: Gateway) -> None:
    async with phone(browser, running) as page:
        heading = page.get_by_role("heading", level=1)
        await expect(heading).to_have_text("Default")
        # A browser takes its time to go back: here, until the lane that the key opens has been drawn.
        await page.evaluate(
            """() => {
                const back = history.back.bind(history);
                history.back = () => {
                    dispatchEvent(new KeyboardEvent("keydown", { altKey: true, key: "ArrowDown" }));
                    const look = () => {
                        if (document.querySelector("h1").textContent === "Default") requestAnimationFrame(look);
                        else setTimeout(back);
                    };
                    look();
                };
            }"""
        )
        await page.get_by_role("button", name="Search in this chat").tap()
        await page.get_by_role("button", name="Close", exact=True).tap()
        await expect(heading).to_have_text("Cron Reports")
        await at_cover(page, False)
        await expect(page).to_have_url(re.compile("chan_"))
        await expect(heading).to_have_text("Cron Reports")
        await page.go_back()
        await expect(heading).to_have_text("Default")


async def test_the_composer_stays_above_a_keyboard(browser: Browser, running: Gateway) -> None:
    async with phone(browser, running) as page:
        await answered(running, "An answer.\n\n" * 60)
        await expect(page.locator("article.answer")).to_be_visible()
        field = page.get_by_label("Message", exact=True)
        await page.evaluate(
            "Object.defineProperty(visualViewport, 'height', { get: () => innerHeight - (window.covered ?? 0) })"
        )
        for covered in (300, 0):
            await page.evaluate(
                "covered => { window.covered = covered; visualViewport.dispatchEvent(new Event('resize')); }", covered
            )
            box = await field.bounding_box()
            assert box
            assert 0 < 844 - covered - (box["y"] + box["height"]) < 40
