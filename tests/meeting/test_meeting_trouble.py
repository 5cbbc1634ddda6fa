"""Whatever keeps an account out of its room is a state with a reason and a line about what to do; then it goes on."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_iris.meeting import prosody, roomform, stanza
from hermes_iris.meeting.config import Server
from hermes_iris.meeting.said import SenderKind
from hermes_iris.meeting.state import Phase, Reason, Refusal
from hermes_iris.meeting.stream import Stream

from .presence import Presence, present
from .server import AGENTS, KINDS, PERSON, ROOM, STRANGER, XmppServer, running


async def failed(presence: Presence, reason: Reason) -> str:
    """Wait until the account is out of the room for a reason; gives the text."""
    await presence.until(lambda: presence.state.phase is Phase.FAILED)
    assert presence.state.reason is reason, presence.states
    assert "\n" not in presence.state.text
    return presence.state.text


async def test_a_wrong_password(server: XmppServer, tmp_path: Path) -> None:
    async with present(server.account("mohe", password="wrong"), tmp_path) as mohe:
        text = await failed(mohe, Reason.PASSWORD)
        assert "mohe@meeting.localhost" in text
        assert "password_file" in text
        assert "wrong" not in text


async def test_somebody_who_is_no_member(server: XmppServer, tmp_path: Path) -> None:
    async with present(server.account("mohe"), tmp_path / "mohe") as mohe:
        await mohe.until_joined()
        async with present(server.account(STRANGER), tmp_path / "stranger") as stranger:
            assert "no member" in await failed(stranger, Reason.NOT_MEMBER)
            assert stranger.heard == []


async def test_a_nick_that_is_taken_and_given_up(server: XmppServer, tmp_path: Path) -> None:
    async with present(server.account("mohe"), tmp_path / "mohe") as mohe:
        await mohe.until_joined()
        async with present(server.account("zhiwei", nick="mohe"), tmp_path / "zhiwei") as zhiwei:
            assert "set another `nick`" in await failed(zhiwei, Reason.NICK_TAKEN)
            await mohe.connection.close()
            await zhiwei.until_joined()


async def test_a_server_that_is_gone_and_comes_back(server: XmppServer, tmp_path: Path) -> None:
    server.stop()
    async with present(server.account("mohe"), tmp_path / "mohe") as mohe:
        text = await failed(mohe, Reason.UNREACHABLE)
        assert f"127.0.0.1 port {server.port}" in text
        posted = await mohe.connection.post(ROOM, "written while it was gone", hop=0)
        server.start()
        await mohe.until_joined()
        archive_id = await mohe.connection.posted(posted)
        await mohe.until(lambda: mohe.heard)
        assert [(said.archive_id, said.text) for said in mohe.heard] == [(archive_id, "written while it was gone")]
        server.stop()
        await failed(mohe, Reason.UNREACHABLE)
        server.start()
        await mohe.until_joined()
        assert len(mohe.heard) == 1


async def test_a_room_that_may_not_be_made(tmp_path: Path) -> None:
    with running(tmp_path / "prosody", restricted=True) as server:
        async with present(server.account("mohe"), tmp_path / "mohe") as mohe:
            assert "have an admin make it" in await failed(mohe, Reason.NO_ROOM)


async def test_a_room_that_lets_anybody_in(server: XmppServer, tmp_path: Path) -> None:
    """Another one's room is not touched, and not used; once its owner mends it, it is."""
    stranger = await Stream.open(server.account(STRANGER), "raw", lambda element: None)
    stranger.presence(f"{ROOM}/mallory", [stanza.join()])
    await stranger.ask(ROOM, roomform.question())
    async with present(server.account("mohe"), tmp_path / "mohe") as mohe:
        text = await failed(mohe, Reason.ROOM_SETTINGS)
        assert "it lets anybody in" in text
        assert "its owner has to change that" in text
        form = await stranger.ask(ROOM, roomform.form_question())
        await stranger.ask(ROOM, roomform.filled(form), change=True)
        await stranger.ask(ROOM, roomform.admission(mohe.account.jid), change=True)
        await mohe.until_joined()
        stranger.message(ROOM, "groupchat", stanza.body("hello", 0, "", False, None, "o"), "o")
        await mohe.until(lambda: mohe.heard)
        assert mohe.heard[0].sender.kind is SenderKind.UNKNOWN
    await stranger.close()


async def test_somebody_who_is_put_out(server: XmppServer, tmp_path: Path) -> None:
    async with present(server.account("mohe"), tmp_path / "mohe") as mohe:
        await mohe.until_joined()
        async with present(server.account("zhiwei"), tmp_path / "zhiwei") as zhiwei:
            await zhiwei.until_joined()
            stream = mohe.connection._stays[ROOM]._stream
            kick = roomform.admission(zhiwei.account.jid)
            kick[0].attrib["affiliation"] = "outcast"
            await stream.ask(ROOM, kick, change=True)
            await failed(zhiwei, Reason.BANNED)
            await stream.ask(ROOM, roomform.admission(zhiwei.account.jid), change=True)
            await mohe.say("said while it was out")
            await zhiwei.until_joined()
            await zhiwei.until(lambda: zhiwei.heard)
            assert zhiwei.texts == ["said while it was out"]


