"""Files over HTTP: who may send and read them, which, how large, and how they are told of."""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio

from hermes_iris import vault as vault_module
from hermes_iris.client import Client
from hermes_iris.errors import IrisError, NotFound, TooLarge, Unauthorized, Unsupported
from hermes_iris.protocol.frames import History, Message, MessageSend
from hermes_iris.server import media as media_module
from hermes_iris.server.attempts import MAX_FAILURES
from hermes_iris.store import media
from support import CHAT, LIMIT, Device, Gateway, gateway, new_id, wait_until

pytestmark = pytest.mark.asyncio(loop_scope="module")

LARGEST = 1 << 20


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with gateway(tmp_path_factory.mktemp("home"), max_upload_mb=1) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def device(running: Gateway) -> Device:
    return await running.pair()


@pytest_asyncio.fixture(loop_scope="module")
async def web(running: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=running.url, trust_env=False) as web:
        yield web


def bearer(device: Device) -> dict[str, str]:
    return {"authorization": f"Bearer {device.token}"}


def named(name: str) -> dict[str, str]:
    return {"content-disposition": f"attachment; filename*=UTF-8''{quote(name)}"}


async def upload(web: httpx.AsyncClient, device: Device, name: str, content: bytes, **more: Any) -> dict[str, Any]:
    answer = await web.post("/media", content=content, headers={**bearer(device), **named(name)}, **more)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def folder(running: Gateway) -> list[str]:
    return names(running.home.media)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


# ---------------------------------------------------------------- up and down


async def test_a_file_goes_up_and_comes_down(web: httpx.AsyncClient, device: Device) -> None:
    content = os.urandom(300_000)
    file = await upload(web, device, "Grüße aus 北京.bin", content)
    assert re.fullmatch("[0-9a-f]{32}", file["id"])
    assert (file["name"], file["size"], file["kind"]) == ("Grüße aus 北京.bin", 300_000, "document")
    answer = await web.get(f"/media/{file['id']}", headers=bearer(device))
    assert answer.content == content
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment; filename*=utf-8''Gr%C3%BC")


@pytest.mark.parametrize(
    ("name", "disposition"),
    [
        ("a.png", "inline"),
        ("a.mp4", "inline"),
        ("a.svg", "attachment"),
        ("a.html", "attachment"),
        ("a.pdf", "attachment"),
    ],
)
async def test_only_what_cannot_run_is_shown(
    web: httpx.AsyncClient, device: Device, name: str, disposition: str
) -> None:
    file = await upload(web, device, name, b"<script>alert(1)</script>")
    answer = await web.get(f"/media/{file['id']}", headers=bearer(device))
    assert answer.headers["content-disposition"].partition(";")[0] == disposition
    assert (answer.headers["content-type"] == "application/octet-stream") == (disposition == "attachment")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    (policy,) = answer.headers.get_list("content-security-policy")
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    assert "private" in answer.headers["cache-control"]
    asked = await web.get(f"/media/{file['id']}?download", headers=bearer(device))
    assert asked.headers["content-disposition"].startswith("attachment")


async def test_a_part_of_a_film_is_fetched(web: httpx.AsyncClient, device: Device) -> None:
    content = bytes(range(256)) * 100
    file = await upload(web, device, "a.mp4", content)
    asked = {**bearer(device), "accept-encoding": "gzip"}
    answer = await web.get(f"/media/{file['id']}", headers={**asked, "range": "bytes=1000-1999"})
    assert answer.status_code == 206
    assert answer.headers["content-range"] == "bytes 1000-1999/25600"
    assert "content-encoding" not in answer.headers
    assert answer.content == content[1000:2000]
    end = await web.get(f"/media/{file['id']}", headers={**asked, "range": "bytes=-10"})
    assert end.content == content[-10:]
    beyond = await web.get(f"/media/{file['id']}", headers={**asked, "range": "bytes=99999-"})
    assert beyond.status_code == 416


async def test_the_same_content_is_stored_once(web: httpx.AsyncClient, device: Device, running: Gateway) -> None:
    content = os.urandom(1000)
    one, other = [await upload(web, device, f"{name}.bin", content) for name in "ab"]
    assert one["id"] != other["id"]
    assert (running.home.media / one["id"]).samefile(running.home.media / other["id"])


# ---------------------------------------------------------------- who may


async def test_nothing_without_a_token(web: httpx.AsyncClient, running: Gateway, device: Device) -> None:
    file = await upload(web, device, "a.png", b"x")
    before = folder(running)
    other = await gateway_device(running)
    wrong = [
        {},
        {"authorization": "Bearer nonsense"},
        {"authorization": f"Basic {device.token}"},
        {"authorization": f"Bearer {other.token}x"},
    ]
    for headers in wrong:
        for answer in (
            await web.get(f"/media/{file['id']}", headers=headers),
            await web.post("/media", content=b"x", headers={**headers, **named("a.png")}),
        ):
            assert answer.status_code == 403
            assert answer.json()["code"] == "unauthorized"
    assert folder(running) == before


