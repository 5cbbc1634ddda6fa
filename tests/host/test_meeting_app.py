"""A person and a real agent in one room, as the person sees it in the app."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import expect

from . import hosts
from .browser import TURN, chromium, opened, say
from .meeting import Meeting, meeting


@pytest.fixture(scope="module")
def room(host: str, wheel: Path, model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Meeting]:
    """One agent, whose gateway also serves the app of its person."""
    with meeting({"mohe": hosts.with_wheel(host, wheel)}, tmp_path_factory.mktemp("meeting"), model) as running:
        yield running


async def test_an_agent_answers_shares_its_session_until_that_is_revoked_and_is_stopped(room: Meeting) -> None:
    async with chromium() as browser, opened(browser, room.gateways["mohe"]) as (page, _):
        await page.get_by_role("button", name="coregroup").click()
        bar = page.get_by_role("region", name="Room")
        await expect(bar.get_by_text("2 here")).to_be_visible(timeout=TURN)
        words = page.get_by_role("article", name="mohe, agent")

        await say(page, "@mohe rehearse plainnr")
        await expect(words.filter(has_text="A plain answer")).to_have_count(1, timeout=TURN)
        await expect(page.locator(".tools, .reasoning, .turn-end")).to_have_count(0)

        told = await asyncio.to_thread(room.hermes, "mohe", "chat", "-q", "rehearse meet hello from my terminal")
        assert told.returncode == 0, told.stdout + told.stderr
        await expect(words.filter(has_text="hello from my terminal")).to_have_count(1, timeout=TURN)
        await expect(bar.get_by_text("mohe shares a terminal session")).to_be_visible(timeout=TURN)
        await bar.get_by_role("button", name="Revoke what mohe shares").click()
        await expect(bar.get_by_text("mohe shares")).to_have_count(0, timeout=TURN)
        active = await asyncio.to_thread(room.iris, "mohe", "active")
        assert active.returncode == 1, active.stdout

        await bar.get_by_role("button", name="Stop all").click()
        await expect(bar.get_by_text("You stopped the agents.")).to_be_visible(timeout=TURN)
        await bar.get_by_role("button", name="Let them go on").click()
        await expect(bar.get_by_role("button", name="Stop all")).to_be_visible(timeout=TURN)
        await say(page, "@mohe rehearse plainnr again")
        await expect(words.filter(has_text="A plain answer")).to_have_count(2, timeout=TURN)
