"""The course of a turn by example: its tools, its ends, what else is said, typing."""

import json

import pytest
from turn_kit import (
    Example,
    Play,
    Script,
    Wait,
    answer,
    asks,
    attached,
    began,
    cases,
    done,
    edit,
    fails,
    final,
    other,
    play,
    preview,
    processed,
    reported,
    says,
    segment,
    tool,
    typing,
)

from hermes_iris.protocol.frames import Message, MessageStart, MessageStop, ToolEnd, ToolStart, Typing
from hermes_iris.turns import TYPING_TTL, LaneState, ToolDetail, calls, step
from hermes_iris.turns.calls import Origin, Sent

TOOLS: dict[str, Example] = {
    "two in parallel end in any order": (
        [
            began(),
            asks("Both."),
            tool("a", command="date"),
            tool("b", "read_file", path="x"),
            done("b"),
            done("a"),
            processed(),
        ],
        [
            "turn",
            "comment 'Both.'",
            "tool 1 terminal date",
            "tool 2 read_file x",
            "tool 2 is ok",
            "tool 1 is ok",
            "end success",
        ],
    ),
    "an id that the host uses again after its end is another call": (
        [began(), tool("a"), done("a"), tool("a"), done("a", status="error"), processed()],
        ["turn", "tool 1 terminal", "tool 1 is ok", "tool 2 terminal", "tool 2 is error", "end success"],
    ),
    "an id that began already does not begin again": (
        [began(), tool("a"), tool("a"), done("a"), processed()],
        ["turn", "tool 1 terminal", "tool 1 is ok", "end success"],
    ),
    "a terminal that exits with a code has failed although the host says ok": (
        [began(), tool("a"), done("a", '{"output": "no", "exit_code": 1}'), processed()],
        ["turn", "tool 1 terminal", "tool 1 is error", "end success"],
    ),
    "a call that was not allowed is blocked": (
        [began(), tool("a"), done("a", '{"exit_code": 1}', "blocked"), processed()],
        ["turn", "tool 1 terminal", "tool 1 is blocked", "end success"],
    ),
    "the tool behind the bridge is the one that is shown": (
        [
            began(),
            tool("a", "tool_call", calls=[{"name": "web_search", "arguments": {"query": "iris"}}]),
            done("a"),
            processed(),
        ],
        ["turn", "tool 1 web_search iris", "tool 1 is ok", "end success"],
    ),
    "an end without a beginning is ignored": (
        [began(), done("a"), tool("b"), done("b"), done("b"), processed()],
        ["turn", "tool 1 terminal", "tool 1 is ok", "end success"],
    ),
    "what is open when a turn ends is cancelled": (
        [began(), tool("a"), tool("b"), done("a"), processed("cancelled"), done("b")],
        ["turn", "tool 1 terminal", "tool 2 terminal", "tool 1 is ok", "tool 2 is cancelled", "end cancelled"],
    ),
}

