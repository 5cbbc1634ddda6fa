"""The HTTP side: routes, security headers, pairing. Nothing but the app's files, pairing and health needs no token."""

from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Annotated, Any, get_args

import msgspec
from msgspec import Meta
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from ..clock import Clock
from ..commands import Commands
from ..config import Settings
from ..errors import InvalidFrame, IrisError, TooLarge, Unauthorized
from ..protocol import codec
from ..protocol.frames import Device, DevicePaired, ServerInfo
from ..protocol.types import DeviceKind
from ..slices import Slices
from ..store import devices
from ..vault import Vault
from .answers import refusal
from .attempts import Attempts
from .deflate import Stream
from .media import MediaDoor
from .socket import Socket, Wire

STATIC = Path(__file__).parent.parent / "static"
MAX_BODY = 4_096

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:;"
        " connect-src 'self'; worker-src 'self';"
        " base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}


class PairRequest(msgspec.Struct, frozen=True):
    """Body of `POST /pair`."""

    code: Annotated[str, Meta(min_length=1, max_length=64)]
    name: Annotated[str, Meta(min_length=1, max_length=80)]
    kind: DeviceKind = "web"


def create_app(
    commands: Commands, server: ServerInfo, clock: Clock, settings: Settings, vault: Vault, static: Path = STATIC
) -> Starlette:
    """The ASGI application of a gateway."""
    attempts = Attempts()
    wire = Wire(Stream(), Slices())
    media = MediaDoor(commands.hub, vault, settings.upload_types, attempts)

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok", "version": server.version})

    async def pair(request: Request) -> Response:
        address = request.client.host if request.client else "unknown"
        try:
            attempts.check(address)
            body = _decode(await _body(request))
            now = clock.now().ts
            paired = await commands.hub.store.write(
                lambda conn: devices.pair(conn, body.code, body.name, body.kind, now)
            )
        except IrisError as exc:
            if isinstance(exc, Unauthorized):
                attempts.failed(address)
            return refusal(exc)
        device = Device(id=paired.device_id, name=body.name, kind=body.kind, created=now)
        commands.hub.tell(DevicePaired(device=device, invited_by=paired.invited_by))
        grant = {"device_id": paired.device_id, "token": paired.token}
        return JSONResponse(grant, headers={"cache-control": "no-store"})

    async def socket(websocket: WebSocket) -> None:
        if not _same_origin(websocket.headers):
            await websocket.close(1008, "this origin may not connect")
            return
        await Socket(websocket, commands, attempts, server, wire, vault.max_size).serve()

    routes: list[BaseRoute] = [
        Route("/healthz", health),
        Route("/pair", pair, methods=["POST"]),
        Route("/pair", _not_a_page, methods=["GET"]),  # else the app's files would be asked for it
        WebSocketRoute("/ws", socket),
        *media.routes(),
    ]
    if static.is_dir():
        # Only here: files of a conversation are sent in ranges, which a compressor would break.
        routes.append(Mount("/", GZipMiddleware(_AppFiles(directory=static, html=True), minimum_size=1024)))
    middleware = [
        Middleware(_SecurityHeaders),
        Middleware(TrustedHostMiddleware, allowed_hosts=settings.names, www_redirect=False),
    ]
    app = Starlette(routes=routes, middleware=middleware)
    app.state.wire = wire
    return app


async def _not_a_page(_: Request) -> Response:
    return Response(status_code=405, headers={"allow": "POST"})


class _AppFiles(StaticFiles):
    """The built web app: names with a hash never change, everything else is asked for again."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        hashed = path.startswith("assets/")
        response.headers["cache-control"] = "public, max-age=31536000, immutable" if hashed else "no-cache"
        return response


class _SecurityHeaders:
    """Puts `SECURITY_HEADERS` on every HTTP response; one that says something else itself is stricter."""

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]]) -> None:
        self._app = app
        self._headers = [(name.encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = message.get("headers", [])
                names = {name.lower() for name, _ in own}
                message["headers"] = [*own, *(header for header in self._headers if header[0] not in names)]
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _same_origin(headers: Headers) -> bool:
    """Whether a socket comes from our own page; programs that are no browser send no origin."""
    origin = headers.get("origin")
    return origin is None or origin.partition("://")[2] == headers.get("host")


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise TooLarge(f"the body has at most {MAX_BODY} bytes")
    return body


def _decode(body: bytes) -> PairRequest:
    try:
        return msgspec.json.decode(body, type=PairRequest)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as exc:
        kinds = ", ".join(get_args(DeviceKind))
        raise InvalidFrame(f"the body must be JSON with code, name and kind ({kinds}): {codec.reason(exc)}") from exc
