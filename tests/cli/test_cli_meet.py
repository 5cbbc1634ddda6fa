"""`iris meet` where no gateway and no host is."""

from pathlib import Path

import pytest

from hermes_iris.cli import main
from hermes_iris.config import Home
from hermes_iris.meeting import config

FILE = """# ours
[[rooms]]
jid = "core@conference.test"
name = "core"

[[agents]]
name = "mohe"
jid = "mohe@test"
profile = "{home}"
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "mohe")
    home.iris.mkdir(parents=True)
    home.meeting.write_text(FILE.replace("{home}", str(home.root)), encoding="utf-8")
    return home


def meet(home: Home, action: str, *args: str) -> int:
    return main(["meet", action, "--home", str(home.root), *args])


class TestAddAgent:
    def test_it_is_written_below_what_was_there(self, home: Home, capsys: pytest.CaptureFixture[str]) -> None:
        before = home.meeting.read_text(encoding="utf-8")
        more = ["--nick", "小果", "--mention", "xg", "--mention", "果", "--profile", "xiaoguo", "--password-env", "XG"]
        assert meet(home, "add-agent", "xiaoguo", "--jid", "xiaoguo@test", *more) == 0
        assert "xiaoguo is in" in capsys.readouterr().out
        assert home.meeting.read_text(encoding="utf-8").startswith(before)
        added = config.load(home.meeting).agent("xiaoguo")
        assert (added.jid, added.nick, added.mentions) == ("xiaoguo@test", "小果", ("xg", "果"))
        assert (added.profile, added.password_env, added.rooms) == ("xiaoguo", "XG", None)

    @pytest.mark.parametrize(
        ("args", "told"),
        [
            (("mohe", "--jid", "other@test"), "$.agents[1].name is mohe"),
            (("other", "--jid", "mohe@test"), "$.agents[1].jid is mohe@test"),
            (("other", "--jid", "no jid"), "at `$.agents[1].jid`"),
            (("other", "--jid", "other@test", "--in", "x@y.test"), "in no [[rooms]]"),
        ],
    )
    def test_what_would_be_wrong_changes_nothing(
        self, home: Home, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], told: str
    ) -> None:
        before = home.meeting.read_text(encoding="utf-8")
        assert meet(home, "add-agent", *args) == 1
        assert told in capsys.readouterr().err
        assert home.meeting.read_text(encoding="utf-8") == before

    def test_without_a_meeting(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert meet(Home(tmp_path), "add-agent", "x", "--jid", "x@test") == 1
        assert "docs/meeting.md" in capsys.readouterr().err


def test_without_sessions_nothing_is_leased(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert meet(home, "active") == 1
    assert "mohe knows no terminal session in core@conference.test: there is none" in capsys.readouterr().out
    assert meet(home, "lease") == 1
    assert meet(home, "clear") == 0


def test_who_says_that_no_gateway_runs(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert meet(home, "who") == 0
    out = capsys.readouterr().out
    assert "mohe (agent) mohe@test, called mohe" in out
    assert "does not run" in out


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("send", "--room", "nowhere", "x"), "mohe is in no room nowhere"),
        (("send", "--agent", "nobody", "x"), "no agent nobody"),
        (("send", "x"), "$.agents[0] (mohe@test) has no password"),
        (("send", " "), "there is nothing to say"),
    ],
)
def test_what_cannot_be_sent_is_one_line(
    home: Home, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], told: str
) -> None:
    assert meet(home, *args) == 1
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1
    assert told.removeprefix("$.") in err
