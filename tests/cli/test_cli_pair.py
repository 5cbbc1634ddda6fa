import os
import re
import time
from contextlib import closing
from pathlib import Path

import pytest
from command_line import announce, command

from hermes_iris.cli import pair
from hermes_iris.config import Home, private_home
from hermes_iris.errors import SetupError
from hermes_iris.store.database import connect, transaction
from hermes_iris.store.devices import pair as exchange


def link(printed: str) -> tuple[str, str]:
    """Base and code of the one link in a text."""
    found = re.findall(r"(\S+)/#pair=(\S+)", printed)
    assert len(found) == 1
    return found[0]


def test_the_code_of_the_link_pairs_one_device(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(pair, "--home", home.root) == 0
    _, code = link(capsys.readouterr().out)
    with closing(connect(home.database)) as conn, transaction(conn):
        assert exchange(conn, code, "Phone", "web", time.time()).token


def test_it_says_how_long_the_link_is_good_and_that_the_gateway_is_down(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRIS_PAIRING_TTL", "90")
    command(pair, "--home", home.root)
    printed = capsys.readouterr().out
    assert "within 90 seconds" in printed
    assert "does not run now" in printed
    assert "█" in printed


def test_a_running_gateway_gives_the_address(home: Home, gateway_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    announce(home, gateway_url, os.getpid())
    command(pair, "--home", home.root)
    printed = capsys.readouterr().out
    assert link(printed)[0] == gateway_url
    assert "does not run now" not in printed


def test_the_address_of_a_gateway_that_died_is_not_used(
    home: Home, gateway_url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRIS_PORT", "4711")
    announce(home, gateway_url, 2**22 + 1)
    command(pair, "--home", home.root)
    assert link(capsys.readouterr().out)[0] == "http://127.0.0.1:4711"


@pytest.mark.parametrize(
    ("host", "base"),
    [("0.0.0.0", "http://127.0.0.1:8765"), ("::1", "http://[::1]:8765"), ("iris.lan", "http://iris.lan:8765")],
)
def test_the_link_can_be_opened(
    home: Home, host: str, base: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRIS_HOST", host)
    command(pair, "--home", home.root)
    printed = capsys.readouterr().out
    assert link(printed)[0] == base
    assert ("of this machine only" in printed) == (host != "iris.lan")


def test_the_set_base_wins(home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRIS_LINK_BASE", "https://iris.example/")
    command(pair, "--home", home.root)
    assert link(capsys.readouterr().out)[0] == "https://iris.example"


def test_a_port_that_nobody_knows_yet_is_an_error(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRIS_PORT", "0")
    with pytest.raises(SetupError, match="start it first"):
        command(pair, "--home", home.root)


def test_a_home_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no Hermes home"):
        command(pair, "--home", tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


def test_without_a_name_the_home_with_iris_in_it_is_meant(tmp_path: Path) -> None:
    usual = tmp_path / "person" / ".hermes"
    usual.mkdir(parents=True)
    assert pair.find_home(None).root == usual
    Home(private_home()).iris.mkdir(parents=True)
    assert pair.find_home(None).root == private_home()
    Home(usual).iris.mkdir()
    assert pair.find_home(None).root == usual


def test_without_a_name_the_home_that_runs_is_meant(tmp_path: Path, gateway_url: str) -> None:
    (tmp_path / "person" / ".hermes" / "iris").mkdir(parents=True)
    Home(private_home()).iris.mkdir(parents=True)
    announce(Home(private_home()), gateway_url, os.getpid())
    assert pair.find_home(None).root == private_home()


def test_the_environment_names_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "named"))
    assert pair.find_home(None).root == tmp_path / "named"
    assert pair.find_home(tmp_path / "given").root == tmp_path / "given"
