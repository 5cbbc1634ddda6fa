"""A person at a real Chromium: pages that are paired with a gateway, and what every test does with them."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from playwright.async_api import (
    Browser,
    BrowserContext,
    Page,
    ViewportSize,
    WebSocketRoute,
    Worker,
    async_playwright,
    expect,
)

from hermes_iris.config import Home
from hermes_iris.store import connect, devices, transaction

from .gateway import Gateway

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

DESKTOP: ViewportSize = {"width": 1280, "height": 860}
PHONE: ViewportSize = {"width": 390, "height": 844}
TURN = 30_000
"""Milliseconds that a turn may take."""

expect.set_options(timeout=15_000)  # for a machine that has more to do; what is there at once costs nothing


def executable() -> str:
    found = shutil.which("chromium")
    assert found, "Chromium is missing: script/test installs it"
    return found


@asynccontextmanager
async def chromium(*flags: str) -> AsyncIterator[Browser]:
    """A browser, with further flags."""
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=executable(), args=[*FLAGS, *flags])
        yield launched
        await launched.close()


@asynccontextmanager
async def opened(
    browser: Browser, running: Gateway, wire: Callable[[WebSocketRoute], None] | None = None, **options: Any
) -> AsyncIterator[tuple[Page, BrowserContext]]:
    """A page that was paired with a gateway.

    `wire` stands between its sockets and the gateway.
    """
    async with paired(browser, f"{running.url}/#pair={new_code(running)}", wire, **options) as (page, context):
        yield page, context


@asynccontextmanager
async def paired(
    browser: Browser,
    link: str,
    wire: Callable[[WebSocketRoute], None] | None = None,
    script: str = "",
    **options: Any,
) -> AsyncIterator[tuple[Page, BrowserContext]]:
    """A page that was paired by a link; at the end its console must be clean. `script` runs first in each page."""
    context = await browser.new_context(**{"viewport": DESKTOP, **options})
    await context.add_init_script(script)
    if wire is not None:
        await context.route_web_socket("**/ws", wire)
    page = await context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    await page.goto(link)
    # In whatever language it is.
    await expect(page.locator("footer.composer textarea")).to_be_visible()
    yield page, context
    await context.close()
    # A gateway that was killed cannot be reached for a while; nothing else may complain.
    assert [line for line in complaints if "ERR_CONNECTION_REFUSED" not in line] == []


async def all_drawn(page: Page) -> None:
    """Wait for what stands above the first screenful, before anything is counted."""
    await expect(page.locator("[role=log][aria-busy=true]")).to_have_count(0)


@contextmanager
def away(running: Gateway) -> Iterator[None]:
    """The gateway, killed without a warning, and back at the end."""
    running.kill()
    try:
        yield
    finally:
        running.start()


def new_code(running: Gateway) -> str:
    conn = connect(Home(running.home).database)
    with transaction(conn):
        code = devices.new_code(conn, time.time(), 600)
    conn.close()
    return code


async def say(page: Page, text: str) -> None:
    field = page.get_by_label("Message", exact=True)
    await field.fill(text)
    await field.press("Enter")


async def until(page: Page | Worker, look: str, arg: Any = None) -> None:
    """Wait until what a promise brings is true; `wait_for_function` takes the promise itself for a yes."""
    async with asyncio.timeout(TURN / 1000):
        while not await page.evaluate(look, arg):
            await page.evaluate("() => new Promise((done) => setTimeout(done, 10))")


async def assert_nothing_is_open(page: Page) -> None:
    await expect(page.locator(".spinner")).to_have_count(0)
    await expect(page.locator('[aria-busy="true"]')).to_have_count(0)
