"""The agent's tool `send_to_channel`: "post this to Cron Reports" in the middle of a conversation."""

import asyncio
import json
import sqlite3
from typing import Any

from . import address
from .address import Lane
from .errors import IrisError
from .hooks import Hooks
from .hub import Hub, Recorded
from .protocol.frames import Message
from .protocol.types import Seconds
from .store import channels, messages

NAME = "send_to_channel"
TIMEOUT: Seconds = 15.0
MAX_TEXT = 100_000

SCHEMA: dict[str, Any] = {
    "name": NAME,
    "description": (
        "Post a message into another channel or thread of the person's app (Iris). Use it when the person asks for"
        " something to be posted, filed or sent to a channel; answers to the person need no tool."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "channel": {
                "type": "string",
                "description": "Name of the channel, e.g. `Cron Reports`, or its address, e.g. `android:chan_7`.",
            },
            "message": {"type": "string", "description": "Markdown."},
        },
        "required": ["channel", "message"],
    },
}


class ChannelTool:
    """The handler that is registered with the host; works while a gateway is connected."""

    def __init__(self, hooks: Hooks[Hub]) -> None:
        self._hooks = hooks

    def __call__(self, args: dict[str, Any], **_: Any) -> str:
        """Run one call, in the agent's thread; the result is JSON, an `error` in it tells the agent what to do."""
        hub = self._hooks.hub
        channel, text = args.get("channel"), args.get("message")
        if hub is None:
            return _error("the app's gateway is not connected")
        if not isinstance(channel, str) or not isinstance(text, str) or not text.strip() or len(text) > MAX_TEXT:
            return _error(f"channel and message must be texts, the message of at most {MAX_TEXT} characters")
        moment = hub.clock.now()

        def post(conn: sqlite3.Connection) -> Recorded:
            directory = address.reachable(channels.directory(conn))
            lane = address.resolve(channel, directory)
            message = Message(
                message_id=moment.name("m"),
                chat_id=lane.chat_id,
                thread_id=lane.thread_id,
                role="assistant",
                text=text,
                ts=moment.ts,
                order=moment.order,
            )
            name = next(e.name for e in directory if Lane(e.chat_id, e.thread_id) == lane)
            return Recorded([message], messages.record(conn, [message]), name)

        try:
            name = asyncio.run_coroutine_threadsafe(hub.transact(post), hub.loop).result(TIMEOUT)
        except (IrisError, sqlite3.Error, TimeoutError) as exc:
            return _error(str(exc) or "the app's gateway is busy")
        return json.dumps({"success": True, "channel": name}, ensure_ascii=False)


def _error(text: str) -> str:
    return json.dumps({"error": text}, ensure_ascii=False)
