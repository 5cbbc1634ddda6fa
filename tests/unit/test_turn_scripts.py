"""Whole turns as real hosts play them: every text of the model is shown once, in order, with the right kind.

A turn is a list of rounds: the model says something and asks for tools, at last it answers. The host tells of it in
two ways that run side by side: hooks, in order, from the agent's thread; deliveries, in order, from the loop, which
may lag behind by any number of rounds. What binds them (section 4.1 of the host contract): a round's reply is announced
before its text is delivered whole, and a round's text begins to stream after the tools of the round before it.
"""

from dataclasses import dataclass

from hypothesis import given, settings, strategies as st
from turn_kit import (
    Play,
    answer,
    asks,
    began,
    done,
    edit,
    final,
    other,
    preview,
    processed,
    reported,
    says,
    segment,
    tool,
)

from hermes_iris.protocol.frames import Commentary, Message, MessageStop, ToolStart
from hermes_iris.turns.calls import Call, Sent

TEXTS = (
    "Look.",
    "Look around.",
    "Looking closer now.",
    "Once more.",
    "好的，我看一下。",
    "All is well.\n\n- one\n- two",
)
THOUGHTS = ("", "Hm.", "First this.\nThen that.")


@dataclass(frozen=True)
class Round:
    """One model call and the tools that it asks for; `way` is how the host delivers its text."""

    text: str
    thought: str
    tools: int
    way: str
    pieces: int = 0


@dataclass(frozen=True)
class Shown:
    """A text of the model or a tool, as a person sees it."""

    kind: str
    text: str = ""
    thought: str | None = None


def rounds(text: st.SearchStrategy[str], *ways: str) -> st.SearchStrategy[Round]:
    return st.builds(
        Round,
        text=text,
        thought=st.sampled_from(THOUGHTS),
        tools=st.integers(1, 2),
        way=st.sampled_from(ways),
        pieces=st.integers(0, 2),
    )


def turns(
    texts: st.SearchStrategy[str], ways: tuple[str, ...], last: tuple[str, ...]
) -> st.SearchStrategy[list[Round]]:
    """Any number of rounds with tools, then an answer."""
    ending = rounds(texts.filter(bool), *last).map(lambda end: Round(end.text, end.thought, 0, end.way, end.pieces))
    return st.tuples(st.lists(rounds(texts, *ways), max_size=4), ending).map(lambda pair: [*pair[0], pair[1]])


def hooks(number: int, the: Round) -> list[Call]:
    say = asks if the.tools else says
    calls = [say(the.text, the.thought)]
    calls += [tool(f"{number}.{index}") for index in range(the.tools)]
    return calls + [done(f"{number}.{index}") for index in reversed(range(the.tools))]


