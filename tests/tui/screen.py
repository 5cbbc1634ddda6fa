"""A chat in a terminal that is not there, at a real gateway: its keys are pressed, its screen is read."""

import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.client import Client
from hermes_iris.hub import Hub
from hermes_iris.tui.app import Chat, ThemeName
from hermes_iris.tui.widgets.lane_view import LaneView
from hermes_iris.turns import calls
from support import LIMIT, Gateway, gateway, wait_until

NARROW, WIDE = (80, 24), (130, 40)


@dataclass(frozen=True)
class Terminal:
    """The app, its keys and its screen."""

    app: Chat
    pilot: Pilot[str]
    gateway: Gateway

    @property
    def hub(self) -> Hub:
        return self.gateway.service.hub

    @property
    def screen(self) -> str:
        """What is on the screen now, without blanks at the ends of lines."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips)

    @property
    def lane(self) -> list[str]:
        """What of it is the open lane, without empty lines."""
        region = self.app.query_one(LaneView).region
        lines = self.screen.splitlines()[region.y : region.bottom]
        return [text for line in lines if (text := line[region.x : region.right].strip(" █▁▂▃▄▅▆▇"))]

    async def sees(self, pattern: str, *, gone: bool = False) -> re.Match[str] | None:
        """Wait until something (or nothing) on the screen fits."""
        deadline = time.monotonic() + 3 * LIMIT
        while bool(found := re.search(pattern, self.screen)) is gone:
            if time.monotonic() > deadline:
                raise AssertionError(f"{pattern!r} {'is still' if gone else 'is not'} on\n{self.screen}")
            await self.pilot.pause(0.05)
        return found

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until a condition holds, and what led to it is drawn."""
        await wait_until(condition, 3 * LIMIT)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """Press the key of each character."""
        names = {" ": "space", "\n": "ctrl+j", "/": "slash", "-": "minus", ".": "full_stop"}
        await self.pilot.press(*(names.get(character, character) for character in text))

    async def say(self, text: str) -> None:
        """Write a message and send it."""
        await self.type(text)
        await self.pilot.press("enter")

    async def host(self, *told: calls.Call, lane: Lane = DEFAULT_LANE) -> None:
        """What the host tells of a lane."""
        for call in told:
            await self.hub.call(lane, call)


async def answered(running: Gateway, text: str, lane: Lane = DEFAULT_LANE) -> None:
    """A turn that says one thing."""
    for call in (
        calls.TurnBegan("t0"),
        calls.ModelReplied("t0", text, more=False),
        calls.Sent(text, calls.Origin.ANSWER),
        calls.Processed("success"),
    ):
        await running.service.hub.call(lane, call)


@asynccontextmanager
async def terminal(
    running: Gateway,
    size: tuple[int, int] = NARROW,
    place: Lane = DEFAULT_LANE,
    theme: ThemeName = "dark",
    client: Client | None = None,
) -> AsyncIterator[Terminal]:
    """A chat with a gateway."""
    async with client or running.client(await running.pair("Terminal")) as connected:
        app = Chat(connected, place, theme)
        async with app.run_test(size=size, notifications=True) as pilot:
            shown = Terminal(app, pilot, running)
            await shown.sees("connected")
            yield shown


@asynccontextmanager
async def chat(root: Path, size: tuple[int, int] = NARROW, **options: Any) -> AsyncIterator[Terminal]:
    """A gateway of its own, and a chat with it."""
    async with gateway(root) as running, terminal(running, size, **options) as shown:
        yield shown
