"""The app in the terminal: one screen with lanes, what was said, and a composer.

Invariants: what comes is drawn five times a second at most, however fast it comes; text from outside is never read as
markup, and nothing in it reaches the terminal but what `text.clean` leaves.
"""

import asyncio
import time
from typing import ClassVar, Literal

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.css.query import NoMatches
from textual.theme import Theme
from textual.widget import MountError
from textual.widgets import Footer, TextArea

from ..address import Lane
from ..client import Client
from ..errors import IrisError
from ..protocol.frames import Hit, RequestOpened
from . import lanes, slash
from .model import is_busy
from .rows import Words, rows
from .session import Session
from .text import one_line, sentence
from .widgets.asks import AskRow
from .widgets.composer import Composer
from .widgets.dialogs import Naming, Reading, Searching
from .widgets.label import Label
from .widgets.lane_list import LaneList
from .widgets.lane_view import LaneView

ThemeName = Literal["dark", "light", "ansi-dark", "ansi-light"]
"""The last two take the colours of the terminal itself."""

REPAINT = 0.2
"""Seconds between two looks at what has changed."""

WRITE = "Message · Enter sends, Ctrl+J begins a new line"
READ_ONLY = "Only reports come here · Ctrl+R answers the last one"

NARROW = 70
"""Columns below which the list of lanes is shown only on demand."""

THEMES = (
    Theme(
        name="iris-dark",
        primary="#a08cf0",
        secondary="#7f74b5",
        accent="#b9a8ff",
        warning="#e0b25c",
        error="#ef7d86",
        success="#7cc795",
        foreground="#e7e4f0",
        background="#17151d",
        surface="#1e1b26",
        panel="#282433",
        dark=True,
    ),
    Theme(
        name="iris-light",
        primary="#5b41c9",
        secondary="#6f66a3",
        accent="#5b41c9",
        warning="#8a5a00",
        error="#b3263a",
        success="#1f7a43",
        foreground="#221e2e",
        background="#faf9fd",
        surface="#f1eff7",
        panel="#e6e2f0",
        dark=False,
    ),
)


