"""The platform `xmpp_meeting` as it is registered with the host."""

from typing import Any

from .. import config, platform
from ..config import Home, Settings
from ..errors import IrisError
from ..hooks import Hooks
from . import PLATFORM, THREAD, rooms, standalone
from .adapter import MeetingAdapter
from .bridge import Bridge

HOME_CHANNEL_ENV = "XMPP_MEETING_HOME_CHANNEL"

HINT = (
    "You are in a group chat with people and other agents. Write as one does in a chat: short, plain text or light"
    " Markdown. Only your final answer is posted."
)


def register(ctx: Any, home: Home, settings: Settings) -> None:
    """Register the platform and its hooks; a home without a meeting is not connected to it."""
    hooks: Hooks[Bridge] = Hooks(PLATFORM)
    config.set_home_channel(HOME_CHANNEL_ENV, _first_room(home, settings))

    async def send(_: Any, chat_id: str, message: str, **__: Any) -> dict[str, Any]:
        return await standalone.send(home, settings, chat_id, message)

    def parse_target(target: str) -> tuple[str, str | None] | None:
        try:
            meeting, me, _ = rooms.attending(home, settings)
            return rooms.named(meeting, me, target.removesuffix(f":{THREAD}")), THREAD
        except IrisError:
            return None

    platform.register(
        ctx,
        hooks,
        HOME_CHANNEL_ENV,
        name=PLATFORM,
        label="Meeting room",
        adapter_factory=lambda given: MeetingAdapter(given, home, settings, hooks),
        is_connected=lambda _: rooms.attends(home, settings),
        install_hint="pip install 'hermes-iris[xmpp]'",
        allowed_users_env="XMPP_MEETING_ALLOWED_USERS",
        allow_all_env="XMPP_MEETING_ALLOW_ALL_USERS",
        standalone_sender_fn=send,
        parse_target_ref_fn=parse_target,
        emoji="👥",
        platform_hint=HINT,
    )


def _first_room(home: Home, settings: Settings) -> str:
    """Where output without a target goes; empty without a meeting."""
    try:
        meeting, me, _ = rooms.attending(home, settings)
    except IrisError:
        return ""
    return meeting.rooms_of(me)[0].jid
