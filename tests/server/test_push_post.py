"""One delivery: encrypted and signed as the RFCs have it, to the place that was looked at, and to no other."""

import base64
import os
import ssl
import stat
from collections.abc import Iterator
from pathlib import Path

import http_ece
import pytest
from certificates import certificate
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given, strategies as st

import push_service
from hermes_iris.errors import InvalidFrame, SetupError, TooLarge
from hermes_iris.protocol.frames import PushPreferences
from hermes_iris.push import cipher
from hermes_iris.push.cipher import Keys, encrypt, keys
from hermes_iris.push.post import Post
from hermes_iris.push.sender import Letter, Verdict
from hermes_iris.push.vapid import Vapid
from hermes_iris.store.pushes import Subscription
from push_service import Browser, PushService

LETTER = Letter(b'{"type":"push.close"}', 60, "high", "topic")


@pytest.fixture
def service() -> Iterator[PushService]:
    with push_service.running() as service:
        yield service


@pytest.fixture
def vapid(tmp_path: Path) -> Vapid:
    return Vapid.at(tmp_path / "key.pem", "mailto:ada@iris.example")


def known(browser: Browser) -> Subscription:
    told = browser.subscription
    return Subscription("phone", browser.endpoint, told["p256dh"], told["auth"], PushPreferences())


# ---------------------------------------------------------------- cipher


