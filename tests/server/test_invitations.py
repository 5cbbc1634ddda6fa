"""A device asks for a link that lets one more in."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import httpx
import pytest
import segno

from hermes_iris import hostconfig, invitations
from hermes_iris.client import pair
from hermes_iris.config import Home, Settings
from hermes_iris.errors import SetupError, Unauthorized
from hermes_iris.invitations import Link
from support import Gateway, gateway


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with gateway(tmp_path, link_base="https://iris.example/") as running:
        yield running


def code_in(url: str) -> str:
    assert "/#pair=" in url
    return url.rpartition("=")[2]


async def test_a_phone_comes_in_by_the_link_and_everybody_hears_of_it(running: Gateway) -> None:
    laptop = await running.pair("Laptop")
    async with running.wire(laptop) as wire, running.wire() as other:
        invited = await wire.ask("device.invite")
        assert invited["url"].startswith("https://iris.example/#pair=")
        assert (invited["ttl"], invited.get("local", False)) == (600.0, False)
        info, _ = await pair(running.url, code_in(invited["url"]), "Phone", "web")
        for one in (wire, other):
            told = await one.until("device.paired")
            assert (told["device"]["id"], told["device"]["name"]) == (info.id, "Phone")
            assert told["invited_by"] == laptop.info.id


async def test_the_answer_to_a_pairing_says_nothing_of_others(running: Gateway) -> None:
    async with running.wire() as wire, httpx.AsyncClient(base_url=running.url, trust_env=False) as web:
        code = code_in((await wire.ask("device.invite"))["url"])
        answer = await web.post("/pair", json={"code": code, "name": "Phone", "kind": "web"})
        assert set(answer.json()) == {"device_id", "token"}


async def test_the_picture_is_the_link(running: Gateway) -> None:
    async with running.wire() as wire:
        invited = await wire.ask("device.invite")
    drawn = ET.fromstring(invited["qr"])
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    assert {child.tag.rpartition("}")[2] for child in drawn} == {"path"}, "nothing that could run"
    size = segno.make(invited["url"], error="m").symbol_size(border=4)
    assert drawn.get("viewBox") == f"0 0 {size[0]} {size[1]}"


async def test_a_device_has_one_link_at_a_time(running: Gateway) -> None:
    async with running.wire() as wire, running.wire() as other:
        first, second = [code_in((await wire.ask("device.invite"))["url"]) for _ in range(2)]
        others = code_in((await other.ask("device.invite"))["url"])
    with pytest.raises(Unauthorized):
        await pair(running.url, first, "Phone", "web")
    for code in (second, others):
        await pair(running.url, code, "Phone", "web")


async def test_the_link_of_a_device_that_was_revoked_lets_nobody_in(running: Gateway) -> None:
    lost = await running.pair("Lost")
    async with running.wire(lost) as wire:
        code = code_in((await wire.ask("device.invite"))["url"])
    async with running.wire() as mine:
        await mine.ask("device.revoke", device_id=lost.info.id)
    with pytest.raises(Unauthorized):
        await pair(running.url, code, "Phone", "web")


async def test_links_are_made_at_a_measured_pace(running: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running.wire() as wire, running.wire() as other:
        for _ in range(invitations.MOST):
            assert (await wire.ask("device.invite"))["type"] == "device.invite"
        for one in (wire, other):
            refused = await one.ask("device.invite")
            assert (refused["type"], refused["code"], refused["retryable"]) == ("error", "rate_limited", True)
        monkeypatch.setattr(invitations, "WINDOW", 0.0)
        assert (await other.ask("device.invite"))["type"] == "device.invite"


async def test_a_link_of_this_machine_only_says_so_and_is_not_drawn(tmp_path: Path) -> None:
    async with gateway(tmp_path) as running, running.wire() as wire:
        invited = await wire.ask("device.invite")
        assert invited["url"].startswith(f"{running.url}/#pair=")
        assert (invited["local"], invited.get("qr", "")) == (True, "")


@pytest.mark.parametrize(
    ("settings", "listening", "expected", "local"),
    [
        ({}, "http://127.0.0.1:4000", "http://127.0.0.1:4000", True),
        ({"host": "0.0.0.0"}, "https://0.0.0.0:4000", "https://127.0.0.1:4000", True),
        ({"host": "::"}, "http://[::]:4000", "http://[::1]:4000", True),
        ({"host": "10.8.0.1"}, "http://10.8.0.1:4000", "http://10.8.0.1:4000", False),
        ({"host": "localhost"}, None, "http://localhost:8765", True),
        ({"host": "fd00::1", "port": 4000}, None, "http://[fd00::1]:4000", False),
        ({"host": "iris.lan", "tls_cert": "a", "tls_key": "b"}, None, "https://iris.lan:8765", False),
        ({"link_base": "https://iris.example/"}, "http://127.0.0.1:4000", "https://iris.example", False),
    ],
)
def test_where_a_link_leads(settings: dict[str, object], listening: str | None, expected: str, local: bool) -> None:
    known = Settings(**settings)  # type: ignore[arg-type]
    link = Link.to(invitations.base(known, listening), "AAAAA-BBBBB", known)
    assert urlsplit(link.url)._replace(path="", fragment="").geturl() == expected
    assert link.is_local is local


def test_a_port_that_is_picked_later_is_not_known_yet() -> None:
    with pytest.raises(SetupError, match="start it first"):
        invitations.base(Settings(port=0), None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (hostconfig.merge("", hostconfig.private(4711)), True),
        ("model:\n  default: gpt\n  provider: custom\n", False),
        ("model: [", False),
        (None, False),
    ],
)
async def test_a_gateway_says_whether_its_model_is_the_rehearsal(
    tmp_path: Path, text: str | None, expected: bool
) -> None:
    if text is not None:
        Home(tmp_path).host_config.write_text(text)
    async with gateway(tmp_path) as running, running.wire() as wire:
        assert wire.seen[0]["server"].get("rehearsal", False) is expected
