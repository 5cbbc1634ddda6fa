"""Turns of unmodified hosts: the whole frame sequence of each scenario, in each way the host may be set."""

from hermes_iris.protocol.frames import Message, MessageStart, MessageStop, MessageUpdate, ToolEnd, ToolStart

from .gateway import Gateway
from .story import Story, play


async def rehearse(running: Gateway, scenario: str) -> Story:
    async with running.client() as client:
        return await play(client, running, f"rehearse {scenario}")


async def test_plain_answer(running: Gateway, mode: str) -> None:
    story = await rehearse(running, "plain")
    assert story.kinds == ["user", "turn.started", "final", "turn.ended"]
    assert story.told[-1] == ("turn.ended", "success")
    answer = story.answer
    assert story.answer_text.startswith("This is a **plain answer**")
    assert answer.reasoning == ("The person wants to see how a turn looks.\nI am a script, so I do as the script says.")
    assert answer.model == "iris-rehearsal"
    assert answer.tokens is not None
    assert answer.tokens > 0
    if "streaming" in mode:
        assert isinstance(answer, MessageStop)
        assert len(story.of(MessageUpdate)) > 1
    else:
        assert isinstance(answer, Message)


async def test_tool_call_between_commentary_and_answer(running: Gateway) -> None:
    story = await rehearse(running, "tool")
    assert story.told[:-2] == [
        ("user", "rehearse tool"),
        ("turn.started",),
        ("commentary", "I'll look around first."),
        ("tool.start", 1, "terminal"),
        ("tool.end", 1, "ok"),
    ]
    assert story.kinds[-2:] == ["final", "turn.ended"]
    (start,), (end,) = story.of(ToolStart), story.of(ToolEnd)
    assert start.args == {"command": "pwd && ls"}
    assert start.preview == "pwd && ls"
    assert end.ok
    assert end.output_preview.startswith("/")
    assert "`pwd && ls`" in story.answer_text
    assert story.answer.reasoning == "The listing is here. I quote it."


async def test_two_parallel_tools_then_another_round(running: Gateway) -> None:
    story = await rehearse(running, "tool2")
    assert story.told[:-2] == [
        ("user", "rehearse tool2"),
        ("turn.started",),
        ("commentary", "Two things at once: the date, and a note in a new file."),
        ("tool.start", 1, "terminal"),
        ("tool.end", 1, "ok"),
        ("tool.start", 2, "terminal"),
        ("tool.end", 2, "ok"),
        ("commentary", "Both are done. Now I read the note back."),
        ("tool.start", 3, "read_file"),
        ("tool.end", 3, "ok"),
    ]
    assert story.kinds[-2:] == ["final", "turn.ended"]
    assert "A note of the rehearsal." in story.of(ToolEnd)[2].output_preview


async def test_tool_that_fails(running: Gateway) -> None:
    story = await rehearse(running, "toolerr")
    assert story.told[2:5] == [
        ("commentary", "I'll read a file that does not exist."),
        ("tool.start", 1, "terminal"),
        ("tool.end", 1, "error"),
    ]
    assert story.kinds == ["user", "turn.started", "commentary", "tool.start", "tool.end", "final", "turn.ended"]
    assert "No such file" in story.of(ToolEnd)[0].output_preview


async def test_tool_without_a_word_shows_its_reasoning_first(running: Gateway) -> None:
    story = await rehearse(running, "toolnotext")
    assert story.told[2] == ("reasoning", "I act without saying so first.")
    assert story.kinds == ["user", "turn.started", "reasoning", "tool.start", "tool.end", "final", "turn.ended"]


async def test_fast_rounds(running: Gateway) -> None:
    story = await rehearse(running, "fasttool")
    assert story.told[2] == ("commentary", "Quick look.")
    assert story.kinds == ["user", "turn.started", "commentary", "tool.start", "tool.end", "final", "turn.ended"]


async def test_inline_thinking_is_told_apart(running: Gateway) -> None:
    story = await rehearse(running, "think")
    assert story.told[2] == ("final", "This is the visible answer after an inline thought.")
    assert story.answer.reasoning is not None
    assert story.answer.reasoning.startswith("Some models write their thoughts into the text")


async def test_long_reasoning_is_whole(running: Gateway) -> None:
    story = await rehearse(running, "longr")
    assert story.told[2] == ("final", "I thought forty lines for this short answer.")
    assert story.answer.reasoning is not None
    assert len(story.answer.reasoning.splitlines()) == 40


async def test_fence_in_reasoning_does_not_reach_the_answer(running: Gateway) -> None:
    story = await rehearse(running, "code")
    assert story.answer_text.startswith("Here is a small program:")
    assert "```" in (story.answer.reasoning or "")


async def test_long_answer_is_one_bubble(running: Gateway, mode: str) -> None:
    story = await rehearse(running, "long")
    assert story.kinds == ["user", "turn.started", "final", "turn.ended"]
    assert len(story.answer_text) > 9_000
    assert len(story.of(MessageStart)) == ("streaming" in mode)
