"""What the rehearsal answers: selection, rounds, tool results, and the requests that hosts make for themselves."""

import json
from typing import Any

import pytest

from hermes_iris.rehearsal import script
from hermes_iris.rehearsal.scenarios import SCENARIOS
from hermes_iris.rehearsal.wire import AT_ONCE, SLOW, Call, Failure, Reply, decode

TOOLS = ("terminal", "read_file", "delegate_task", "cronjob")
CLARIFY_OLD: dict[str, Any] = {"properties": {"question": {}, "choices": {}}}
CLARIFY_NEW: dict[str, Any] = {"properties": {"questions": {}}}


def ask(*messages: Any, tools: tuple[str, ...] = TOOLS, clarify: dict[str, Any] | None = None, **more: Any) -> Reply:
    answer = raw(*messages, tools=tools, clarify=clarify, **more)
    assert isinstance(answer, Reply)
    return answer


def raw(
    *messages: Any, tools: tuple[str, ...] = TOOLS, clarify: dict[str, Any] | None = None, **more: Any
) -> Reply | Failure:
    offered: list[dict[str, Any]] = [{"type": "function", "function": {"name": name}} for name in tools]
    if clarify is not None:
        offered.append({"type": "function", "function": {"name": "clarify", "parameters": clarify}})
    told = [{"role": "user", "content": message} if isinstance(message, str) else message for message in messages]
    body = {"model": "x", "messages": told, "tools": offered or None, "temperature": 1, **more}
    return script.reply(decode(json.dumps(body).encode()))


def called(*ids: str) -> dict[str, Any]:
    return {"role": "assistant", "content": None, "tool_calls": [{"id": name} for name in ids]}


def returned(**fields: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "c", "content": json.dumps(fields)}


def command(reply: Reply, index: int = 0) -> str:
    return str(reply.calls[index].arguments["command"])


CHIPS = {
    "What can you show me?": "menu",
    "Use a tool and tell me what you found": "tool",
    "Write a long answer with code and a table": "long",
    "Think out loud about a riddle": "riddle",
    "Let something fail": "toolerr",
}


@pytest.mark.parametrize(("chip", "name"), CHIPS.items())
def test_each_chip_of_the_app_has_its_scene(chip: str, name: str) -> None:
    assert script.choose(chip) == name
    assert script.choose(f"  {chip.upper()}\n") == name


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scene_can_be_named_anywhere(name: str) -> None:
    assert script.choose(f"please REHEARSE {name}, now") == name


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("help", "menu"),
        ("你能做什么？", "menu"),
        ("用一个工具", "tool"),
        ("rehearse nothing-that-exists", "hello"),
        ("rehearse plain and then rehearse code", "code"),
        ("We rehearse a play on Monday.", "hello"),
        ("A long story in which somebody was glad that the help menu did not fail. " * 2, "hello"),
        ("", "hello"),
    ],
)
def test_free_words_are_understood_only_when_they_are_a_wish(said: str, name: str) -> None:
    assert script.choose(said) == name


def test_a_stranger_is_told_what_this_is_and_how_to_replace_it() -> None:
    text = ask("Tell me about the moon").text
    for part in ("rehearsal model", "not a real model", "What can you show me?", "`model:`", "iris doctor"):
        assert part in text
    assert "docs/configuration.md" in text


def test_a_greeting_in_chinese_is_answered_in_chinese() -> None:
    reply = ask("你好")
    assert "排练模型" in reply.text
    assert "中文" in reply.reasoning


def test_a_picture_is_noticed_but_not_seen() -> None:
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    assert "cannot see" in ask({"role": "user", "content": parts}).text


def test_malformed_parts_of_a_message_are_left_out() -> None:
    parts = [7, None, {"text": 5}, {"type": "text"}, {"type": "text", "text": "rehearse"}, {"text": "plainnr"}]
    assert ask({"role": "user", "content": parts}).text == ask("rehearse plainnr").text


@pytest.mark.parametrize("content", [None, 3, {"text": "rehearse plain"}, []])
def test_content_that_is_no_text_is_like_silence(content: object) -> None:
    assert "rehearsal model" in ask({"role": "user", "content": content}).text


def test_a_request_without_a_user_is_answered() -> None:
    assert "rehearsal model" in ask({"role": "system", "content": "You are Hermes."}).text


