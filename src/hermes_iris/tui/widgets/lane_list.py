"""The list of channels, threads and rooms."""

from collections.abc import Sequence

from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from ...address import Lane
from ..lanes import Heading, Item, Listed, More


class LaneList(OptionList):
    """Which lanes there are, and what is going on in each."""

    class Opened(Message):
        """The person chose a lane."""

        def __init__(self, lane: Lane) -> None:
            super().__init__()
            self.lane = lane

    class Unfolded(Message):
        """The person wants all threads of a channel."""

        def __init__(self, channel: Lane) -> None:
            super().__init__()
            self.channel = channel

    def __init__(self) -> None:
        super().__init__(id="lanes", markup=False)
        self._listed: list[Listed] = []

    def show(self, listed: Sequence[Listed]) -> None:
        """Show these lanes; the cursor stays where it is."""
        if listed == self._listed:
            return
        same = [_key(line) for line in listed] == [_key(line) for line in self._listed]
        highlighted = None if self.highlighted is None else _key(self._listed[self.highlighted])
        self._listed = list(listed)
        width = max(8, self.scrollable_content_region.width or 22)
        if same:
            for at, line in enumerate(listed):
                self.replace_option_prompt_at_index(at, _prompt(line, width))
            return
        self.set_options(Option(_prompt(line, width), disabled=isinstance(line, Heading)) for line in listed)
        keys = [_key(line) for line in listed]
        self.highlighted = keys.index(highlighted) if highlighted in keys else None

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open a lane, or list more."""
        event.stop()
        match self._listed[event.option_index]:
            case Item(lane=lane):
                self.post_message(self.Opened(lane))
            case More(channel=channel):
                self.post_message(self.Unfolded(channel))
            case Heading():
                pass

    def on_resize(self) -> None:
        """Cut names anew."""
        listed, self._listed = self._listed, []
        self.show(listed)


def _key(line: Listed) -> object:
    match line:
        case Item(lane=lane):
            return lane
        case More(channel=channel):
            return ("more", channel)
        case Heading(name=name):
            return name


def _prompt(line: Listed, width: int) -> Content:
    """One line: mark, name, and at its end what is to be done there."""
    match line:
        case Heading(name=name):
            return Content.assemble((name, "$secondary"))
        case More(count=count):
            return Content.assemble((f"   … {count} more", "$secondary"))
        case Item():
            return _item(line, width)


def _item(item: Item, width: int) -> Content:
    mark = "★ " if item.is_default else "  # " if item.lane.thread_id else "  "
    ends = [
        ("?", "bold $warning") if item.asks else ("", ""),
        ("◌", "$warning") if item.busy else ("", ""),
        (f"⏰{item.jobs}", "$text-muted") if item.jobs else ("", ""),
        (f"{min(item.unread, 999)}", "bold $accent") if item.unread else ("", ""),
    ]
    end = Content(" ").join(Content.assemble(part) for part in ends if part[0])
    room = max(4, width - end.cell_length - 1)
    name = Content(f"{mark}{item.name}").truncate(room, ellipsis=True, pad=True)
    style = "bold reverse" if item.is_open else "bold" if item.unread else ""
    return (name.stylize(style) if style else name) + " " + end
