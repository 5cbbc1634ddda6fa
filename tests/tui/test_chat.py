"""Talking in the terminal: what is written and sent, what is drawn of a turn, and how often."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from textual.color import Color

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.tui.app import REPAINT
from hermes_iris.tui.widgets.lane_view import LaneView
from hermes_iris.tui.widgets.words import Prose, WordsRow
from hermes_iris.turns import calls
from hermes_iris.turns.calls import Origin
from support import handed

from .screen import WIDE, Terminal, answered, chat

BEGAN = calls.TurnBegan("t1")


async def stream(shown: Terminal, *texts: str) -> str:
    """A text that grows; the id of its message."""
    message_id = (await shown.hub.call(DEFAULT_LANE, calls.Sent(texts[0], Origin.PREVIEW))).name("m")
    for text in texts[1:]:
        await shown.host(calls.Edited(message_id, text, final=False))
    return message_id


async def test_enter_sends_and_control_j_begins_a_new_line(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        await shown.type("two\nlines")
        assert shown.gateway.host.texts == []
        await shown.pilot.press("shift+enter", "x", "enter", "enter")
        await handed(shown.gateway.service.store)
        assert shown.gateway.host.texts == ["two\nlines\nx"]
        await shown.sees(r"two\n.*lines\n.*x")
        await shown.sees("on its way|waiting for", gone=True)
        assert shown.screen.count("two") == 1


async def test_a_slash_command_is_completed_and_passed_on(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        await shown.until(lambda: shown.app.session.commands)
        await shown.type("/n")
        await shown.sees(r"/new \[name\] – Start anew\.")
        await shown.pilot.press("tab", "x", "enter")
        await handed(shown.gateway.service.store)
        assert shown.gateway.host.texts == ["/new x"]


async def test_a_text_grows_and_stays(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        await shown.host(BEGAN)
        message_id = await stream(shown, "- one", "- one\n- **two**")
        await shown.sees(r"• one\n.*• two")
        await shown.host(calls.Edited(message_id, "Something else", final=False))
        await shown.sees("Something else")
        await shown.sees("one", gone=True)
        await shown.host(
            calls.ModelReplied("t1", "Something else.", more=False, model="m-1", tokens=1234),
            calls.Edited(message_id, "Something else.", final=True),
            calls.Processed("success"),
        )
        await shown.sees(r"Something else\.(.|\n)*m-1 · 1,234 tokens")
        await shown.sees("The agent works", gone=True)


PIECES = """# Head

A [link][1] and

1. one
   - two
2. three

| a | b |
|---|---|
| 1 | 2 |

```py
x = 1
```

