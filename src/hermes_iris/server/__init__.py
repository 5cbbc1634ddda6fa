"""The one port: the app's files, pairing, health and the socket."""

from .app import create_app
from .listener import Listener

__all__ = ["Listener", "create_app"]
