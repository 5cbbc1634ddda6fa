"""A lane from top to bottom. It follows its end until the person scrolls up, and asks for more at its beginning."""

from collections.abc import Sequence

from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from ..rows import Ask, Line, Row, Tool, Words
from .asks import AskRow
from .tools import Fetch, ToolRow
from .words import LineRow, WordsRow

RowWidget = WordsRow | ToolRow | AskRow | LineRow


class LaneView(VerticalScroll, can_focus=True):
    """What is shown of the open lane."""

    class WantsOlder(Message):
        """The person came to the beginning of what is shown."""

    class WantsNewer(Message):
        """The person came to the end of what is shown."""

    def __init__(self, fetch: Fetch) -> None:
        super().__init__(id="lane")
        self._fetch = fetch
        self._known: dict[str, RowWidget] = {}
        self._visit = -1

    @property
    def is_at_end(self) -> bool:
        """Whether the last row is in view."""
        return self.scroll_y >= self.max_scroll_y or self.virtual_size.height <= self.size.height

    async def show(self, rows: Sequence[Row], visit: int, empty: str) -> None:
        """Show these rows. Those that are as they were are left alone; another `visit` begins at the end."""
        if visit != self._visit:
            self._visit = visit
            self._known = {}
            await self.remove_children()
            self.anchor()
        if rows != [widget.row for widget in self._known.values()]:
            with self.app.batch_update():
                await self._update(rows)
        await self._say(empty if not rows else "")

    async def _update(self, rows: Sequence[Row]) -> None:
        first = next(iter(self._known.values()), None)
        held = None if first is None or self.is_at_end else (first, first.virtual_region.y - self.scroll_y)
        keys = {row.key for row in rows}
        gone = [widget for key, widget in self._known.items() if key not in keys]
        if gone:
            await self.remove_children(gone)
        listed: dict[str, RowWidget] = {}
        new: list[RowWidget] = []
        for row in rows:
            widget = self._known.get(row.key)
            if widget is None or not _fits(widget, row):
                if widget is not None:
                    await widget.remove()
                widget = self._made(row)
                new.append(widget)
            else:
                if new:
                    await self.mount_all(new, before=widget)
                    new = []
                if widget.row != row:
                    await widget.show(row)  # type: ignore[arg-type]  # `_fits` says that they belong together
            listed[row.key] = widget
        if new:
            await self.mount_all(new)
        self._known = listed
        if held is not None:
            self.call_after_refresh(self._hold, *held)

    def _hold(self, widget: RowWidget, at: float) -> None:
        """Keep a row where it was on the screen, whatever came above it."""
        if widget.is_mounted:
            self.scroll_to(y=widget.virtual_region.y - at, animate=False, immediate=True)

    def tick(self) -> None:
        """Show how time goes by."""
        for widget in self._known.values():
            if isinstance(widget, AskRow) or (isinstance(widget, ToolRow) and widget.row.card.state == "running"):
                widget.tick()

    def show_row(self, key: str) -> bool:
        """Scroll to a row and set it off; whether it is there."""
        for other in self.query(".found"):
            other.remove_class("found")
        widget = self._known.get(key)
        if widget is None:
            return False
        widget.add_class("found")
        self.anchor(False)
        self.call_after_refresh(self.scroll_to_widget, widget, animate=False, center=True)
        return True

    def answer(self) -> bool:
        """Put the cursor into what waits for an answer; whether anything does."""
        asks = [widget for widget in self._known.values() if isinstance(widget, AskRow)]
        return any(widget.answer() for widget in asks)

    def watch_scroll_y(self, old: float, new: float) -> None:
        """Ask for more at either end."""
        super().watch_scroll_y(old, new)
        if new <= 0 and old > 0:
            self.post_message(self.WantsOlder())
        if new >= self.max_scroll_y and old < new:
            self.post_message(self.WantsNewer())

    def _made(self, row: Row) -> RowWidget:
        match row:
            case Words():
                return WordsRow(row)
            case Tool():
                return ToolRow(row, self._fetch)
            case Ask():
                return AskRow(row)
            case Line():
                return LineRow(row)

    async def _say(self, text: str) -> None:
        """Say something where there are no rows."""
        lines = self.query("#empty")
        if not text:
            await lines.remove()
        elif lines:
            lines.first(Static).update(Content(text))
        else:
            await self.mount(Static(Content(text), id="empty"))


def _fits(widget: RowWidget, row: Row) -> bool:
    match row:
        case Words(look=look):
            return isinstance(widget, WordsRow) and widget.row.look == look
        case Tool():
            return isinstance(widget, ToolRow)
        case Ask():
            return isinstance(widget, AskRow)
        case Line(look=line):
            return isinstance(widget, LineRow) and widget.row.look == line
