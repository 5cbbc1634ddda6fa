"""What a Hermes host wraps around a conversation: its notes, wake-ups, tool results and side-requests; pure.

Invariants: what the host wrote is never taken for what the person said; a tool result that cannot be read is still
quoted. The wordings are those of both supported hosts (Hermes `agent/onboarding.py`, `tools/process_registry.py`,
`cron/scheduler.py`, `tools/approval.py`, `agent/title_generator.py`, `agent/background_review.py`).
"""

import json
import re
from collections.abc import Sequence

import msgspec

from .wire import AT_ONCE, Message, Reply, Request

NOTE = re.compile(r"\[(?:System note|System|SYSTEM|SYSTEM NOTICE|IMPORTANT)\b.*?\](?=\s*\n\s*\n|\s*\Z)", re.DOTALL)
"""A note in brackets; it may hold brackets itself, so it ends where a paragraph does."""

WAKE_UP = re.compile(
    r"^\[(?:IMPORTANT: )?(?:Background process|\d+ background processes|ASYNC DELEGATION)", re.MULTILINE
)
"""Background work ended, and the host gives the agent a turn of its own to say so."""

REVIEW = "Review the conversation above"
VERDICT = "APPROVE, DENY, or ESCALATE"

PURPOSE = 400
"""Characters in which a side-request says what it is for; further down, such words mean nothing."""

TITLE_WORDS = 6
TITLE_LETTERS = 16
"""Characters of a title in a script that puts no spaces between words."""

WIDTH = 200
"""Characters of a quoted line."""

CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]")


class ToolResult(msgspec.Struct, frozen=True):
    """What came back from one tool call."""

    raw: str

    @property
    def fields(self) -> dict[str, object]:
        """The JSON object that hosts return; empty when there is none. The host may write on after it."""
        try:
            value, _ = json.JSONDecoder().raw_decode(self.raw.lstrip())
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def text(self) -> str:
        """What a person would want to read of it."""
        fields = self.fields
        results = fields.get("results")
        parts = [part for part in results if isinstance(part, dict)] if isinstance(results, list) else []
        values = [fields.get(name) for name in ("output", "content", "error")]
        values += [part.get("summary") for part in parts]
        values.append(fields.get("note"))
        texts = [value for value in values if isinstance(value, str) and value.strip()]
        if texts:
            return texts[0].strip()
        return "" if "exit_code" in fields else self.raw.strip()

    @property
    def exit_code(self) -> int | None:
        """How a terminal command ended; None for another tool."""
        code = self.fields.get("exit_code")
        return code if isinstance(code, int) else None

    @property
    def last_line(self) -> str:
        """The last line of the text, where a command prints a path that it made."""
        lines = self.text.splitlines()
        return lines[-1].strip() if lines else ""

    @property
    def answers(self) -> list[str]:
        """What the person answered to the clarify tool, in either host's form."""
        given = self.fields.get("responses")
        entries = given if isinstance(given, list) else [self.fields]
        values = (entry.get("user_response") for entry in entries if isinstance(entry, dict))
        return [", ".join(map(str, value)) if isinstance(value, list) else str(value) for value in values if value]


def said(message: Message) -> str:
    """The words of the person alone."""
    return NOTE.sub("", message.text).strip()


def exchange(messages: Sequence[Message]) -> tuple[Message | None, int, list[ToolResult]]:
    """The last user message, the number of tool rounds since, and what the tools returned."""
    last = max((index for index, message in enumerate(messages) if message.role == "user"), default=None)
    if last is None:
        return None, 0, []
    since = messages[last + 1 :]
    rounds = sum(1 for message in since if message.role == "assistant" and message.tool_calls)
    return messages[last], rounds, [ToolResult(message.text) for message in since if message.role == "tool"]


def side_reply(request: Request) -> Reply | None:
    """The answer to a request that the host makes for itself; None when a person is talking."""
    system = "\n".join(message.text for message in request.messages if message.role in ("system", "developer"))
    last, _, _ = exchange(request.messages)
    asked = last.text if last else ""
    if asked.lstrip().startswith(REVIEW):
        return _short("Nothing to save.")
    if request.tools:
        return None
    if VERDICT in system:
        # The person decides: an approval that the rehearsal gave would be an approval by nobody.
        return _short("ESCALATE")
    purpose = (system or asked)[:PURPOSE]
    if re.search(r"\btitles?\b", purpose, re.IGNORECASE):
        return _short(_titled(request, title(_opening(asked))))
    if re.search(r"\bsummari[sz](?:e|ation)\b", purpose, re.IGNORECASE):
        return _short("The person tried out the app with the rehearsal model. Nothing needs to be remembered.")
    if last and last.has_picture:
        return _short("A picture. The rehearsal model cannot see what is in it.")
    return None


def title(words: str) -> str:
    """A short title made of the person's own words."""
    line = " ".join(NOTE.sub("", words).split())
    if CJK.search(line):
        return re.split(r"[。！？!?\n]", line)[0][:TITLE_LETTERS] or "新对话"
    short = " ".join(line.split()[:TITLE_WORDS])[:60].strip(" .,;:!?\"'`*#")
    return short[:1].upper() + short[1:] if short else "Rehearsal"


def fence(text: str, lines: int = 8, language: str = "") -> str:
    """The first lines of a text as a code block whose fence the text cannot close."""
    kept = text.splitlines()
    ticks = max((len(run) for run in re.findall(r"`+", text)), default=0)
    mark = "`" * max(3, ticks + 1)
    more = [f"… ({len(kept) - lines} more lines)"] if len(kept) > lines else []
    return "\n".join(
        [mark + language, *(line if len(line) <= WIDTH else line[:WIDTH] + "…" for line in kept[:lines]), *more, mark]
    )


def _opening(asked: str) -> str:
    """The person's part of `User: … Assistant: …`, which is how one host asks for a title."""
    return asked.removeprefix("User: ").partition("\n\nAssistant:")[0]


def _titled(request: Request, words: str) -> str:
    """The title in the form that the host asked for."""
    if request.response_format and request.response_format.type != "text":
        return json.dumps({"title": words}, ensure_ascii=False)
    return words


def _short(text: str) -> Reply:
    return Reply(text=text, pace=AT_ONCE)
