"""What people are asked, answered in the terminal."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hermes_iris import desk, questions
from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.host import Ending
from hermes_iris.protocol.frames import Choice, Question
from hermes_iris.questions import Answer
from support import gateway

from .screen import WIDE, Terminal, chat, terminal


@dataclass
class Waits:
    """The host's side of a request."""

    over: Ending | None = None
    answers: list[Answer] = field(default_factory=list)

    async def settle(self, answer: Answer) -> str | None:
        self.answers.append(answer)
        return None

    def ending(self) -> Ending | None:
        return self.over


@pytest.fixture(autouse=True)
def _quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "LOOK_EVERY", 0.01)


async def ask(shown: Terminal, question: Question, lane: Lane = DEFAULT_LANE) -> Waits:
    waits = Waits()
    await shown.gateway.service.desk.open(lane, question, waits)
    return waits


async def test_a_command_is_allowed_by_keys(tmp_path: Path) -> None:
    async with chat(tmp_path, WIDE) as shown:
        question = questions.approval("rm -r [x]", "recursive delete", 1e11, session=True, permanent=True)
        waits = await ask(shown, question)
        await shown.sees(
            r"Allow this command\?(.|\n)*recursive delete(.|\n)*rm -r \[x\](.|\n)*Waiting for an answer · \d+ h"
        )
        await shown.pilot.press("ctrl+r", "down", "enter")
        await shown.sees(r"✓ Allow in this session by Terminal")
        assert [answer.values for answer in waits.answers] == [("session",)]
        assert "Always" not in shown.screen
        await shown.type("written on")
        await shown.sees("written on")


async def test_a_question_takes_a_choice_a_text_or_is_skipped(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        first = await ask(shown, questions.clarification("**Which** one?", ["[red]", "blue"], None, multiple=False))
        await shown.sees(r"The agent asks(.|\n)*Which one\?(.|\n)*\[red\]\W*\n\W*blue\W*\n\W*Skip")
        await shown.pilot.press("ctrl+r", "enter")
        await shown.sees(r"✓ \[red\] by Terminal")
        assert [answer.values for answer in first.answers] == [("[red]",)]
        second = await ask(shown, questions.clarification("And why?", None, None, multiple=False))
        await shown.sees("And why")
        await shown.pilot.press("ctrl+r", "tab", *"so", "enter")
        await shown.sees("✓ so by Terminal")
        assert [answer.text for answer in second.answers] == ["so"]
        third = await ask(shown, questions.clarification("Really?", None, None, multiple=False))
        await shown.sees("Really")
        await shown.pilot.press("ctrl+r", "enter")
        await shown.sees("Skipped by Terminal")
        assert [(answer.values, answer.text) for answer in third.answers] == [((), "")]


async def test_several_choices_are_ticked(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        waits = await ask(shown, questions.clarification("Which?", ["a", "b", "c"], None, multiple=True))
        await shown.sees("Send what is ticked")
        await shown.pilot.press("ctrl+r", "enter", "down", "down", "enter", "tab", "enter")
        await shown.sees("✓ a, c")
        assert [answer.values for answer in waits.answers] == [("a", "c")]


async def test_a_picker_says_what_holds_now(tmp_path: Path) -> None:
    choices = [Choice(value="1", label="small", group="m"), Choice(value="2", label="large", group="m", current=True)]
    async with chat(tmp_path) as shown:
        waits = await ask(shown, questions.picker("Model", choices, None))
        await shown.sees(r"Model(.|\n)*m › small(.|\n)*m › large  \(now\)(.|\n)*Cancel")
        waits.over = Ending("withdrawn")
        await shown.sees("No longer needed")
        assert not shown.app.query("OptionList.ask, .ask OptionList")


async def test_what_another_device_answers_is_seen(tmp_path: Path) -> None:
    async with chat(tmp_path) as shown:
        waits = await ask(shown, questions.confirmation("new", "Begin anew?", "All is forgotten.", None))
        await shown.sees(r"Begin anew\?(.|\n)*All is forgotten")
        (card,) = shown.app.session.model.state.entries.values()
        async with shown.gateway.wire(await shown.gateway.pair("Phone")) as phone:
            await phone.ask("request.answer", request_id=card.request_id, choices=[card.question.choices[0].value])
        await shown.sees("by Phone")
        assert waits.answers
        await shown.pilot.press("ctrl+r")
        await shown.sees("Nothing waits for an answer here")


async def test_a_lane_that_waits_for_an_answer_is_marked(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        async with running.wire() as wire:
            made = await wire.ask("channel.create", name="Builds")
        lane = Lane(made["chat_id"])
        before = Waits()
        await running.service.desk.open(lane, questions.clarification("Before?", None, None, multiple=False), before)
        async with terminal(running, WIDE) as shown:
            await shown.sees(r"Builds +\?")
            await ask(shown, questions.clarification("Now?", None, None, multiple=False), lane)
            await shown.sees("You are asked something in Builds")
            shown.app.session.open(lane)
            await shown.sees(r"Before\?(.|\n)*Now\?")
