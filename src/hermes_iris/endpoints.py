"""Where a gateway listens: the file in which it says so, and whether it is true.

Invariant: whoever reads the file sees a whole one or none; a file that a killed gateway left behind names nothing.
"""

import http.client
import os
import socket
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from . import atomic, tls
from .protocol.types import Seconds

PROBE: Seconds = 2.0
"""How long a gateway may take to say that it is well."""


class Endpoint(msgspec.Struct, frozen=True):
    """Where a gateway listens, as it wrote that down."""

    url: str
    pid: Annotated[int, msgspec.Meta(gt=0)]
    certificate: str = ""
    """PEM of the one to trust, when it speaks TLS."""


def announce(path: Path, endpoint: Endpoint) -> None:
    """Write the file, for its owner only."""
    atomic.write(path, msgspec.json.encode(endpoint))


def running(path: Path) -> Endpoint | None:
    """The gateway that an endpoint file names; None when there is no file, no such process, or no answer."""
    try:
        endpoint = msgspec.json.decode(path.read_bytes(), type=Endpoint)
    except (OSError, msgspec.DecodeError):
        return None
    return endpoint if _is_alive(endpoint.pid) and is_healthy(endpoint) else None


def is_healthy(endpoint: Endpoint) -> bool:
    """Whether a gateway answers there."""
    parts = urlsplit(endpoint.url)
    context = tls.trusting(endpoint.certificate)
    connection = (
        http.client.HTTPSConnection(parts.hostname or "", parts.port, timeout=PROBE, context=context)
        if context
        else http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=PROBE)
    )
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host name or address."""
    try:
        return host == "localhost" or ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def why_not_free(host: str, port: int) -> str | None:
    """Why nothing can listen at this address, in words; None when something can."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: a closing connection is no bar
            sock.bind(address)
    except OSError as exc:
        return exc.strerror or str(exc)
    return None


def free_port() -> int:
    """A port of loopback that is free now."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # it lives, and belongs to somebody else
    return True
