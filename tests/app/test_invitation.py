"""A phone is paired from the desktop: by a QR code that goes by itself when the phone has come."""

from pathlib import Path
from urllib.parse import unquote

from playwright.async_api import Browser, Page, expect

from hermes_iris import invitations
from host.browser import DESKTOP, paired
from support import Gateway, gateway

from .kit import TOUCH, opened

PHONE = "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 Chrome/142.0 Mobile Safari/537.36"


async def invite(page: Page) -> str:
    """The link that the dialog shows."""
    await page.get_by_role("button", name="Connected").click()
    await page.get_by_role("button", name="Pair a phone or another device").click()
    return await page.locator(".invitation-link code").inner_text()


async def test_the_code_goes_when_the_phone_has_come(browser: Browser, tmp_path: Path) -> None:
    async with gateway(tmp_path, link_base="https://iris.example") as running, opened(browser, running) as page:
        link = await invite(page)
        assert link.startswith("https://iris.example/#pair=")
        dialog = page.get_by_role("dialog")
        picture = dialog.get_by_role("img", name="QR code of the pairing link")
        drawn = await picture.get_attribute("src")
        assert drawn
        expected = invitations.picture(invitations.Link(link, 600.0))
        assert unquote(drawn).removeprefix("data:image/svg+xml,") == expected
        assert await picture.evaluate("img => img.decode().then(() => img.naturalWidth > 0)")
        await expect(dialog).to_contain_text("It works once, for another 9:5")
        here = f"{running.url}/{link.rpartition('/')[2]}"
        async with paired(browser, here, **{**TOUCH, "user_agent": PHONE}):  # type: ignore[arg-type]
            await expect(dialog.get_by_role("heading", name="Devices")).to_be_visible()
            await expect(dialog.get_by_role("status")).to_have_text("“Chrome on Android” is paired now.")
            await expect(dialog.get_by_role("listitem").filter(has_text="Chrome on Android")).to_contain_text(
                "connected"
            )
            await expect(dialog.get_by_role("button", name="Pair a phone")).to_be_focused()


async def test_every_other_device_hears_of_it(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as page, opened(browser, running):
        await expect(page.get_by_role("status").filter(has_text="“Chrome on Linux” is paired now.")).to_be_visible()
        await expect(page.get_by_role("button", name="Connected · 2 devices")).to_be_visible()


async def test_a_gateway_that_a_phone_cannot_reach_says_what_to_do(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as page:
        link = await invite(page)
        assert link.startswith(f"{running.url}/#pair=")
        await expect(page.get_by_role("dialog")).to_contain_text("A phone cannot reach this gateway yet")
        await expect(page.get_by_role("dialog")).to_contain_text("link_base")
        await expect(page.get_by_role("img", name="QR code")).to_have_count(0)


async def test_a_link_that_is_too_old_is_replaced_by_a_new_one(browser: Browser, tmp_path: Path) -> None:
    async with gateway(tmp_path, link_base="https://iris.example", pairing_ttl=10.0) as running:
        context = await browser.new_context(viewport=DESKTOP)
        page = await context.new_page()
        await page.clock.install()
        await page.goto(f"{running.url}/#pair={await running.code()}")
        first = await invite(page)
        await page.clock.run_for(11_000)
        await expect(page.get_by_role("dialog")).to_contain_text("This link is too old.")
        await page.get_by_role("button", name="Make another one").click()
        second = await page.locator(".invitation-link code").inner_text()
        assert second != first
        await context.close()