ENDS: dict[str, Example] = {
    "a segment that ends without a reply is part of an answer": (
        [began(), preview("Hel"), final(1, "Hello, I"), processed()],
        ["turn", "start #1", "update #1 'Hel'", "stop #1 partial 'Hello, I' aborted", "end success"],
    ),
    "so is one in one piece": (
        [began(), segment("Hello, I"), processed()],
        ["turn", "message partial 'Hello, I' aborted", "end success"],
    ),
    "a correction on the way goes on in the same bubble": (
        [
            began(),
            preview("The first"),
            edit(1, "The first answer goes"),
            other("gateway.busy.redirected_head"),
            edit(1, "Another"),
            says("Another answer."),
            final(1, "Another answer."),
            processed(),
        ],
        [
            "turn",
            "start #1",
            "update #1 'The first'",
            "update #1 'The first answer goes'",
            "message notice 'gateway.busy.redirected_head'",
            "update #1 'Another'",
            "stop #1 final 'Another answer.' by mod/10",
            "end success",
        ],
    ),
    "an interruption ends one turn and begins the next": (
        [
            began("h1"),
            preview("Slow"),
            tool("a", turn="h1"),
            other("Interrupting."),
            preview("Slowly"),
            began("h2"),
            done("a", turn="h1"),
            says("late", turn="h1"),
            reported("failure", "h1"),
            edit(3, "Slowly on"),
            preview("New"),
            says("New one.", turn="h2"),
            final(4, "New one."),
            processed(),
        ],
        [
            "turn",
            "start #1",
            "update #1 'Slow'",
            "stop #1 commentary 'Slow'",
            "tool 1 terminal",
            "message notice 'Interrupting.'",
            "start #3",
            "update #3 'Slowly'",
            "stop #3 partial 'Slowly' aborted",
            "tool 1 is cancelled",
            "end interrupted",
            "turn",
            "start #4",
            "update #4 'New'",
            "stop #4 final 'New one.' by mod/10",
            "end success",
        ],
    ),
    "a turn that reported its end before the next one began has that outcome": (
        [began("h1"), reported("success", "h1"), began("h2"), processed()],
        ["turn", "end success", "turn", "end success"],
    ),
    "a turn that begins twice begins once": ([began(), began(), processed()], ["turn", "end success"]),
    "a stop closes the bubble and the tool": (
        [began(), preview("Slow"), says(""), tool("a"), preview("More"), processed("cancelled")],
        [
            "turn",
            "start #1",
            "update #1 'Slow'",
            "stop #1 commentary 'Slow'",
            "tool 1 terminal",
            "start #2",
            "update #2 'More'",
            "stop #2 partial 'More' aborted",
            "tool 1 is cancelled",
            "end cancelled",
        ],
    ),
    "a stop between an answer and its last edit does not cut it": (
        [began(), preview("The answ"), says("The answer is 42."), processed("cancelled")],
        ["turn", "start #1", "update #1 'The answ'", "stop #1 final 'The answer is 42.' by mod/10", "end cancelled"],
    ),
    "nor does the next segment that comes before its last edit": (
        [
            began(),
            preview("The first"),
            asks("The first text."),  # for a tool that there is not: no tool begins
            preview("The sec"),
            says("The second text."),
            final(2, "The second text."),
            processed(),
        ],
        [
            "turn",
            "start #1",
            "update #1 'The first'",
            "stop #1 commentary 'The first text.'",
            "start #2",
            "update #2 'The sec'",
            "stop #2 final 'The second text.' by mod/20",
            "end success",
        ],
    ),
    "a bubble that the host replaced by another without a reply is aborted": (
        [began(), preview("One"), preview("Two"), says("Two."), final(2, "Two."), processed()],
        [
            "turn",
            "start #1",
            "update #1 'One'",
            "stop #1 partial 'One' aborted",
            "start #2",
            "update #2 'Two'",
            "stop #2 final 'Two.' by mod/10",
            "end success",
        ],
    ),
    "a model that fails is a notice and a failure": (
        [began(), other("retrying"), answer("The model failed."), reported("failure"), processed("success")],
        ["turn", "message notice 'retrying'", "message notice 'The model failed.'", "end failure"],
    ),
    "a model call that failed in the end is why a turn failed, whatever the host says": (
        [
            began(),
            fails("overloaded"),
            fails("not reachable"),
            answer("The model failed."),
            reported("success"),
            processed("success"),
        ],
        ["turn", "message notice 'The model failed.'", "end failure: not reachable"],
    ),
    "a model call that worked when tried again is no failure": (
        [began(), fails("overloaded"), says("Hi."), answer("Hi."), processed()],
        ["turn", "message final 'Hi.' by mod/10", "end success"],
    ),
    "a stop after a failed model call is a stop": (
        [began(), fails("overloaded"), processed("cancelled"), fails("late")],
        ["turn", "end cancelled"],
    ),
    "a failure in the middle of a bubble marks it": (
        [began(), preview("Hel"), processed("failure")],
        ["turn", "start #1", "update #1 'Hel'", "stop #1 partial 'Hel' error", "end failure"],
    ),
    "what the host says at the end counts more than a reported success": (
        [began(), reported("success"), processed("cancelled")],
        ["turn", "end cancelled"],
    ),
    "what is processed outside a turn ends nothing": ([processed(), processed("failure")], []),
    "hooks of a turn that is over are ignored": (
        [
            began(),
            processed(),
            says("late"),
            asks("late"),
            tool("a"),
            done("a"),
            reported("failure"),
            began("h2"),
            says("late", turn="h1"),
            tool("a", turn="h1"),
            done("a", turn="h1"),
            reported("failure", "h1"),
            processed(),
        ],
        ["turn", "end success", "turn", "end success"],
    ),
    "edits of what is not open are ignored": (
        [
            edit("m_1", "x"),
            final("m_1", "x"),
            began(),
            edit("m_1", "x"),
            preview("Hi"),
            edit("m_1", "x"),
            final("m_1", "x"),
            says("Hi."),
            final(1, "Hi."),
            edit(1, "Hi again"),
            final(1, "Hi again"),
            processed(),
            edit(1, "Hi again"),
        ],
        ["turn", "start #1", "update #1 'Hi'", "stop #1 final 'Hi.' by mod/10", "end success"],
    ),
}