def test_the_menu_lists_every_scene_and_chip() -> None:
    text = ask("What can you show me?").text
    assert all(f"`rehearse {name}`" in text for name in SCENARIOS)
    assert all(chip in text for chip in CHIPS if chip != "What can you show me?")


def test_plain_thinks_and_plainnr_does_not() -> None:
    assert ask("rehearse plain").reasoning
    assert not ask("rehearse plainnr").reasoning


def test_tool_comments_calls_and_quotes_what_came_back() -> None:
    first = ask("rehearse tool")
    assert first.text
    assert first.reasoning
    assert command(first) == "pwd && ls"
    found = returned(output="/home/me\nmelon.txt\npears\n", exit_code=0, error=None)
    last = ask("rehearse tool", called("a"), found)
    assert "melon.txt" in last.text
    assert "**2** visible entries" in last.text
    assert not last.calls


def test_rounds_of_an_earlier_turn_do_not_count() -> None:
    earlier = ("rehearse tool", called("a"), returned(output="old"), {"role": "assistant", "content": "done"})
    assert ask(*earlier, "rehearse tool").calls


def test_a_result_that_is_no_json_is_quoted_as_it_is() -> None:
    result = {"role": "tool", "content": "plain words with ``` in them"}
    assert "````\nplain words with ``` in them\n````" in ask("rehearse tool", called("a"), result).text


def test_text_that_the_host_adds_after_a_result_is_not_quoted() -> None:
    result = {"role": "tool", "content": '{"output": "melon", "exit_code": 0}\n\n[SYSTEM: hurry up]'}
    text = ask("rehearse tool", called("a"), result).text
    assert "melon" in text
    assert "hurry" not in text


def test_long_output_is_cut_and_says_so() -> None:
    text = ask("rehearse tool", called("a"), returned(output="\n".join(map(str, range(50))), exit_code=0)).text
    assert "… (42 more lines)" in text


def test_tool2_calls_two_in_parallel_then_reads_the_file_that_one_made() -> None:
    first = ask("rehearse tool2")
    assert [call.name for call in first.calls] == ["terminal", "terminal"]
    two = (returned(output="Monday", exit_code=0), returned(output="/tmp/note.x1", exit_code=0))
    second = ask("rehearse tool2", called("a", "b"), *two)
    assert second.text
    assert second.calls == (Call("read_file", {"path": "/tmp/note.x1"}),)
    last = ask("rehearse tool2", called("a", "b"), *two, called("c"), returned(content="1|A note"))
    assert all(part in last.text for part in ("Monday", "/tmp/note.x1", "1|A note"))
    assert not last.calls


def test_tool2_reads_another_file_when_none_was_made() -> None:
    two = (returned(output="Monday"), returned(error="denied"))
    assert ask("rehearse tool2", called("a", "b"), *two).calls[0].arguments == {"path": "/etc/os-release"}


def test_fasttool_leaves_at_once() -> None:
    reply = ask("rehearse fasttool")
    assert reply.pace == AT_ONCE
    assert reply.text
    assert reply.calls


def test_toolnotext_thinks_and_acts_without_a_word() -> None:
    reply = ask("rehearse toolnotext")
    assert (reply.text, bool(reply.reasoning), len(reply.calls)) == ("", True, 1)


def test_toolerr_names_the_exit_code_and_the_error() -> None:
    assert command(ask("Let something fail")).startswith("cat ./no-such")
    failed = returned(output="cat: no such file", exit_code=1, error=None)
    text = ask("Let something fail", called("a"), failed).text
    assert "exit code 1" in text
    assert "cat: no such file" in text


def test_think_has_its_thought_in_the_text() -> None:
    assert ask("rehearse think").text.startswith("<think>")


def test_long_holds_every_kind_of_markdown() -> None:
    text = ask("rehearse long").text
    assert len(text) >= 9_000
    for part in ("\n## ", "\n### ", "\n  - ", "```python", "```sh", "|---", "\n> ", "中文"):
        assert part in text


def test_longr_thinks_forty_lines() -> None:
    assert len(ask("rehearse longr").reasoning.splitlines()) == 40


def test_code_has_a_fence_in_the_answer_and_in_the_thought() -> None:
    reply = ask("rehearse code")
    assert reply.text.count("```") == 2
    assert reply.reasoning.count("```") == 2


def test_riddle_thinks_before_it_answers() -> None:
    assert len(ask("Think out loud about a riddle").reasoning) > 300


