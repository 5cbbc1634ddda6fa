"""What a person is asked, as it is drawn: choices, a text of one's own, and how it ended."""

import time
from collections.abc import Iterable

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, OptionList, SelectionList, Static
from textual.widgets.option_list import Option
from textual.widgets.selection_list import Selection

from ...protocol.frames import Choice, RequestCard
from ..rows import Ask
from ..text import clean, one_line
from .label import Label
from .words import Prose

STYLES = {"plain": "", "primary": "bold $success", "danger": "$error"}


class AskRow(Vertical):
    """A request."""

    class Answered(Message):
        """The person gave an answer."""

        def __init__(
            self, request_id: str, choices: list[str], text: str | None = None, *, dismiss: bool = False
        ) -> None:
            super().__init__()
            self.request_id = request_id
            self.choices = choices
            self.text = text
            self.dismiss = dismiss

    def __init__(self, row: Ask) -> None:
        super().__init__(classes=f"ask {'open' if row.card.outcome is None else 'closed'}")
        self.row = row

    def compose(self) -> ComposeResult:
        """What is asked, and how it can be answered."""
        card = self.row.card
        asked = card.question
        yield Static(Content(heading(card)), classes="heading")
        if asked.kind == "approval" and asked.title:
            yield Static(Content(clean(asked.title)))
        if asked.prompt:
            yield Prose(clean(asked.prompt))
        if asked.detail:
            yield VerticalScroll(Static(Content(clean(asked.detail))), classes="code", can_focus=False)
        if card.outcome is None:
            yield from self._controls(card)
        yield Label(Content(standing(card, time.time())), classes="state")

    def _controls(self, card: RequestCard) -> Iterable[Widget]:
        asked = card.question
        if asked.multiple and asked.choices:
            picked = (Selection(_label(choice), at, choice.current) for at, choice in enumerate(asked.choices))
            yield SelectionList[int](*picked)
        more = [Option(Content("Send what is ticked"), "send")] if asked.multiple and asked.choices else []
        if asked.dismissible:
            more.append(Option(Content("Skip" if asked.kind == "question" else "Cancel"), "dismiss"))
        plain = [] if asked.multiple else [Option(_label(choice), f"{at}") for at, choice in enumerate(asked.choices)]
        if plain or more:
            yield OptionList(*plain, *more, markup=False)
        if asked.free_text:
            yield Input(placeholder="An answer in your own words; Enter sends it")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take a choice."""
        event.stop()
        card = self.row.card
        choices = card.question.choices
        if event.option_id == "dismiss":
            self.post_message(self.Answered(card.request_id, [], dismiss=True))
        elif event.option_id == "send":
            ticked = sorted(self.query_one(SelectionList).selected)
            self.post_message(self.Answered(card.request_id, [choices[at].value for at in ticked]))
        else:
            self.post_message(self.Answered(card.request_id, [choices[int(event.option_id or 0)].value]))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take a text."""
        event.stop()
        if event.value.strip():
            self.post_message(self.Answered(self.row.card.request_id, [], event.value))

    def answer(self) -> bool:
        """Put the cursor where it is answered; whether it still can be."""
        controls = self.query("SelectionList, OptionList, Input")
        if controls:
            self.screen.set_focus(controls.first())  # at once: the next key is meant for it
        return bool(controls)

    def tick(self) -> None:
        """Show how much time is left."""
        if self.row.card.outcome is None and self.is_mounted:
            self.query_one(".state", Label).say(Content(standing(self.row.card, time.time())))

    async def show(self, row: Ask) -> None:
        """Show how it stands now."""
        self.row = row
        self.set_classes(f"ask {'open' if row.card.outcome is None else 'closed'}")
        with self.app.batch_update():
            await self.remove_children()
            await self.mount_all(self.compose())


def heading(card: RequestCard) -> str:
    """What a card is called."""
    match card.question.kind:
        case "approval":
            return "Allow this command?"
        case "question":
            return "The agent asks"
        case _:
            return one_line(card.question.title)


def standing(card: RequestCard, now: float) -> str:
    """How it stands, in one line."""
    by = f" by {one_line(card.by_name)}" if card.by_name else ""
    match card.outcome:
        case None:
            expires = card.question.expires_at
            return "Waiting for an answer" + (f" · {_left(expires - now)} left" if expires else "")
        case "answered":
            return f"✓ {one_line(card.answer)}{by}" if card.answer else f"✓ Answered{by}"
        case "dismissed":
            return f"{'Skipped' if card.question.kind == 'question' else 'Cancelled'}{by}"
        case "expired":
            return "Expired without an answer"
        case "withdrawn":
            return "No longer needed"
        case "interrupted":
            return "The gateway was restarted before an answer came"


def _left(seconds: float) -> str:
    whole = max(0, round(seconds))
    return f"{whole // 3600} h {whole % 3600 // 60} min" if whole >= 3600 else f"{whole // 60}:{whole % 60:02}"


def _label(choice: Choice) -> Content:
    group = f"{one_line(choice.group, 40)} › " if choice.group else ""
    label = Content(one_line(choice.label) or "…").stylize(STYLES[choice.style])
    return Content(group) + label + Content("  (now)" if choice.current else "")
