"""Channels, threads and reports in a real Chromium over a real host, as a person uses them."""

import json
import os
import re
import secrets
import subprocess
from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from .browser import PHONE, TURN, chromium, opened, say
from .gateway import Gateway

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module"),
]

JOB = (
    "import json\n"
    "from cron.jobs import create_job, trigger_job\n"
    "job = create_job('rehearse plainnr', 'every 1h', name='Nightly check', deliver='local')\n"
    "print('MADE' + json.dumps(job['id']))"
)


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as launched:
        yield launched


def host(running: Gateway, *args: str) -> str:
    """Run the host's Python in another process of the same home."""
    env = {
        **os.environ,
        "HERMES_HOME": str(running.home),
        "HERMES_GATEWAY_LOCK_DIR": str(running.home),
        "HERMES_DISABLE_LAZY_INSTALLS": "1",
    }
    env.pop("PYTHONPATH", None)
    done = subprocess.run([running.python, *args], env=env, capture_output=True, text=True, check=False, timeout=180)
    return done.stdout + done.stderr


async def make_channel(page: Page, name: str) -> None:
    await page.get_by_role("button", name="New channel").click()
    await page.get_by_role("textbox", name="Channel name").fill(name)
    await page.get_by_role("textbox", name="Channel name").press("Enter")
    await expect(page.get_by_role("heading", level=1)).to_have_text(name)


def row(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Channels").get_by_role("button", name=re.compile(f"^{re.escape(name)}"))


async def choose(page: Page, *names: str) -> None:
    await page.get_by_role("button", name="Channel menu").click()
    for name in names:
        await page.get_by_role("menu").get_by_text(name, exact=True).click()


async def test_job_reports_into_an_automation_channel(browser: Browser, running: Gateway) -> None:
    """Make a channel, make it read-only, point a job at it, fire it, see badge and report, and answer the report."""
    made = host(running, "-c", JOB)
    job_id = json.loads(made.rpartition("MADE")[2])
    async with opened(browser, running) as (page, _), opened(browser, running) as (other, _):
        await make_channel(page, "Night Watch")
        await expect(row(other, "Night Watch")).to_be_visible()
        await choose(page, "Automation")
        await expect(page.get_by_role("note")).to_contain_text("Only reports come in here")
        await expect(page.get_by_label("Message", exact=True)).to_have_count(0)
        automation = other.get_by_role("list", name="Automation").get_by_role("button")
        await expect(automation).to_have_accessible_name(re.compile("^Night Watch"))

        await choose(page, "Set as cron target…")
        await page.get_by_role("dialog").get_by_role("button", name=re.compile("Nightly check")).click()
        badge = re.compile("1 scheduled job reports here")
        await expect(row(page, "Night Watch")).to_have_accessible_name(badge, timeout=TURN)
        await expect(row(other, "Night Watch")).to_have_accessible_name(badge)

        await row(page, "Default").click()
        host(running, "-c", f"from cron.jobs import trigger_job; trigger_job({job_id!r})")
        host(running, "-m", "hermes_cli.main", "cron", "tick")
        for screen in (page, other):
            await expect(row(screen, "Night Watch")).to_have_accessible_name(re.compile("1 unread"), timeout=TURN)
        await row(page, "Night Watch").click()
        report = page.get_by_role("article", name="Report of Nightly check")
        await expect(report).to_contain_text("A plain answer of the rehearsal model", timeout=TURN)
        await expect(report).not_to_contain_text("Cronjob Response")
        await expect(row(other, "Night Watch")).not_to_have_accessible_name(re.compile("unread"))  # read elsewhere

        await page.get_by_role("button", name="Reply to Nightly check").click()
        await say(page, "rehearse echoctx")
        await expect(page.get_by_role("button", name=re.compile("^Nightly check"))).to_be_visible()
        answer = page.locator("article.answer").last
        await expect(answer).to_contain_text("without any thought before it", timeout=TURN)


async def test_first_message_opens_a_thread_and_the_page_follows(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _), opened(browser, running) as (other, _):
        await choose(page, "Threads")
        await expect(page.get_by_role("navigation", name="Topics")).to_be_visible()
        await say(page, "rehearse plainnr about lighthouses")
        topic = page.get_by_role("navigation", name="Topics").get_by_role(
            "button", name=re.compile("lighthouses", re.I)
        )
        await expect(topic).to_have_attribute("aria-current", re.compile(".+"), timeout=TURN)
        await expect(page.locator("article.answer")).to_contain_text("A plain answer", timeout=TURN)
        await expect(page.locator("article.mine")).to_have_count(1)
        await expect(
            other.get_by_role("navigation", name="Topics").get_by_role("button", name=re.compile("lighth", re.I))
        ).to_be_visible()
        await expect(other.locator("article.answer")).to_have_count(0)

        await topic.click(button="right")
        await page.get_by_role("menuitem", name="Rename topic").click()
        field = page.get_by_role("textbox", name=re.compile("^New name for"))
        await field.fill("Lamps at sea")
        await field.press("Enter")
        for screen in (page, other):
            await expect(screen.get_by_role("button", name="Lamps at sea")).to_be_visible()
        assert re.search(r"#/default/t_\d+$", page.url)
        await page.reload()
        await expect(page.locator("article.answer")).to_contain_text("A plain answer")
        await choose(page, "Threads")


async def test_long_press_opens_the_menu_and_a_deletion_can_be_undone(browser: Browser, running: Gateway) -> None:
    name = f"Short Lived {secrets.token_hex(3)}"
    options = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
    async with opened(browser, running, **options) as (page, context):
        await page.get_by_role("button", name=re.compile("^Channels")).first.click()
        await make_channel(page, name)
        await page.get_by_role("button", name=re.compile("^Channels")).first.click()
        target = row(page, name)
        await target.scroll_into_view_if_needed()  # once the drawer stands still
        box = await target.bounding_box()
        assert box is not None
        touch = await context.new_cdp_session(page)
        point = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
        await touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [point]})
        await expect(page.get_by_role("menu")).to_be_visible()
        await touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        await page.get_by_role("menuitem", name="Delete", exact=True).click()
        await expect(target).to_have_count(0)
        await page.get_by_role("button", name="Undo").click()
        await expect(target).to_be_visible()
        width, inner = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width <= inner


async def test_a_name_that_is_taken_is_told_where_it_was_typed(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as (page, _):
        await make_channel(page, "Only Once")
        await page.get_by_role("button", name="New channel").click()
        field = page.get_by_role("textbox", name="Channel name")
        await field.fill("only once")
        await field.press("Enter")
        await expect(page.locator(".name-error")).to_contain_text("name of another channel")
        await expect(field).to_be_focused()