def test_the_example_of_the_rfc() -> None:
    """RFC 8291, 5 and appendix A; theirs is not padded, so the last step is compared by decrypting."""
    own = ec.derive_private_key(
        int.from_bytes(cipher.plain("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"), "big"), cipher.CURVE
    )
    device = ec.derive_private_key(
        int.from_bytes(cipher.plain("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"), "big"), cipher.CURVE
    )
    to = keys(
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "BTBZMqHH6r4Tts7J_aSIgg",
    )
    note = b"When I grow up, I want to be a watermelon"
    body = encrypt(note, to, own, cipher.plain("DGv6ra1nlYgDCS1FRnbzlw"))
    theirs = cipher.plain(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7"
        "A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )
    assert http_ece.decrypt(theirs, private_key=device, auth_secret=to.secret, version="aes128gcm") == note
    same = cipher.HEADER + len(note) + 1
    assert body[:same] == theirs[:same], "all but the padding behind the mark of the end, and the tag over it"
    assert http_ece.decrypt(body, private_key=device, auth_secret=to.secret, version="aes128gcm") == note


@given(st.binary(max_size=cipher.MAX_NOTE))
def test_whatever_is_encrypted_is_read_by_the_device_alone(note: bytes) -> None:
    browser = Browser("")
    body = encrypt(note, keys(browser.p256dh, push_service.url64(browser.secret)))
    assert len(body) <= cipher.RECORD
    sealed = len(body) - cipher.HEADER - 16
    assert sealed % cipher.STEP == 0 or sealed == cipher.MAX_NOTE + 1, "the length says little"
    assert http_ece.decrypt(body, private_key=browser.key, auth_secret=browser.secret, version="aes128gcm") == note
    with pytest.raises(http_ece.ECEException):
        http_ece.decrypt(body, private_key=browser.key, auth_secret=os.urandom(16), version="aes128gcm")


def test_a_note_that_does_not_fit_is_refused() -> None:
    browser = Browser("")
    with pytest.raises(TooLarge):
        encrypt(bytes(cipher.MAX_NOTE + 1), Keys(cipher.plain(browser.p256dh), browser.secret))


@pytest.mark.parametrize("bad", ["A" * 87, "B" * 87, base64.urlsafe_b64encode(b"\x04" + bytes(64)).decode()])
def test_a_key_that_is_none_is_refused(bad: str) -> None:
    with pytest.raises(InvalidFrame, match="p256dh"):
        keys(bad, "BTBZMqHH6r4Tts7J_aSIgg")


# ---------------------------------------------------------------- the gateway's key


def test_the_key_is_made_once_and_only_its_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    first = Vapid.at(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Vapid.at(path).public == first.public
    assert [each.name for each in tmp_path.iterdir()] == ["key.pem"]


@pytest.mark.parametrize("content", [b"", b"nonsense"])
def test_a_key_that_cannot_be_read_is_told_and_stays(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(content)
    with pytest.raises(SetupError, match=r"key\.pem"):
        Vapid.at(path)
    assert path.read_bytes() == content


def test_a_key_of_another_kind_is_refused(tmp_path: Path) -> None:
    _, key = certificate(tmp_path, "other")
    assert Vapid.at(Path(key)).public, "the same curve, in another form of PEM, is as good"
    with pytest.raises(SetupError):
        Vapid.at(Path(certificate(tmp_path, "other")[0]))


# ---------------------------------------------------------------- over HTTP


async def test_a_delivery_is_what_a_service_takes(service: PushService, vapid: Vapid) -> None:
    post, browser = Post(vapid, ["127.0.0.1"]), service.subscribe()
    assert await post(known(browser), LETTER) == Verdict("delivered")
    assert service.refused == []
    (received,) = browser.received
    assert received.note == {"type": "push.close"}
    assert received.claims["sub"] == "mailto:ada@iris.example"
    assert {name: received.headers[name] for name in ("ttl", "urgency", "topic")} == {
        "ttl": "60",
        "urgency": "high",
        "topic": "topic",
    }


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (201, Verdict("delivered")),
        (404, Verdict("gone")),
        (410, Verdict("gone")),
        (429, Verdict("later", 1.0)),
        (500, Verdict("later")),
        (503, Verdict("later")),
        (400, Verdict("refused")),
        (403, Verdict("refused")),
        (413, Verdict("refused")),
    ],
)
async def test_what_a_service_says(service: PushService, vapid: Vapid, status: int, verdict: Verdict) -> None:
    post = Post(vapid, ["127.0.0.1"])
    service.statuses.append(status)
    assert await post(known(service.subscribe()), LETTER) == verdict


@pytest.mark.parametrize("status", [301, 307])
async def test_no_redirect_is_followed(service: PushService, vapid: Vapid, status: int) -> None:
    post, browser = Post(vapid, ["127.0.0.1"]), service.subscribe()
    service.statuses.append(status)
    assert (await post(known(browser), LETTER)).kind == "refused"
    assert service.seen == [browser.endpoint.removeprefix(service.origin)]


async def test_an_endpoint_stands_in_no_log(
    service: PushService, vapid: Vapid, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    post, browser = Post(vapid, ["127.0.0.1"]), service.subscribe()
    for status in (201, 403, 410, 503):
        service.statuses.append(status)
        await post(known(browser), LETTER)
    await post(known(Browser("http://127.0.0.1:1/secret")), LETTER)
    await post(known(Browser("https://127.0.0.2/secret")), LETTER)
    assert "status 403" in caplog.text
    assert "/send/" not in caplog.text
    assert "secret" not in caplog.text


async def test_a_name_that_leads_elsewhere_by_now_is_not_followed(service: PushService, vapid: Vapid) -> None:
    """A name server of the device's choice may say one thing to the check and another to the delivery."""
    answers = [["8.8.8.8"], ["127.0.0.1"]]

    async def look_up(host: str, port: int) -> list[str]:
        return answers.pop(0)

    port = service.origin.rpartition(":")[2]
    browser = Browser(f"https://push.example:{port}/x")
    post = Post(vapid, look_up=look_up)
    await post.check(browser.endpoint, browser.p256dh, push_service.url64(browser.secret))
    assert (await post(known(browser), LETTER)).kind == "refused"
    assert answers == []
    assert service.tried == 0


async def test_a_host_that_cannot_be_found_is_refused_at_first_and_tried_again_later(vapid: Vapid) -> None:
    async def look_up(host: str, port: int) -> list[str]:
        raise OSError("no such host")

    browser = Browser("https://push.example/x")
    post = Post(vapid, look_up=look_up)
    with pytest.raises(InvalidFrame, match="cannot find"):
        await post.check(browser.endpoint, browser.p256dh, push_service.url64(browser.secret))
    assert await post(known(browser), LETTER) == Verdict("later")


async def to_loopback(host: str, port: int) -> list[str]:
    return ["127.0.0.3", "127.0.0.1"]


async def test_the_certificate_is_that_of_the_name_although_the_address_is_connected_to(
    tmp_path: Path, vapid: Vapid
) -> None:
    """The first address does not answer: the next one is tried."""
    cert, key = certificate(tmp_path, "push.example")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    trusting = ssl.create_default_context(cafile=cert)
    with push_service.running(context, "push.example") as service:
        browser = service.subscribe()
        post = Post(vapid, ["push.example", "other.example"], to_loopback, trusting)
        assert await post(known(browser), LETTER) == Verdict("delivered")
        (received,) = browser.received
        assert received.headers["host"] == service.origin.removeprefix("https://")
        elsewhere = Browser(browser.endpoint.replace("push.example", "other.example"))
        assert await post(known(elsewhere), LETTER) == Verdict("later")
    assert service.tried == 1
