"""Formulas in answers: drawn by a part of the app that comes with the first one, else shown as they were written."""

from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from hermes_iris.address import DEFAULT_LANE
from hermes_iris.turns import calls
from support import Gateway

from .kit import TOUCH, answered, opened

ANSWER = r"""For \(x < 1\) it costs $5, else $6:

$$
\sum_{n=0}^\infty x^n = \frac{1}{1-x}
$$

- wide: $$x = 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 19 + 20 + 21 + 22$$
"""

COPIED = """(place) => {
    getSelection().selectAllChildren(place);
    const clipboardData = new DataTransfer();
    place.dispatchEvent(new ClipboardEvent("copy", { clipboardData, bubbles: true, cancelable: true }));
    return clipboardData.getData("text/plain");
}"""


def loads(page: Page) -> list[str]:
    """The requests for the library, as they come."""
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url) if "formula-library" in request.url else None)
    return seen


@pytest.mark.parametrize("screen", [{}, TOUCH], ids=["desktop", "phone"])
async def test_formulas_are_drawn_and_copied_as_they_were_written(
    browser: Browser, running: Gateway, screen: dict[str, Any]
) -> None:
    async with opened(browser, running, **screen) as page:
        fetched = loads(page)
        await answered(running, "It costs $5, or `$x$`.")
        await expect(page.locator("article.answer")).to_have_count(1)
        assert fetched == [], "the library is for those who need it"
        await answered(running, ANSWER)
        answer = page.locator("article.answer").last
        await expect(answer.locator("math")).to_have_count(3)
        assert fetched
        await expect(answer.locator("mfrac")).to_be_visible()
        await expect(answer).to_contain_text("it costs $5, else $6:")
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        copied = await answer.locator(".markdown").evaluate(COPIED)
        assert r"For \(x < 1\) it costs $5" in copied
        assert r"\sum_{n=0}^\infty x^n = \frac{1}{1-x}" in copied
        await page.reload()
        await expect(page.locator("article.answer").last.locator("math")).to_have_count(3)


async def test_only_what_is_complete_is_drawn(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as page:
        hub, answer = running.service.hub, page.locator("article.answer")
        await hub.call(DEFAULT_LANE, calls.TurnBegan("t1"))
        bubble = (await hub.call(DEFAULT_LANE, calls.Sent("So $x^2$ and $y", calls.Origin.PREVIEW))).name("m")
        await expect(answer).to_contain_text("So $x^2$ and $y")
        await hub.call(DEFAULT_LANE, calls.Edited(bubble, "So $x^2$ and $y$.\n\nThen", final=False))
        await expect(answer.locator("math")).to_have_count(2)
        await hub.call(DEFAULT_LANE, calls.Edited(bubble, "So $x^2$ and $y$.\n\nThen $z$", final=True))
        await hub.call(DEFAULT_LANE, calls.Processed("success"))
        await expect(answer.locator("math")).to_have_count(3)


@pytest.mark.parametrize(
    "formula",
    [
        r"$\frac{1}{$",
        r"$\notacommand{x}$",
        r"$\href{javascript:alert(1)}{x}$",
        r"$\includegraphics{https://example.org/x.png}$",
        r"$\def\a{\a\a}\a$",
    ],
)
async def test_what_is_no_formula_or_none_of_ours_stays_as_it_is(
    browser: Browser, running: Gateway, formula: str
) -> None:
    async with opened(browser, running) as page:
        await answered(running, f"See {formula} and $x$.")
        answer = page.locator("article.answer")
        await expect(answer.locator("math")).to_have_count(1)
        await expect(answer).to_contain_text(f"See {formula} and")


async def test_without_the_library_the_source_stays(browser: Browser, running: Gateway) -> None:
    # Without the worker, which would have kept it. A page that lacks something complains: nobody watches its console.
    context = await browser.new_context(service_workers="block")
    page = await context.new_page()
    await page.route("**/formula-library*.js", lambda route: route.fulfill(status=404))
    await page.goto(f"{running.url}/#pair={await running.code()}")
    await expect(page.get_by_label("Message", exact=True)).to_be_visible()
    async with page.expect_response("**/formula-library*.js"):
        await answered(running, "See $x^2$.")
    await answered(running, "The end.")
    await expect(page.locator("article.answer").last).to_contain_text("The end.")
    await expect(page.locator("article.answer").first).to_have_text("See $x^2$.")
    await context.close()