async def test_an_archive_that_no_longer_reaches_back(server: XmppServer, tmp_path: Path) -> None:
    async with present(server.account("mohe"), tmp_path / "mohe") as mohe:
        await mohe.until_joined()
        async with present(server.account("zhiwei"), tmp_path / "zhiwei") as zhiwei:
            await zhiwei.until_joined()
            await mohe.say("heard")
            await zhiwei.until(lambda: zhiwei.heard)
        await mohe.say("lost")
    server.stop()
    (archive,) = (server.folder / "data").glob("*/muc_log")
    shutil.rmtree(archive)
    server.start()
    async with present(server.account("mohe"), tmp_path / "mohe") as mohe:
        await mohe.until_joined()
        await mohe.say("kept")
        async with present(server.account("zhiwei"), tmp_path / "zhiwei") as zhiwei:
            await zhiwei.until_joined()
            await zhiwei.until(lambda: zhiwei.heard)
            assert zhiwei.texts == ["kept"]
            (gap,) = [state for state in zhiwei.states if state.phase is Phase.GAP]
            assert "no longer reaches back" in gap.text


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """Of nobody that a system trusts, for the domain of the test server."""
    made = tmp_path / "tls.crt", tmp_path / "tls.key"
    names = f"subjectAltName=DNS:{prosody.DOMAIN},DNS:{prosody.ROOMS}"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-days", "2", "-subj", f"/CN={prosody.DOMAIN}", "-addext", names, "-out", made[0], "-keyout", made[1]),
        ],
        check=True,
        capture_output=True,
    )
    return made


async def test_a_certificate_that_is_not_trusted(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    with running(tmp_path / "prosody", certificate=certificate) as server:
        encrypted = Server(host="127.0.0.1", port=server.port)
        async with present(server.account("mohe", server=encrypted), tmp_path / "mohe") as mohe:
            assert "ca_file" in await failed(mohe, Reason.TLS)
        trusted = Server(host="127.0.0.1", port=server.port, ca_file=str(certificate[0]))
        async with present(server.account("mohe", server=trusted), tmp_path / "mohe") as mohe:
            await mohe.until_joined()
            await mohe.say("in private")
        missing = Server(host="127.0.0.1", port=server.port, ca_file=str(tmp_path / "missing.pem"))
        async with present(server.account("mohe", server=missing), tmp_path / "mohe") as mohe:
            assert "cannot be read" in await failed(mohe, Reason.TLS)


async def test_no_password_goes_to_a_server_without_encryption(server: XmppServer, tmp_path: Path) -> None:
    encrypted = Server(host="127.0.0.1", port=server.port)
    async with present(server.account("mohe", server=encrypted), tmp_path / "mohe") as mohe:
        assert "offers no encryption" in await failed(mohe, Reason.TLS)
    assert "Authenticated" not in server.tail()


async def test_a_missing_library(server: XmppServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "slixmpp", None)
    async with present(server.account("mohe"), tmp_path / "mohe") as mohe:
        assert "hermes-iris[xmpp]" in await failed(mohe, Reason.NOT_INSTALLED)


async def test_trouble_in_one_room_leaves_the_others_alone(server: XmppServer, tmp_path: Path) -> None:
    """Also when nobody knows its server."""
    nowhere = "coregroup@rooms.elsewhere.localhost"
    async with present(server.account("mohe"), tmp_path / "mohe", rooms=(nowhere, ROOM)) as mohe:
        await mohe.until_joined()
        await mohe.until(lambda: mohe.connection.state(nowhere).phase is Phase.FAILED)
        await mohe.say("hello")


async def test_a_message_that_the_room_refuses_is_told(server: XmppServer, tmp_path: Path) -> None:
    """As in a moderated room, whose owner has not given the agents a voice."""
    async with present(server.account("mohe"), tmp_path / "mohe") as mohe:
        await mohe.until_joined()
        stream = mohe.connection._stays[ROOM]._stream
        form = roomform.filled(await stream.ask(ROOM, roomform.form_question()))
        for field in form[0]:
            if field.get("var") == "muc#roomconfig_moderatedroom":
                roomform.SubElement(field, f"{{{roomform.FORM}}}value").text = "1"
        await stream.ask(ROOM, form, change=True)
        async with present(server.account("zhiwei"), tmp_path / "zhiwei") as zhiwei:
            await zhiwei.until_joined()
            mute = roomform.admission(zhiwei.account.jid)
            mute[0].attrib.clear()
            mute[0].attrib.update({"nick": "zhiwei", "role": "visitor"})
            await stream.ask(ROOM, mute, change=True)
            with pytest.raises(Refusal, match="refused the message: forbidden"):
                await zhiwei.say("may I?")
            mute[0].set("role", "participant")
            await stream.ask(ROOM, mute, change=True)
            await zhiwei.say("thank you")
            await mohe.until(lambda: mohe.heard)
            assert mohe.texts == ["thank you"]


def test_the_kit_knows_who_is_who() -> None:
    assert set(KINDS.values()) == {SenderKind.AGENT, SenderKind.PERSON}
    assert len(KINDS) == len(AGENTS) + 1
    assert f"{PERSON}@{prosody.DOMAIN}" in KINDS
