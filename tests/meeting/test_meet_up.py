"""`iris meet up` before anything runs: what it makes, what it leaves alone, what stands in its way."""

import socket
from pathlib import Path

import pytest

from hermes_iris import hostconfig
from hermes_iris.cli import meet_up
from hermes_iris.config import Home, load
from hermes_iris.errors import SetupError
from hermes_iris.meeting import config


@pytest.fixture(autouse=True)
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host beside this Python, as far as the file system is concerned."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.with_name("hermes").touch()
    monkeypatch.setattr("sys.executable", str(python))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "new" / "meeting"


def written(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_everything_is_made(folder: Path) -> None:
    plan = meet_up.prepare(folder, 0)
    assert [agent.name for agent, _ in plan.gateways] == ["mohe", "zhiwei", "xiaoguo"]
    assert folder.stat().st_mode & 0o077 == 0
    for secret in folder.glob("*.password"):
        assert secret.stat().st_mode & 0o077 == 0
    assert len({account.read_text() for account in folder.glob("*.password")}) == 4
    models = set()
    for agent, gateway in plan.gateways:
        settings = load(gateway.home, {})
        assert config.path(gateway.home, settings) == folder / "meeting.toml"
        me = plan.meeting.me(gateway.home, settings.meeting_agent)
        assert me is not None
        assert me.name == agent.name
        host_config = hostconfig.parse(gateway.home.host_config.read_text(), "config.yaml")
        assert hostconfig.deviations(host_config, (*hostconfig.RECOMMENDED, *hostconfig.MEETING)) == []
        models.add(hostconfig.rehearsal_port(host_config))
    assert len(models) == 1, "one rehearsal model answers for all"


def test_only_the_app_of_one_home_is_in_the_room(folder: Path) -> None:
    plan = meet_up.prepare(folder, 0)
    present = [agent.name for agent, gateway in plan.gateways if plan.meeting.person_of(gateway.home)]
    assert present == [meet_up.APP]


def test_the_second_start_changes_nothing(folder: Path) -> None:
    meet_up.prepare(folder, 0)
    before = written(folder)
    meet_up.prepare(folder, 0)
    assert written(folder) == before


def test_a_further_agent_is_one_more_gateway(folder: Path) -> None:
    meet_up.prepare(folder, 0)
    secret = folder / "lin.password"
    secret.touch(mode=0o600)
    secret.write_text("between-us")
    with (folder / "meeting.toml").open("a") as file:
        file.write('[[agents]]\nname = "lin"\njid = "lin@meeting.localhost"\npassword_file = "lin.password"\n')
        file.write(f'profile = "{folder}/lin"\n')
    plan = meet_up.prepare(folder, 0)
    assert plan.gateways[-1][0].name == "lin"
    assert (folder / "prosody/data/meeting%2elocalhost/accounts/lin.dat").exists()
    assert Home(folder / "lin").host_config.exists()


def test_a_model_of_its_own_stays(folder: Path) -> None:
    meet_up.prepare(folder, 0)
    theirs = Home(folder / "zhiwei").host_config
    text = hostconfig.merge(theirs.read_text(), {"model": {"default": "real", "base_url": "http://127.0.0.1:1/v1"}})
    theirs.write_text(text)
    plans = {agent.name: gateway for agent, gateway in meet_up.prepare(folder, 0).gateways}
    assert plans["zhiwei"].rehearsal is None
    assert plans["mohe"].rehearsal is not None
    assert theirs.read_text() == text


def test_what_stands_in_the_way_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meeting = meet_up.prepare(folder, 0).meeting
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", meeting.server.port))
        taken.listen()
        with pytest.raises(SetupError, match=f"cannot listen on port {meeting.server.port}"):
            meet_up.prepare(folder, 0)
    file = folder / "meeting.toml"
    file.write_text(file.read_text().partition("[person]")[0])
    with pytest.raises(SetupError, match=r"needs a \[person\]"):
        meet_up.prepare(folder, 0)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SetupError, match="apt-get install -y prosody"):
        meet_up.prepare(folder, 0)