def test_slow_stays_interruptible_without_delays() -> None:
    reply = ask("rehearse slow")
    assert reply.pace == SLOW
    assert reply.pace.after(1) == 0.25
    assert reply.pace.after(0) > 0
    assert 100 <= len(reply.text.split()) <= 150


def test_slowtool_sleeps_in_the_terminal() -> None:
    assert command(ask("rehearse slowtool")).startswith("sleep 15")
    assert "slept 15" in ask("rehearse slowtool", called("a"), returned(output="slept 15 seconds")).text


def test_danger_deletes_only_below_the_temporary_folder() -> None:
    assert command(ask("rehearse danger")) == 'rm -rf "${TMPDIR:-/tmp}/iris-rehearsal-danger"'


@pytest.mark.parametrize(
    ("result", "verdict"),
    [(returned(output="", exit_code=0), "You let me"), (returned(output="", exit_code=-1, error="BLOCKED"), "BLOCKED")],
)
def test_danger_reports_the_persons_decision(result: dict[str, Any], verdict: str) -> None:
    assert verdict in ask("rehearse danger", called("a"), result).text


def test_clarify_asks_in_the_form_that_the_host_takes() -> None:
    (old,) = ask("rehearse clarify", clarify=CLARIFY_OLD).calls
    assert old.arguments["choices"] == ["blue", "violet", "green"]
    (new,) = ask("rehearse clarify", clarify=CLARIFY_NEW).calls
    assert new.arguments["questions"][0] == old.arguments


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (returned(question="?", user_response="violet"), "**violet**"),
        (returned(responses=[{"user_response": "blue"}, {"user_response": ["S", "L"]}]), "**blue** and **S, L**"),
        (returned(responses=[{"user_response": None}], outcome="timed_out"), "timed_out"),
    ],
)
def test_clarify_repeats_the_answers(result: dict[str, Any], said: str) -> None:
    assert said in ask("rehearse clarify", called("a"), result, clarify=CLARIFY_NEW).text


def test_delegate_hands_over_a_task_that_the_subagent_knows() -> None:
    (call,) = ask("rehearse delegate").calls
    goal = call.arguments["tasks"][0]["goal"]
    assert command(ask(goal)).startswith("printf")
    assert "by the subagent" in ask(goal, called("a"), returned(output="done by the subagent")).text
    assert "is running" in ask("rehearse delegate", called("a"), returned(note="It is running.")).text
    waited = returned(results=[{"summary": "melon"}], note="not in the background here")
    assert "melon" in ask("rehearse delegate", called("a"), waited).text


def test_bgterm_runs_in_the_background() -> None:
    (call,) = ask("rehearse bgterm").calls
    assert call.arguments["background"] is True
    assert call.arguments["notify_on_complete"] is True
    assert "proc_1" in ask("rehearse bgterm", called("a"), returned(output="started proc_1")).text


@pytest.mark.parametrize(
    "wake_up",
    [
        "[ASYNC DELEGATION COMPLETE — d1]\nOriginal goal: rehearse delegate\n--- RESULT ---\nmelon",
        "[IMPORTANT: Background process p1 completed (exit code 0).\nCommand: rehearse bgterm\nOutput:\nmelon]",
        "[IMPORTANT: 2 background processes completed. Treat them as one.]\n\nmelon rehearse bgterm",
    ],
)
def test_a_wake_up_is_reported_and_starts_nothing(wake_up: str) -> None:
    reply = ask("rehearse bgterm", {"role": "assistant", "content": "it runs"}, wake_up)
    assert "melon" in reply.text
    assert not reply.calls


def test_media_draws_a_picture_and_sends_it() -> None:
    assert "base64 -d" in command(ask("rehearse media"))
    last = ask("rehearse media", called("a"), returned(output="/tmp/d/rehearsal.png", exit_code=0))
    assert last.text.splitlines()[-1] == "MEDIA:/tmp/d/rehearsal.png"
    failed = ask("rehearse media", called("a"), returned(error="denied"))
    assert "MEDIA" not in failed.text
    assert "denied" in failed.text


def test_silent_is_exactly_the_word_for_silence() -> None:
    assert ask("rehearse silent").text == "[SILENT]"


def test_error_fails_always() -> None:
    assert raw("rehearse error") == Failure(500, "The rehearsal fails on request.")


