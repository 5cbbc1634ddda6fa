"""The part of the OpenAI chat-completions format that the rehearsal reads and writes; pure.

Invariants: what is not read is ignored, so any client may send more than is declared here; a stream always ends with
a chunk that carries the usage and no choice, then with ``[DONE]``; the ids of tool calls are derived from the id of
the completion, so they are unique as long as that is.

Source: https://platform.openai.com/docs/api-reference/chat, and `reasoning_content` as DeepSeek and both supported
hosts know it (Hermes `agent/chat_completion_helpers.py`).
"""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from ..protocol.types import Seconds, UnixTime

MODEL = "iris-rehearsal"
CONTEXT_LENGTH = 200_000
"""Tokens. Generous, so that a host never compacts a rehearsal."""

CHARS_PER_TOKEN = 4
DONE = b"data: [DONE]\n\n"

FinishReason = Literal["stop", "tool_calls"]


class Message(msgspec.Struct, frozen=True):
    """One message of the conversation; `content` may be text, a list of parts, or nothing."""

    role: str
    content: object = None
    tool_calls: list[object] | None = None

    @property
    def text(self) -> str:
        """The words of the message; parts that are no text are left out."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content if isinstance(self.content, list) else []
        texts = (part.get("text") for part in parts if isinstance(part, dict))
        return "\n".join(text for text in texts if isinstance(text, str))

    @property
    def has_picture(self) -> bool:
        """Whether a part of the message is an image."""
        parts = self.content if isinstance(self.content, list) else []
        return any(isinstance(part, dict) and part.get("type") in ("image_url", "input_image") for part in parts)


class Function(msgspec.Struct, frozen=True):
    """What a tool is called and which arguments it takes (a JSON schema)."""

    name: str = ""
    parameters: dict[str, Any] | None = None


class Tool(msgspec.Struct, frozen=True):
    """A tool that the caller offers."""

    function: Function = Function()


class ResponseFormat(msgspec.Struct, frozen=True):
    """The form that the caller wants the answer in."""

    type: str = "text"


class Request(msgspec.Struct, frozen=True):
    """The body of a chat-completions request."""

    messages: list[Message]
    tools: list[Tool] | None = None
    stream: bool | None = None
    response_format: ResponseFormat | None = None


class Call(msgspec.Struct, frozen=True):
    """A tool call that the reply asks for."""

    name: str
    arguments: dict[str, Any]


class Pace(msgspec.Struct, frozen=True):
    """How a reply is streamed: `chars` a chunk, `wait` after each; never faster than `floor`, at any factor."""

    chars: int
    wait: Seconds
    floor: Seconds = 0.0

    def after(self, factor: float) -> Seconds:
        """The wait after one chunk when the whole rehearsal runs at `factor`."""
        return max(self.wait * factor, self.floor)


HUMAN = Pace(chars=8, wait=0.035)
FAST = Pace(chars=48, wait=0.008)
AT_ONCE = Pace(chars=1 << 20, wait=0.0)
"""Text and tool calls leave in one single delta."""

SLOW = Pace(chars=10, wait=0.25, floor=0.1)
"""Stays slow even in a rehearsal without delays: it is there to be interrupted."""


class Reply(msgspec.Struct, frozen=True):
    """What the rehearsal says next."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    pace: Pace = HUMAN


class Failure(msgspec.Struct, frozen=True):
    """The request fails with an HTTP status."""

    status: int
    message: str


class Head(msgspec.Struct, frozen=True):
    """What every chunk of one completion repeats; the shell brings id and clock."""

    id: str
    created: UnixTime


class _FunctionDelta(msgspec.Struct, omit_defaults=True):
    arguments: str
    name: str | None = None


class _CallDelta(msgspec.Struct, omit_defaults=True):
    index: int
    function: _FunctionDelta
    id: str | None = None
    type: str | None = None


class _Delta(msgspec.Struct, omit_defaults=True):
    role: str | None = None
    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[_CallDelta] | None = None


class _ChunkChoice(msgspec.Struct):
    delta: _Delta
    finish_reason: FinishReason | None = None
    index: int = 0


class _ReasoningTokens(msgspec.Struct):
    reasoning_tokens: int


class _CachedTokens(msgspec.Struct):
    cached_tokens: int = 0