async def gateway_device(running: Gateway) -> Device:
    return await running.pair("Other")


async def test_a_revoked_device_reads_nothing_any_more(running: Gateway) -> None:
    revoked = await running.pair("Lost")
    async with httpx.AsyncClient(base_url=running.url, trust_env=False) as web:
        file = await upload(web, revoked, "a.png", b"x")
        await take_ticket(web, revoked)
        assert (await web.get(f"/media/{file['id']}")).status_code == 200
        async with running.wire() as wire:
            await wire.ask("device.revoke", device_id=revoked.info.id)
        assert (await web.get(f"/media/{file['id']}")).status_code == 403
        assert (await web.get(f"/media/{file['id']}", headers=bearer(revoked))).status_code == 403


async def take_ticket(web: httpx.AsyncClient, device: Device) -> str:
    answer = await web.post("/media/ticket", headers=bearer(device))
    assert answer.status_code == 204
    return str(answer.headers["set-cookie"])


async def test_a_browser_has_a_cookie_for_files_alone(web: httpx.AsyncClient, device: Device) -> None:
    file = await upload(web, device, "a.png", b"pixels")
    cookie = await take_ticket(web, device)
    name, _, attributes = cookie.partition("=")
    assert name == f"iris-media-{device.info.id}"
    assert {part.strip().lower() for part in attributes.split(";")[1:]} == {
        "httponly",
        "path=/media",
        "samesite=strict",
    }
    assert device.token not in cookie
    assert (await web.get(f"/media/{file['id']}")).content == b"pixels"
    refused = await web.post("/media", content=b"x", headers=named("a.png"))
    assert refused.status_code == 403, "a cookie is sent by any page's wish, so nothing is taken in for it"
    for site in ("cross-site", "same-site"):
        answer = await web.get(f"/media/{file['id']}", headers={"sec-fetch-site": site})
        assert answer.status_code == 403
    for cookies in ({f"iris-media-{device.info.id}": "0" * 64}, {"iris-media-dev_0": "0" * 64}):
        async with httpx.AsyncClient(base_url=str(web.base_url), cookies=cookies, trust_env=False) as stranger:
            assert (await stranger.get(f"/media/{file['id']}")).status_code == 403


async def test_guessing_tokens_is_slowed_down(tmp_path: Path) -> None:
    async with (
        gateway(tmp_path) as running,
        httpx.AsyncClient(base_url=running.url, trust_env=False) as web,
    ):
        wrong = {"authorization": "Bearer guess"}
        codes = [(await web.get(f"/media/{'0' * 32}", headers=wrong)).status_code for _ in range(MAX_FAILURES + 1)]
        assert codes == [403] * MAX_FAILURES + [429]


@pytest.mark.parametrize("path", ["0" * 32, "../channels.db", "..%2fchannels.db", "%2e%2e/channels.db", "x", ".part"])
async def test_an_id_that_names_nothing(web: httpx.AsyncClient, device: Device, path: str) -> None:
    answer = await web.get(f"/media/{path}", headers=bearer(device))
    assert answer.status_code == 404
    assert b"SQLite" not in answer.content


# ---------------------------------------------------------------- limits


