"""A gateway whose person is in the room of a real server, and a person at a real Chromium."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from hermes_iris.config import Home
from host.browser import paired
from support import Gateway, gateway

from .server import AGENTS, PERSON, ROOM, XmppServer, password

NAME = "Core group"


def configure(root: Path, server: XmppServer, *, secret: str = password(PERSON)) -> None:
    """Write the meeting of a home."""
    home = Home(root)
    home.iris.mkdir(parents=True, exist_ok=True)
    known = home.iris / "ada.secret"
    known.touch(mode=0o600)
    known.write_text(secret)
    domain = ROOM.partition("@")[2].partition(".")[2]
    agents = "".join(f'[[agents]]\nname = "{name}"\njid = "{name}@{domain}"\n' for name in AGENTS)
    home.meeting.write_text(
        f'[server]\nhost = "127.0.0.1"\nport = {server.port}\ntls = false\n'
        f'[[rooms]]\njid = "{ROOM}"\nname = "{NAME}"\n{agents}'
        f'[person]\njid = "{PERSON}@{domain}"\nnick = "Ada"\npassword_file = "ada.secret"\n'
    )


@asynccontextmanager
async def in_room(root: Path, server: XmppServer, **settings: int) -> AsyncIterator[Gateway]:
    """A gateway that joins the room."""
    configure(root, server)
    async with gateway(root, **settings) as running:
        yield running


@asynccontextmanager
async def opened(browser: Browser, running: Gateway, **options: object) -> AsyncIterator[Page]:
    """A page that was paired and shows the room; its console must be clean in the end."""
    async with paired(browser, f"{running.url}/#pair={await running.code()}", **options) as (page, _):
        if await page.get_by_role("button", name="Channels").is_visible():
            await page.get_by_role("button", name="Channels").click()
        await page.get_by_role("button", name=NAME).click()
        await expect(page.get_by_role("region", name="Room")).to_be_visible()
        yield page
