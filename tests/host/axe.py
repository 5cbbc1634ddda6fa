"""Whether a screen can be shown: to axe-core (https://github.com/dequelabs/axe-core), to its width, and to you."""

from functools import cache
from pathlib import Path

from playwright.async_api import Page

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"

PICTURES = Path(__file__).parents[2] / ".cache" / "screens"
"""A picture of each screen, to be looked at."""

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

RUN = """async (values) => {
    const options = { runOnly: { type: "tag", values }, resultTypes: ["violations"] };
    const { violations } = await axe.run(document, options);
    const told = (node) => `    ${node.html.slice(0, 200)}\\n    ${node.failureSummary}`;
    return violations.map(({ id, help, nodes }) => [`${id}: ${help}`, ...nodes.map(told)].join("\\n"));
}"""


@cache
def _source() -> str:
    assert AXE.is_file(), "axe-core is missing: script/npm ci"
    return AXE.read_text(encoding="utf-8")


async def complaints(page: Page) -> list[str]:
    """What axe finds amiss on a page as it is now."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(_source())
    found: list[str] = await page.evaluate(RUN, RULES)
    return found


async def assert_presentable(page: Page, screen: str) -> None:
    """Nothing is amiss, nothing is wider than the page, and a picture is kept; `screen` is what the page shows."""
    found = await complaints(page)
    assert not found, f"{screen}:\n" + "\n".join(found)
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{screen} is too wide"
    width, is_dark = await page.evaluate("[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]")
    await page.screenshot(path=PICTURES / f"{screen.replace(' ', '-')}-{width}-{'dark' if is_dark else 'light'}.png")
