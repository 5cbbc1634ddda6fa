"""The HTTP side over real sockets: health, pairing, the app's files, and nothing else without a token."""

import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import pytest_asyncio

from hermes_iris import __version__
from hermes_iris.client import pair
from hermes_iris.config import Settings
from hermes_iris.errors import Unauthorized
from hermes_iris.protocol.frames import DeviceInfo, ServerInfo
from hermes_iris.server import Listener, create_app
from hermes_iris.server.app import MAX_BODY, SECURITY_HEADERS
from hermes_iris.server.attempts import MAX_FAILURES
from hermes_iris.vault import Vault
from support import Device, FakeHost, Gateway, answers, gateway, hub

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Gateway]:
    async with gateway(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def web(running: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=running.url, trust_env=False) as web:
        yield web


def body(code: str, **more: Any) -> dict[str, Any]:
    return {"code": code, "name": "Phone", "kind": "web", **more}


async def test_healthz_says_the_version(web: httpx.AsyncClient) -> None:
    answer = await web.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "version": __version__})


async def test_a_code_pairs_one_device_that_may_come_in(running: Gateway, web: httpx.AsyncClient) -> None:
    code = await running.code()
    answer = await web.post("/pair", json=body(code))
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    paired = answer.json()
    assert set(paired) == {"device_id", "token"}
    device = Device(DeviceInfo(id=paired["device_id"], name="Phone", kind="web"), paired["token"])
    async with running.wire(device) as wire:
        assert wire.seen[0]["mode"] == "reset"
    again = await web.post("/pair", json=body(code))
    assert (again.status_code, again.json()["code"]) == (403, "unauthorized")


async def test_the_clients_pair_makes_a_device_or_says_why_not(running: Gateway) -> None:
    info, token = await pair(running.url, (await running.code()).lower().replace("-", " "), "Laptop", "tui")
    assert (info.name, info.kind) == ("Laptop", "tui")
    async with running.wire(Device(info, token)):
        pass
    with pytest.raises(Unauthorized, match="iris pair"):
        await pair(running.url, "AAAAA-AAAAA", "Laptop", "tui")


async def test_a_wrong_code_is_forbidden(running: Gateway, web: httpx.AsyncClient) -> None:
    await running.code()
    answer = await web.post("/pair", json=body("AAAAA-AAAAA"))
    assert (answer.status_code, answer.json()["code"]) == (403, "unauthorized")


async def test_an_expired_code_is_forbidden(running: Gateway, web: httpx.AsyncClient) -> None:
    answer = await web.post("/pair", json=body(await running.code(ttl=-1.0)))
    assert answer.status_code == 403


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", ""),
        (b"{", ""),
        (b"\xff", ""),
        (b"[" * 4000, ""),
        (b"[]", ""),
        (b'{"name": "Phone"}', "code"),
        (b'{"code": "AAAAA-AAAAA"}', "name"),
        (b'{"code": 5, "name": "Phone"}', "$.code"),
        (b'{"code": "AAAAA", "name": ""}', "$.name"),
        (b'{"code": "AAAAA", "name": "Phone", "kind": "fridge"}', "$.kind"),
    ],
)
async def test_a_malformed_body_is_refused_with_the_name_of_the_field(
    web: httpx.AsyncClient, content: bytes, named: str
) -> None:
    answer = await web.post("/pair", content=content)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_frame")
    assert named in answer.json()["message"]
    assert "\n" not in answer.json()["message"]
    assert "fridge" not in answer.json()["message"], "what the peer sent is not sent back"


async def test_a_malformed_body_uses_up_no_attempt(running: Gateway, web: httpx.AsyncClient) -> None:
    for _ in range(MAX_FAILURES + 1):
        assert (await web.post("/pair", content=b"{")).status_code == 400
    assert (await web.post("/pair", json=body(await running.code()))).status_code == 200


async def test_a_body_over_the_limit_is_refused_also_without_its_length(web: httpx.AsyncClient) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(10):
            yield b"x" * 1000

    for content in (b"x" * (MAX_BODY + 1), chunks()):
        answer = await web.post("/pair", content=content)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE"])
async def test_pairing_is_a_post(web: httpx.AsyncClient, method: str) -> None:
    assert (await web.request(method, "/pair")).status_code == 405


