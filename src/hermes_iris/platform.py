"""What the two platforms of Iris have in common: how they connect, and how the host gets to know them.

Invariant: whatever is wrong with one of them, the host's other platforms go on.
"""

import logging
from typing import Any, Protocol

from . import config
from .errors import SetupError
from .hooks import Hooks
from .hostapi import BasePlatformAdapter, Platform, platform_entry

logger = logging.getLogger(__name__)


class Behind(Protocol):
    """What works behind an adapter."""

    async def start(self) -> None:
        """Begin. Raises `SetupError`."""

    async def close(self) -> None:
        """End."""


class Adapter(BasePlatformAdapter):
    """A platform of the host (Hermes `gateway/platforms/base.py`)."""

    MAX_MESSAGE_LENGTH = 1_000_000
    SUPPORTS_MESSAGE_EDITING = True
    REQUIRES_EDIT_FINALIZE = True
    """Without it the host skips the last edit of a segment whose text is already complete."""

    supports_code_blocks = True
    supports_async_delivery = True

    _iris: Behind

    def __init__(self, settings: Any, name: str) -> None:
        super().__init__(config=settings, platform=Platform(name))

    async def connect(self, *, is_reconnect: bool = False) -> bool:
        """Begin; a setup that cannot work is one clear line in the host's log, and not tried again."""
        try:
            await self._iris.start()
        except SetupError as exc:
            logger.error("the platform %s cannot start: %s", self.platform.value, exc)
            self._set_fatal_error("iris_setup", str(exc), retryable=False)
            return False
        self._mark_connected()
        return True

    async def disconnect(self) -> None:
        """End."""
        await self._iris.close()
        self._mark_disconnected()


def register(ctx: Any, hooks: Hooks[Any], home_channel_env: str, **entry: Any) -> None:
    """Register a platform and the hooks that tell of its turns.

    Args:
        ctx: what the host gives to a plugin.
        hooks: of the platform.
        home_channel_env: the variable that says where output without a target goes.
        entry: what is the platform's own, as the host names it (`PlatformEntry`).
    """
    ctx.register_platform(
        **platform_entry(
            check_fn=lambda: True,
            required_env=[],
            cron_deliver_env_var=home_channel_env,
            env_enablement_fn=lambda: {
                "home_channel": {"chat_id": config.home_channel(home_channel_env), "name": entry["label"]}
            },
            max_message_length=0,
            **entry,
        )
    )
    for name, callback in hooks.all().items():
        ctx.register_hook(name, callback)
