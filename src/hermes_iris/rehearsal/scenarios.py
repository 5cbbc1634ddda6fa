"""The scenarios: what can be asked of the rehearsal, and how each one goes; pure.

Invariants: commands are harmless and work on any Linux; what they leave behind lies in the folder for temporary
files; what is said after a tool ran quotes what the tool returned.
"""

import json
import shlex

from . import texts
from .host import fence
from .turn import Scenario, Step, Turn, outcome, quoted, shell, steps
from .wire import AT_ONCE, FAST, SLOW, Call, Failure, Reply

THOUGHT = "The person wants to see how a turn looks.\nI am a script, so I do as the script says."


def _menu(turn: Turn) -> Reply:
    rows = "\n".join(f"| `rehearse {scene.name}` | {scene.about} |" for scene in SCENARIOS.values())
    wishes = "\n".join(f"- {scene.chip}" for scene in SCENARIOS.values() if scene.chip and scene.name != "menu")
    return Reply(texts.MENU.format(wishes=wishes, rows=rows), "Somebody asks what there is. I list it.")


def _hello(turn: Turn) -> Reply:
    text = texts.HELLO_ZH if turn.in_chinese else texts.HELLO
    if turn.picture:
        text += "\n\n" + ("图片收到了，但我看不见里面的内容。" if turn.in_chinese else texts.BLIND)
    return Reply(text, texts.HELLO_THOUGHT_ZH if turn.in_chinese else texts.HELLO_THOUGHT)


def _plain(turn: Turn) -> Reply:
    return Reply(
        "This is a **plain answer** of the rehearsal model: a little thought, then these two lines.\n"
        "It comes in small pieces, so that you can watch the bubble grow.",
        THOUGHT,
    )


def _plainnr(turn: Turn) -> Reply:
    return Reply("A plain answer of the rehearsal model, without any thought before it.")


def _tool(turn: Turn) -> Reply:
    plan = (Step("I'll look around first.", (shell("pwd && ls"),), "A tool is wanted. Listing a folder is harmless."),)

    def last(turn: Turn) -> Reply:
        found = outcome(turn)
        entries = max(len(found.text.splitlines()) - 1, 0)
        return Reply(
            f"I ran `pwd && ls` with the terminal tool. The working folder holds **{entries}** visible "
            f"{'entry' if entries == 1 else 'entries'}; this came back:\n\n{quoted(found)}\n\n"
            "The run was real. Only the wish to do it was scripted.",
            "The listing is here. I quote it.",
        )

    return steps(turn, plan, last)


def _tool2(turn: Turn) -> Reply:
    made = turn.results[1].last_line if len(turn.results) > 1 else ""
    path = made if made.startswith("/") else "/etc/os-release"
    note = 'f="$(mktemp)" && printf "A note of the rehearsal.\\nIts second line.\\n" > "$f" && echo "$f"'
    plan = (
        Step(
            "Two things at once: the date, and a note in a new file.",
            (shell("date -u"), shell(note)),
            "These two do not depend on each other, so they may run side by side.",
        ),
        Step(
            "Both are done. Now I read the note back.",
            (Call("read_file", {"path": path}),),
            f"The note lies in {path}.",
        ),
    )

    def last(turn: Turn) -> Reply:
        names = ("The date", "The path of the note", "The note, read back")
        shown = "\n\n".join(f"{name}:\n\n{quoted(result)}" for name, result in zip(names, turn.results, strict=False))
        return Reply(f"Three tools ran, two of them in parallel.\n\n{shown}", "All three results are here.")

    return steps(turn, plan, last)


def _fasttool(turn: Turn) -> Reply:
    plan = (Step("Quick look.", (shell("printf 'fast\\n'"),)),)
    return steps(turn, plan, lambda turn: Reply(f"That was quick:\n\n{quoted(outcome(turn))}", pace=AT_ONCE), AT_ONCE)


