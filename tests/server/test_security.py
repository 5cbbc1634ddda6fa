"""What `docs/security.md` claims, claim by claim, as far as no other test pins it."""

import logging
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import msgspec
import pytest
from websockets.asyncio.client import connect

from hermes_iris.client import pair
from hermes_iris.config import Settings
from hermes_iris.errors import RateLimited
from hermes_iris.protocol.frames import MessageSend
from hermes_iris.server.attempts import MAX_FAILURES, Attempts
from support import CHAT, Gateway, gateway, new_id


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with gateway(tmp_path) as running:
        yield running


async def _guess(running: Gateway, forwarded: str) -> int:
    async with httpx.AsyncClient(base_url=running.url, trust_env=False) as web:
        body = {"code": "AAAAA-AAAAA", "name": "Guess", "kind": "script"}
        return (await web.post("/pair", json=body, headers={"x-forwarded-for": forwarded})).status_code


# ---------------------------------------------------------------- secrets


async def test_no_secret_is_in_any_log_even_when_everything_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The host may log at any level, and the libraries then log the frames of a connection."""
    caplog.set_level(logging.DEBUG)
    for name in ("uvicorn", "uvicorn.error", "websockets", "websockets.client", "hermes_iris"):
        caplog.set_level(logging.DEBUG, name)
    async with gateway(tmp_path) as running:
        code = await running.code()
        info, token = await pair(running.url, code, "Phone", "script")
        known = await running.pair()
        async with running.client(known) as client:
            await client.request(MessageSend(client_id=new_id(), chat_id=CHAT, text="Hello"))
        async with running.open() as wire:
            wire.connection.protocol.debug = False
            await wire.send(known.hello(token="wrong-and-secret"))
            await wire.closed()
    logged = caplog.text
    assert "uvicorn" in logged, "the libraries do log"
    for secret in (code, token, known.token, "wrong-and-secret"):
        assert secret not in logged
    assert info.id


async def test_only_hashes_are_stored(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running:
        code = await running.code()
        _, token = await pair(running.url, code, "Phone", "script")
        known = await running.pair()
    for file in (tmp_path / "iris").iterdir():
        content = file.read_bytes()
        for secret in (code, token, known.token):
            assert secret.encode() not in content
            assert secret.replace("-", "").encode() not in content


async def test_the_token_travels_in_no_address(running: Gateway) -> None:
    """A token in the query opens nothing: without a hello the door stays shut."""
    device = await running.pair()
    async with httpx.AsyncClient(base_url=running.url, trust_env=False) as web:
        assert (await web.get("/ws", params={"token": device.token})).status_code in (404, 405)


async def test_iriss_folder_is_its_owners_only(running: Gateway) -> None:
    for path in (running.home.iris, running.home.database, running.home.endpoint):
        assert path.stat().st_mode & 0o077 == 0
    with sqlite3.connect(f"file:{running.home.database}?mode=ro", uri=True) as conn:
        assert conn.execute("SELECT 1").fetchone()


# ---------------------------------------------------------------- guessing, and who guesses


async def test_whoever_claims_to_forward_for_others_is_still_one_address(running: Gateway) -> None:
    answers = [await _guess(running, f"203.0.113.{n}") for n in range(MAX_FAILURES + 1)]
    assert answers == [403] * MAX_FAILURES + [429]


async def test_a_trusted_proxy_forwards_for_many(tmp_path: Path) -> None:
    async with gateway(tmp_path, trusted_proxies=["127.0.0.1"]) as running:
        answers = [await _guess(running, "203.0.113.1") for _ in range(MAX_FAILURES + 1)]
        assert answers == [403] * MAX_FAILURES + [429]
        assert await _guess(running, "203.0.113.2") == 403


async def test_another_proxy_than_the_trusted_one_does_not(tmp_path: Path) -> None:
    async with gateway(tmp_path, trusted_proxies=["198.51.100.7"]) as running:
        answers = [await _guess(running, f"203.0.113.{n}") for n in range(MAX_FAILURES + 1)]
        assert answers[-1] == 429


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("unknown", "unknown", True),
    ],
)
def test_failures_count_for_what_one_person_has(one: str, other: str, same: bool) -> None:
    """Of IPv6 that is a whole network."""
    attempts = Attempts()
    for _ in range(MAX_FAILURES):
        attempts.failed(one)
    if same:
        with pytest.raises(RateLimited):
            attempts.check(other)
    else:
        attempts.check(other)


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("settings", "name", "ours"),
    [
        ({"host": "0.0.0.0"}, "0.0.0.0", False),
        ({"host": "192.0.2.7"}, "192.0.2.7", True),
        ({"host": "2001:db8::7"}, "[2001:db8::7]", True),
        ({"link_base": "https://iris.example:8443/"}, "iris.example", True),
        ({"public_hosts": ["iris.example"]}, "iris.example", True),
        ({}, "iris.example", False),
        ({}, "localhost", True),
    ],
)
def test_the_names_that_are_ours_are_those_of_the_settings(settings: dict[str, object], name: str, ours: bool) -> None:
    assert (name in Settings(**settings).names) is ours  # type: ignore[arg-type]


async def test_behind_a_proxy_the_page_of_the_public_name_may_connect(tmp_path: Path) -> None:
    """The proxy passes the name on that the browser asked for; TLS ends at the proxy."""
    async with gateway(tmp_path, link_base="https://iris.example") as running:
        device = await running.pair()
        async with connect(
            "ws://iris.example/ws", host="127.0.0.1", port=running.port, origin="https://iris.example", proxy=None
        ) as connection:
            await connection.send(msgspec.json.encode(device.hello()).decode())
            assert msgspec.json.decode(await connection.recv())["type"] == "hello.ack"
