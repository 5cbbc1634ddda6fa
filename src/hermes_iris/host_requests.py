"""The host's own waiting: approvals, questions of the agent, confirmations of commands, pickers.

Both hosts keep them in tables of their own modules (`tools/approval.py`, `tools/clarify_gateway.py`,
`tools/slash_confirm.py`), which are not in the public list of 0.22: they are looked up where they are used. What is
missing there, or cannot be told apart, gives None, and the host asks by text.

Invariant: an answer reaches exactly the request that the person saw, or is refused; a host that can only answer the
oldest approval of a session is never asked to answer another one.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from . import questions, reasoning
from .errors import Conflict, NotFound
from .host import Ending, Waiting
from .protocol.frames import Question
from .protocol.types import Seconds, UnixTime
from .questions import Answer

PICKER_TIME: Seconds = 900.0
"""How long a picker can be used; hosts themselves do not care."""

Resume = Callable[[], None]
"""The agent goes on: typing may be shown again."""


class Asked(NamedTuple):
    """A question, and who waits for the answer."""

    question: Question
    waiting: Waiting


def gone() -> NotFound:
    """What an answer gets that nobody waits for."""
    return NotFound("nobody waits for this answer any more")


class Approvals:
    """The approvals of an adapter's sessions; remembers which of the host's entries have a card."""

    def __init__(self) -> None:
        self._carded: dict[str, list[Any]] = {}

    def ask(
        self,
        session_key: str,
        command: str,
        description: str,
        resume: Resume,
        *,
        allow_permanent: bool = True,
        allow_session: bool = True,
        smart_denied: bool = False,
    ) -> Asked | None:
        """Whether this command may run; None when the host's entry for it cannot be told."""
        entry = self._entry(session_key, command)
        if entry is None:
            return None
        self._carded[session_key].append(entry)
        question = questions.approval(
            command,
            description,
            _expiry(_approval_timeout()),
            session=allow_session and not smart_denied,
            permanent=allow_permanent,
        )
        return Asked(question, _Approval(session_key, entry, question, resume))

    def _entry(self, session_key: str, command: str) -> Any:
        """The waiting entry of a command: the host shows it with secrets taken out, so the only one counts as well."""
        waiting = _approval_queue(session_key)
        carded = [known for known in self._carded.get(session_key, ()) if any(known is entry for entry in waiting)]
        self._carded[session_key] = carded
        fresh = [entry for entry in waiting if not any(entry is known for known in carded)]
        same = [entry for entry in fresh if entry.data.get("command") == command]
        return same[0] if same else fresh[0] if len(fresh) == 1 else None


@dataclass(frozen=True)
class _Approval:
    session_key: str
    entry: Any
    question: Question
    resume: Resume

    async def settle(self, answer: Answer) -> str | None:
        queue = _approval_queue(self.session_key)
        if not any(entry is self.entry for entry in queue):
            raise gone()
        named = {"request_id": self.entry.data["request_id"]} if self.entry.data.get("request_id") else {}
        if not named and queue[0] is not self.entry:
            raise Conflict("another command of this conversation waits longer; answer that one first")
        if not _module("tools.approval").resolve_gateway_approval(self.session_key, *answer.values, **named):
            raise gone()
        self.resume()
        return None

    def ending(self) -> Ending | None:
        if any(entry is self.entry for entry in _approval_queue(self.session_key)):
            return None
        if self.entry.result:
            return Ending("answered", questions.label(self.question, self.entry.result))
        return Ending("withdrawn" if self.entry.event.is_set() else "expired")


def clarification(clarify_id: str, question: str, choices: Sequence[str] | None, resume: Resume) -> Asked | None:
    """A question of the agent. A text that is typed into the conversation answers it too."""
    module = _module("tools.clarify_gateway")
    entry = getattr(module, "_entries", {}).get(clarify_id)
    if entry is None:
        return None
    module.mark_awaiting_text(clarify_id)
    timeout = module.get_clarify_timeout()
    asked = questions.clarification(
        question, choices, _expiry(timeout), multiple=bool(getattr(entry, "multi_select", False))
    )
    return Asked(asked, _Clarification(clarify_id, entry, resume))


