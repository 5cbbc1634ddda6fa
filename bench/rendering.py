"""Rendering: what the app costs a browser while a long answer streams, and how long a lane takes to appear.

Chromium as it is, and slowed down four times as a phone would be. An answer of 20,000 characters in 20 steps a second
comes from a real gateway; beside it a page that puts the same text into one element, which is the least that could be
done, and one that lays out all of the Markdown anew at each step. Times are Chromium's own, of its main thread.
"""

import asyncio
import contextlib
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, CDPSession, Page, expect

from hermes_iris.address import DEFAULT_LANE
from hermes_iris.protocol.frames import Channel, Message
from hermes_iris.store import channels, messages
from hermes_iris.turns import calls
from host.browser import DESKTOP, chromium
from support import Gateway, gateway

from .kit import ROOT, Given, Ratio, Report, p50, words

LENGTH, HERTZ = 20_000, 20
SPEEDS = (1, 4)
LONG, SHORT = 10_000, 30
MARKED = ROOT / "web" / "node_modules" / "marked" / "lib" / "marked.umd.js"
KEPT = ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration", "TaskDuration")

LONG_TASKS = """() => { window.slow = []; new PerformanceObserver(
    (list) => list.getEntries().forEach((entry) => window.slow.push(entry.duration))
).observe({ type: "longtask" }) }"""

BARE = """([text, steps, pause, marked]) => new Promise((done) => {
    const shown = document.body.appendChild(document.createElement("div"));
    shown.style.whiteSpace = "pre-wrap";
    let step = 0;
    const next = () => {
        step += 1;
        const part = text.slice(0, text.length * step / steps);
        if (marked) shown.innerHTML = window.marked.parse(part); else shown.textContent = part;
        shown.scrollIntoView(false);
        if (step < steps) setTimeout(next, pause); else done();
    };
    next();
})"""

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
    context = await browser.new_context(viewport=DESKTOP)  # type: ignore[arg-type]
    page = await context.new_page()
    await page.goto(f"{running.url}/#pair={await running.code()}")
    await expect(page.get_by_label("Message", exact=True)).to_be_visible()
    yield page
    await context.close()


async def streamed(running: Gateway, page: Page, text: str, steps: int, turn: str) -> None:
    """Let an answer stream, and wait until the page shows the end of it."""
    hub, lane = running.service.hub, DEFAULT_LANE
    await hub.call(lane, calls.TurnBegan(turn))
    size = len(text) // steps
    bubble = (await hub.call(lane, calls.Sent(text[:size], calls.Origin.PREVIEW))).name("m")
    began = time.monotonic()
    for n in range(2, steps):
        await asyncio.sleep(max(0.0, began + n / HERTZ - time.monotonic()))
        await hub.call(lane, calls.Edited(bubble, text[: n * size], final=False))
    hub.post(lane, calls.ModelReplied(turn, text, more=False))
    await hub.call(lane, calls.Edited(bubble, text, final=True))
    await hub.call(lane, calls.Processed("completed"))
    await expect(page.locator('[aria-busy="true"]')).to_have_count(0, timeout=60_000)


async def answering(report: Report, browser: Browser, folder: Path, steps: int) -> None:
    """The table of an answer that streams."""
    text = answer()
    table = report.table(
        f"{len(text):,} characters in {steps:,} steps, {HERTZ} a second: ms of the main thread for each step",
        "script", "style", "layout", "all tasks", "longest task", "x the least",
    )  # fmt: skip
    for times in SPEEDS:
        rows: dict[str, tuple[dict[str, float], float]] = {}
        for name, marked in {"one element, plain text": False, "all Markdown anew": True}.items():
            if marked and not MARKED.exists():
                report.note("without web/node_modules there is no Markdown to lay out anew: script/npm ci")
                continue
            context = await browser.new_context(viewport=DESKTOP)  # type: ignore[arg-type]
            page = await context.new_page()
            if marked:
                await page.add_script_tag(path=MARKED)
            rows[name] = await _spent(page, times, page_job(page, BARE, [text, steps, 1000 / HERTZ, marked]))
            await context.close()
        async with gateway(folder / f"home-{times}") as running, app(browser, running) as page:
            rows["Iris"] = await _spent(page, times, lambda r=running, p=page: streamed(r, p, text, steps, "t1"))
        least = rows["one element, plain text"][0]["TaskDuration"]
        for name, (spent, slowest) in rows.items():
            each = [spent[key] / steps for key in KEPT]
            table.row(f"{name}, {times}x slower", *each, slowest, Ratio(spent["TaskDuration"] / least))


def page_job(page: Page, script: str, arguments: list[Any]) -> Any:
    """A script of a page, as a job."""
    return lambda: page.evaluate(script, arguments)


async def _spent(page: Page, times: int, job: Any) -> tuple[dict[str, float], float]:
    await page.evaluate(LONG_TASKS)
    async with slowed(page, times) as session:
        before = await metrics(session)
        await job()
        after = await metrics(session)
    return {key: after[key] - before[key] for key in KEPT}, max(await page.evaluate("window.slow"), default=0.0)


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
                took: dict[str, list[float]] = {name: [] for name in lanes}
                held = dict.fromkeys(lanes, 0)
                for _ in range(rounds):
                    for name, count in lanes.items():
                        spent, held[name] = await page.evaluate(MOUNT, [name, f"number {count - 1} of {name}"])
                        took[name].append(spent)
            for name, count in lanes.items():
                ratio = Ratio(p50(took[name]) / p50(took["Short"]))
                table.row(f"{count:,} messages, {times}x slower", p50(took[name]), held[name], ratio)


async def run(report: Report, given: Given) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        async with chromium() as browser:
            await answering(report, browser, Path(name), 100 if given.quick else 1_000)
            await mounting(report, browser, Path(name), 3 if given.quick else 15)
