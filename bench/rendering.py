"""Rendering: what the app costs a browser while a long answer streams, and how long lanes take to come.

Chromium as it is, and slowed down four times as a phone would be. An answer of 20,000 characters in 20 steps a second
comes from a real gateway; beside it a page that puts the same text into one element, which is the simplest there is,
and one that lays out all of the Markdown anew at each step. Times are Chromium's own, of its main thread; of a
step it is the median of all of them.
"""

import asyncio
import contextlib
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, CDPSession, Page, expect

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.protocol.frames import Channel, Message
from hermes_iris.store import channels, messages
from hermes_iris.turns import calls
from host.browser import DESKTOP, chromium
from support import Gateway, gateway

from .kit import ROOT, Given, Ratio, Report, p50, words

LENGTH, HERTZ = 20_000, 20
LONG_CHAT = "android:chan_long"
SPEEDS = (1, 4)
LONG, SHORT = 10_000, 30
MARKED = ROOT / "web" / "node_modules" / "marked" / "lib" / "marked.umd.js"
KEPT = ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration", "TaskDuration")

Step = Callable[[int], Awaitable[None]]

LONG_TASKS = """() => { window.slow = []; new PerformanceObserver(
    (list) => list.getEntries().forEach((entry) => window.slow.push(entry.duration))
).observe({ type: "longtask" }) }"""

BARE = """([text, marked]) => {
    const shown = document.body.appendChild(document.createElement("div"));
    shown.style.whiteSpace = "pre-wrap";
    window.step = (size) => {
        const part = text.slice(0, size);
        if (marked) shown.innerHTML = window.marked.parse(part); else shown.textContent = part;
        shown.scrollIntoView(false);
    };
}"""

MOUNT = """([channel, last]) => new Promise((done) => {
    const button = [...document.querySelectorAll("button")].find((one) => one.textContent.includes(channel));
    const began = performance.now();
    const look = () => {
        const rows = [...document.querySelectorAll(".row")];
        const there = rows.length > 0 && rows[rows.length - 1].textContent.includes(last);
        if (there) done([performance.now() - began, rows.length]); else requestAnimationFrame(look);
    };
    button.click();
    look();
})"""


def answer() -> str:
    """Markdown as models write it: headings, paragraphs, lists, code, a table."""
    blocks = []
    for n in range(60):
        said = words(260, n)
        blocks.append(
            f"## Part {n}\n\n{said}\n" if n % 4 == 0 else f"{said[:200]} **{said[200:230]}** `{said[230:250]}`.\n"
        )
        if n % 5 == 1:
            blocks.append("```python\ndef find(name: str) -> int:\n    return known.get(name, 0)  # nobody\n```\n")
        if n % 5 == 3:
            blocks.append("\n".join(f"- {said[k * 30 : k * 30 + 30]}" for k in range(5)) + "\n")
        if n % 20 == 7:
            blocks.append("| a | b |\n|---|---|\n" + "\n".join(f"| {k} | {said[k : k + 9]} |" for k in range(6)) + "\n")
    return "\n".join(blocks)[:LENGTH]


async def metrics(session: CDPSession) -> dict[str, float]:
    """Chromium's own counters, in milliseconds."""
    told = (await session.send("Performance.getMetrics"))["metrics"]
    return {entry["name"]: entry["value"] * 1e3 for entry in told if entry["name"] in KEPT}


@contextlib.asynccontextmanager
async def slowed(page: Page, times: int) -> AsyncIterator[CDPSession]:
    """A page whose processor is so many times slower, and its counters."""
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable")
    await session.send("Emulation.setCPUThrottlingRate", {"rate": times})
    yield session
    await session.send("Emulation.setCPUThrottlingRate", {"rate": 1})


@contextlib.asynccontextmanager
async def app(browser: Browser, running: Gateway) -> AsyncIterator[Page]:
    """The app, paired."""
    context = await browser.new_context(viewport=DESKTOP)
    page = await context.new_page()
    await page.goto(f"{running.url}/#pair={await running.code()}")
    await expect(page.get_by_label("Message", exact=True)).to_be_visible()
    yield page
    await context.close()


@contextlib.asynccontextmanager
async def streaming(running: Gateway, page: Page, text: str, lane: Lane = DEFAULT_LANE) -> AsyncIterator[Step]:
    """An answer that grows with each step; at the end the page shows all of it."""
    hub = running.service.hub
    await hub.call(lane, calls.TurnBegan("t1"))
    bubble = (await hub.call(lane, calls.Sent(text[:1], calls.Origin.PREVIEW))).name("m")

    async def step(size: int) -> None:
        await hub.call(lane, calls.Edited(bubble, text[:size], final=False))

    yield step
    hub.post(lane, calls.ModelReplied("t1", text, more=False))
    await hub.call(lane, calls.Edited(bubble, text, final=True))
    await hub.call(lane, calls.Processed("success"))
    await expect(page.locator('[aria-busy="true"]')).to_have_count(0, timeout=60_000)


@contextlib.asynccontextmanager
async def bare(page: Page, text: str, marked: bool) -> AsyncIterator[Step]:
    """The same in one element of an empty page."""
    if marked:
        await page.add_script_tag(path=MARKED)
    await page.evaluate(BARE, [text, marked])
    yield lambda size: page.evaluate("(size) => window.step(size)", size)


