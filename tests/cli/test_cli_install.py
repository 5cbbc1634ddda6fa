import io
import stat
from pathlib import Path

import pytest
from command_line import command

from hermes_iris import hostconfig
from hermes_iris.cli import install
from hermes_iris.config import Home
from hermes_iris.errors import SetupError

USED = "# mine\nmodel: {default: some-model}\nplugins:\n  enabled: [tickets]  # needed\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def used(home: Home) -> Home:
    home.host_config.write_text(USED, encoding="utf-8")
    home.host_config.chmod(0o640)
    return home


def backups(home: Home) -> list[Path]:
    return sorted(home.root.glob("config.yaml.before-iris-*"))


def test_it_shows_the_change_keeps_a_copy_and_the_mode(used: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(install, "--home", used.root, "--yes") == 0
    text = used.host_config.read_text(encoding="utf-8")
    assert hostconfig.is_enabled(hostconfig.parse(text, "config.yaml"))
    assert text.startswith("# mine\nmodel: {default: some-model}\n")
    assert "  enabled: [hermes-iris, tickets]  # needed\n" in text
    assert stat.S_IMODE(used.host_config.stat().st_mode) == 0o640
    assert [path.read_text(encoding="utf-8") for path in backups(used)] == [USED]
    assert "+  enabled: [hermes-iris, tickets]  # needed" in capsys.readouterr().out
    assert sorted(path.name for path in used.root.iterdir()) == ["config.yaml", backups(used)[0].name]


def test_the_second_run_has_nothing_to_do(used: Home, capsys: pytest.CaptureFixture[str]) -> None:
    command(install, "--home", used.root, "--yes")
    capsys.readouterr()
    assert command(install, "--home", used.root, "--yes") == 0
    assert "nothing to do" in capsys.readouterr().out
    assert len(backups(used)) == 1


def test_without_a_terminal_nothing_is_written(
    used: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    with pytest.raises(SetupError, match="--yes"):
        command(install, "--home", used.root)
    assert "hermes-iris" in capsys.readouterr().out
    assert used.host_config.read_text(encoding="utf-8") == USED


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("YES\n", 0), ("\n", 1), ("n\n", 1), ("", 1)])
def test_it_asks(used: Home, answer: str, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    assert command(install, "--home", used.root) == code
    assert (used.host_config.read_text(encoding="utf-8") == USED) == bool(code)
    assert len(backups(used)) == 1 - code


def test_a_home_without_a_config_gets_one_for_its_owner_alone(home: Home) -> None:
    assert command(install, "--home", home.root, "--yes") == 0
    assert stat.S_IMODE(home.host_config.stat().st_mode) == 0o600
    assert "model" not in hostconfig.parse(home.host_config.read_text(encoding="utf-8"), "config.yaml")


def test_a_symbolic_link_stays_one(used: Home, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.yaml"
    used.host_config.rename(kept)
    used.host_config.symlink_to(kept)
    command(install, "--home", used.root, "--yes")
    assert used.host_config.is_symlink()
    assert "hermes-iris" in kept.read_text(encoding="utf-8")


def test_a_missing_home_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="no Hermes home"):
        command(install, "--home", tmp_path / "nowhere", "--yes")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a: [", r"config\.yaml, line 1"),
        (b"\xff", "cannot be read"),
        (b"plugins: {disabled: [hermes-iris]}", r"plugins\.disabled"),
    ],
)
def test_a_file_that_cannot_be_changed_stays_as_it_is(home: Home, content: bytes, problem: str) -> None:
    home.host_config.write_bytes(content)
    with pytest.raises(SetupError, match=problem):
        command(install, "--home", home.root, "--yes")
    assert home.host_config.read_bytes() == content