def _toolnotext(turn: Turn) -> Reply:
    plan = (Step("", (shell("printf 'done without a word\\n'"),), "I act without saying so first."),)
    return steps(turn, plan, lambda turn: Reply(f"I said nothing and ran a tool:\n\n{quoted(outcome(turn))}"))


def _toolerr(turn: Turn) -> Reply:
    plan = (
        Step(
            "I'll read a file that does not exist.",
            (shell("cat ./no-such-file-of-the-rehearsal"),),
            "It has to fail, and harmlessly.",
        ),
    )

    def last(turn: Turn) -> Reply:
        failed = outcome(turn)
        code = "" if failed.exit_code is None else f" with exit code {failed.exit_code}"
        return Reply(
            f"It failed{code}, as it should:\n\n{quoted(failed)}\n\nThe tool's card shows the same. "
            "A failed tool does not end the turn: the agent reads the error and goes on, as I do now."
        )

    return steps(turn, plan, last)


def _output(turn: Turn) -> Reply:
    count = 1500
    change = (
        'd="$(mktemp -d)" && printf "one\\ntwo\\n" > "$d/before" && printf "one\\nthree\\n" > "$d/after" && cd "$d"'
        " && (diff -u before after || true)"
    )
    plan = (
        Step(
            "A long output, a difference and a picture.",
            (
                shell(f'for n in $(seq 1 {count}); do echo "line $n of {count}"; done'),
                shell(change),
                shell(f"printf 'data:image/png;base64,%s\\n' {texts.PICTURE}"),
            ),
            "Three calls whose output is no plain line.",
        ),
    )
    return steps(turn, plan, lambda turn: Reply("Three outputs: open the rows of the card to see them.", pace=FAST))


def _riddle(turn: Turn) -> Reply:
    return Reply(texts.RIDDLE, texts.RIDDLE_THOUGHT)


def _think(turn: Turn) -> Reply:
    return Reply(
        "<think>Some models write their thoughts into the text, between tags.\nNobody should see these two "
        "lines in the answer.</think>This is the visible answer after an inline thought."
    )


def _long(turn: Turn) -> Reply:
    return Reply(texts.LONG, "A long answer, to see headings, lists, code, a table and other scripts.", pace=FAST)


def _longr(turn: Turn) -> Reply:
    thought = "\n".join(f"Thought {number}: {number} squared is {number * number}." for number in range(1, 41))
    return Reply("I thought forty lines for this short answer.", thought, pace=FAST)


def _code(turn: Turn) -> Reply:
    return Reply(texts.CODE, texts.CODE_THOUGHT)


def _slow(turn: Turn) -> Reply:
    return Reply(texts.SLOW, "Slowly, so that somebody can interrupt.", pace=SLOW)


def _slowtool(turn: Turn) -> Reply:
    plan = (Step("I'll wait fifteen seconds, in the terminal.", (shell("sleep 15; echo 'slept 15 seconds'"),)),)
    return steps(turn, plan, lambda turn: Reply(f"The wait is over:\n\n{quoted(outcome(turn))}"))


def _danger(turn: Turn) -> Reply:
    command = 'rm -rf "${TMPDIR:-/tmp}/iris-rehearsal-danger"'
    plan = (
        Step(
            "I'd like to delete a folder that does not exist. You decide.",
            (shell(command),),
            "A recursive delete needs the person's consent, even of nothing.",
        ),
    )

    def last(turn: Turn) -> Reply:
        result = outcome(turn)
        verdict = "You let me: the command ran." if result.exit_code == 0 else "The command did not run."
        return Reply(f"{verdict} This came back:\n\n{quoted(result)}")

    return steps(turn, plan, last)


def _clarify(turn: Turn) -> Reply:
    colour = {"question": "Which colour should the rehearsal have?", "choices": ["blue", "violet", "green"]}
    sizes = {"question": "Which sizes?", "choices": ["S", "M", "L"], "multi_select": True}
    asked = {"questions": [colour, sizes]} if turn.takes("clarify", "questions") else colour
    plan = (Step("One question first.", (Call("clarify", asked),), "I cannot choose for the person."),)

    def last(turn: Turn) -> Reply:
        result = outcome(turn)
        answers = " and ".join(f"**{answer}**" for answer in result.answers)
        return Reply(f"You chose {answers}. Thank you." if answers else f"No answer came:\n\n{quoted(result)}")

    return steps(turn, plan, last)


