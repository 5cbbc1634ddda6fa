"""Plugin hooks of the host as calls of a lane.

Hooks run in the host's worker threads and must be quick: each one only queues a call. Invariant: nothing but foreground
turns of the one platform gets through; background reviews, sub-agents, cron runs and other platforms' turns
fire the same hooks.
"""

from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from . import hostapi
from .address import Lane
from .protocol.types import Outcome
from .turns import calls

SILENCE = "[SILENT]"
"""What a model answers, by the host's instruction, when it has nothing to say."""

MAX_ERROR = 300
"""Characters of a provider's error that are shown."""


class Sink(Protocol):
    """Who wants to know."""

    def post(self, lane: Lane, call: calls.Call) -> None:
        """Queue a call from any thread."""


S = TypeVar("S", bound=Sink)


class Hooks(Generic[S]):
    """What is registered with the host for one of its platforms; does nothing until a hub is attached."""

    def __init__(self, platform: str) -> None:
        self._platform = platform
        self.hub: S | None = None

    def all(self) -> Mapping[str, Callable[..., None]]:
        """Each hook's name with its callback. Callbacks are called with keywords only, unknown ones are ignored."""
        return {
            "pre_llm_call": self.pre_llm_call,
            "post_api_request": self.post_api_request,
            "api_request_error": self.api_request_error,
            "pre_tool_call": self.pre_tool_call,
            "post_tool_call": self.post_tool_call,
            "on_session_end": self.on_session_end,
        }

    def pre_llm_call(self, **kw: Any) -> None:
        """A turn begins."""
        self._post(kw, lambda: calls.TurnBegan(kw["turn_id"]))

    def post_api_request(self, **kw: Any) -> None:
        """The model has replied once."""
        self._post(kw, lambda: _model_replied(kw))

    def api_request_error(self, **kw: Any) -> None:
        """A model call has failed."""
        self._post(kw, lambda: calls.ModelFailed(kw["turn_id"], _error_line(kw)))

    def pre_tool_call(self, **kw: Any) -> None:
        """A tool call begins."""
        self._post(
            kw,
            lambda: calls.ToolBegan(kw["turn_id"], kw["tool_call_id"], kw["tool_name"], dict(kw.get("args") or {})),
        )

    def post_tool_call(self, **kw: Any) -> None:
        """A tool call is over."""
        self._post(
            kw,
            lambda: calls.ToolDone(
                kw["turn_id"],
                kw["tool_call_id"],
                str(kw.get("status") or "ok"),
                float(kw.get("duration_ms") or 0) / 1000,
                str(kw.get("result") or ""),
            ),
        )

    def on_session_end(self, **kw: Any) -> None:
        """The agent's loop of a turn is over."""
        self._post(kw, lambda: calls.TurnReported(kw["turn_id"], _outcome(kw)))

    def _post(self, kw: Mapping[str, Any], make: Callable[[], calls.Call]) -> None:
        if self.hub is None or not _is_foreground(kw) or kw.get("platform", self._platform) != self._platform:
            return
        lane = hostapi.running_lane(self._platform)
        if lane is not None:
            self.hub.post(lane, make())


def _is_foreground(kw: Mapping[str, Any]) -> bool:
    """Whether a hook is about the turn of a person: a background fork of it has a task id of its own."""
    return bool(kw.get("turn_id")) and kw.get("task_id") == kw.get("session_id")


def _model_replied(kw: Mapping[str, Any]) -> calls.ModelReplied:
    message = kw.get("assistant_message")
    provider = getattr(message, "provider_data", None)
    reasoning = getattr(message, "reasoning", None)
    if not reasoning and isinstance(provider, Mapping):
        reasoning = provider.get("reasoning_content")
    text = _text(getattr(message, "content", None))
    usage = kw.get("usage") or {}
    return calls.ModelReplied(
        host_turn=kw["turn_id"],
        text="" if text.strip() == SILENCE else text,
        more=bool(kw.get("assistant_tool_call_count")),
        reasoning=_text(reasoning),
        model=kw.get("response_model") or kw.get("model"),
        tokens=int(usage.get("total_tokens") or 0),
    )


def _error_line(kw: Mapping[str, Any]) -> str:
    error = kw.get("error")
    message = error.get("message") if isinstance(error, Mapping) else error
    return " ".join(str(message or "the model call failed").split())[:MAX_ERROR]


def _text(content: Any) -> str:
    """Content as text; some providers give a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, Mapping))
    return ""


def _outcome(kw: Mapping[str, Any]) -> Outcome:
    if kw.get("interrupted"):
        return "interrupted"
    return "failure" if kw.get("failed") or kw.get("completed") is False else "success"