async def measured(page: Page, times: int, steps: int, way: AbstractAsyncContextManager[Step]) -> list[float]:
    """Medians of a step, in the order of `KEPT`; script, style and layout together; and the longest task."""
    await page.evaluate(LONG_TASKS)
    spent: list[dict[str, float]] = []
    async with way as step, slowed(page, times) as session:
        before = await metrics(session)
        began = time.monotonic()
        for n in range(1, steps + 1):
            await step(LENGTH * n // steps)
            await asyncio.sleep(max(0.0, began + n / HERTZ - time.monotonic()))
            after = await metrics(session)
            spent.append({key: after[key] - before[key] for key in KEPT})
            before = after
    slowest = max(await page.evaluate("window.slow"), default=0.0)
    together = p50([sum(one[key] for key in KEPT[:3]) for one in spent])
    return [*(p50([one[key] for one in spent]) for key in KEPT), together, slowest]


async def answering(report: Report, browser: Browser, folder: Path, steps: int) -> None:
    """The table of an answer that streams."""
    text = answer()
    table = report.table(
        f"{len(text):,} characters in {steps:,} steps, {HERTZ} a second: ms of the main thread for a step, p50",
        "script", "style", "layout", "all tasks", "script, style and layout", "longest task", "x plain text",
    )  # fmt: skip
    for times in SPEEDS:
        rows: dict[str, list[float]] = {}
        for name, marked in {"one element, plain text": False, "all Markdown anew": True}.items():
            if marked and not MARKED.exists():
                report.note("without web/node_modules there is no Markdown to lay out anew: script/npm ci")
                continue
            context = await browser.new_context(viewport=DESKTOP)
            page = await context.new_page()
            rows[name] = await measured(page, times, steps, bare(page, text, marked))
            await context.close()
        async with gateway(folder / f"home-{times}") as running:
            await running.service.store.write(seed("Long", LONG_CHAT, LONG))
            async with app(browser, running) as page:
                rows["Iris"] = await measured(page, times, steps, streaming(running, page, text))
            async with app(browser, running) as page:
                await opened(page, "Long")
                below = streaming(running, page, text, Lane(LONG_CHAT))
                rows["Iris, below a page of messages"] = await measured(page, times, steps, below)
        plain = rows["one element, plain text"][KEPT.index("TaskDuration")]
        for name, spent in rows.items():
            table.row(f"{name}, {times}x slower", *spent, Ratio(spent[KEPT.index("TaskDuration")] / plain))


async def opened(page: Page, name: str) -> None:
    """The page shows a channel and what stands in it."""
    await page.get_by_role("button", name=name).click()
    await expect(page.locator(".row").last).to_be_visible()


def seed(name: str, chat: str, count: int) -> Any:
    """A job that makes a channel of so many messages."""

    def seeded(conn: sqlite3.Connection) -> None:
        channels.put(conn, Channel(chat_id=chat, name=name, kind="channel", created=0.0))
        first = messages.last_order(conn) + 1
        said = [
            Message(
                message_id=f"{chat}-{n}", chat_id=chat, role="assistant" if n % 2 else "user", ts=float(n),
                order=first + n, text=f"{words(120 + n % 7 * 60, n)} number {n} of {name}",
            )
            for n in range(count)
        ]  # fmt: skip
        messages.record(conn, said)

    return seeded


async def mounting(report: Report, browser: Browser, folder: Path, rounds: int) -> None:
    """The table of lanes that appear."""
    table = report.table(
        "a lane is opened: until its newest message is drawn", "p50 ms", "rows held", "x the short one"
    )
    lanes = {"Short": SHORT, "Long": LONG}
    async with gateway(folder / "lanes") as running:
        for name, count in lanes.items():
            await running.service.store.write(seed(name, f"android:chan_{name.lower()}", count))
        for times in SPEEDS:
            async with app(browser, running) as page, slowed(page, times):
                await expect(page.get_by_role("button", name="Long")).to_be_visible()
                took: dict[str, list[float]] = {name: [] for name in lanes}
                held = dict.fromkeys(lanes, 0)
                for _ in range(rounds):
                    for name, count in lanes.items():
                        spent, held[name] = await page.evaluate(MOUNT, [name, f"number {count - 1} of {name}"])
                        took[name].append(spent)
            for name, count in lanes.items():
                ratio = Ratio(p50(took[name]) / p50(took["Short"]))
                table.row(f"{count:,} messages, {times}x slower", p50(took[name]), held[name], ratio)


async def catching_up(report: Report, browser: Browser, folder: Path, count: int) -> None:
    """The table of a page that was away."""
    table = report.table(f"a page comes back to {count:,} messages of one lane: until it has the newest one", "s")
    for times in SPEEDS:
        async with gateway(folder / f"away-{times}") as running, app(browser, running) as page:
            await asyncio.sleep(1)  # until the page has saved where it is
            await page.goto("about:blank")
            await running.service.store.write(seed("Long", LONG_CHAT, count))
            async with slowed(page, times):
                began = time.monotonic()
                await page.goto(running.url)
                await page.get_by_role("button", name="Long").click()
                await page.get_by_text(f"number {count - 1} of Long").wait_for(timeout=120_000)
                table.row(f"{times}x slower", time.monotonic() - began)


async def run(report: Report, given: Given) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        async with chromium() as browser:
            await answering(report, browser, Path(name), 100 if given.quick else 1_000)
            await mounting(report, browser, Path(name), 3 if given.quick else 15)
            await catching_up(report, browser, Path(name), 1_000 if given.quick else LONG)