def _delegate(turn: Turn) -> Reply:
    task = {"goal": "rehearse subtask", "context": "A rehearsal of delegation; nothing else is needed."}
    plan = (
        Step("I hand this to a subagent.", (Call("delegate_task", {"tasks": [task]}),), "Somebody else can do it."),
    )
    return steps(turn, plan, lambda turn: Reply(f"The subagent is at work. The host said:\n\n{quoted(outcome(turn))}"))


def _subtask(turn: Turn) -> Reply:
    plan = (Step("I am the subagent; one command will do.", (shell("printf 'done by the subagent\\n'"),)),)
    return steps(turn, plan, lambda turn: Reply(f"Result of the subagent:\n\n{quoted(outcome(turn))}"))


def _bgterm(turn: Turn) -> Reply:
    call = shell("sleep 3; echo 'the background work is done'", background=True, notify_on_complete=True)
    plan = (Step("I start something in the background.", (call,), "It need not hold up the answer."),)
    return steps(
        turn, plan, lambda turn: Reply(f"It runs, and I need not wait. The host said:\n\n{quoted(outcome(turn))}")
    )


def _media(turn: Turn) -> Reply:
    draw = f'd="$(mktemp -d)" && printf %s {texts.PICTURE} | base64 -d > "$d/rehearsal.png" && echo "$d/rehearsal.png"'
    plan = (Step("I'll draw a small picture.", (shell(draw),), "A file has to exist before I can send it."),)

    def last(turn: Turn) -> Reply:
        path = outcome(turn).last_line
        if not path.startswith("/"):
            return Reply(f"The picture could not be drawn:\n\n{quoted(outcome(turn))}")
        return Reply(f"Here is the picture: seven stripes.\nMEDIA:{path}")

    return steps(turn, plan, last)


def _silent(turn: Turn) -> Reply:
    return Reply("[SILENT]")


def _error(turn: Turn) -> Failure:
    return Failure(500, "The rehearsal fails on request.")


def _echoctx(turn: Turn) -> Reply:
    tails = [words[-160:] for words in turn.everything]
    listed = fence(json.dumps(tails, ensure_ascii=False, indent=1), lines=len(tails) + 2, language="json")
    return Reply(f"I was sent {len(tails)} user message{'s' * (len(tails) != 1)}:\n\n{listed}", pace=FAST)


def _cronjob(turn: Turn) -> Reply:
    # It runs once, so that a forgotten rehearsal does not come back every hour.
    job = {
        "action": "create",
        "prompt": "rehearse plainnr",
        "schedule": "every 1h",
        "repeat": 1,
        "name": "Rehearsal report",
    }
    plan = (Step("I set up a job that reports once, in an hour.", (Call("cronjob", job),), "That is a cron job."),)

    def last(turn: Turn) -> Reply:
        result = outcome(turn)
        made = result.fields
        if "job_id" not in made:
            return Reply(f"There is no job. The host said:\n\n{quoted(result)}")
        return Reply(
            f"The job `{made['job_id']}` is set up and runs once, at {made.get('next_run_at', 'a time unknown')}. "
            "Ask the host to remove it if you do not want it."
        )

    return steps(turn, plan, last)


def _post(turn: Turn) -> Reply:
    name = _after(turn, "post") or "Default"
    call = Call("send_to_channel", {"channel": name, "message": "Posted by the rehearsal."})
    plan = (Step(f"I post a line to {name}.", (call,), "The person named a channel."),)
    return steps(turn, plan, lambda turn: Reply(f"The host said:\n\n{quoted(outcome(turn))}"))


