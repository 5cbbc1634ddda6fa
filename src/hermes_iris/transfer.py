"""Files over HTTP for programs: to the gateway and from it, piece by piece. Everything here blocks.

Invariant: a download has its name only when it is whole; nothing is sent that the gateway has said it would not take.
"""

import http.client
import json
import secrets
import ssl
from pathlib import Path
from urllib.parse import quote, urlsplit

import msgspec

from .errors import IrisError, NotFound, TooLarge, Unauthorized, Unsupported
from .protocol.frames import Attachment
from .protocol.types import MediaId, Seconds

PATIENCE: Seconds = 60.0
"""How long the gateway may take for a piece."""

PIECE = 256 << 10

_ERRORS: dict[int, type[IrisError]] = {403: Unauthorized, 404: NotFound, 413: TooLarge, 415: Unsupported}


def upload(url: str, token: str, path: Path, max_upload: int, tls: ssl.SSLContext | None = None) -> Attachment:
    """Send a file; the answer names it for `message.send`. `max_upload`: what the policy of the gateway says.

    Raises:
        TooLarge, Unsupported: the gateway does not take it.
        Unauthorized: the token is not that of a device.
        IrisError: the gateway cannot take it now; the text says why.
        OSError: the file cannot be read, or the gateway cannot be reached.
    """
    size = path.stat().st_size
    if size > max_upload:
        raise TooLarge(f"{path.name} has {size} bytes, the gateway takes {max_upload}")
    connection = _connect(url, tls)
    try:
        with path.open("rb") as file:
            headers = {
                "Authorization": f"Bearer {token}",
                "Content-Disposition": f"attachment; filename*=UTF-8''{quote(path.name)}",
                "Content-Length": str(size),
            }
            connection.request("POST", f"{urlsplit(url).path.rstrip('/')}/media", file, headers)
            answer = connection.getresponse()
            body = answer.read()
        if answer.status != 201:
            raise _refused(answer.status, body)
        return msgspec.json.decode(body, type=Attachment)
    finally:
        connection.close()


def download(url: str, token: str, media_id: MediaId, path: Path, tls: ssl.SSLContext | None = None) -> None:
    """Fetch a file; what stands at `path` is replaced.

    Raises:
        NotFound: there is no such file, or it is not kept any more.
        Unauthorized: the token is not that of a device.
        OSError: it cannot be written, or the gateway cannot be reached.
    """
    connection = _connect(url, tls)
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    try:
        target = f"{urlsplit(url).path.rstrip('/')}/media/{quote(media_id)}?download"
        connection.request("GET", target, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        if answer.status != 200:
            raise _refused(answer.status, answer.read())
        with part.open("wb") as file:
            while piece := answer.read(PIECE):
                file.write(piece)
        if answer.length:
            raise OSError(f"the connection ended {answer.length} bytes before the file did")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
        connection.close()


def _connect(url: str, tls: ssl.SSLContext | None) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme == "https":
        return http.client.HTTPSConnection(host, parts.port, timeout=PATIENCE, context=tls)
    return http.client.HTTPConnection(host, parts.port, timeout=PATIENCE)


def _refused(status: int, body: bytes) -> IrisError:
    try:
        message = str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        message = f"the gateway answered {status}"
    return _ERRORS.get(status, IrisError)(message)
