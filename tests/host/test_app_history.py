"""A long past and a long absence, in a real Chromium over a real host: what the list shows, and where it stays."""

import time
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, expect

from hermes_iris.address import DEFAULT_LANE
from hermes_iris.config import Home
from hermes_iris.protocol.frames import Message
from hermes_iris.protocol.types import Role
from hermes_iris.store import connect, messages, transaction

from .browser import TURN, away, chromium, opened
from .gateway import Gateway

pytestmark = [
    pytest.mark.browser,
    pytest.mark.only_beside("v22"),
    pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module"),
]

MOST_ROWS = 120

SCROLL_UP = """() => {
    const log = document.querySelector(".log");
    log.scrollTop = Math.min(300, log.scrollTop - 1);
    const edge = log.getBoundingClientRect().top;
    const rows = [...document.querySelectorAll(".row")];
    const top = rows.find(row => row.getBoundingClientRect().bottom > edge + 1);
    return [rows[0].dataset.row, top.dataset.row, top.getBoundingClientRect().top];
}"""
"""Gives the first row, the row at the top of what is seen, and where that is: before anything can come in."""

PLACE_OF = """key => document.querySelector(`[data-row="${key}"]`).getBoundingClientRect().top"""


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as launched:
        yield launched


def seed(running: Gateway, count: int, text: str, role: Role) -> None:
    """Messages in the default channel, stored as another process would, that the host need not answer."""
    conn = connect(Home(running.home).database)
    with transaction(conn):
        first = messages.last_order(conn) + 1
        seeded = [
            Message(
                chat_id=DEFAULT_LANE.chat_id, message_id=f"m_seed{order}", role=role, ts=time.time(), order=order,
                text=f"{text} {order - first + 1}" + " and some more words" * ((order - first) % 9),
            )
            for order in range(first, first + count)
        ]  # fmt: skip
        messages.record(conn, seeded)
    conn.close()


async def test_the_past_comes_in_above_and_nothing_moves(browser: Browser, running: Gateway) -> None:
    """Four hundred messages: the first one is reached, the page never holds them all, and the way back is one press."""
    with away(running):
        seed(running, 400, "Line", "assistant")
    async with opened(browser, running) as (page, _):
        rows = page.locator(".row")
        await expect(rows.last).to_contain_text("Line 400")
        jump = page.get_by_role("button", name="Jump to latest")
        await expect(jump).to_have_count(0)
        first = page.get_by_text("Line 1", exact=True)
        held = [await rows.count()]
        for _ in range(60):
            if await first.count():
                break
            before, key, place = await page.evaluate(SCROLL_UP)
            await page.wait_for_function(
                "before => document.querySelector('.row').dataset.row !== before", arg=before, timeout=TURN
            )
            assert abs(await page.evaluate(PLACE_OF, key) - place) <= 1
            held.append(await rows.count())
        await expect(first).to_have_count(1)
        assert max(held) <= MOST_ROWS
        await expect(jump).to_be_visible()
        await jump.click()
        await expect(rows.last).to_contain_text("Line 400")
        await expect(rows.last).to_be_in_viewport()
        await expect(jump).to_have_count(0)


async def test_what_came_in_meanwhile_is_set_off_and_read_when_it_was_seen(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _), opened(browser, running) as (other, _):
        await other.get_by_role("button", name="New channel").click()
        await other.get_by_role("textbox", name="Channel name").fill("Elsewhere")
        await other.get_by_role("textbox", name="Channel name").press("Enter")
        await expect(other.get_by_role("heading", level=1)).to_have_text("Elsewhere")
        with away(running):
            await expect(page.get_by_role("status").filter(has_text="Not connected")).to_be_visible(timeout=TURN)
            seed(running, 30, "Report", "cron")
        divider = page.get_by_role("separator", name="New messages")
        await expect(divider).to_be_in_viewport(timeout=TURN)
        await expect(page.locator(".row").filter(has_text="Report 1").first).to_be_in_viewport()
        await expect(page).to_have_title("(30) Default · Iris")
        await expect(other).to_have_title("(30) Elsewhere · Iris", timeout=TURN)
        await page.get_by_role("button", name="Jump to latest, 30 new").click()
        await expect(page.locator(".row").last).to_contain_text("Report 30")
        await page.bring_to_front()
        for reader, title in ((page, "Default · Iris"), (other, "Elsewhere · Iris")):
            await expect(reader).to_have_title(title, timeout=TURN)
        await expect(divider).to_have_count(1)
