"""The adapter of the platform `xmpp_meeting`: the host's calls, each passed on to the bridge."""

from typing import Any

from ..config import Home, Settings
from ..hooks import Hooks
from ..platform import Adapter
from ..turns import calls
from . import PLATFORM
from .bridge import STOP, Bridge


class MeetingAdapter(Adapter):
    """The meeting room as a platform of the host."""

    _iris: Bridge

    def __init__(self, config: Any, home: Home, settings: Settings, hooks: Hooks[Bridge]) -> None:
        super().__init__(config, PLATFORM)
        self._iris = Bridge(self, home, settings, hooks)

    async def send(
        self, chat_id: str, content: str, reply_to: str | None = None, metadata: dict[str, Any] | None = None
    ) -> Any:
        """A text."""
        return await self._iris.sent(chat_id, content, metadata or {})

    async def edit_message(
        self,
        chat_id: str,
        message_id: str,
        content: str,
        *,
        finalize: bool = False,
        metadata: dict[str, Any] | None = None,
    ) -> Any:
        """A new text for a message that nobody has seen yet."""
        return self._iris.told(chat_id, calls.Edited(message_id, content, finalize), message_id)

    async def send_typing(self, chat_id: str, metadata: Any = None) -> None:
        """The room is shown that the agent composes for as long as its turn runs, so there is nothing to do."""

    async def on_processing_complete(self, event: Any, outcome: Any) -> None:
        """The host is done with a message; with the command to stop it is before the turn has stopped."""
        if event.text != STOP:
            self._iris.told(event.source.chat_id, calls.Processed(outcome.value))

    async def get_chat_info(self, chat_id: str) -> dict[str, Any]:
        """What the host may show of a room."""
        return {"name": self._iris.name_of(chat_id), "type": "group", "chat_id": chat_id}
