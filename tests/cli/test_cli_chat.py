"""`iris chat` on the command line: what it needs, and as what it joins. The app itself: tests/tui."""

import sys
from contextlib import closing
from pathlib import Path

import pytest
from command_line import command

from hermes_iris.cli import chat, connection
from hermes_iris.config import Home
from hermes_iris.errors import SetupError
from hermes_iris.store import connect, devices, transaction


def test_without_its_extra_it_is_one_line(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("hermes_iris.tui.", "textual"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "textual", None)
    monkeypatch.delattr("hermes_iris.tui.app", raising=False)
    with pytest.raises(SetupError, match=r"pip install 'hermes-iris\[tui\]'") as refused:
        command(chat, "--home", home.root)
    assert "\n" not in str(refused.value)


def test_without_a_terminal_it_names_what_works_there(home: Home) -> None:
    with pytest.raises(SetupError, match="iris send"):
        command(chat, "--home", home.root)


def test_it_joins_as_a_device_of_its_own(home: Home) -> None:
    home.iris.mkdir()
    first = connection._device(home, connection.TERMINAL)
    assert connection._device(home, connection.TERMINAL) == first
    other = connection._device(home, connection.COMMANDS)
    assert (first[0].kind, other[0].kind) == ("tui", "cli")
    conn = connect(home.database)
    listed = [tuple(row) for row in conn.execute("SELECT name, kind FROM devices ORDER BY created")]
    conn.close()
    assert listed == [("Terminal", "tui"), ("Command line", "cli")]
    assert home.device("tui").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("broken", ["", "[]", "{}", '{"token": 7}', None])
def test_a_device_that_was_revoked_or_lost_its_file_is_another_one(home: Home, broken: str | None) -> None:
    home.iris.mkdir()
    (first, token) = connection._device(home, connection.TERMINAL)
    if broken is None:
        with closing(connect(home.database)) as conn, transaction(conn):
            devices.revoke(conn, first.id, 1.0)
    else:
        home.device("tui").write_text(broken)
    again = connection._device(home, connection.TERMINAL)
    assert (again[0].id != first.id, again[1] != token) == (True, True)
    assert connection._device(home, connection.TERMINAL) == again


def test_its_files_come_along() -> None:
    from hermes_iris import tui

    assert (Path(tui.__file__).parent / "chat.tcss").is_file()