def _recall(turn: Turn) -> Reply:
    words = _after(turn, "recall")
    lines = [line.rstrip() for line in turn.given if words.casefold() in line.casefold()]
    told = [line for line in lines if "rehearse recall" not in line and RECALLED not in line]
    return Reply(f"{RECALLED} this: {told[-1]}" if words and told else f"{RECALLED} nothing of {words}.", pace=FAST)


def _relay(turn: Turn) -> Reply:
    names = _after(turn, "relay").partition("(")[0].split()
    called = " ".join(f"@{name}" for name in names)
    return Reply(f"{called} rehearse relay {' '.join(names)} (after {len(turn.everything)})", pace=FAST)


def _meet(turn: Turn) -> Reply:
    plan = (Step("I say it in the room.", (shell(f"iris meet send {shlex.quote(_after(turn, 'meet'))}"),)),)
    return steps(turn, plan, lambda turn: Reply(f"The command said:\n\n{quoted(outcome(turn))}"))


def _after(turn: Turn, name: str) -> str:
    """What follows the name of a scenario, on its line."""
    return turn.said.rpartition(f"rehearse {name}")[2].strip().partition("\n")[0]


def woken(turn: Turn) -> Reply:
    """What is said when background work ended and the host passes on its result."""
    return Reply(f"Some background work has ended. The host reports:\n\n{fence(turn.heard, 20)}")


RECALLED = "I know"
"""Begins what `recall` says, which is not to be recalled again."""

DEFAULT = "hello"

SCENARIOS = {
    scene.name: scene
    for scene in (
        Scenario(
            "menu",
            "this list",
            _menu,
            "What can you show me?",
            ("what can you", "what can i", "help", "menu", "能做什么", "会什么", "帮助"),
        ),
        Scenario(
            "tool",
            "a comment, a terminal call, an answer about its output",
            _tool,
            "Use a tool and tell me what you found",
            ("use a tool", "工具"),
        ),
        Scenario(
            "long",
            "headings, lists, code, a table, a quote, Chinese",
            _long,
            "Write a long answer with code and a table",
            ("long answer", "markdown", "长的回答", "长文"),
        ),
        Scenario(
            "riddle",
            "a riddle, solved by thinking out loud",
            _riddle,
            "Think out loud about a riddle",
            ("riddle", "think out loud", "谜语"),
        ),
        Scenario("toolerr", "a command that exits with 1", _toolerr, "Let something fail", ("fail", "失败", "出错")),
        Scenario("hello", "who I am", _hello),
        Scenario("plain", "a thought and a short answer", _plain),
        Scenario("plainnr", "a short answer without a thought", _plainnr),
        Scenario("tool2", "two calls in parallel, then a third", _tool2),
        Scenario("output", "a long output, a difference, a picture", _output),
        Scenario("fasttool", "comment and call at once, without delay", _fasttool),
        Scenario("toolnotext", "a call without a comment", _toolnotext),
        Scenario("think", "a thought inside the text", _think),
        Scenario("longr", "forty lines of thought", _longr),
        Scenario("code", "code in the answer and in the thought", _code),
        Scenario("slow", "a slow answer, to interrupt", _slow),
        Scenario("slowtool", "a call that takes 15 seconds", _slowtool),
        Scenario("danger", "a command that needs your approval", _danger),
        Scenario("clarify", "a question to you", _clarify),
        Scenario("delegate", "work for a subagent", _delegate),
        Scenario("subtask", "what that subagent does", _subtask),
        Scenario("bgterm", "a command in the background", _bgterm),
        Scenario("media", "a picture as an attachment", _media),
        Scenario("silent", "an answer that must not be shown", _silent),
        Scenario("error", "a model that fails", _error),
        Scenario("echoctx", "what I was told in this conversation", _echoctx),
        Scenario("cronjob", "a cron job that reports once", _cronjob),
        Scenario("post", "a line into the channel whose name follows", _post),
        Scenario("recall", "the newest line that I was given with the words that follow", _recall),
        Scenario("relay", "the agents whose names follow are asked to do the same", _relay),
        Scenario("meet", "what follows, said in the meeting room", _meet),
    )
}
