"""Slash commands as a person writes them and reads what comes of them."""

from playwright.async_api import Browser, expect

from hermes_iris.address import DEFAULT_LANE
from hermes_iris.turns import calls
from support import Gateway

from .kit import opened

MAKE = '/cron create "every 1h" "What is new?" --deliver '


async def test_a_job_is_given_its_target_by_name(browser: Browser, running: Gateway) -> None:
    async with running.wire() as wire:
        made = await wire.ask("channel.create", name="Cron Reports", kind="channel")
    async with opened(browser, running) as page:
        field = page.get_by_label("Message", exact=True)
        await field.fill(f"{MAKE}repo")
        await expect(page.get_by_role("option")).to_have_count(1)
        await expect(page.get_by_role("option")).to_contain_text("Cron Reports")
        await field.press("Enter")
        await expect(field).to_have_value(f"{MAKE}android:{made['chat_id']}")
        await expect(page.get_by_role("option")).to_have_count(0)


async def test_what_a_command_prints_keeps_its_lines(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as page:
        await running.service.hub.call(DEFAULT_LANE, calls.Sent("**Model:** one\n**Running:** no", calls.Origin.OTHER))
        notice = page.locator(".notice p")
        await expect(notice).to_contain_text("Running")
        assert (await notice.inner_text()).splitlines() == ["Model: one", "Running: no"]
