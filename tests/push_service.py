"""A push service for tests: takes what a real one takes, refuses what it refuses, and reads it as the browser would.

Signatures are checked by PyJWT and bodies decrypted by http_ece: neither shares a line with what is tested.
"""

import base64
import json
import os
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import http_ece
import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

MOST_BYTES = 4096


def url64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Received:
    """A delivery that was accepted."""

    note: dict[str, Any]
    headers: dict[str, str]
    claims: dict[str, Any]
    size: int


@dataclass
class Browser:
    """What subscribed: a browser's keys, and what came for it."""

    endpoint: str
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    secret: bytes = field(default_factory=lambda: os.urandom(16))
    received: list[Received] = field(default_factory=list)
    gone: bool = False

    @property
    def p256dh(self) -> str:
        return url64(self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))

    @property
    def subscription(self) -> dict[str, Any]:
        """As `push.subscribe` carries it."""
        return {"endpoint": self.endpoint, "p256dh": self.p256dh, "auth": url64(self.secret), "preferences": {}}

    @property
    def notes(self) -> list[dict[str, Any]]:
        return [each.note for each in self.received]


@dataclass
class PushService:
    """Made by `running`."""

    origin: str
    browsers: dict[str, Browser] = field(default_factory=dict)
    statuses: list[int] = field(default_factory=list)
    """What the next deliveries are answered with, before they are looked at."""

    refused: list[str] = field(default_factory=list)
    """Why deliveries were refused that a real service would refuse, too."""

    tried: int = 0
    seen: list[str] = field(default_factory=list)
    """Paths that were asked for."""

    def subscribe(self) -> Browser:
        path = f"/send/{url64(os.urandom(18))}"
        return self.browsers.setdefault(path, Browser(self.origin + path))

    def take(self, path: str, headers: dict[str, str], body: bytes) -> int:
        """The status of a delivery."""
        self.tried += 1
        self.seen.append(path)
        if self.statuses:
            return self.statuses.pop(0)
        browser = self.browsers.get(path)
        if browser is None or browser.gone:
            return 410
        try:
            browser.received.append(self._read(browser, headers, body))
        except (AssertionError, ValueError, KeyError, jwt.PyJWTError) as exc:
            self.refused.append(repr(exc))
            return 400
        return 201

    def _read(self, browser: Browser, headers: dict[str, str], body: bytes) -> Received:
        scheme, _, rest = headers["authorization"].partition(" ")
        given = dict(part.strip().split("=", 1) for part in rest.split(","))
        assert scheme == "vapid"
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), from64(given["k"]))
        claims = jwt.decode(given["t"], point, algorithms=["ES256"], audience=self.origin)  # type: ignore[arg-type]
        assert 0 < claims["exp"] - time.time() <= 86_400
        assert headers["content-encoding"] == "aes128gcm"
        assert len(body) <= MOST_BYTES
        assert 0 < int(headers["ttl"]) <= 86_400
        assert len(headers["topic"]) <= 32
        assert headers["urgency"] in ("low", "normal", "high")
        plain = http_ece.decrypt(body, private_key=browser.key, auth_secret=browser.secret, version="aes128gcm")
        return Received(json.loads(plain), headers, claims, len(body))


@contextmanager
def running(context: ssl.SSLContext | None = None, name: str = "127.0.0.1") -> Iterator[PushService]:
    """A push service on loopback, with TLS if it has a certificate; `name` is what it calls itself."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status = service.take(self.path, {key.lower(): value for key, value in self.headers.items()}, body)
            self.send_response(status)
            if status in (301, 307):
                self.send_header("location", f"{service.origin}/elsewhere")
            if status == 429:
                self.send_header("retry-after", "1")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass  # a client that does not trust the certificate hangs up

    server = Server(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    scheme = "http" if context is None else "https"
    service = PushService(f"{scheme}://{name}:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
