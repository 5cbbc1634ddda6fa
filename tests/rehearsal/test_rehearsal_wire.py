"""The shapes that leave the rehearsal."""

import json
from typing import Any

import msgspec
import pytest

from hermes_iris.rehearsal.wire import AT_ONCE, HUMAN, Call, Head, Pace, Reply, chunks, completion, decode, usage

HEAD = Head("chatcmpl-abc", 1_700_000_000.7)
ASKED = decode(b'{"messages": [{"role": "user", "content": "12345678"}]}')
REPLY = Reply("Some words to say.", "A thought before it.", (Call("terminal", {"command": "echo 你好"}), Call("b", {})))


def events(reply: Reply, factor: float = 1.0) -> list[dict[str, Any]]:
    lines = [line for line, _ in chunks(ASKED, reply, HEAD, factor)]
    assert lines[-1] == b"data: [DONE]\n\n"
    return [json.loads(line.removeprefix(b"data: ")) for line in lines[:-1]]


def test_a_stream_adds_up_to_the_reply() -> None:
    streamed = events(REPLY)
    deltas = [event["choices"][0]["delta"] for event in streamed if event["choices"]]
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert "".join(delta.get("content", "") for delta in deltas) == REPLY.text
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == REPLY.reasoning
    arguments = {0: "", 1: ""}
    names = {}
    for call in (call for delta in deltas for call in delta.get("tool_calls", [])):
        arguments[call["index"]] += call["function"]["arguments"]
        if "id" in call:
            names[call["id"]] = call["function"]["name"]
    assert [json.loads(text) for text in arguments.values()] == [{"command": "echo 你好"}, {}]
    assert names == {"call_abc_0": "terminal", "call_abc_1": "b"}


def test_reasoning_comes_before_text_and_text_before_calls() -> None:
    keys = [next(iter(event["choices"][0]["delta"]), "") for event in events(REPLY) if event["choices"]][1:]
    assert keys == sorted(keys, key=["reasoning_content", "content", "tool_calls", ""].index)


def test_a_stream_ends_with_its_reason_then_usage_without_a_choice() -> None:
    *_, reason, last = events(REPLY)
    assert reason["choices"] == [{"delta": {}, "finish_reason": "tool_calls", "index": 0}]
    assert last["choices"] == []
    assert last["usage"]["completion_tokens_details"] == {"reasoning_tokens": len(REPLY.reasoning) // 4}
    assert all("usage" not in event for event in events(REPLY)[:-1])


def test_every_event_says_whose_it_is() -> None:
    for event in events(REPLY):
        assert event["id"] == "chatcmpl-abc"
        assert event["created"] == 1_700_000_000
        assert event["object"] == "chat.completion.chunk"
        assert event["model"] == "iris-rehearsal"


def test_at_once_is_one_single_delta() -> None:
    spoken = [event for event in events(Reply("Quick.", "", REPLY.calls, AT_ONCE)) if event["choices"]][1:-1]
    (delta,) = (event["choices"][0]["delta"] for event in spoken)
    assert delta["content"] == "Quick."
    assert [call["function"]["name"] for call in delta["tool_calls"]] == ["terminal", "b"]


def test_the_waits_follow_pace_and_factor() -> None:
    waits = {wait for _, wait in chunks(ASKED, Reply("x" * 40), HEAD, 2.0)}
    assert waits == {0.0, HUMAN.wait * 2}
    assert {wait for _, wait in chunks(ASKED, REPLY, HEAD, 0.0)} == {0.0}
    assert Pace(1, 0.5, floor=0.1).after(0.0) == 0.1


def test_a_completion_holds_the_whole_reply() -> None:
    whole = json.loads(completion(ASKED, REPLY, HEAD))
    assert whole["object"] == "chat.completion"
    (choice,) = whole["choices"]
    assert choice["finish_reason"] == "tool_calls"
    message = choice["message"]
    assert (message["role"], message["content"]) == ("assistant", REPLY.text)
    assert message["reasoning_content"] == REPLY.reasoning
    assert message["tool_calls"][0]["type"] == "function"
    assert json.loads(message["tool_calls"][0]["function"]["arguments"]) == {"command": "echo 你好"}


def test_a_completion_leaves_out_what_is_not_there() -> None:
    (choice,) = json.loads(completion(ASKED, Reply("Hi"), HEAD))["choices"]
    assert choice["message"] == {"role": "assistant", "content": "Hi"}
    assert choice["finish_reason"] == "stop"


def test_usage_is_counted_from_characters() -> None:
    counted = usage(ASKED, Reply("x" * 8, "y" * 20))
    assert counted.prompt_tokens == 3
    assert counted.completion_tokens_details.reasoning_tokens == 5
    assert counted.completion_tokens == 5 + 3
    assert counted.total_tokens == counted.prompt_tokens + counted.completion_tokens


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"messages": 3}', b'{"messages": [{"content": "x"}]}'])
def test_what_is_no_request_is_refused(body: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode(body)


def test_unknown_fields_are_ignored() -> None:
    asked = decode(
        b'{"messages": [{"role": "user", "name": "n"}], "stream": null, "stream_options": {"include_usage": true},'
        b' "tools": [{"type": "function", "extra": 1, "function": {"name": "t", "strict": true}}, {"type": "custom"}]}'
    )
    assert [tool.function.name for tool in asked.tools or []] == ["t", ""]
