"""What other apps share with Iris, as a browser hands it over: a form that is posted to the app's own address."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect

from host.browser import paired
from support import Gateway, wait_until

FORM = """<form method="post" enctype="multipart/form-data">
    <input name="title" /><textarea name="text"></textarea><input name="url" />
    <input type="file" name="files" multiple />
</form>"""


async def share(context: BrowserContext, running: Gateway, files: list[Path], **texts: str) -> Page:
    """Share as the system does, which opens a page of the app."""
    page = await context.new_page()
    await page.goto("about:blank")
    await page.set_content(FORM)
    for name, text in texts.items():
        await page.locator(f"[name={name}]").fill(text)
    await page.locator("[name=files]").set_input_files(files)
    await page.evaluate("(action) => Object.assign(document.forms[0], { action }).submit()", f"{running.url}/share")
    await expect(page.get_by_label("Message", exact=True)).to_be_visible()
    return page


async def worker_is_there(page: Page) -> None:
    await page.wait_for_function("() => navigator.serviceWorker.controller !== null")


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "Übersicht 2.txt"
    path.write_text("what was shared")
    return path


async def test_text_and_files_become_a_draft_that_is_the_persons_to_send(
    browser: Browser, running: Gateway, picture: Path
) -> None:
    async with paired(browser, f"{running.url}/#pair={await running.code()}") as (first, context):
        await worker_is_there(first)
        await first.get_by_label("Message", exact=True).fill("See this:")
        page = await share(
            context, running, [picture], title="A page", text="worth reading", url="https://example.org/?a=b#c"
        )
        field = page.get_by_label("Message", exact=True)
        await expect(field).to_have_value("See this:\nA page\nworth reading\nhttps://example.org/?a=b#c")
        await expect(page.get_by_role("list", name="Files to send")).to_contain_text("Übersicht 2.txt")
        await page.wait_for_url(lambda url: url.partition("#")[0] == f"{running.url}/")
        assert running.host.delivered == [], "nothing is sent by itself"
        await page.get_by_role("button", name="Send").click()
        await wait_until(lambda: running.host.delivered)
        (sent,) = running.host.delivered
        assert [(file.name, file.type) for file in sent.attachments] == [("Übersicht 2.txt", "text/plain")]
        await expect(field).to_have_value("")
        await page.reload()
        await expect(page.get_by_label("Message", exact=True)).to_have_value("")


async def test_where_nothing_can_be_written_it_goes_to_the_default_channel(browser: Browser, running: Gateway) -> None:
    async with running.wire() as wire:
        made = await wire.ask("channel.create", kind="channel", name="Reports")
        await wire.ask("channel.set_automation", chat_id=made["chat_id"], on=True)
    async with paired(browser, f"{running.url}/#pair={await running.code()}") as (first, context):
        await worker_is_there(first)
        await first.get_by_role("button", name="Reports").click()
        await expect(first.get_by_role("heading", level=1)).to_have_text("Reports")
        # The page that opens has to know the channels by then.
        await first.wait_for_function("() => location.hash.includes('chan_')")
        page = await share(context, running, [], text="worth reading")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Default")
        await expect(page.get_by_label("Message", exact=True)).to_have_value("worth reading")


async def test_an_empty_share_is_nothing(browser: Browser, running: Gateway) -> None:
    async with paired(browser, f"{running.url}/#pair={await running.code()}") as (first, context):
        await worker_is_there(first)
        page = await share(context, running, [])
        await expect(page.get_by_label("Message", exact=True)).to_have_value("")
        await page.wait_for_url(lambda url: url.partition("#")[0] == f"{running.url}/")
