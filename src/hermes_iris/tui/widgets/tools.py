"""A tool call, as it is drawn: one line that opens to arguments and output."""

import time
from collections.abc import Awaitable, Callable, Iterable

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from ...errors import IrisError
from ...protocol.frames import ToolData
from ...protocol.types import ToolState
from ..rows import Tool
from ..text import arguments, clean, duration, one_line, sentence
from .fold import Fold

Fetch = Callable[[str], Awaitable[ToolData]]

MOST_OUTPUT = 20_000
"""Characters of an output that are drawn; they are its last ones."""

MARKS: dict[ToolState, tuple[str, str]] = {
    "running": ("◌", "$warning"),
    "ok": ("✓", "$success"),
    "error": ("✗", "$error"),
    "blocked": ("⊘", "$error"),
    "cancelled": ("–", "$text-muted"),
}
"""How each state looks."""


class ToolRow(Fold):
    """A tool call."""

    def __init__(self, row: Tool, fetch: Fetch) -> None:
        super().__init__(_title(row), "tool")
        self.row = row
        self._fetch = fetch
        self._whole: ToolData | None = None
        self._failure = ""

    async def show(self, row: Tool) -> None:
        """Show how it is now."""
        self.row = row
        self.tick()
        if self.is_open:
            self._fill()

    def tick(self) -> None:
        """Show for how long it has been running."""
        self.set_title(_title(self.row))

    def opened(self) -> None:
        """Fetch the whole of it when it is opened."""
        if self._whole is None:
            self._fill()

    def _fill(self) -> None:
        self.run_worker(self._load(), exclusive=True)

    async def _load(self) -> None:
        try:
            self._whole, self._failure = await self._fetch(self.row.card.tool_call_id), ""
        except IrisError as exc:
            self._failure = sentence(str(exc))
        await self.rebuild()

    def body(self) -> Iterable[Widget]:
        """Arguments and output: what its frames told, until all of it is here."""
        card, whole = self.row.card, self._whole
        args = arguments(whole.args if whole else card.args)
        output = clean(whole.output if whole and whole.output else card.output_preview)
        yield from _section("Arguments", args)
        yield from _section("Output", output[-MOST_OUTPUT:])
        if self._failure:
            yield Static(Content(self._failure), classes="state")
        if not args and not output and not self._failure:
            yield Static(Content("It has no arguments, and returned nothing."), classes="label")


def _section(name: str, text: str) -> Iterable[Widget]:
    if text:
        yield Static(Content(name), classes="label")
        yield VerticalScroll(Static(Content(text)), classes="code", can_focus=text.count("\n") > 12)


def _title(row: Tool) -> Content:
    card = row.card
    mark, colour = MARKS[card.state]
    took = time.time() - card.ts if card.state == "running" else card.duration
    state = "" if card.state in ("ok", "running") else f"{card.state} · "
    return Content.assemble(
        (f"{mark} ", colour),
        (one_line(card.name, 40), "bold"),
        f"  {one_line(card.preview, 120)}",
        (f"  {state}{duration(took)}", "$text-muted"),
    )
