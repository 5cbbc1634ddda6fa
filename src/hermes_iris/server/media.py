"""Files over HTTP: uploads as raw bodies, downloads in ranges.

Invariants: nothing is written or read without the token of a paired device; the token never stands in an address: a
program sends it in a header, a browser has a cookie that opens files only, and only to our own page; nothing that a
browser could run is ever shown by it.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from functools import partial
from urllib.parse import unquote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from .. import files
from ..errors import Busy, InvalidFrame, IrisError, NotFound, Unauthorized, Unsupported
from ..hub import Hub
from ..protocol import codec
from ..protocol.types import DeviceId, Seconds
from ..store import devices, media
from ..vault import Incoming, Kept, Vault
from .answers import refusal
from .attempts import Attempts

COOKIE = "iris-media-"
"""Begins the name of the cookie; the device's id ends it, since browsers share cookies between the ports of a host."""

MAX_UPLOADS = 16
"""Uploads at one time."""

STALL: Seconds = 30.0
"""How long a sender may pause."""

PIECE = 1 << 20
"""Bytes that are written at once."""

LONGEST_NOTE: Seconds = 86_400.0

HEADERS = {
    "cache-control": "private, max-age=86400, immutable",
    "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
}

_NAME = re.compile(r"filename\*=utf-8''([^;\s]*)", re.IGNORECASE)


class MediaDoor:
    """The routes under `/media`."""

    def __init__(self, hub: Hub, vault: Vault, allowed: Sequence[str], attempts: Attempts) -> None:
        self._hub = hub
        self._vault = vault
        self._allowed = allowed
        self._attempts = attempts
        self._uploads = 0

    def routes(self) -> list[Route]:
        """What is served."""
        return [
            Route("/media", self._upload, methods=["POST"]),
            Route("/media/ticket", self._ticket, methods=["POST"]),
            Route("/media/{media_id}", self._download, methods=["GET"]),
        ]

    async def _upload(self, request: Request) -> Response:
        """Take a file in: its bytes are the body, its name stands in `Content-Disposition`, `note` makes it a note."""
        try:
            await self._bearer(request)
            if self._uploads >= MAX_UPLOADS:
                raise Busy("too many files come in at this moment; try again soon")
            self._uploads += 1
            try:
                return await self._take_in(request)
            finally:
                self._uploads -= 1
        except ClientDisconnect:
            return Response(status_code=499)  # nobody is there to read it
        except (IrisError, OSError) as exc:
            return refusal(exc)

    async def _take_in(self, request: Request) -> Response:
        name, claimed, note = _told(request)
        found = files.media_type(claimed, name)
        if not files.allowed(found, self._allowed):
            raise Unsupported(f"files of type {found} are not taken; allowed are {', '.join(self._allowed)}")
        length = request.headers.get("content-length", "")
        await asyncio.to_thread(self._vault.check, int(length) if length.isdecimal() else None)
        with self._vault.receiving() as incoming:
            kept = await _received(request, incoming)
        attachment = files.described(kept.media_id, name, claimed, kept.size, kept.head, note)
        now = self._hub.clock.now().ts
        await self._hub.store.write(partial(media.keep, vault=self._vault, kept=kept, attachment=attachment, now=now))
        return Response(codec.encode(attachment), 201, media_type="application/json")

    async def _ticket(self, request: Request) -> Response:
        """Give a browser its cookie."""
        try:
            device_id = await self._bearer(request)
        except IrisError as exc:
            return refusal(exc)
        response = Response(status_code=204)
        response.set_cookie(
            f"{COOKIE}{device_id}",
            await self._hub.store.read(partial(devices.ticket, device_id=device_id)),
            path="/media",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return response

    async def _download(self, request: Request) -> Response:
        try:
            await self._admit(request)
            attachment = await self._hub.store.read(partial(media.get, media_id=request.path_params["media_id"]))
            path = self._vault.path(attachment.id)
            try:
                told = await asyncio.to_thread(path.stat)
            except FileNotFoundError:
                raise NotFound("this file is not kept any more") from None
        except (IrisError, OSError) as exc:
            return refusal(exc)
        shown = attachment.type in files.SHOWN and "download" not in request.query_params
        return FileResponse(
            path,
            headers=HEADERS,
            media_type=attachment.type if shown else files.UNKNOWN,
            filename=attachment.name,
            stat_result=told,
            content_disposition_type="inline" if shown else "attachment",
        )

    # -- who asks

    async def _bearer(self, request: Request) -> DeviceId:
        """The device whose token the request carries."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        address = request.client.host if request.client else "unknown"
        self._attempts.check(address)
        try:
            if scheme.lower() != "bearer":
                raise Unauthorized("the header `Authorization: Bearer <token>` is missing")
            return await self._hub.store.read(partial(devices.holder, token=token))
        except Unauthorized:
            self._attempts.failed(address)
            raise

    async def _admit(self, request: Request) -> None:
        """Let a program in by its token, and our own page by its cookie."""
        tickets = [
            (name.removeprefix(COOKIE), value) for name, value in request.cookies.items() if name.startswith(COOKIE)
        ]
        if not tickets:
            await self._bearer(request)
            return
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Unauthorized("files are shown by Iris only")
        for device_id, shown in tickets:
            try:
                await self._hub.store.read(partial(devices.admit, device_id=device_id, shown=shown))
            except Unauthorized:
                continue
            return
        raise Unauthorized("this browser may not read files; pair it again with `iris pair`")


def _told(request: Request) -> tuple[str, str, Seconds | None]:
    """What the sender says of a file: name, type, length of a recorded note."""
    match = _NAME.search(request.headers.get("content-disposition", ""))
    if match is None:
        raise InvalidFrame("the header `Content-Disposition: attachment; filename*=UTF-8''<name>` is missing")
    note = request.query_params.get("note")
    if note is None:
        return unquote(match[1]), request.headers.get("content-type", ""), None
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", note) or float(note) > LONGEST_NOTE:
        raise InvalidFrame("note must be the seconds that a recorded note takes")
    return unquote(match[1]), request.headers.get("content-type", ""), float(note)


async def _received(request: Request, incoming: Incoming) -> Kept:
    """Write the body to disk as it comes; a sender that stops is not waited for."""
    try:
        waiting = bytearray()
        async for chunk in _steady(request):
            waiting += chunk
            if len(waiting) >= PIECE:
                await asyncio.to_thread(incoming.write, bytes(waiting))
                waiting.clear()
        await asyncio.to_thread(incoming.write, bytes(waiting))
        return await asyncio.to_thread(incoming.keep)
    except TimeoutError:
        raise Busy(f"nothing more came for {STALL:.0f} seconds; send the file again") from None


async def _steady(request: Request) -> AsyncIterator[bytes]:
    stream = aiter(request.stream())
    while True:
        async with asyncio.timeout(STALL):
            chunk = await anext(stream, None)
        if chunk is None:
            return
        yield chunk
