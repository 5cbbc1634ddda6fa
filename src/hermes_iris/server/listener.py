"""Listens on the port inside the host's event loop, and says where.

Invariants: the port is bound before anything is promised, so a taken one is a clear error; signals stay the host's;
the endpoint file is there exactly while the port is open.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from .. import tls
from ..config import Settings
from ..endpoints import Endpoint, announce
from ..errors import SetupError
from ..protocol.types import MAX_FRAME, Seconds
from .transport import Line

HEARTBEAT: Seconds = 20.0
GRACE = 2
"""Seconds that open connections get at the end."""


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: the process is the host's."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Listener:
    """A running server. Made by `start`, ended by `stop`."""

    def __init__(
        self, server: _Server, bound: socket.socket, task: "asyncio.Task[None]", endpoint: Path, certificate: str
    ) -> None:
        self._server = server
        self._bound = bound
        self._task = task
        self._endpoint = endpoint
        self._certificate = certificate

    @classmethod
    async def start(cls, app: Starlette, settings: Settings, endpoint: Path) -> "Listener":
        """Bind, serve, and write the endpoint file.

        Raises:
            SetupError: the address cannot be bound, or the certificate cannot be used.
        """
        context = tls.server_context(*settings.tls) if settings.tls else None
        certificate = tls.leaf(settings.tls[0]) if settings.tls else ""
        bound = _bind(settings.host, settings.port)
        config = uvicorn.Config(
            app,
            ws=Line,
            ws_max_size=MAX_FRAME,
            ws_ping_interval=HEARTBEAT,
            ws_ping_timeout=HEARTBEAT,
            ws_per_message_deflate=False,  # one compressor for all of them instead, see `deflate`
            ssl_context_factory=None if context is None else lambda *_: context,
            proxy_headers=bool(settings.trusted_proxies),
            forwarded_allow_ips=settings.trusted_proxies,
            lifespan="off",
            access_log=False,
            log_config=None,
            timeout_graceful_shutdown=GRACE,
        )
        server = _Server(config)
        task = asyncio.create_task(server.serve(sockets=[bound]), name="iris-server")
        while not server.started:
            if task.done():
                task.result()
                raise SetupError("the web server ended before it began")
            await asyncio.sleep(0.01)
        listener = cls(server, bound, task, endpoint, certificate)
        listener._announce()
        return listener

    @property
    def url(self) -> str:
        """Base address, e.g. `http://127.0.0.1:8765`."""
        host, port = self._bound.getsockname()[:2]
        scheme = "https" if self._certificate else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"

    def _announce(self) -> None:
        announce(self._endpoint, Endpoint(self.url, os.getpid(), self._certificate))

    async def stop(self) -> None:
        """Close every connection and the port."""
        self._endpoint.unlink(missing_ok=True)
        self._server.should_exit = True
        await self._task
        self._bound.close()


def _bind(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's delay off only for sockets that say they are TCP.
    bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((host, port))
        bound.listen(128)
    except OSError as exc:
        bound.close()
        raise SetupError(f"cannot listen on {host}:{port}: {exc.strerror}; set another `port` or IRIS_PORT") from exc
    return bound
