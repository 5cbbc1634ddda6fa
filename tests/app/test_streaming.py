"""An answer that grows: what of it is there stays, and in the end it is what a reload would show."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Browser, Locator, expect

from hermes_iris.address import DEFAULT_LANE
from hermes_iris.turns import calls
from hermes_iris.turns.step import TYPING_TTL
from support import Gateway

from .kit import opened

ANSWER = r"""# A title

Some *text* with `code`, a [link](https://example.org/a) and $x^2$,
over **two** lines.

- one
- two with `code`

  and more
- [ ] three

1. first
   ```sh
   ls -l
   ```
2. second

```python
def find(name):
    return known[name]
```

| a | b |
|---|--:|
| 1 | **2** |

> quoted
> *more*

The end, & <no> tag.
"""

Grow = Callable[[str], Awaitable[None]]


@asynccontextmanager
async def growing(running: Gateway) -> AsyncIterator[Grow]:
    """An answer that becomes each text in turn, and is over in the end."""
    hub, bubble, last = running.service.hub, "", ""
    await hub.call(DEFAULT_LANE, calls.TurnBegan("t1"))

    async def grow(text: str) -> None:
        nonlocal bubble, last
        if bubble == "":
            bubble = (await hub.call(DEFAULT_LANE, calls.Sent(text, calls.Origin.PREVIEW))).name("m")
        else:
            await hub.call(DEFAULT_LANE, calls.Edited(bubble, text, final=False))
        last = text

    yield grow
    hub.post(DEFAULT_LANE, calls.ModelReplied("t1", last, more=False))
    await hub.call(DEFAULT_LANE, calls.Edited(bubble, last, final=True))
    await hub.call(DEFAULT_LANE, calls.Processed("success"))


async def drawn(answer: Locator) -> str:
    """What it shows, as the page holds it."""
    return await answer.locator(".markdown").evaluate("(place) => place.innerHTML")


@pytest.mark.parametrize(
    ("first", "more"),
    [
        ("Select these", " words, **now** or `later`, and [more](https://example.org)."),
        ("**Select these**", " words.\n\nAnd more."),
        ("- one\n- select these", " words\n- and more"),
        ("```python\nselect_these", " = words\nand_more()\n"),
        ("| a | b |\n|---|---|\n| select | these", " words |\n| and | more |\n"),
    ],
    ids=["paragraph", "strong", "list", "code", "table"],
)
async def test_what_is_selected_stays_selected(browser: Browser, running: Gateway, first: str, more: str) -> None:
    async with opened(browser, running) as page, growing(running) as grow:
        answer = page.locator("article.answer")
        await grow(first)
        await expect(answer).to_contain_text("these")
        word = answer.get_by_text("elect", exact=False).last
        await word.dblclick(position={"x": 12, "y": 8})
        selected = await page.evaluate("getSelection().toString()")
        assert selected.lower().startswith("select")
        for end in range(1, len(more) + 1):
            await grow(first + more[:end])
        await expect(answer).to_contain_text("more")
        assert await page.evaluate("getSelection().toString()") == selected


@pytest.mark.parametrize("step", [1, 7, 60])
async def test_what_grew_is_what_a_reload_shows(browser: Browser, running: Gateway, step: int) -> None:
    async with opened(browser, running) as page:
        answer = page.locator("article.answer")
        async with growing(running) as grow:
            for end in range(step, len(ANSWER) + step, step):
                await grow(ANSWER[:end])
                if end % 8 == 0:
                    await page.evaluate("new Promise(requestAnimationFrame)")
        whole = answer.locator("math, .hljs-keyword")
        await expect(page.locator('[aria-busy="true"]')).to_have_count(0)
        await expect(whole).to_have_count(3)
        grown = await drawn(answer)
        await page.reload()
        await expect(whole).to_have_count(3)
        assert await drawn(answer) == grown


async def test_a_sign_of_work_goes_with_its_time(browser: Browser, running: Gateway) -> None:
    async with opened(browser, running) as page:
        await page.clock.install()
        await running.service.hub.call(DEFAULT_LANE, calls.TypingSet(True))
        await expect(page.locator(".working")).to_be_visible()
        await page.clock.fast_forward(TYPING_TTL * 1000 + 1_000)
        await expect(page.locator(".working")).to_have_count(0)
