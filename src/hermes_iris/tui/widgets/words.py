"""What was said, as it is drawn."""

import re
import time
from collections.abc import Iterable
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Markdown, Static

from ..rows import Line, Words
from .fold import Fold

MOST_MARKDOWN = 40_000
"""Characters of the longest text that is drawn as Markdown: each of its blocks is a widget."""

MARKS = re.compile(r"[*_`~#<>|\\\[\]&]|://|www\.|@|^ *(?:[-+=]|\d+[.)])|^(?: {4}|\t)|\n", re.MULTILINE)
"""What a text needs to have to look any different as Markdown. Drawing it as such costs ten times as much."""

DEEP = re.compile(r"^(?:(?:\s*(?:>|[-*+]|\d+[.)])){6}| {16,}(?:[-*+]|\d+[.)]) )", re.MULTILINE)
"""What may be a text whose lists and quotes lie too deep in one another to be drawn, or even read."""

OPENED = ("http", "https", "mailto")
"""The schemes of links that a click opens."""


def parser() -> MarkdownIt:
    """Markdown without HTML, which is shown as the text that it is."""
    return MarkdownIt("gfm-like", {"html": False})


class Prose(Markdown):
    """A text in Markdown: whole, or without one at first, and then growing."""

    def __init__(self, text: str | None = None) -> None:
        super().__init__(text, parser_factory=parser, open_links=False)
        self._grown = ""

    async def grow(self, text: str) -> bool:
        """Draw a text that begins with what has grown so far; False when it does not."""
        if not text.startswith(self._grown):
            return False
        more, self._grown = text[len(self._grown) :], text
        if more:
            await self.append(more)
        return True

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """Open what a browser is for, and nothing else."""
        event.stop()
        if urlsplit(event.href).scheme in OPENED:
            self.app.open_url(event.href)


class Reasoning(Fold):
    """What the model thought, closed at first."""

    def __init__(self, text: str) -> None:
        lines = text.count("\n") + 1
        super().__init__(Content(f"Reasoning · {lines} {'line' if lines == 1 else 'lines'}"), "reasoning")
        self._text = text

    def body(self) -> Iterable[Widget]:
        """All of it."""
        yield Static(Content(self._text))


class WordsRow(Vertical):
    """A message."""

    def __init__(self, row: Words) -> None:
        super().__init__(classes=f"words {row.look}")
        self.row = row

    def compose(self) -> ComposeResult:
        """Name, reasoning, text, files."""
        if heading := _heading(self.row):
            yield Static(heading, classes="who")
        if self.row.quote:
            yield Static(Content(f"↪ {self.row.quote}"), classes="quote")
        if self.row.reasoning:
            yield Reasoning(self.row.reasoning)
        yield self._text()
        if self.row.files:
            yield Static(Content("\n".join(f"📎 {file}" for file in self.row.files)), classes="files")
        if self.row.state:
            yield Static(Content(self.row.state), classes="state")

    async def on_mount(self) -> None:
        """Begin with what is there of a text that grows."""
        await self._grow()

    async def show(self, row: Words) -> None:
        """Show what it says now."""
        before, self.row = self.row, row
        if row.live and before.live and await self._grow():
            return
        with self.app.batch_update():
            await self.remove_children()
            await self.mount_all(self.compose())
        await self._grow()

    async def _grow(self) -> bool:
        """Draw what was added; False when it cannot be added to what is drawn."""
        prose = self.query(Prose)
        return self.row.live and bool(prose) and not self._is_plain and await prose.first().grow(self.row.text)

    @property
    def _is_plain(self) -> bool:
        if self.row.look == "mine" or len(self.row.text) > MOST_MARKDOWN:
            return True
        if DEEP.search(self.row.text):
            reader = parser()
            return max(token.level for token in reader.parse(self.row.text)) >= reader.options.maxNesting - 4
        return not self.row.live and MARKS.search(self.row.text) is None

    def _text(self) -> Widget:
        if self._is_plain:
            return Static(Content(self.row.text))
        return Prose(None if self.row.live else self.row.text)


def _heading(row: Words) -> Content | None:
    at = time.strftime("%H:%M", time.localtime(row.ts))
    if row.look == "report":
        return Content.assemble((f" ⏰ {row.who} ", "$chip"), (f"  {at}", "$text-muted"))
    return Content.assemble((row.who, "bold $accent"), (f"  {at}", "$text-muted")) if row.who else None


class LineRow(Static):
    """A line of the app's own."""

    def __init__(self, row: Line) -> None:
        super().__init__(Content(row.text), classes=f"line {row.look}")
        self.row = row

    async def show(self, row: Line) -> None:
        """Show what it says now."""
        self.row = row
        self.update(Content(row.text))