async def test_a_file_that_is_too_large(web: httpx.AsyncClient, device: Device, running: Gateway) -> None:
    before = folder(running)

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield bytes(LARGEST // 4)

    for content in (bytes(LARGEST + 1), endless()):
        answer = await web.post("/media", content=content, headers={**bearer(device), **named("a.bin")})
        assert answer.status_code == 413
        assert answer.json() == {
            "code": "too_large",
            "message": f"a file has at most {LARGEST} bytes (setting `max_upload_mb`)",
        }
    assert folder(running) == before
    await upload(web, device, "a.bin", bytes(LARGEST))


@pytest.mark.parametrize(
    ("headers", "query", "message"),
    [
        ({}, "", "Content-Disposition"),
        ({"content-disposition": 'attachment; filename="a.png"'}, "", "Content-Disposition"),
        (named("a.webm"), "?note=long", "note"),
        (named("a.webm"), "?note=-1", "note"),
        (named("a.webm"), "?note=999999", "note"),
    ],
)
async def test_what_has_to_be_said_of_a_file(
    web: httpx.AsyncClient, device: Device, headers: dict[str, str], query: str, message: str
) -> None:
    answer = await web.post(f"/media{query}", content=b"x", headers={**bearer(device), **headers})
    assert answer.status_code == 400
    assert message in answer.json()["message"]


async def test_types_that_are_not_taken(tmp_path: Path) -> None:
    async with (
        gateway(tmp_path, upload_types=["image/*", "application/pdf"]) as running,
        httpx.AsyncClient(base_url=running.url, trust_env=False) as web,
    ):
        device = await running.pair()
        await upload(web, device, "a.png", b"x")
        answer = await web.post("/media", content=b"x", headers={**bearer(device), **named("a.zip")})
        assert answer.status_code == 415
        assert "image/*, application/pdf" in answer.json()["message"]


async def test_no_room_on_the_disk(
    web: httpx.AsyncClient, device: Device, running: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = folder(running)
    monkeypatch.setattr(vault_module, "RESERVE", 1 << 62)
    answer = await web.post("/media", content=b"x", headers={**bearer(device), **named("a.png")})
    assert answer.status_code == 507
    assert answer.json()["code"] == "disk_full"
    assert folder(running) == before


async def test_a_sender_that_goes_away_or_stalls_leaves_nothing(
    running: Gateway, device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = folder(running)
    head = (
        f"POST /media HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {device.token}\r\n"
        "content-disposition: attachment; filename*=UTF-8''a.bin\r\ncontent-length: 1000\r\n\r\nhalf"
    ).encode()
    _, writer = await asyncio.open_connection("127.0.0.1", running.port)
    writer.write(head)
    await wait_until(lambda: folder(running) != before)
    writer.close()
    await wait_until(lambda: folder(running) == before)

    monkeypatch.setattr(media_module, "STALL", 0.05)
    reader, writer = await asyncio.open_connection("127.0.0.1", running.port)
    writer.write(head)
    async with asyncio.timeout(LIMIT):
        answer = await reader.readuntil(b"}")
    assert b"503" in answer.split(b"\r\n")[0]
    assert b"nothing more came" in answer
    writer.close()
    assert folder(running) == before


async def test_too_many_at_once(web: httpx.AsyncClient, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media_module, "MAX_UPLOADS", 0)
    answer = await web.post("/media", content=b"x", headers={**bearer(device), **named("a.png")})
    assert (answer.status_code, answer.json()["code"]) == (503, "busy")


# ---------------------------------------------------------------- in messages


async def test_a_message_of_files_alone(web: httpx.AsyncClient, device: Device, running: Gateway) -> None:
    files = [await upload(web, device, name, name.encode()) for name in ("a.png", "b.pdf")]
    ids = [file["id"] for file in files]
    async with running.wire(device) as wire:
        assert wire.seen[0]["policy"]["max_upload"] == LARGEST
        accepted = await wire.say("", attachments=ids)
        assert accepted["type"] == "message.accepted"
        (echo,) = [frame for frame in await wire.settle() if frame.get("attachments")]
        assert (echo["message_id"], echo["attachments"]) == (accepted["message_id"], files)
        page = await wire.ask("history", chat_id=CHAT)
        assert page["entries"][-1]["attachments"] == files
    await wait_until(lambda: running.host.delivered)
    assert [file.id for file in running.host.delivered[-1].attachments] == ids


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ({"text": ""}, "invalid_frame", "$.text"),
        ({"text": "x", "attachments": ["0" * 32]}, "not_found", "$.attachments[0]"),
        ({"text": "x", "attachments": ["../../channels.db"]}, "invalid_frame", "$.attachments[0]"),
        ({"text": "x", "attachments": ["0" * 32] * 21}, "invalid_frame", "$.attachments"),
    ],
)
async def test_a_message_that_names_no_file(
    running: Gateway, device: Device, fields: dict[str, Any], code: str, message: str
) -> None:
    async with running.wire(device) as wire:
        refused = await wire.ask("message.send", chat_id=CHAT, **fields)
        assert (refused["type"], refused["code"]) == ("error", code)
        assert message in refused["message"]


async def test_files_alone_begin_no_topic(web: httpx.AsyncClient, device: Device, running: Gateway) -> None:
    file = await upload(web, device, "Plan of the garden.pdf", b"x")
    async with running.wire(device) as wire:
        await wire.ask("channel.set_threads", chat_id=CHAT, on=True)
        accepted = await wire.say("", attachments=[file["id"]], auto_thread=True)
        assert "thread_id" not in accepted
        accepted = await wire.say("What grows here?", attachments=[file["id"]], auto_thread=True)
        assert accepted["thread_id"]
        (created,) = [frame for frame in await wire.settle() if frame["type"] == "channel.created"]
        assert created["channel"]["name"] == "What grows here?"
        await wire.ask("channel.set_threads", chat_id=CHAT, on=False)


# ---------------------------------------------------------------- what is kept


async def test_what_no_message_took_goes_after_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with (
        gateway(tmp_path) as running,
        httpx.AsyncClient(base_url=running.url, trust_env=False) as web,
        running.wire() as wire,
    ):
        device = await running.pair()
        used, unused = [await upload(web, device, f"{name}.bin", b"the same") for name in "ab"]
        await wire.say("look", attachments=[used["id"]])
        assert await running.service.sweeper.sweep() == 0
        monkeypatch.setattr("hermes_iris.sweeper.FRESH", -1.0)
        monkeypatch.setattr(vault_module, "FRESH", -1.0)
        assert await running.service.sweeper.sweep() == 1
        assert folder(running) == [used["id"]]
        assert (await web.get(f"/media/{unused['id']}", headers=bearer(device))).status_code == 404
        assert (await web.get(f"/media/{used['id']}", headers=bearer(device))).content == b"the same"


async def test_old_files_go_and_their_messages_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault_module, "FRESH", -1.0)
    async with (
        gateway(tmp_path, media_days=30) as running,
        httpx.AsyncClient(base_url=running.url, trust_env=False) as web,
        running.wire() as wire,
    ):
        device = await running.pair()
        file = await upload(web, device, "old.png", b"x")
        await wire.say("look", attachments=[file["id"]])
        await running.service.store.write(lambda conn: conn.execute("UPDATE media SET created = created - 31 * 86400"))
        assert await running.service.sweeper.sweep() == 1
        answer = await web.get(f"/media/{file['id']}", headers=bearer(device))
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
        page = await wire.ask("history", chat_id=CHAT)
        assert page["entries"][-1]["attachments"] == [file]
        refused = await wire.say("again", attachments=[file["id"]])
        assert refused["code"] == "not_found"


