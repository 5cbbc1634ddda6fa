"""Iris: an app of your own for a Hermes agent.

As a plugin folder under ``$HERMES_HOME/plugins`` this module is what the host imports, so it offers `register`; the
import is deferred so that the client library and the command line never load the host side.
"""

from typing import Any

__version__ = "0.1.0"


def register(ctx: Any) -> None:
    """Register the platform with the host (Hermes `hermes_cli/plugins.py`, directory plugins)."""
    from .plugin import register as register_platform

    register_platform(ctx)
