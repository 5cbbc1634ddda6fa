"""Text of hosts, agents and tools in the terminal: shown as it is, never obeyed."""

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from rich.console import Console
from textual.app import App, ComposeResult
from textual.content import Content

from hermes_iris import desk, questions
from hermes_iris.address import DEFAULT_LANE
from hermes_iris.protocol.frames import Choice, Hit, SnippetPart
from hermes_iris.tui.rows import Words
from hermes_iris.tui.text import clean
from hermes_iris.tui.widgets.words import MARKS, Prose, WordsRow, parser
from hermes_iris.turns import calls
from support import gateway

from .screen import WIDE, answered, terminal
from .test_asking import Waits

EVIL = "[bold red]x[/] [@click=app.leave]y[/] [$accent] \x1b[31mred\x1b[0m\x1b]0;title\x07\x9b2J\u202eturned"
SHOWN = r"\[bold red\]x\[/\] \[@click=app\.leave\]y\[/\] \[\$accent\] redturned"


async def test_everything_that_is_told_is_shown_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "LOOK_EVERY", 0.01)
    async with gateway(tmp_path) as running:
        hub = running.service.hub
        async with running.wire() as wire:
            await wire.ask("channel.create", name="[red]C[/]")
        await answered(running, EVIL)
        await hub.call(DEFAULT_LANE, calls.TurnBegan("t1"))
        await hub.call(DEFAULT_LANE, calls.ToolBegan("t1", "c1", EVIL, {"command": EVIL}))
        await hub.call(DEFAULT_LANE, calls.ToolDone("t1", "c1", "ok", 0.5, EVIL))
        choices = [Choice(value="1", label=EVIL, group="[red]g[/]")]
        await running.service.desk.open(DEFAULT_LANE, questions.picker(EVIL, choices, None), Waits())
        running.host.elsewhere = [
            Hit(session_id="s", session="[red]S[/]", role="user", snippet=[SnippetPart(text=EVIL, hit=True)], ts=1.0)
        ]
        async with terminal(running, WIDE) as shown:
            await shown.sees(r"\[red\]C\[/\]")
            await shown.sees(rf"{SHOWN}(.|\n)*✓ \[bold red\]x(.|\n)*{SHOWN}(.|\n)*\[red\]g\[/\] › {SHOWN}")
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown.screen)
            await shown.pilot.press("shift+tab", "shift+tab", "enter")
            await shown.sees(rf"Arguments\n.*{SHOWN}(.|\n)*Output\n.*{SHOWN}")
            shown.app.session._tell("[red]told[/]")
            await shown.sees(r"\[red\]told\[/\]")
            await shown.pilot.press("ctrl+f", "x")
            await shown.sees(r"\[red\]S\[/\] \(elsewhere\)  You: " + SHOWN)


ODD = st.text(st.sampled_from("ab[]/@=*_`<>|#-+1.()!\\ \n\t\r&:\x1b\x9b\x07\u202e\u2028\ud800é漢😀"), max_size=60)


@settings(max_examples=400)
@given(st.one_of(st.text(), ODD))
def test_what_is_clean_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    plain = clean(text)
    assert clean(plain) == plain
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\u2028\u2029]", plain)
    plain.encode()
    console = Console(width=10_000, force_terminal=True, color_system="truecolor")
    with console.capture() as capture:
        console.print(Content(plain), end="", soft_wrap=True)
    assert "\x1b" not in capture.get(), "nothing in it became a style"


@settings(max_examples=200)
@given(ODD)
def test_a_text_without_marks_is_the_same_as_markdown(text: str) -> None:
    """Else it could not be drawn as the plain text that it is."""
    plain = clean(text)
    if plain.strip() and MARKS.search(plain) is None:
        (begin, inline, end) = parser().parse(plain)
        assert (begin.type, end.type) == ("paragraph_open", "paragraph_close")
        assert [child.type for child in inline.children or []] == ["text"]
        assert inline.content == plain.strip()


class Pages(App[None]):
    """Draws texts as Markdown."""

    def compose(self) -> ComposeResult:
        yield WordsRow(Words("m", "answer", "[a link](https://example.org)"))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>\n\n<b>html</b>",
        "[a link](javascript:alert(1)) [b](file:///etc/passwd) ![p](http://x/y.png)",
        "```[bold]\n[red]code[/]\n```",
        "# [@click=app.leave]head[/]",
        "| [red]a[/] |\n|---|\n| `[b]` |",
        "|" * 300,
        "> " * 60 + "deep",
        "- " * 60 + "deep",
        "> " * 5 + "shallow",
        "\n".join("  " * n + f"- level {n}" for n in range(40)) + "\n\n" + "deep",
        "```\x00\n",
        "[" * 300 + "]" * 300,
    ],
)
async def test_any_markdown_can_be_drawn(text: str) -> None:
    app = Pages()
    async with app.run_test(size=(60, 60)) as pilot:
        await app.query_one(WordsRow).show(Words("m", "answer", clean(text)))
        await pilot.pause()
        drawn = "\n".join(strip.text for strip in app.screen._compositor.render_strips())
        for word in (
            "alert",
            "html",
            "a link",
            "[red]code[/]",
            "deep",
            "shallow",
            "[@click=app.leave]head[/]",
            "[red]a[/]",
        ):
            assert word not in text or word in drawn


async def test_a_click_opens_only_what_a_browser_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(App, "open_url", lambda self, url, **_: opened.append(url))
    app = Pages()
    async with app.run_test() as pilot:
        prose = app.query_one(Prose)
        for href in ("file:///etc/passwd", "javascript:alert(1)", "vscode://x", "https://example.org", "mailto:a@b.c"):
            prose.post_message(Prose.LinkClicked(prose, href))
        await pilot.pause()
    assert opened == ["https://example.org", "mailto:a@b.c"]


async def test_without_colour_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with gateway(tmp_path) as running:
        await answered(running, "`code` and [a link](https://example.org)")
        async with terminal(running) as shown:
            await shown.sees("code and a link")
            for colour in _colours(shown.app):
                red, green, blue = colour.triplet or (0, 0, 0)
                assert max(red, green, blue) - min(red, green, blue) <= 2, "grey"


def _colours(app: App[Any]) -> list[Any]:
    strips = app.screen._compositor.render_strips()
    filtered = [strip.apply_filter(each, app.screen.background_colors[1]) for strip in strips for each in app._filters]
    styles = [segment.style for strip in filtered for segment in strip if segment.style]
    return [colour for style in styles for colour in (style.color, style.bgcolor) if colour is not None]


@pytest.mark.parametrize(
    ("size", "theme"), [((80, 24), "dark"), ((130, 40), "light"), ((50, 12), "ansi-dark"), ((80, 24), "ansi-light")]
)
async def test_nothing_is_wider_than_the_terminal(tmp_path: Path, size: tuple[int, int], theme: Any) -> None:
    async with gateway(tmp_path) as running:
        async with running.wire() as wire:
            await wire.ask("channel.create", name="A very long name 漢字漢字漢字漢字 that has to be cut somewhere")
        await answered(running, "| a | b |\n|---|---|\n| " + "x" * 200 + " | y |\n\n" + "word " * 60 + "漢" * 200)
        async with terminal(running, size, theme=theme) as shown:
            await shown.sees("漢漢漢")
            assert all(strip.cell_length <= size[0] for strip in shown.app.screen._compositor.render_strips())
            assert shown.app.export_screenshot().startswith("<svg")