async def test_a_file_whose_bytes_are_gone_is_told(web: httpx.AsyncClient, device: Device, running: Gateway) -> None:
    file = await upload(web, device, "a.png", b"x")
    (running.home.media / file["id"]).unlink()
    answer = await web.get(f"/media/{file['id']}", headers=bearer(device))
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert file["id"] in await running.service.store.read(media.all_ids)


# ---------------------------------------------------------------- the Python client


async def test_the_client_sends_and_fetches_files(running: Gateway, device: Device, tmp_path: Path) -> None:
    source = tmp_path / "Größe.bin"
    source.write_bytes(os.urandom(700_000))
    async with running.client(device) as client:
        file = await client.upload(source)
        assert (file.name, file.size) == ("Größe.bin", 700_000)
        await client.request(MessageSend(client_id=new_id(), chat_id=CHAT, text="", attachments=[file.id]))
        page = await client.request(History(client_id=new_id(), chat_id=CHAT, limit=1))
        (entry,) = page.entries
        assert isinstance(entry, Message)
        assert entry.attachments == [file]
        target = tmp_path / "back.bin"
        await client.download(file.id, target)
        assert target.read_bytes() == source.read_bytes()


async def test_the_client_tells_what_went_wrong(running: Gateway, device: Device, tmp_path: Path) -> None:
    large = tmp_path / "large.bin"
    large.write_bytes(bytes(LARGEST + 1))
    target = tmp_path / "target.bin"
    async with running.client(device) as client:
        with pytest.raises(TooLarge, match="large"):
            await client.upload(large)
        with pytest.raises(NotFound, match="not kept"):
            await client.download("0" * 32, target)
        with pytest.raises(FileNotFoundError):
            await client.upload(tmp_path / "missing")
    assert names(tmp_path) == ["large.bin"]
    stranger = Client(running.url, device.info, "wrong")
    with pytest.raises(Unauthorized):
        await stranger.download("0" * 32, target)


@pytest.mark.parametrize(
    ("status", "body", "error", "message"),
    [
        (415, {"message": "no zip"}, Unsupported, "no zip"),
        (502, None, IrisError, "answered 502"),
    ],
)
async def test_the_client_understands_any_refusal(
    device: Device, tmp_path: Path, status: int, body: dict[str, str] | None, error: type[IrisError], message: str
) -> None:
    """A proxy in between may answer as it likes."""
    content = json.dumps(body).encode() if body else b"<html>bad gateway</html>"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 %d x\r\ncontent-length: %d\r\n\r\n%b" % (status, len(content), content))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(error, match=message):
            await Client(f"http://127.0.0.1:{port}", device.info, "t").download("0" * 32, tmp_path / "x")


async def test_a_download_that_breaks_off_leaves_nothing(device: Device, tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(OSError, match="96 bytes before"):
            await Client(f"http://127.0.0.1:{port}", device.info, "t").download("0" * 32, tmp_path / "x")
    assert names(tmp_path) == []
