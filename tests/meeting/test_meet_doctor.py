"""`iris meet doctor` beside a real server: it finds each fault, says what to do, and changes nothing."""

import asyncio
from pathlib import Path

import pytest

from hermes_iris.cli import meet_doctor
from hermes_iris.config import Home
from hermes_iris.meeting import roomform, stanza
from hermes_iris.meeting.stream import Stream

from .presence import present
from .server import PERSON, ROOM, STRANGER, XmppServer, password

GOOD_SETTINGS = "display:\n  busy_input_mode: queue\n  busy_ack_enabled: false\n"


@pytest.fixture
def home(server: XmppServer, tmp_path: Path) -> Home:
    """The home of mohe, with a person beside it."""
    home = Home(tmp_path / "home")
    home.iris.mkdir(parents=True)
    for name in ("mohe", PERSON):
        secret = home.iris / name
        secret.touch(mode=0o600)
        secret.write_text(password(name), encoding="utf-8")
    account, person = server.account("mohe"), server.account(PERSON)
    home.meeting.write_text(
        f'[server]\nhost = "127.0.0.1"\nport = {server.port}\ntls = false\n'
        f'[[rooms]]\njid = "{ROOM}"\nname = "coregroup"\n'
        f'[[agents]]\nname = "mohe"\njid = "{account.jid}"\nprofile = "{home.root}"\npassword_file = "mohe"\n'
        f'[person]\njid = "{person.jid}"\nnick = "{PERSON}"\npassword_file = "{PERSON}"\n',
        encoding="utf-8",
    )
    home.host_config.write_text(GOOD_SETTINGS, encoding="utf-8")
    return home


async def told(home: Home) -> list[str]:
    """Every finding, as it is printed."""
    found = await asyncio.to_thread(lambda: list(meet_doctor.examine(home)))
    return [f"{finding.level} {finding.text}" for finding in found]


def only(lines: list[str], level: str) -> str:
    (line,) = [line for line in lines if line.startswith(level)]
    return line


async def test_all_is_well(server: XmppServer, home: Home, tmp_path: Path) -> None:
    async with present(server.account("mohe"), tmp_path / "mohe") as mohe:
        await mohe.until_joined()
        lines = await told(home)
        assert all(line.startswith("ok ") for line in lines), lines
        assert f"ok logged in as {mohe.account.jid} (plain, on this machine)" in lines
        assert sum("joined; members only" in line for line in lines) == 2
        await mohe.say("still here")
        await mohe.until(lambda: mohe.heard)
        assert len(mohe.states) == 2, "the gateway's own stay was disturbed"


async def test_no_meeting(tmp_path: Path) -> None:
    assert "docs/meeting.md" in only(await told(Home(tmp_path)), "FAIL")


async def test_a_room_that_nobody_has_made_yet_is_not_made(home: Home) -> None:
    for _ in range(2):
        lines = await told(home)
        assert sum("warn coregroup@" in line and "does not exist yet" in line for line in lines) == 2


async def test_a_server_that_is_gone(server: XmppServer, home: Home) -> None:
    server.stop()
    failures = [line for line in await told(home) if line.startswith("FAIL")]
    assert len(failures) == 2
    assert all("cannot be reached" in line for line in failures)


async def test_a_wrong_password_and_an_open_file(home: Home) -> None:
    (home.iris / "mohe").write_text("wrong", encoding="utf-8")
    (home.iris / PERSON).chmod(0o644)
    failures = [line for line in await told(home) if line.startswith("FAIL")]
    assert "does not take the password" in failures[0]
    assert "chmod 600" in failures[1]


async def test_a_room_that_lets_anybody_in_is_told_and_left_as_it_is(server: XmppServer, home: Home) -> None:
    stranger = await Stream.open(server.account(STRANGER), "raw", lambda element: None)
    stranger.presence(f"{ROOM}/mallory", [stanza.join()])
    before = roomform.amiss(await stranger.ask(ROOM, roomform.question()))
    failures = [line for line in await told(home) if line.startswith("FAIL")]
    assert len(failures) == 2
    assert all("it lets anybody in" in line for line in failures)
    assert roomform.amiss(await stranger.ask(ROOM, roomform.question())) == before
    await stranger.close()


async def test_host_settings_that_disturb_the_room(home: Home) -> None:
    home.host_config.write_text("display:\n  busy_input_mode: steer\n", encoding="utf-8")
    warned = [line for line in await told(home) if line.startswith("warn display.")]
    assert [line.split()[1] for line in warned] == ["display.busy_input_mode", "display.busy_ack_enabled"]
    assert "set it to queue" in warned[0]
    home.host_config.write_text("display: [\n", encoding="utf-8")
    assert "config.yaml" in only([line for line in await told(home) if "config.yaml" in line], "FAIL")


async def test_a_home_of_nobody(home: Home) -> None:
    text = home.meeting.read_text(encoding="utf-8").replace(f'profile = "{home.root}"\n', "")
    home.meeting.write_text(text, encoding="utf-8")
    assert "meeting_agent" in only([line for line in await told(home) if "profile" in line], "warn")