FILES: dict[str, Example] = {
    "files belong to the turn that runs, and stand under its answer": (
        [began(), says("Look."), answer("Look."), attached("a.png", "A chart."), processed()],
        ["turn", "message final 'Look.' by mod/10", "message final 'A chart.' with a.png", "end success"],
    ),
    "files between the texts of a stream leave its bubble alone": (
        [began(), preview("Lo"), attached("a.png"), says("Look."), final(1, "Look."), processed()],
        [
            "turn",
            "start #1",
            "update #1 'Lo'",
            "message final '' with a.png",
            "stop #1 final 'Look.' by mod/10",
            "end success",
        ],
    ),
    "the path of a file to come is in no preview": (
        [
            began(),
            preview("MEDIA:/tmp/a.p"),
            edit(1, "Look.\nMEDIA:/tmp/a.p"),
            says("Look.\nMEDIA:/tmp/a.png"),
            final(1, "Look."),
            attached("a.png"),
            processed(),
        ],
        [
            "turn",
            "start #1",
            "update #1 ''",
            "update #1 'Look.'",
            "stop #1 final 'Look.' by mod/10",
            "message final '' with a.png",
            "end success",
        ],
    ),
    "files outside of a turn": ([attached("a.png")], ["message final '' with a.png"]),
}

