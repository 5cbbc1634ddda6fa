"""The host's own access to its sessions and small values (`hermes_state.SessionDB` of both hosts). Blocks on files.

Apart from `hostapi`, since a command has no use for the gateway, which takes seconds to load. Invariants: a home
without a database has no sessions, and none is made; nothing is written but values of our own and what the agent itself
said, and the source of a session that a room has left.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

from .config import Home
from .errors import NotFound, Unsupported
from .meeting.lease import Session

CLOSED = frozenset({"cli_close", "tui_close", "agent_close"})
"""Why a session has ended, when its process did (both hosts, `cli.py`, `tui_gateway`, `run_agent.py`)."""

SWITCHED = "session_switch"
"""The same, when a chat left it (both hosts, `gateway/session.py`): what the terminal has of it goes on."""

RECENT = 20
"""Messages of a session among which a mirrored one is looked for."""


def mirror(home: Home, platform: str, chat_id: str, thread_id: str, text: str) -> bool:
    """Write what the agent said elsewhere into its session of a chat, as its own (both hosts, `gateway/mirror.py`).

    Returns:
        Whether it is there, also when the host had mirrored it already; False while the chat has no session. Blocks on
        a file.
    """
    try:
        from gateway.mirror import mirror_to_session
    except ImportError:
        return False
    with _sessions(home) as sessions:
        found = sessions and sessions.find_session_by_origin(platform=platform, chat_id=chat_id, thread_id=thread_id)
        if not found:
            return False
        newest = list(_spoken(sessions.get_messages_as_conversation(found)))[-RECENT:]
    return ("assistant", text) in newest or bool(mirror_to_session(platform, chat_id, text, "iris", thread_id))


def read_meta(home: Home, key: str) -> str | None:
    """A value of the host's `state_meta` (both hosts, `SessionDB.get_meta`). Blocks on a file."""
    with _sessions(home) as sessions:
        return sessions.get_meta(key) if sessions else None


def write_meta(home: Home, key: str, value: str) -> None:
    """Set such a value. Blocks on a file.

    Raises:
        NotFound: the home has no sessions yet.
    """
    with _sessions(home) as sessions:
        if sessions is None:
            raise NotFound(f"{home.root} has no sessions")
        sessions.set_meta(key, value)


def terminal_session(home: Home, session_id: str) -> Session | None:
    """A session with what was said in it, followed through compaction; None when there is none. Blocks on a file.

    A session that answers one question and closes is not over for that: hosts call it `oneshot`, or end it as
    `agent_close`.
    """
    with _sessions(home) as sessions:
        if sessions is None:
            return None
        newest = sessions.resolve_resume_session_id(session_id)
        row = sessions.get_session(newest)
        if not row:
            return None
        ended, reason = row.get("ended_at") is not None, row.get("end_reason")
        once = row.get("source") == "oneshot" or reason in ("agent_close", SWITCHED)
        return Session(
            session_id=newest,
            source=str(row.get("source")),
            ended=ended and not once,
            closed=ended and reason in CLOSED,
            lines=tuple(_spoken(sessions.get_messages_as_conversation(newest))),
        )


def newest(home: Home, session_id: str) -> str:
    """Where a session goes on after compaction. Blocks on a file."""
    with _sessions(home) as sessions:
        return str(sessions.resolve_resume_session_id(session_id)) if sessions else session_id


def give_back(home: Home, session_id: str, source: str, session_key: str) -> None:
    """Let a session that a chat has left be one of its source again (both hosts, `SessionDB`). Blocks on a file.

    Of the chat only the key and the origin stay in its record, as the host has no call that takes them out.
    """
    with _sessions(home) as sessions:
        if sessions:
            sessions.record_gateway_session_peer(session_id, source=source, session_key=session_key)


@contextmanager
def _sessions(home: Home) -> Iterator[Any]:
    """The host's own access to its sessions; None while there are none.

    Raises:
        Unsupported: this process cannot import the host.
    """
    path = home.root / "state.db"
    if not path.is_file():
        yield None
        return
    try:
        from hermes_state import SessionDB
    except ImportError:
        raise Unsupported("this host keeps no sessions that Iris knows of") from None
    with closing(SessionDB(path)) as sessions:
        yield sessions


def _spoken(messages: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """What people and the agent said; tool calls, their results and instructions are left out."""
    for message in messages:
        text = message.get("content")
        if message.get("role") in ("user", "assistant") and isinstance(text, str) and text.strip():
            yield message["role"], text
