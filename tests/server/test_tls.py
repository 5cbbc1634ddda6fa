"""TLS by certificate files: the app, the socket and the command line speak it; bad files are told before the start."""

import asyncio
import ssl
import time
from pathlib import Path

import httpx
import pytest
from certificates import certificate, ended, locked

from hermes_iris import endpoints, tls
from hermes_iris.cli import doctor, pair
from hermes_iris.client import pair as exchange
from hermes_iris.config import Home, Settings, load
from hermes_iris.errors import SetupError
from hermes_iris.protocol.frames import Message, MessageSend
from support import CHAT, gateway, new_id


def settings(folder: Path, *more: str) -> dict[str, str]:
    cert, key = certificate(folder / "certificates", "iris.example", *more)
    return {"tls_cert": cert, "tls_key": key}


async def test_everything_works_under_tls(tmp_path: Path) -> None:
    files = settings(tmp_path)
    async with gateway(tmp_path / "home", **files) as running:
        assert running.url.startswith("https://127.0.0.1:")
        device, token = await exchange(running.url, await running.code(), "Phone", "script", running.trusting)
        assert token
        known = await running.pair()
        async with running.client(known) as client:
            await client.request(MessageSend(client_id=new_id(), chat_id=CHAT, text="Hello"))
            async for frame in client.frames():
                if isinstance(frame, Message):
                    break
        assert frame.text == "Hello"
        authority = ssl.create_default_context(cafile=files["tls_cert"])
        async with httpx.AsyncClient(verify=authority, trust_env=False) as web:
            answer = await web.get(f"{running.url}/healthz")
        assert answer.status_code == 200
        assert device.name == "Phone"


async def test_our_own_page_may_connect_under_tls(tmp_path: Path) -> None:
    async with (
        gateway(tmp_path / "home", **settings(tmp_path)) as running,
        running.wire(origin=running.url) as wire,
    ):
        assert wire.seen


async def test_the_command_line_finds_and_trusts_the_gateway_and_nobody_else(tmp_path: Path) -> None:
    other = tls.leaf(Path(certificate(tmp_path / "other")[0]))
    async with gateway(tmp_path / "home", **settings(tmp_path)) as running:
        assert not await asyncio.to_thread(endpoints.is_healthy, endpoints.Endpoint(running.url, 1, other))
        assert await asyncio.to_thread(endpoints.running, running.home.endpoint)


def test_links_are_of_the_kind_that_the_gateway_speaks(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.iris.mkdir(parents=True)
    link = pair.new_link(home, Settings(host="iris.example", **settings(tmp_path)), None)
    assert link.url.startswith("https://iris.example:8765/#pair=")


def test_only_the_certificate_itself_is_trusted_not_the_chain_behind_it(tmp_path: Path) -> None:
    one, other = (Path(certificate(tmp_path, name)[0]).read_text() for name in ("one", "other"))
    chain = tmp_path / "chain.pem"
    chain.write_text(f"Bag Attributes\n{one}\n{other}")
    assert tls.leaf(chain).strip() == one.strip()


# ---------------------------------------------------------------- files that do not fit


def broken(folder: Path, how: str) -> Settings:
    cert, key = certificate(folder)
    match how:
        case "missing":
            cert = str(folder / "nowhere.pem")
        case "not PEM":
            Path(cert).write_text("Hello")
        case "another key":
            key = certificate(folder, "another")[1]
        case "locked":
            key = locked(key)
    return Settings(port=0, tls_cert=cert, tls_key=key)


@pytest.mark.parametrize("how", ["missing", "not PEM", "another key", "locked"])
async def test_files_that_do_not_fit_are_told_before_the_start_and_by_the_doctor(tmp_path: Path, how: str) -> None:
    given = broken(tmp_path / "certificates", how)
    with pytest.raises(SetupError, match="tls_cert"):
        async with gateway(tmp_path / "home", tls_cert=given.tls_cert, tls_key=given.tls_key):
            pass
    assert not (tmp_path / "home" / "iris" / "endpoint.json").exists()
    (finding,) = doctor.certificate(given)
    assert finding.level == "FAIL"
    if how == "locked":
        assert "password" in finding.text


def test_one_file_without_the_other_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="go together"):
        load(Home(tmp_path), {"IRIS_TLS_CERT": "/somewhere.pem"})


@pytest.mark.parametrize(("days", "level"), [("30", "ok"), ("3", "warn")])
def test_the_doctor_says_how_long_a_certificate_is_good(tmp_path: Path, days: str, level: str) -> None:
    given = Settings(**settings(tmp_path, "-days", days))
    (finding,) = doctor.certificate(given)
    assert finding.level == level
    assert time.strftime("%Y-%m-%d", time.localtime(time.time() + int(days) * 86_400)) in finding.text


def test_the_doctor_knows_a_certificate_that_has_ended(tmp_path: Path) -> None:
    cert, key = ended(tmp_path)
    (finding,) = doctor.certificate(Settings(tls_cert=cert, tls_key=key))
    assert (finding.level, "expired" in finding.text) == ("FAIL", True)


def test_with_tls_any_address_may_be_listened_on(tmp_path: Path) -> None:
    assert doctor.reach(Settings(host="0.0.0.0", **settings(tmp_path))).level == "ok"
    assert list(doctor.certificate(Settings())) == []