MESSAGES: dict[str, Example] = {
    "the reply to a slash command is a notice": ([answer("All is well.")], ["message notice 'All is well.'"]),
    "also in the middle of a turn": (
        [began(), preview("Hi"), other("All is well."), says("Hi."), final(1, "Hi."), processed()],
        [
            "turn",
            "start #1",
            "update #1 'Hi'",
            "message notice 'All is well.'",
            "stop #1 final 'Hi.' by mod/10",
            "end success",
        ],
    ),
    "also when the answer is known and not yet delivered": (
        [began(), says("Hi."), other("All is well."), segment("Hi."), processed()],
        ["turn", "message notice 'All is well.'", "message final 'Hi.' by mod/10", "end success"],
    ),
    "a streamed text outside a turn is a notice": (
        [preview("Hi"), edit(1, "Hi there"), final(1, "Hi there")],
        ["message notice 'Hi'"],
    ),
    "lines of progress are left to the cards": (
        [
            Sent("💻 terminal", Origin.PROGRESS),
            began(),
            Sent("💻 terminal", Origin.PROGRESS),
            edit(2, "💻 (×2)"),
            processed(),
        ],
        ["turn", "end success"],
    ),
    "the reply to our own stop command is not shown": (
        [began(), Sent("⚡ Stopped.", Origin.OWN_COMMAND), processed("cancelled"), Sent("x", Origin.OWN_COMMAND)],
        ["turn", "end cancelled"],
    ),
    "an answer that is delivered twice is shown once": (
        [
            began(),
            preview("Hi"),
            says("Hi."),
            final(1, "Hi."),
            answer("Hi."),
            other("Hi."),
            segment("Hi."),
            processed(),
        ],
        ["turn", "start #1", "update #1 'Hi'", "stop #1 final 'Hi.' by mod/10", "end success"],
    ),
    "a text in one piece closes the bubble that shows it already": (
        [began(), preview("Hi"), says("Hi you."), answer("Hi you."), final(1, "Hi you."), processed()],
        ["turn", "start #1", "update #1 'Hi'", "stop #1 final 'Hi you.' by mod/10", "end success"],
    ),
    "another text after the answer is a notice": (
        [began(), says("Hi."), answer("Hi."), answer("model · 1%"), processed()],
        ["turn", "message final 'Hi.' by mod/10", "message notice 'model · 1%'", "end success"],
    ),
    "the host's display of thinking is taken off the answer": (
        [began(), says("Hi.", "Hm."), answer("💭 **Reasoning:**\n```\nHm.\n```\n\nHi."), processed()],
        ["turn", "message final 'Hi.' by mod/10 because 'Hm.'", "end success"],
    ),
    "the host's footer is taken off the answer": (
        [began(), preview("H"), says("Hi."), final(1, "Hi.\n\nmodel · 1%"), processed()],
        ["turn", "start #1", "update #1 'H'", "stop #1 final 'Hi.' by mod/10", "end success"],
    ),
    "an answer of which only the key of a translation came is the model's": (
        [began(), says("Hi."), answer("gateway.reasoning.block"), processed()],
        ["turn", "message final 'Hi.' by mod/10", "end success"],
    ),
    "an answer that the host changed on purpose is the host's": (
        [began(), says("See MEDIA:/tmp/a.png here"), answer("See here"), processed()],
        ["turn", "message final 'See here' by mod/10", "end success"],
    ),
    "a streamed answer that the host changed on purpose, too": (
        [began(), preview("See"), says("See MEDIA:/tmp/a.png here"), final(1, "See here"), processed()],
        ["turn", "start #1", "update #1 'See'", "stop #1 final 'See here' by mod/10", "end success"],
    ),
    "where the model said nothing the host speaks for itself": (
        [began(), says("", "Hm."), answer("(no answer)"), processed()],
        ["turn", "message notice '(no answer)'", "end success"],
    ),
    "what the host says twice in one turn is shown once": (
        [began(), other("retrying"), other("retrying"), other(" retrying\n"), processed(), other("retrying")],
        ["turn", "message notice 'retrying'", "end success", "message notice 'retrying'"],
    ),
    "an answer may say what the host has said": (
        [began(), other("Done."), says("Done."), answer("Done."), processed()],
        ["turn", "message notice 'Done.'", "message final 'Done.' by mod/10", "end success"],
    ),
    "blocks of a chart at the end of an answer are no cursor": (
        [began(), preview("```"), says("```\na ██\n```"), final(1, "```\na ██\n```"), processed()],
        ["turn", "start #1", "update #1 '```'", "stop #1 final '```\\na ██\\n```' by mod/10", "end success"],
    ),
    "nor is an answer cut where it speaks of a tag": (
        [began(), preview("Use"), says("Use `<think>` to think."), final(1, "Use `<think>` to think."), processed()],
        ["turn", "start #1", "update #1 'Use'", "stop #1 final 'Use `<think>` to think.' by mod/10", "end success"],
    ),
}