[1]: /x"""


async def test_what_grows_in_pieces_ends_as_what_came_whole(tmp_path: Path) -> None:
    async with chat(tmp_path, WIDE) as shown:
        await answered(shown.gateway, PIECES)
        await shown.sees("x = 1")
        whole = [line for line in shown.lane if not line.endswith(" s")]
        await shown.pilot.press("ctrl+n", *"Other", "enter")
        await shown.sees("Other .*connected")
        lane = shown.app.session.model.place
        await shown.hub.call(lane, BEGAN)
        message_id = (await shown.hub.call(lane, calls.Sent(PIECES[:3], Origin.PREVIEW))).name("m")
        for end in range(5, len(PIECES), 7):
            await shown.hub.call(lane, calls.Edited(message_id, PIECES[:end], final=False))
            await shown.pilot.pause(REPAINT / 4)
        await shown.hub.call(lane, calls.ModelReplied("t1", PIECES, more=False))
        await shown.hub.call(lane, calls.Edited(message_id, PIECES, final=True))
        await shown.hub.call(lane, calls.Processed("success"))
        await shown.until(lambda: not shown.app.query_one(WordsRow).row.live)
        await shown.sees("x = 1")
        again = [line for line in shown.lane if not line.endswith(" s")]
        assert again == whole


async def test_a_fast_stream_is_drawn_five_times_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[float] = []
    show = LaneView.show

    async def counted(self: LaneView, *args: object) -> None:
        drawn.append(asyncio.get_running_loop().time())
        await show(self, *args)  # type: ignore[arg-type]

    async with chat(tmp_path) as shown:
        await shown.host(BEGAN)
        monkeypatch.setattr(LaneView, "show", counted)
        message_id = await stream(shown, *("x" * n for n in range(1, 150)))
        await shown.until(lambda: bool(shown.app.query(Prose)))
        for n in range(150, 300):
            await shown.host(calls.Edited(message_id, "x" * n, final=False))
        await shown.until(lambda: [prose.source for prose in shown.app.query(Prose)] == ["x" * 299])
    gaps = [after - before for before, after in pairwise(drawn)]
    assert all(gap >= REPAINT * 0.95 for gap in gaps)
    assert len(drawn) > 1


async def test_reasoning_is_closed_until_it_is_asked_for(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        await shown.host(BEGAN, calls.ModelReplied("t1", "Yes.", more=False, reasoning="I wonder\nwhether"))
        await shown.host(calls.Sent("Yes.", Origin.ANSWER), calls.Processed("success"))
        await shown.sees(r"▸ Reasoning · 2 lines\n.*Yes\.")
        assert "I wonder" not in shown.screen
        await shown.pilot.press("shift+tab", "enter")
        await shown.sees(r"▾ Reasoning · 2 lines\n.*I wonder\n.*whether")
        await shown.pilot.press("enter")
        await shown.sees("I wonder", gone=True)


async def test_a_tool_call_runs_ends_and_opens_to_all_of_it(tmp_path: Path) -> None:
    args = {"command": "printf '%s' [bold]"}
    async with chat(tmp_path, WIDE) as shown:
        await shown.host(BEGAN, calls.ToolBegan("t1", "c1", "terminal", args))
        await shown.sees(r"◌ terminal  printf .*\d\.\d s")
        await shown.host(calls.ToolDone("t1", "c1", "error", 75.0, "line\n" * 3000 + "the end"))
        await shown.sees(r"✗ terminal .*error · 1 min 15 s")
        await shown.pilot.press("shift+tab", "enter")
        await shown.sees(r"Arguments\n.*printf '%s' \[bold\]\n.*Output\n.*line")
        await shown.pilot.press("shift+tab", "tab", "tab", "end")
        await shown.sees("the end")


async def test_a_remark_is_dimmed(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        await shown.host(BEGAN, calls.ModelReplied("t1", "Let me look.", more=True))
        await shown.host(calls.Sent("Let me look."), calls.ToolBegan("t1", "c1", "terminal", {}))
        await shown.sees("Let me look")
        colours = shown.app.theme_variables
        drawn = shown.app.query_one(".remark Static").colors[3]
        assert drawn.rgb != Color.parse(colours["foreground"]).rgb


async def test_escape_stops_the_agent(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        await shown.host(BEGAN)
        await shown.sees("Esc stops it")
        await shown.pilot.press("escape")
        await shown.until(lambda: shown.gateway.host.stopped == [DEFAULT_LANE])
        await shown.host(calls.Processed("cancelled"))
        await shown.sees("stopped")
        await shown.pilot.press("escape")
        assert shown.gateway.host.stopped == [DEFAULT_LANE]


async def test_a_turn_that_failed_says_why(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        await shown.host(BEGAN, calls.ModelFailed("t1", "no [red]model[/]"), calls.Processed("failure"))
        await shown.sees(r"failed · no \[red\]model\[/\]")


async def test_a_text_that_is_refused_is_given_back(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        async with shown.gateway.wire() as wire:
            made = await wire.ask("channel.create", name="Reports")
            await wire.ask("channel.set_automation", chat_id=made["chat_id"], on=True)
        await shown.sees("Reports")
        shown.app.session.open(Lane(made["chat_id"]))
        await shown.sees("Only reports come here")
        shown.app.session.send("but I")
        await shown.sees("read-only")
        await shown.sees("but I")
        assert not shown.app.session.model.pending
