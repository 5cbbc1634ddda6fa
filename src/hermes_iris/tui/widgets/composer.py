"""Where the person writes."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from ...protocol.frames import SlashCommand
from ..slash import completed


class Composer(TextArea):
    """Enter sends; Shift+Enter (where the terminal tells it apart) and Ctrl+J begin a new line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+j,shift+enter", "new_line", "New line", show=False),
        Binding("tab", "complete", "Complete", show=False),
    ]

    class Sent(Message):
        """The person sent a text."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(id="composer", soft_wrap=True, show_line_numbers=False, highlight_cursor_line=False)
        self.commands: Sequence[SlashCommand] = ()

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            if self.text.strip() and not self.read_only:
                text, self.text = self.text, ""
                self.post_message(self.Sent(text))
            return
        await super()._on_key(event)

    def action_new_line(self) -> None:
        """Begin a new line."""
        if not self.read_only:
            self.insert("\n")

    def action_complete(self) -> None:
        """Complete a slash command; elsewhere go on to the next part of the screen."""
        text = completed(self.text, self.commands)
        if text is None:
            self.screen.focus_next()
        else:
            self.text = text
            self.move_cursor(self.document.end)

    def give_back(self, text: str) -> None:
        """Put a text that was not taken before what is written now."""
        self.text = f"{text}\n{self.text}" if self.text else text
        self.move_cursor(self.document.end)
