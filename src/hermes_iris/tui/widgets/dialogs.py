"""What is asked or shown above everything else: search, the name of something new, a text to read."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ...address import Lane
from ...errors import IrisError
from ...protocol.frames import Hit, SearchResults, SessionLines
from ..text import clean, one_line, sentence

PAUSE = 0.25
"""Seconds without a key after which a search begins."""


class Naming(ModalScreen[str]):
    """Asks for the name of something new."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Cancel")]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        """A title and a line to write on."""
        with Vertical(classes="dialog"):
            yield Static(Content(self._title), classes="heading")
            yield Input(placeholder="Name", max_length=80)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the name."""
        if event.value.strip():
            self.dismiss(event.value.strip())


class Searching(ModalScreen[Hit]):
    """Finds what was said; gives the hit that the person chose."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close"),
        Binding("down", "results", "Results", show=False),
    ]

    def __init__(self, search: Callable[[str], Awaitable[SearchResults]], name_of: Callable[[Lane], str]) -> None:
        super().__init__()
        self._search = search
        self._name_of = name_of
        self._hits: Sequence[Hit] = ()

    def compose(self) -> ComposeResult:
        """A line to write on, and what was found."""
        with Vertical(classes="dialog wide"):
            yield Input(placeholder='Search: words, "a phrase", role:user, channel:"Cron Reports"', max_length=500)
            yield OptionList(markup=False)
            yield Static("", classes="state", markup=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search a moment after the last key."""
        self.run_worker(self._find(event.value, PAUSE), exclusive=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search at once; or take the first hit, if the search is done."""
        if self._hits:
            self.dismiss(self._hits[0])
        else:
            self.run_worker(self._find(event.value, 0.0), exclusive=True)

    def action_results(self) -> None:
        """Go to what was found."""
        if self._hits:
            self.query_one(OptionList).focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take a hit."""
        self.dismiss(self._hits[event.option_index])

    async def _find(self, query: str, pause: float) -> None:
        await asyncio.sleep(pause)
        self._hits = ()
        state = ""
        if query.strip():
            try:
                self._hits = (await self._search(query)).hits
                state = f"{len(self._hits)} found" if self._hits else "Nothing was found."
            except IrisError as exc:
                state = sentence(str(exc))
        found = self.query_one(OptionList)
        found.set_options(Option(self._line(hit)) for hit in self._hits)
        found.highlighted = 0 if self._hits else None
        self.query_one(".state", Static).update(Content(state))

    def _line(self, hit: Hit) -> Content:
        where = (
            self._name_of(Lane(hit.chat_id, hit.thread_id)) if hit.chat_id else f"{one_line(hit.session)} (elsewhere)"
        )
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(hit.ts))
        who = one_line(hit.sender) or {"user": "You", "assistant": "Agent", "cron": "Report"}.get(hit.role, "Notice")
        said = ((" ".join(clean(part.text).split("\n")), "bold $accent" if part.hit else "") for part in hit.snippet)
        return Content.assemble((f"{when}  {where}  ", "$text-muted"), f"{who}: ", *said)


class Reading(ModalScreen[None]):
    """A session of the host that is no lane of Iris, to read."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close")]

    def __init__(self, lines: SessionLines) -> None:
        super().__init__()
        self._lines = lines

    def compose(self) -> ComposeResult:
        """Its title and its lines."""
        with Vertical(classes="dialog wide"):
            yield Static(Content(f"{one_line(self._lines.title)} · {one_line(self._lines.source)}"), classes="heading")
            with VerticalScroll():
                for line in self._lines.lines:
                    yield Static(Content.assemble((f"{line.role}: ", "bold"), clean(line.text)), classes="line")