async def test_guessing_codes_is_cut_off_also_for_a_right_one(tmp_path: Path) -> None:
    async with gateway(tmp_path) as own, httpx.AsyncClient(base_url=own.url, trust_env=False) as web:
        for _ in range(MAX_FAILURES):
            assert (await web.post("/pair", json=body("AAAAA-AAAAA"))).status_code == 403
        answer = await web.post("/pair", json=body(await own.code()))
        assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/healthz", {}),
        ("GET", "/", {}),
        ("GET", "/nothing-here", {}),
        ("GET", "/pair", {}),
        ("POST", "/pair", {}),
        ("GET", "/healthz", {"host": "evil.example"}),
    ],
)
async def test_security_headers_are_on_every_answer(
    web: httpx.AsyncClient, method: str, path: str, headers: dict[str, str]
) -> None:
    answer = await web.request(method, path, headers=headers)
    assert {name: answer.headers.get(name) for name in SECURITY_HEADERS} == SECURITY_HEADERS


async def test_the_policy_for_scripts_is_strict() -> None:
    policy = SECURITY_HEADERS["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", "", "a@127.0.0.1"])
async def test_a_foreign_host_header_is_refused(web: httpx.AsyncClient, host: str) -> None:
    """DNS rebinding: a page of another name must not reach the loopback address through the browser."""
    answer = await web.get("/healthz", headers={"host": host})
    assert answer.status_code == 400


@pytest.mark.parametrize("host", ["localhost", "localhost:1234", "127.0.0.1", "[::1]:8765"])
async def test_the_names_of_loopback_are_ours(web: httpx.AsyncClient, host: str) -> None:
    assert (await web.get("/healthz", headers={"host": host})).status_code == 200


async def test_a_public_host_is_ours_when_it_is_set(tmp_path: Path) -> None:
    async with (
        gateway(tmp_path, public_hosts=["iris.example"]) as running,
        httpx.AsyncClient(base_url=running.url, trust_env=False) as web,
    ):
        assert (await web.get("/healthz", headers={"host": "iris.example"})).status_code == 200
        assert (await web.get("/healthz", headers={"host": "evil.example"})).status_code == 400


@pytest.mark.parametrize(
    "path",
    ["/ws", "/history", "/api", "/docs", "/openapi.json", "/channels.db", "/../channels.db", "/%2e%2e/plugin.py"],
)
async def test_nothing_else_answers(web: httpx.AsyncClient, path: str) -> None:
    assert (await web.get(path)).status_code in (404, 405)


# ---------------------------------------------------------------- the app's files


@asynccontextmanager
async def serving(root: Path, static: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with hub(root / "channels.db") as middle, answers(middle, FakeHost()) as commands:
        server = ServerInfo(name="Iris", version="1", host_version="0")
        app = create_app(commands, server, middle.clock, Settings(), Vault(root / "media", 1), static)
        listener = await Listener.start(app, Settings(port=0), root / "endpoint.json")
        try:
            async with httpx.AsyncClient(base_url=listener.url, trust_env=False) as web:
                yield web
        finally:
            await listener.stop()


async def test_the_apps_files_say_how_long_they_may_be_kept(tmp_path: Path) -> None:
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<title>Iris</title>")
    (static / "iris.svg").write_text("<svg/>")
    (static / "sw.js").write_text("self.skipWaiting();")
    (static / "manifest.webmanifest").write_text("{}")
    (static / "assets" / "app-1a2b.js").write_text("1;" * 2000)
    (tmp_path / "secret.txt").write_text("secret")
    async with serving(tmp_path, static) as web:
        index, icon, script = [await web.get(path) for path in ("/", "/iris.svg", "/assets/app-1a2b.js")]
        worker, manifest = [await web.get(path) for path in ("/sw.js", "/manifest.webmanifest")]
        outside = await web.get("/%2e%2e/secret.txt")
        missing = await web.get("/assets/gone.js")
        health = await web.get("/healthz")
    assert (index.text, index.headers["cache-control"]) == ("<title>Iris</title>", "no-cache")
    assert icon.headers["cache-control"] == "no-cache"
    assert (worker.headers["cache-control"], manifest.headers["cache-control"]) == ("no-cache", "no-cache")
    assert "javascript" in worker.headers["content-type"], "a browser refuses a service worker of another type"
    assert manifest.headers["content-type"] == "application/manifest+json"
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert script.headers["content-encoding"] == "gzip"
    assert "javascript" in script.headers["content-type"]
    assert (outside.status_code, missing.status_code, health.status_code) == (404, 404, 200)
    assert "immutable" not in missing.headers.get("cache-control", "")


async def test_without_the_apps_files_the_rest_works(tmp_path: Path) -> None:
    async with serving(tmp_path, tmp_path / "none") as web:
        assert (await web.get("/")).status_code == 404
        assert (await web.get("/healthz")).status_code == 200


async def test_the_endpoint_file_is_there_exactly_while_the_port_is_open(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        told = msgspec.json.decode(running.home.endpoint.read_bytes())
        assert told == {"url": running.url, "pid": os.getpid(), "certificate": ""}
        assert stat.S_IMODE(running.home.iris.stat().st_mode) == 0o700
    assert not running.home.endpoint.exists()