class Chat(App[str]):
    """`iris chat`. Its result is a line that says why it ended, empty when the person left."""

    TITLE = "Iris"
    CSS_PATH = "chat.tcss"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop", "Stop"),
        Binding("ctrl+f", "search", "Search", priority=True),
        Binding("ctrl+t", "new_topic", "Topic", priority=True),
        Binding("ctrl+n", "new_channel", "Channel", priority=True),
        Binding("ctrl+r", "answer", "Answer", priority=True),
        Binding("ctrl+b", "lanes", "Lanes", priority=True),
        Binding("alt+up", "neighbour(-1)", "Lane before", show=False, priority=True),
        Binding("alt+down", "neighbour(1)", "Lane after", show=False, priority=True),
        Binding("pageup", "scroll(-1)", "Up", show=False, priority=True),
        Binding("pagedown", "scroll(1)", "Down", show=False, priority=True),
        Binding("ctrl+end", "newest", "Newest", show=False, priority=True),
        Binding("ctrl+q", "leave", "Quit", priority=True),
    ]

    def __init__(self, client: Client, place: Lane, theme: ThemeName = "dark") -> None:
        super().__init__()
        self.session = Session(client, place, self._tell, self._give_back, self._asked)
        self._theme = theme
        self._unfolded: frozenset[Lane] = frozenset()
        self._found: str | None = None
        self._warned = False
        self._link = True
        self._focused = True
        self._report: Words | None = None
        """The report that the next message answers."""

    def compose(self) -> ComposeResult:
        """Lanes at the left; title, lane, a line about what goes on, and the composer at the right."""
        with Horizontal():
            yield LaneList()
            with Vertical():
                yield Label(id="title")
                yield LaneView(self.session.tool)
                yield Label(id="doing")
                yield Composer()
        yield Footer(show_command_palette=False)

    def on_mount(self) -> None:
        """Begin to listen and to draw."""
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = self._theme if self._theme.startswith("ansi") else f"iris-{self._theme}"
        self.query_one(LaneList).display = self.size.width >= NARROW
        self.query_one(Composer).focus()
        self.run_worker(self._follow(), name="follow")
        self.run_worker(self._keep_looking(), name="look")

    async def on_unmount(self) -> None:
        """Ask nothing any more."""
        await self.session.close()

    async def _follow(self) -> None:
        try:
            await self.session.follow()
        except IrisError as exc:
            self.exit(sentence(str(exc)))

    # ---------------------------------------------------------------- drawing

    async def _keep_looking(self) -> None:
        while True:
            await self._look()
            await asyncio.sleep(REPAINT)

    async def _look(self) -> None:
        """Draw what has changed since the last look, and how time goes by."""
        try:
            if self.session.is_connected != self._link:
                self._link = self.session.is_connected
                self.session.is_changed = True
            if self.session.is_changed:
                self.session.is_changed = False
                await self._draw()
            else:
                self._title()
            self.query_one(LaneView).tick()
        except (NoMatches, MountError):  # the app was left while it was drawn
            if self.is_running:
                raise

    async def _draw(self) -> None:
        model = self.session.model
        view = self.query_one(LaneView)
        await view.show(rows(model), model.visit, self._empty())
        if self._found is not None and view.show_row(self._found):
            self._found = None
        self._title()
        composer = self.query_one(Composer)
        composer.commands = self.session.commands
        entry = model.entry
        composer.read_only = entry is not None and entry.automation and self._report is None
        composer.placeholder = READ_ONLY if composer.read_only else WRITE
        if self._focused and view.is_at_end:
            self.session.mark_read()

    def _empty(self) -> str:
        if self.session.model.window is None:
            return "Loading …" if self.session.is_connected else "Not connected. Iris goes on trying."
        return "Nothing was said here yet."

    def _title(self) -> None:
        """What goes by without a frame: who is busy until when, and whether there is a connection."""
        model, now = self.session.model, time.monotonic()
        entry = model.entry
        link = ("● connected", "$success") if self._link else ("○ connecting …", "$warning")
        mark = "★ " if entry is not None and entry.is_default and entry.thread_id is None else ""
        past = "  earlier · Ctrl+End for the newest" if model.excerpt else ""
        line = Content.assemble((f"{mark}{lanes.path(model, model.place)}", "bold"), (past, "$text-muted"))
        width = max(10, self.query_one("#title").content_size.width - len(link[0]) - 1)
        self.query_one("#title", Label).say(
            line.truncate(width, ellipsis=True, pad=True) + " " + Content.assemble(link)
        )
        self.query_one("#doing", Label).say(self._doing(now))
        self.query_one(LaneList).show(lanes.listed(model, now, self._unfolded))

    def _doing(self, now: float) -> Content:
        model = self.session.model
        typed = slash.hint(self.query_one(Composer).text, self.session.commands)
        if typed:
            return Content(typed)
        if self._report is not None:
            return Content(f"Answers ⏰ {self._report.who} · Esc takes it back")
        room = model.state.rooms.get(model.place.chat_id)
        if room is not None and model.place.thread_id is None:
            here = [one_line(member.name, 40) for member in room.members if member.here]
            writes = [one_line(member.name, 40) for member in room.members if member.typing and not member.own]
            if room.link != "joined":
                return Content.assemble((one_line(room.why) or "Entering the room …", "$warning"))
            return Content(f"{', '.join(writes)} writes …" if writes else f"Here: {', '.join(here)}")
        if is_busy(model, model.place, now):
            return Content.assemble(("◌ ", "$warning"), "The agent works …  Esc stops it")
        return Content("")

    # ---------------------------------------------------------------- what the session tells

    def _tell(self, line: str) -> None:
        self.notify(line, severity="warning", markup=False)

    def _give_back(self, text: str) -> None:
        self.query_one(Composer).give_back(text)

    def _asked(self, request: RequestOpened) -> None:
        lane = Lane(request.chat_id, request.thread_id)
        if lane == self.session.model.place:
            self.notify("You are asked something · Ctrl+R answers", markup=False)
        else:
            self.notify(f"You are asked something in {lanes.path(self.session.model, lane)}", markup=False)

    # ---------------------------------------------------------------- what the person does

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Under a dialog, the keys of the screen below do nothing."""
        own = {"stop", "search", "new_topic", "new_channel", "answer", "lanes", "neighbour", "scroll", "newest"}
        return not (action in own and len(self.screen_stack) > 1)

    def on_app_focus(self) -> None:
        """The person looks at the terminal again."""
        self._focused = True
        self.session.is_changed = True

    def on_app_blur(self) -> None:
        """The person looks elsewhere: what comes now is not read."""
        self._focused = False

    def on_resize(self, event: events.Resize) -> None:
        """Make room, or use it."""
        self.query_one(LaneList).display = event.size.width >= NARROW
        self.session.is_changed = True

    def on_composer_sent(self, event: Composer.Sent) -> None:
        """Say something."""
        self.session.send(event.text, None if self._report is None else self._report.key)
        self._report = None
        self.query_one(LaneView).anchor()

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Grow with what is written."""
        event.text_area.styles.height = min(8, event.text_area.wrapped_document.height) + 2

    def on_lane_list_opened(self, event: LaneList.Opened) -> None:
        """Go to a lane."""
        self._go(event.lane)
        self.query_one(Composer).focus()

    def on_lane_list_unfolded(self, event: LaneList.Unfolded) -> None:
        """List all threads of a channel."""
        self._unfolded |= {event.channel}
        self.session.is_changed = True

    def on_lane_view_wants_older(self) -> None:
        """Fetch what comes before."""
        self.session.load_older()

    def on_lane_view_wants_newer(self) -> None:
        """Fetch what comes after, after a jump; whoever sees the end has read it, and follows it."""
        if self.session.model.excerpt is None:
            self.query_one(LaneView).anchor()
        self.session.load_newer()
        self.session.is_changed = True

    def on_ask_row_answered(self, event: AskRow.Answered) -> None:
        """Answer what was asked."""
        self.session.answer(event.request_id, event.choices, event.text, dismiss=event.dismiss)
        self.query_one(Composer).focus()

    def _go(self, lane: Lane) -> None:
        self._found = self._report = None
        self.session.open(lane)

    def action_neighbour(self, step: int) -> None:
        """Go to the lane above or below."""
        self._go(lanes.neighbour(self.session.model, step))

    def action_scroll(self, pages: int) -> None:
        """Scroll the lane, wherever the cursor is."""
        view = self.query_one(LaneView)
        if pages < 0 and view.scroll_y <= 0:
            self.session.load_older()
        if pages > 0 and view.is_at_end:
            self.session.load_newer()
        (view.scroll_page_up if pages < 0 else view.scroll_page_down)(animate=False)

    def action_newest(self) -> None:
        """Go to the end of the lane."""
        self.session.to_end()
        self.query_one(LaneView).anchor()

    def action_stop(self) -> None:
        """Interrupt the agent; with nothing to interrupt, go back to the composer."""
        if self._report is not None:
            self._report = None
            self.session.is_changed = True
        elif self.session.stop():
            self._tell("Stopping …")
        self.query_one(Composer).focus()

    def action_answer(self) -> None:
        """Go to what waits for an answer; where nothing does, answer the last report."""
        if self.query_one(LaneView).answer():
            return
        reports = [row for row in rows(self.session.model) if isinstance(row, Words) and row.look == "report"]
        if not reports:
            self._tell("Nothing waits for an answer here.")
            return
        self._report = reports[-1]
        self.session.is_changed = True
        self.query_one(Composer).focus()

    def action_lanes(self) -> None:
        """Go to the list of lanes, or put it away."""
        listed = self.query_one(LaneList)
        if listed.display and listed.has_focus:
            listed.display = self.size.width >= NARROW
            self.query_one(Composer).focus()
        else:
            listed.display = True
            self.call_after_refresh(listed.focus)

    def action_new_topic(self) -> None:
        """Begin a thread under the default channel."""
        self.push_screen(Naming("A new topic"), self._new_topic)

    def _new_topic(self, name: str | None) -> None:
        if name:
            self.session.create(name, "thread")

    def action_new_channel(self) -> None:
        """Make a channel."""
        self.push_screen(Naming("A new channel"), self._new_channel)

    def _new_channel(self, name: str | None) -> None:
        if name:
            self.session.create(name, "channel")

    def action_search(self) -> None:
        """Find what was said."""
        name_of = self.session.model
        self.push_screen(Searching(self.session.search, lambda lane: lanes.path(name_of, lane)), self._chosen)

    def _chosen(self, hit: Hit | None) -> None:
        if hit is None:
            return
        if hit.chat_id is not None and hit.order is not None:
            self._found = hit.message_id
            self.session.jump(Lane(hit.chat_id, hit.thread_id), hit.order)
        elif hit.session_id is not None:
            self.run_worker(self._read(hit), exclusive=True)

    async def _read(self, hit: Hit) -> None:
        try:
            await self.push_screen(Reading(await self.session.read_session(hit)))
        except IrisError as exc:
            self._tell(sentence(str(exc)))

    def action_leave(self) -> None:
        """Leave; a second time if something would be lost."""
        lost = self.session.would_lose
        if lost and not self._warned:
            self._warned = True
            self._tell(f"Not sent yet: {lost}. Ctrl+Q again leaves all the same.")
        else:
            self.exit("")