@dataclass(frozen=True)
class _Clarification:
    clarify_id: str
    entry: Any
    resume: Resume

    async def settle(self, answer: Answer) -> str | None:
        module = _module("tools.clarify_gateway")
        skipped = getattr(module, "SKIPPED", "")
        several = getattr(self.entry, "multi_select", False) and answer.values
        text = questions.as_list(answer.values) if several else (answer.text or "".join(answer.values) or skipped)
        if self.ending() or not module.resolve_gateway_clarify(self.clarify_id, text):
            raise gone()
        self.resume()
        return None

    def ending(self) -> Ending | None:
        module = _module("tools.clarify_gateway")
        response = self.entry.response
        if not self.entry.event.is_set():
            return None if module._entries.get(self.clarify_id) is self.entry else Ending("expired")
        if response is None or response in ("", getattr(module, "CANCELLED", "")):
            return Ending("withdrawn")
        return Ending("dismissed") if response == getattr(module, "SKIPPED", "") else Ending("answered", response)


def confirmed(session_key: str, confirm_id: str) -> str:
    """The command that a confirmation is about; empty where the host knows of none."""
    module = _module("tools.slash_confirm")
    pending = module.get_pending(session_key) if module else None
    return str(pending.get("command") or "") if pending and pending.get("confirm_id") == confirm_id else ""


def confirmation(session_key: str, confirm_id: str, title: str, message: str) -> Asked | None:
    """Whether a slash command shall run that costs something."""
    module = _module("tools.slash_confirm")
    pending = module.get_pending(session_key) if module else None
    if not pending or pending.get("confirm_id") != confirm_id:
        return None
    expires_at = _expiry(getattr(module, "DEFAULT_TIMEOUT_SECONDS", PICKER_TIME))
    question = questions.confirmation(str(pending.get("command") or ""), title, message, expires_at)
    return Asked(question, _Confirmation(session_key, confirm_id))


@dataclass(frozen=True)
class _Confirmation:
    session_key: str
    confirm_id: str

    async def settle(self, answer: Answer) -> str | None:
        if self.ending():
            raise gone()
        return _shown(await _module("tools.slash_confirm").resolve(self.session_key, self.confirm_id, *answer.values))

    def ending(self) -> Ending | None:
        """The host forgets a confirmation that was typed, and one that a newer command took the place of."""
        pending = _module("tools.slash_confirm").get_pending(self.session_key)
        if pending and pending.get("confirm_id") == self.confirm_id:
            return None
        return Ending("withdrawn" if pending else "answered")


def choice_picker(title: str, choices: Iterable[Mapping[str, Any]], choose: Callable[[str], Awaitable[Any]]) -> Asked:
    """A setting with a few values."""
    question = questions.picker(title, questions.options(choices), _expiry(PICKER_TIME))
    return Asked(question, _Picker(choose))


def model_picker(
    providers: Iterable[Mapping[str, Any]],
    current_model: str,
    current_provider: str,
    choose: Callable[[str, str], Awaitable[Any]],
) -> Asked | None:
    """Which model is used; None where the host lists none."""
    found = questions.models(providers, current_model, current_provider)
    if not found:
        return None

    async def chosen(value: str) -> Any:
        _, model, provider = found[value]
        return await choose(model, provider)

    question = questions.picker("Choose a model", [choice for choice, *_ in found.values()], _expiry(PICKER_TIME))
    return Asked(question, _Picker(chosen))


@dataclass(frozen=True)
class _Picker:
    choose: Callable[[str], Awaitable[Any]]

    async def settle(self, answer: Answer) -> str | None:
        return _shown(await self.choose(answer.values[0])) if answer.values else None

    def ending(self) -> Ending | None:
        return None


def _approval_queue(session_key: str) -> list[Any]:
    return list(getattr(_module("tools.approval"), "_gateway_queues", {}).get(session_key, ()))


def _approval_timeout() -> Seconds:
    """How long an approval waits: 0.22 keeps the setting in a module beside the one of 0.19."""
    for name in ("tools.approval_context", "tools.approval"):
        if timeout := getattr(_module(name), "_get_approval_timeout", None):
            return float(timeout())
    return 0.0


def _expiry(timeout: Seconds) -> UnixTime | None:
    return time.time() + timeout if timeout > 0 else None


def _shown(reply: Any) -> str | None:
    return reasoning.without_keys(reply) or None if isinstance(reply, str) else None


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None
