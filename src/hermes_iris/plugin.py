"""The entry point that the host loads (group `hermes_agent.plugins`, and `register` of a plugin folder)."""

from typing import Any

from . import address, channel_tool, config, platform, standalone
from .adapter import IrisAdapter
from .attending import plugin as meeting
from .bridge import HOME_CHANNEL_ENV
from .channel_tool import ChannelTool
from .config import Home
from .errors import NotFound
from .handover import Named
from .hooks import Hooks
from .hub import Hub

PLATFORM_HINT = (
    "You are talking through Iris, an app that renders GitHub-flavoured Markdown: headings, lists, tables, fenced code"
    " with a language. Tool calls and your reasoning are shown separately, so do not repeat them in your answer."
    " To send a file, write MEDIA: and its absolute path on a line of its own."
)

TOOLSET = address.PLATFORM
"""Tools in a toolset named like a platform belong to its agents (both hosts, `toolsets.py`)."""


def register(ctx: Any) -> None:
    """Register the platform `android`, the hooks that tell of its turns, the agent's tool, and `xmpp_meeting`.

    Raises:
        SetupError: a setting is wrong.
    """
    home = Home(config.default_home())
    settings = config.load(home)
    hooks: Hooks[Hub] = Hooks(address.PLATFORM)
    config.set_home_channel(HOME_CHANNEL_ENV, standalone.home_channel(home))

    async def send(
        _: Any, chat_id: str, message: str, *, thread_id: str | None = None, media_files: Any = None, **__: Any
    ) -> dict[str, Any]:
        files = [Named(str(path), is_note=bool(is_note)) for path, is_note in media_files or ()]
        return await standalone.send(home, settings, chat_id, message, thread_id, files)

    platform.register(
        ctx,
        hooks,
        HOME_CHANNEL_ENV,
        name=address.PLATFORM,
        label="Iris",
        adapter_factory=lambda given: IrisAdapter(given, home, settings, hooks),
        is_connected=lambda _: True,
        install_hint="pip install hermes-iris",
        allowed_users_env="ANDROID_ALLOWED_USERS",
        allow_all_env="ANDROID_ALLOW_ALL_USERS",
        standalone_sender_fn=send,
        parse_target_ref_fn=parse_target,
        emoji="🌈",
        platform_hint=PLATFORM_HINT,
    )
    ctx.register_tool(
        channel_tool.NAME,
        TOOLSET,
        channel_tool.SCHEMA,
        ChannelTool(hooks),
        description=channel_tool.SCHEMA["description"],
        emoji="📮",
    )
    meeting.register(ctx, home, settings)


def parse_target(target: str) -> tuple[str, str | None] | None:
    """Chat and thread of a target's address inside the host; None leaves a name to the host's own look-up (0.22)."""
    try:
        return address.to_host(address.parse(target))
    except NotFound:
        return None
