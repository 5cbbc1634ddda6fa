"""A line that opens to more."""

from collections.abc import Iterable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from .label import Label


class Title(Label, can_focus=True):
    """The line; Enter, Space or a click opens and closes what is under it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "turn", "Open", show=False)]

    class Toggled(Message):
        """It was asked to open or to close."""

    def action_turn(self) -> None:
        """Open or close."""
        self.post_message(self.Toggled())

    def on_click(self, event: events.Click) -> None:
        """A click does the same."""
        event.stop()
        self.action_turn()


class Fold(Vertical):
    """A title, and what it opens to: made when it is opened for the first time."""

    def __init__(self, title: Content, classes: str = "") -> None:
        super().__init__(classes=f"fold {classes}")
        self.is_open = False
        self._title = title
        self._body: Vertical | None = None

    def compose(self) -> ComposeResult:
        """Only the title."""
        yield Title(self._line())

    def body(self) -> Iterable[Widget]:
        """What it opens to: a subclass says it."""
        return ()

    def set_title(self, title: Content) -> None:
        """Say something else in the title."""
        self._title = title
        self._redraw()

    async def on_title_toggled(self, event: Title.Toggled) -> None:
        """Open or close."""
        event.stop()
        self.is_open = not self.is_open
        self._redraw()
        if self._body is None:
            self._body = Vertical(*self.body(), classes="fold-body")
            await self.mount(self._body)
        self._body.display = self.is_open
        if self.is_open:
            self.opened()

    def opened(self) -> None:
        """It was opened."""

    async def rebuild(self) -> None:
        """Make what it opens to anew."""
        if self._body is not None:
            await self._body.remove_children()
            await self._body.mount_all(self.body())

    def _line(self) -> Content:
        return Content("▾ " if self.is_open else "▸ ") + self._title

    def _redraw(self) -> None:
        if self.is_mounted:
            self.query_one(Title).say(self._line())