TYPING: dict[str, Example] = {
    "it is told less often than the host tells it": (
        [typing(True), typing(True), Wait(2), typing(True), Wait(2), typing(True), Wait(3), typing(True)],
        ["typing on", "typing on"],
    ),
    "a stop inside a turn is not told, the end of the turn is": (
        [typing(True), began(), typing(False), typing(True), processed(), typing(False)],
        ["typing on", "turn", "end success", "typing off"],
    ),
    "a stop outside a turn is told once": (
        [typing(False), typing(True), typing(False), typing(False)],
        ["typing on", "typing off"],
    ),
    "it goes on from one turn to the one that interrupts it": (
        [typing(True), began("h1"), began("h2"), processed()],
        ["typing on", "turn", "end interrupted", "turn", "end success", "typing off"],
    ),
    "a clock that was put back does not silence it": (
        [typing(True), Wait(-100), typing(True)],
        ["typing on", "typing on"],
    ),
}


@pytest.mark.parametrize(
    ("script", "lines"), cases({"tools": TOOLS, "ends": ENDS, "files": FILES, "messages": MESSAGES, "typing": TYPING})
)
def test_a_script_brings_forth_exactly_these_frames(script: Script, lines: list[str]) -> None:
    assert play(*script) == lines


# ---------------------------------------------------------------- what the lines do not tell


def test_a_bubble_has_the_id_that_the_host_was_told_and_keeps_its_place() -> None:
    played = Play().run([began(), preview("Hi"), says("Hi."), Wait(5), final(1, "Hi."), processed()])
    start = next(effect for effect in played.effects if isinstance(effect, MessageStart))
    stop = next(effect for effect in played.effects if isinstance(effect, MessageStop))
    assert start.message_id == stop.message_id == played.sent[0]
    assert (start.order, start.ts) == (stop.order, stop.ts)
    assert start.role == stop.role == "assistant"


def test_a_whole_message_has_the_id_that_the_host_was_told() -> None:
    played = Play().run([other("a"), began(), says("b"), answer("b"), processed()])
    messages = [effect for effect in played.effects if isinstance(effect, Message)]
    assert [message.message_id for message in messages] == played.sent
    assert messages[0].turn_id is None
    assert messages[1].turn_id is not None


def test_a_card_has_what_a_person_sees_and_its_detail_has_everything() -> None:
    long = "x" * 5000
    played = Play().run([began(), tool("a", command=long), done("a", json.dumps({"output": long}), duration=0.12345)])
    start = next(effect for effect in played.effects if isinstance(effect, ToolStart))
    end = next(effect for effect in played.effects if isinstance(effect, ToolEnd))
    details = [effect for effect in played.effects if isinstance(effect, ToolDetail)]
    assert start.truncated
    assert len(start.args["command"]) < len(long)
    assert (end.ok, end.state, end.duration) == (True, "ok", 0.123)
    assert len(end.output_preview) < len(long)
    assert details == [
        ToolDetail(start.tool_call_id, args={"command": long}),
        ToolDetail(start.tool_call_id, output=long),
    ]


def test_a_cancelled_call_has_taken_the_time_until_then() -> None:
    played = Play().run([began(), tool("a"), Wait(2), processed("cancelled")])
    end = next(effect for effect in played.effects if isinstance(effect, ToolEnd))
    assert end.duration == 2.125
    assert not end.ok
    back = Play().run([began(), tool("a"), Wait(-9), processed("cancelled")])
    assert next(effect for effect in back.effects if isinstance(effect, ToolEnd)).duration == 0


def test_typing_expires_by_itself() -> None:
    played = Play().run([typing(True)])
    assert played.effects == [Typing(chat_id="android:chan_7", thread_id="t_31", on=True, ttl=TYPING_TTL)]


def test_a_turn_that_is_over_leaves_nothing_behind() -> None:
    played = Play().run([typing(True), began(), preview("x"), tool("a"), preview("y"), processed("cancelled")])
    assert played.state == LaneState(played.state.lane)


def test_a_call_that_is_none_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(AssertionError):
        step(LaneState(Play().state.lane), object(), Play().moment)  # type: ignore[arg-type]
    assert set(calls.Call.__args__) >= {calls.Sent, calls.Processed}
