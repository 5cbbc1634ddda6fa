"""The platform adapter: the host's calls, each passed on to the bridge.

Invariants: `send` succeeds exactly when the text is committed, so neither the host's retries nor a dead network can
lose or double an answer; the class adds one private name to the host's base class, so that it shadows none of its own.
"""

from functools import partial
from typing import Any
from urllib.parse import unquote

from . import address, host_requests
from .address import Lane
from .bridge import Bridge
from .config import Home, Settings
from .handover import Named
from .hooks import Hooks
from .hostapi import lane_of
from .hub import Hub
from .platform import Adapter
from .turns import calls


class IrisAdapter(Adapter):
    """The app as a platform of the host."""

    _iris: Bridge

    def __init__(self, config: Any, home: Home, settings: Settings, hooks: Hooks[Hub]) -> None:
        super().__init__(config, address.PLATFORM)
        self._iris = Bridge(self, home, settings, hooks)

    async def send(
        self, chat_id: str, content: str, reply_to: str | None = None, metadata: dict[str, Any] | None = None
    ) -> Any:
        """A text for a lane."""
        told = metadata or {}
        answered = reply_to or told.get("reply_to_message_id") or ""
        return await self._iris.sent((chat_id, told.get("thread_id")), content, answered, told)

    async def send_multiple_images(
        self, chat_id: str, images: list[tuple[str, str]], metadata: Any = None, **_: Any
    ) -> Any:
        """Pictures; those in the network are only named, since nothing is fetched because a text asks for it."""
        local = [(unquote(url[7:]), text) for url, text in images if url.startswith("file://")]
        links = [f"![{text}](<{url}>)" for url, text in images if not url.startswith("file://")]
        told = "\n\n".join([*(text for _, text in local if text), *links])
        return await self._iris.attached(_place(chat_id, metadata), [Named(path) for path, _ in local], told)

    async def send_image(
        self, chat_id: str, image_url: str, caption: str | None = None, reply_to: Any = None, metadata: Any = None
    ) -> Any:
        """A picture in the network."""
        return await self.send_multiple_images(chat_id, [(image_url, caption or "")], metadata)

    async def send_image_file(
        self,
        chat_id: str,
        image_path: str,
        caption: str | None = None,
        reply_to: Any = None,
        metadata: Any = None,
        **_: Any,
    ) -> Any:
        """A picture."""
        return await self._iris.attached(_place(chat_id, metadata), [Named(image_path)], caption or "")

    async def send_document(
        self,
        chat_id: str,
        file_path: str,
        caption: str | None = None,
        file_name: str | None = None,
        reply_to: Any = None,
        metadata: Any = None,
        **_: Any,
    ) -> Any:
        """Any file."""
        return await self._iris.attached(_place(chat_id, metadata), [Named(file_path, file_name)], caption or "")

    async def send_voice(
        self,
        chat_id: str,
        audio_path: str,
        caption: str | None = None,
        reply_to: Any = None,
        metadata: Any = None,
        is_voice: bool = False,
        **_: Any,
    ) -> Any:
        """A sound; only 0.22 tells whether it is a voice message."""
        named = Named(audio_path, is_note=is_voice)
        return await self._iris.attached(_place(chat_id, metadata), [named], caption or "")

    async def send_video(
        self,
        chat_id: str,
        video_path: str,
        caption: str | None = None,
        reply_to: Any = None,
        metadata: Any = None,
        **_: Any,
    ) -> Any:
        """A film."""
        return await self._iris.attached(_place(chat_id, metadata), [Named(video_path)], caption or "")

    async def edit_message(
        self,
        chat_id: str,
        message_id: str,
        content: str,
        *,
        finalize: bool = False,
        metadata: dict[str, Any] | None = None,
    ) -> Any:
        """A new text for a message."""
        call = calls.Edited(message_id, content, finalize)
        return await self._iris.told(_lane(chat_id, metadata), call, message_id)

    async def send_typing(self, chat_id: str, metadata: Any = None) -> None:
        """The agent is busy."""
        await self._iris.told(_lane(chat_id, metadata), calls.TypingSet(True))

    async def stop_typing(self, chat_id: str, metadata: Any = None) -> None:
        """The agent is busy no more, or just between two segments."""
        await self._iris.told(_lane(chat_id, metadata), calls.TypingSet(False))

    async def on_processing_complete(self, event: Any, outcome: Any) -> None:
        """The host is done with a message, and with every turn that it led to."""
        lane = lane_of(event.source.chat_id, event.source.thread_id)
        await self._iris.processed(lane, event.message_id or "", outcome.value)

    @classmethod
    def supports_exec_approval_buttons(cls) -> bool:
        """Approvals are cards (0.22 asks this, 0.19 looks for `send_exec_approval`)."""
        return True

    async def send_exec_approval(
        self,
        chat_id: str,
        command: str,
        session_key: str,
        description: str | None = None,
        metadata: Any = None,
        **limits: bool,
    ) -> Any:
        """The agent wants to run a command that needs consent."""
        resume = partial(self.resume_typing_for_chat, chat_id)
        asked = self._iris.approvals.ask(session_key, command, description or "", resume, **limits)
        return await self._iris.ask(_lane(chat_id, metadata), asked)

    async def send_clarify(
        self, chat_id: str, question: str, choices: Any, clarify_id: str, session_key: str, metadata: Any = None
    ) -> Any:
        """The agent asks something."""
        resume = partial(self.resume_typing_for_chat, chat_id)
        asked = host_requests.clarification(clarify_id, question, choices, resume)
        return await self._iris.ask(_lane(chat_id, metadata), asked)

    async def send_slash_confirm(
        self, chat_id: str, title: str, message: str, session_key: str, confirm_id: str, metadata: Any = None
    ) -> Any:
        """A slash command has consequences."""
        return await self._iris.confirm(_lane(chat_id, metadata), session_key, confirm_id, title, message)

    async def send_model_picker(
        self,
        chat_id: str,
        providers: Any,
        current_model: str,
        current_provider: str,
        session_key: str,
        on_model_selected: Any,
        metadata: Any = None,
    ) -> Any:
        """`/model` without an argument."""
        choose = partial(on_model_selected, chat_id)
        asked = host_requests.model_picker(providers, current_model, current_provider, choose)
        return await self._iris.ask(_lane(chat_id, metadata), asked)

    async def send_choice_picker(
        self, chat_id: str, title: str, choices: Any, session_key: str, on_choice_selected: Any, metadata: Any = None
    ) -> Any:
        """A setting with a few values, e.g. `/reasoning`."""
        asked = host_requests.choice_picker(title, choices, partial(on_choice_selected, chat_id))
        return await self._iris.ask(_lane(chat_id, metadata), asked)

    async def create_handoff_thread(self, parent_chat_id: str, name: str) -> str | None:
        """A thread of the host's own, e.g. for a job that goes on, or a session handed over from the terminal."""
        return await self._iris.open_thread(parent_chat_id, name)

    async def list_channels(self) -> list[dict[str, Any]]:
        """Targets by name (0.22 `gateway/channel_directory.py`)."""
        return [
            {"id": target, "name": name, "type": "thread" if ":" in target else "channel"}
            for target, name in self._iris.target_names().items()
        ]

    async def get_chat_info(self, chat_id: str) -> dict[str, Any]:
        """What the host may show of a channel."""
        return {"name": self._iris.target_names().get(chat_id, chat_id), "type": "dm", "chat_id": chat_id}


def _place(chat_id: str, metadata: Any) -> tuple[str, str | None]:
    """Chat and thread, as the host tells them with files."""
    return chat_id, (metadata or {}).get("thread_id")


def _lane(chat_id: str, metadata: Any) -> Lane:
    return lane_of(chat_id, (metadata or {}).get("thread_id"))