def test_echoctx_reports_every_user_message_of_the_conversation() -> None:
    text = ask("x" * 200, {"role": "assistant", "content": "secret"}, "二 ```", "rehearse echoctx").text
    assert "3 user messages" in text
    block = text.split("json\n")[1].rsplit("\n", 1)[0]
    assert json.loads(block) == ["x" * 160, "二 ```", "rehearse echoctx"]


@pytest.mark.parametrize(
    ("tools", "name"),
    [(("cronjob",), "cronjob"), (("cronjob_manage",), "cronjob_manage"), (("terminal", "tool_call"), "tool_call")],
)
def test_cronjob_goes_by_the_name_that_the_host_knows(tools: tuple[str, ...], name: str) -> None:
    (call,) = ask("rehearse cronjob", tools=tools).calls
    assert call.name == name
    if name == "tool_call":
        (inner,) = call.arguments["calls"]
        assert inner["name"] == "cronjob_manage"
        assert inner["arguments"]["action"] == "create"


def test_cronjob_names_the_job_that_was_made() -> None:
    made = returned(success=True, job_id="j7", next_run_at="2030-01-01T00:00")
    assert "`j7`" in ask("rehearse cronjob", called("a"), made).text
    assert "no permit" in ask("rehearse cronjob", called("a"), returned(error="no permit")).text


def test_a_hidden_tool_is_reached_through_the_bridge() -> None:
    (call,) = ask("rehearse tool", tools=("tool_call",)).calls
    assert call == Call("tool_call", {"calls": [{"name": "terminal", "arguments": {"command": "pwd && ls"}}]})


def test_without_the_tool_nothing_is_called() -> None:
    reply = ask("rehearse tool", tools=("read_file",))
    assert "`terminal`" in reply.text
    assert not reply.calls


@pytest.mark.parametrize(
    "heard",
    [
        "rehearse plainnr\n\n[System note: This is the user's very first message ever. Mention /help, OFFER help.]",
        "[IMPORTANT: You are running as a scheduled cron job. Say [SILENT] (nothing else).]\n\nrehearse plainnr",
    ],
)
def test_a_note_of_the_host_is_not_what_the_person_said(heard: str) -> None:
    assert ask(heard).text == ask("rehearse plainnr").text
    assert "排练" in ask(heard.replace("rehearse plainnr", "你好")).text
    assert "rehearsal model" in ask(heard.replace("rehearse plainnr", "moon")).text


OLD_TITLE = "Generate a short, descriptive title (3-7 words) for a conversation"
NEW_TITLE = "You name chat sessions. Given the user's opening message, write a title"


@pytest.mark.parametrize(
    ("opening", "title"),
    [
        ("User: plan a trip to the moon next year, please\n\nAssistant: Sure!", "Plan a trip to the moon"),
        ("rehearse error", "Rehearse error"),
        ("你好，请帮我写一个长一点的关于月亮的回答。谢谢", "你好，请帮我写一个长一点的关于月"),
        ("**!**", "Rehearsal"),
    ],
)
def test_a_title_is_made_of_the_persons_words(opening: str, title: str) -> None:
    system = {"role": "system", "content": OLD_TITLE}
    assert ask(system, opening, tools=()).text == title


def test_a_title_comes_as_json_when_the_host_wants_json() -> None:
    form = {"type": "json_schema", "json_schema": {"name": "session_title"}}
    text = ask({"role": "system", "content": NEW_TITLE}, "你好", tools=(), response_format=form).text
    assert json.loads(text) == {"title": "你好"}


def test_the_rehearsal_never_approves_a_command() -> None:
    system = {"role": "system", "content": "Respond with exactly one word: APPROVE, DENY, or ESCALATE"}
    assert ask(system, "<command>rm -rf rehearse title</command>", tools=()).text == "ESCALATE"


def test_other_side_requests_get_something_harmless() -> None:
    review = "Review the conversation above and consider saving to memory if appropriate. rehearse tool"
    assert ask("hi", review).text == "Nothing to save."
    assert "Nothing needs" in ask("You are a summarization agent. rehearse tool", tools=()).text
    look = [{"type": "text", "text": "Describe this"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    assert "cannot see" in ask({"role": "user", "content": look}, tools=()).text


def test_a_person_who_speaks_of_titles_is_not_a_side_request() -> None:
    system = {"role": "system", "content": "You are Hermes. " * 40 + "A title may be set."}
    assert "rehearsal model" in ask(system, "hello", tools=()).text
    assert "rehearsal model" in ask("Give me a title for my song").text