class Usage(msgspec.Struct):
    """Token counts, estimated from the number of characters."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    completion_tokens_details: _ReasoningTokens
    prompt_tokens_details: _CachedTokens


class _Chunk(msgspec.Struct):
    id: str
    created: int
    choices: list[_ChunkChoice]
    usage: Usage | msgspec.UnsetType = msgspec.UNSET
    object: str = "chat.completion.chunk"
    model: str = MODEL


class _WholeFunction(msgspec.Struct):
    name: str
    arguments: str


class _WholeCall(msgspec.Struct):
    id: str
    function: _WholeFunction
    type: str = "function"


class _WholeMessage(msgspec.Struct):
    content: str | None
    reasoning_content: str | msgspec.UnsetType
    tool_calls: list[_WholeCall] | msgspec.UnsetType
    role: str = "assistant"


class _WholeChoice(msgspec.Struct):
    message: _WholeMessage
    finish_reason: FinishReason
    index: int = 0


class _Completion(msgspec.Struct):
    id: str
    created: int
    choices: list[_WholeChoice]
    usage: Usage
    object: str = "chat.completion"
    model: str = MODEL


def decode(body: bytes) -> Request:
    """Read a request.

    Raises:
        msgspec.DecodeError: the bytes are no JSON, or no chat-completions request.
        RecursionError: the JSON is nested too deeply.
    """
    return msgspec.json.decode(body, type=Request)


def usage(request: Request, reply: Reply) -> Usage:
    """Plausible token counts of one exchange."""
    prompt = sum(len(message.text) for message in request.messages) // CHARS_PER_TOKEN + 1
    reasoning = len(reply.reasoning) // CHARS_PER_TOKEN
    said = len(reply.text) + sum(len(_arguments(call)) for call in reply.calls)
    completion = reasoning + said // CHARS_PER_TOKEN + 1
    return Usage(prompt, completion, prompt + completion, _ReasoningTokens(reasoning), _CachedTokens())


def completion(request: Request, reply: Reply, head: Head) -> bytes:
    """The whole reply as one JSON document."""
    calls = [
        _WholeCall(_call_id(head, index), _WholeFunction(call.name, _arguments(call)))
        for index, call in enumerate(reply.calls)
    ]
    message = _WholeMessage(
        content=reply.text or None,
        reasoning_content=reply.reasoning or msgspec.UNSET,
        tool_calls=calls or msgspec.UNSET,
    )
    choice = _WholeChoice(message, _finish(reply))
    return msgspec.json.encode(_Completion(head.id, int(head.created), [choice], usage(request, reply)))


def chunks(request: Request, reply: Reply, head: Head, factor: float = 1.0) -> Iterator[tuple[bytes, Seconds]]:
    """The reply as server-sent events, each with the wait that follows it."""
    wait = reply.pace.after(factor)
    yield _event(head, _Delta(role="assistant", content="")), 0.0
    for delta in _deltas(reply, head):
        yield _event(head, delta), wait
    yield _event(head, _Delta(), _finish(reply)), 0.0
    yield _line(_Chunk(head.id, int(head.created), [], usage(request, reply))), 0.0
    yield DONE, 0.0


def _deltas(reply: Reply, head: Head) -> Iterator[_Delta]:
    for piece in _pieces(reply.reasoning, reply.pace.chars):
        yield _Delta(reasoning_content=piece)
    if reply.pace is AT_ONCE:
        calls = [
            _CallDelta(index, _FunctionDelta(_arguments(call), call.name), _call_id(head, index), "function")
            for index, call in enumerate(reply.calls)
        ]
        yield _Delta(content=reply.text or None, tool_calls=calls or None)
        return
    for piece in _pieces(reply.text, reply.pace.chars):
        yield _Delta(content=piece)
    for index, call in enumerate(reply.calls):
        opening = _CallDelta(index, _FunctionDelta("", call.name), _call_id(head, index), "function")
        yield _Delta(tool_calls=[opening])
        # Arguments travel in longer pieces: nobody reads them as they come.
        for piece in _pieces(_arguments(call), reply.pace.chars * 8):
            yield _Delta(tool_calls=[_CallDelta(index, _FunctionDelta(piece))])


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))


def _event(head: Head, delta: _Delta, finish: FinishReason | None = None) -> bytes:
    return _line(_Chunk(head.id, int(head.created), [_ChunkChoice(delta, finish)]))


def _line(chunk: _Chunk) -> bytes:
    return b"data: " + msgspec.json.encode(chunk) + b"\n\n"


def _finish(reply: Reply) -> FinishReason:
    return "tool_calls" if reply.calls else "stop"


def _call_id(head: Head, index: int) -> str:
    return f"call_{head.id.removeprefix('chatcmpl-')}_{index}"


def _arguments(call: Call) -> str:
    return msgspec.json.encode(call.arguments).decode()