def deliveries(the: Round, first: bool, sent: int) -> list[Call]:
    """How the text of a round comes; `sent` is the number of its first `send`."""
    text = the.text if first else f"\n\n{the.text}"
    match the.way if the.text else "dropped":
        case "streamed":
            cuts = [len(the.text) * (piece + 1) // (the.pieces + 2) for piece in range(the.pieces + 1)]
            begin, *more = (f"{the.text[:cut]} ▉" for cut in cuts)
            return [preview(begin), *(edit(sent, piece) for piece in more), final(sent, text)]
        case "streamed at once":
            return [preview(text), final(sent, text)]
        case "in one piece":
            return [segment(text)]
        case "without streaming":
            return [other(the.text) if the.tools else answer(the.text)]
        case _:
            return []


def interleaved(script: list[Round], draw: st.DataObject, lag: bool) -> list[Call]:
    """The calls of a turn in one of the orders that are possible."""
    told: list[Call] = [began()]
    todo: list[tuple[int, bool, Call]] = []  # round, whether it needs the reply, call
    sent = 1
    for number, the in enumerate(script):
        calls = deliveries(the, number == 0, sent)
        todo += [(number, place == len(calls) - 1, call) for place, call in enumerate(calls)]
        sent += sum(isinstance(call, Sent) for call in calls)
    for number, the in enumerate(script):
        waiting = hooks(number, the)
        while waiting:
            ready = [item for item in todo[:1] if item[0] < number or (item[0] == number and not item[1])]
            replied = len(waiting) < len(hooks(number, the))
            if todo and todo[0][0] == number and replied:
                ready = todo[:1]
            late = bool(ready) and ready[0][0] < number
            if ready and ((late and not lag) or draw.draw(st.booleans())):
                told.append(todo.pop(0)[2])
            else:
                told.append(waiting.pop(0))
    return [*told, reported("success"), *(item[2] for item in todo), processed()]


def expected(script: list[Round]) -> list[Shown]:
    shown: list[Shown] = []
    for the in script:
        if the.text or the.thought:
            shown.append(Shown("commentary" if the.tools else "final", the.text, the.thought or None))
        shown += [Shown("tool")] * the.tools
    return shown


def on_the_screen(played: Play) -> list[Shown]:
    """Texts and tools by their place in the lane."""
    found: list[tuple[int, Shown]] = []
    for frame in played.effects:
        match frame:
            case MessageStop(final_text=text):
                found.append((frame.order, Shown(frame.kind, text, frame.reasoning)))
            case Message(text=text):
                found.append(
                    (frame.order, Shown(frame.kind if frame.role == "assistant" else frame.role, text, frame.reasoning))
                )
            case Commentary(text=text):
                found.append((frame.order, Shown("commentary", text, frame.reasoning)))
            case ToolStart():
                found.append((frame.order, Shown("tool")))
            case _:
                pass
    return [shown for _, shown in sorted(found, key=lambda pair: pair[0])]


STREAMED = ("streamed", "streamed at once", "in one piece")
unlike = st.lists(st.sampled_from(TEXTS), min_size=6, max_size=6, unique=True)
many = settings(max_examples=100)


def _with_texts(script: list[Round], texts: list[str]) -> list[Round]:
    """The same rounds, each with a text of its own where it has one."""
    return [
        Round(text if the.text else "", the.thought, the.tools, the.way, the.pieces)
        for the, text in zip(script, texts, strict=False)
    ]


@many
@given(turns(st.sampled_from(["", "x", "x"]), STREAMED, STREAMED), unlike, st.booleans(), st.data())
def test_a_streamed_turn(script: list[Round], texts: list[str], lag: bool, data: st.DataObject) -> None:
    script = _with_texts(script, texts)
    assert on_the_screen(Play().run(interleaved(script, data, lag))) == expected(script)


WHOLE = ("without streaming",)


@many
@given(turns(st.sampled_from(["", "x", "x"]), WHOLE, WHOLE), unlike, st.booleans(), st.data())
def test_a_turn_without_streaming(script: list[Round], texts: list[str], lag: bool, data: st.DataObject) -> None:
    script = _with_texts(script, texts)
    assert on_the_screen(Play().run(interleaved(script, data, lag))) == expected(script)


@many
@given(turns(st.sampled_from(["", *TEXTS]), (*STREAMED, *WHOLE), (*STREAMED, *WHOLE)), st.booleans(), st.data())
def test_a_turn_whose_texts_repeat_and_come_in_any_way(script: list[Round], lag: bool, data: st.DataObject) -> None:
    assert on_the_screen(Play().run(interleaved(script, data, lag))) == expected(script)


def test_an_answer_that_repeats_a_remark_which_the_host_left_out_is_shown() -> None:
    """Hermes 0.22 drops remarks of less than four characters (`gateway/stream_consumer_transport.py`)."""
    script = [began(), asks("OK"), tool("a"), done("a"), preview("OK"), says("OK"), final(1, "OK"), processed()]
    assert on_the_screen(Play().run(script)) == [Shown("commentary", "OK"), Shown("tool"), Shown("final", "OK")]


@many
@given(turns(st.sampled_from(["OK", "Yes", "OK, look.", "Yes, done."]), ("dropped",), STREAMED), st.data())
def test_a_turn_whose_remarks_the_host_left_out(script: list[Round], data: st.DataObject) -> None:
    """Short ones, or all of them where the operator wants none; the answer may begin as they do."""
    assert on_the_screen(Play().run(interleaved(script, data, lag=False))) == expected(script)


@many
@given(
    turns(st.sampled_from(["", *TEXTS]), (*STREAMED, *WHOLE, "dropped"), (*STREAMED, *WHOLE)), st.booleans(), st.data()
)
def test_no_turn_of_a_real_host_is_marked_as_broken(script: list[Round], lag: bool, data: st.DataObject) -> None:
    """Whatever repeats or is left out: nothing is partial, nothing is called a notice, the answer is there."""
    played = Play().run(interleaved(script, data, lag))
    shown = on_the_screen(played)
    assert not [text for text in shown if text.kind in ("partial", "notice")]
    assert [text.text for text in shown if text.kind == "final"] == [script[-1].text]
