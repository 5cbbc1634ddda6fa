"""A gateway whose agent says what a test wants, and a person at a real Chromium."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, Page

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.turns import calls
from host.browser import PHONE, paired
from support import Gateway

TOUCH = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
"""A phone."""


@asynccontextmanager
async def opened(browser: Browser, running: Gateway, **options: object) -> AsyncIterator[Page]:
    """A page that was paired; its console must be clean in the end."""
    async with paired(browser, f"{running.url}/#pair={await running.code()}", **options) as (page, _):
        yield page


async def answered(running: Gateway, text: str, lane: Lane = DEFAULT_LANE) -> None:
    """A turn of the agent, as a host tells of it: a thought, a tool, an answer that streams."""
    hub = running.service.hub
    await hub.call(lane, calls.TypingSet(True))
    hub.post(lane, calls.TurnBegan("t1"))
    hub.post(lane, calls.ModelReplied("t1", "I look first.", more=True, reasoning="A tool is wanted."))
    await hub.call(lane, calls.Sent("I look first.", calls.Origin.SEGMENT))
    hub.post(lane, calls.ToolBegan("t1", "c1", "terminal", {"command": "ls"}))
    hub.post(lane, calls.ToolDone("t1", "c1", "ok", 0.5, '{"output": "README.md", "exit_code": 0}'))
    bubble = (await hub.call(lane, calls.Sent(text[:3], calls.Origin.PREVIEW))).name("m")
    for end in range(3, len(text), 40):
        await hub.call(lane, calls.Edited(bubble, text[:end], final=False))
    hub.post(lane, calls.ModelReplied("t1", text, more=False, model="a-model", tokens=120))
    await hub.call(lane, calls.Edited(bubble, text, final=True))
    await hub.call(lane, calls.Processed("success"))
