"""Pairing links: where they lead, and those that a device asks for, to let one more in.

Invariant: a link that is drawn as a QR code leads to an address that other machines may reach; which one that is comes
from the settings, never from who asks.
"""

import io
import time
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple
from urllib.parse import urlsplit

import segno

from .config import Settings
from .endpoints import is_loopback
from .errors import Busy, RateLimited, SetupError
from .protocol.types import DeviceId, Seconds
from .store import Store, devices

MOST = 6
"""Links that devices get within a minute, all of them together."""

WINDOW: Seconds = 60.0


class Link(NamedTuple):
    """A pairing link and for how long it is good."""

    url: str
    ttl: Seconds

    @classmethod
    def to(cls, base: str, code: str, settings: Settings) -> "Link":
        """The link with a code behind `#`, which browsers do not send and servers do not log."""
        return cls(f"{base}/#pair={code}", settings.pairing_ttl)

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches its address."""
        return is_loopback(urlsplit(self.url).hostname or "")

    @property
    def qr(self) -> segno.QRCode:
        """As a QR code."""
        return segno.make(self.url, error="m")


def base(settings: Settings, listening: str | None) -> str:
    """The address that links begin with; `listening` is that of the gateway, while it runs.

    Raises:
        SetupError: the address is not known before the gateway runs.
    """
    if settings.link_base:
        return settings.link_base.rstrip("/")
    if listening is None and settings.port == 0:
        raise SetupError("the port is picked when the gateway starts (port = 0): start it first")
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    url = listening or f"{'https' if settings.tls else 'http'}://{host}:{settings.port}"
    # A gateway that listens on every address of the machine has this one too.
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


@dataclass
class Invitations:
    """The links that devices ask for, of one gateway."""

    store: Store
    settings: Settings
    listening: str | None = None
    """The address of the gateway, once there is one."""

    _made: deque[float] = field(default_factory=lambda: deque(maxlen=MOST))

    async def make(self, asker: DeviceId, now: float) -> Link:
        """A link for one more device.

        Raises:
            Busy: the gateway is only just starting.
            RateLimited: there were too many.
        """
        if self.listening is None:
            raise Busy("the gateway is starting; try again in a moment")
        moment = time.monotonic()
        if len(self._made) == MOST and self._made[0] > moment - WINDOW:
            raise RateLimited("too many pairing links were made; wait a minute and try again")
        self._made.append(moment)
        mint = partial(devices.new_code, now=now, ttl=self.settings.pairing_ttl, asker=asker)
        return Link.to(base(self.settings, self.listening), await self.store.write(mint), self.settings)


def picture(link: Link) -> str:
    """The QR code of a link as an SVG document; dark on light in every theme, as cameras want it."""
    file = io.BytesIO()
    link.qr.save(file, kind="svg", xmldecl=False, svgclass=None, lineclass=None, omitsize=True, nl=False, light="#fff")
    return file.getvalue().decode()
