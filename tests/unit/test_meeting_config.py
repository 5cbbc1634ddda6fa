"""The meeting's file: the documented one works, and every mistake is one line that names the field."""

import re
from pathlib import Path

import pytest

from hermes_iris.config import Home, Settings
from hermes_iris.errors import SetupError
from hermes_iris.meeting import config
from hermes_iris.meeting.said import SenderKind

PAGE = Path(__file__).parents[2] / "docs" / "meeting.md"
ROOM = "coregroup@conference.example.org"

ROOMS = f'[[rooms]]\njid = "{ROOM}"\nname = "coregroup"\n'
MOHE = '[[agents]]\nname = "mohe"\njid = "mohe@example.org"\n'
ZHIWEI = '[[agents]]\nname = "zhiwei"\njid = "zhiwei@example.org"\n'
SMALL = ROOMS + MOHE


def documented() -> str:
    found = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


def test_the_documented_file_works() -> None:
    meeting = config.parse(documented())
    assert [agent.name for agent in meeting.agents] == ["mohe", "zhiwei", "xiaoguo"]
    assert meeting.agent("mohe").addressed == ("mohe", "墨和")
    assert meeting.kinds["xiaoguo@example.org"] is SenderKind.AGENT
    assert meeting.kinds["ada@example.org"] is SenderKind.PERSON
    assert [room.jid for room in meeting.rooms_of(meeting.agent("zhiwei"))] == [ROOM]
    assert meeting.server.tls


def test_a_small_file_has_the_measured_limits() -> None:
    meeting = config.parse(SMALL)
    assert meeting.guard == config.Guard(hops=4, run=12, pair=6, room=20, window=300, pause=600, age=600)
    assert (meeting.lease.mode, meeting.lease.ttl) == ("prompt", 3600)
    assert meeting.person is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rooms = [", "Invalid"),
        (MOHE, "rooms"),
        ("rooms = []\n" + MOHE, "$.rooms is empty"),
        (SMALL.replace('jid = "mohe@example.org"', 'jid = "mohe"'), "$.agents[0].jid"),
        (SMALL.replace("mohe@example.org", "mohe@example.org/phone"), "$.agents[0].jid"),
        (SMALL.replace("mohe@example.org", "Mohe@example.org"), "$.agents[0].jid"),
        (SMALL.replace('"mohe"', '"two words"'), "$.agents[0].name"),
        (SMALL + "colour = 1\n", "colour"),
        (SMALL + 'nick = ""\n', "$.agents[0].nick"),
        (SMALL + 'rooms = ["other@conference.example.org"]\n', "$.agents[0].rooms names other@"),
        (SMALL + 'password_file = "a"\npassword_env = "B"\n', "both password_file and password_env"),
        (SMALL + MOHE, "$.agents[1].name is mohe, as $.agents[0].name"),
        (SMALL + ZHIWEI.replace("zhiwei@", "mohe@"), "$.agents[1].jid is mohe@example.org"),
        (SMALL + ZHIWEI + 'nick = "Mohe"\n', "$.agents[1].nick is mohe"),
        (SMALL + '[person]\njid = "mohe@example.org"\nnick = "ada"\n', "$.person.jid is mohe@example.org"),
        (ROOMS + SMALL, "$.rooms[1].jid is"),
        (SMALL + "[server]\ntls = false\n", "$.server.tls = false needs"),
        (SMALL + '[server]\ntls = false\nhost = "192.0.2.7"\n', "$.server.tls = false needs"),
        (SMALL + '[server]\ntls = false\nhost = "xmpp.example.org"\n', "$.server.tls = false needs"),
        (SMALL + "[server]\nport = 70000\n", "$.server.port"),
        (SMALL + "[guard]\nhops = 0\n", "$.guard.hops"),
        (SMALL + '[lease]\nmode = "always"\n', "$.lease.mode"),
        (SMALL.replace('name = "coregroup"', 'name = "c"\npolicy = "never"'), "$.rooms[0].policy"),
    ],
)
def test_a_mistake_is_told_by_the_name_of_its_field(text: str, told: str) -> None:
    with pytest.raises(SetupError, match=re.escape(told)) as caught:
        config.parse(text, "there/meeting.toml")
    assert str(caught.value).startswith("there/meeting.toml: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_plain_connections_stay_on_this_machine(host: str) -> None:
    assert not config.parse(SMALL + f'[server]\ntls = false\nhost = "{host}"\n').server.tls


def test_a_file_that_is_not_there_says_where_to_read_on(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"docs/meeting\.md"):
        config.load(tmp_path / "meeting.toml")


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / "meeting.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SetupError, match="cannot be read"):
        config.load(tmp_path / "meeting.toml")


def test_homes_share_a_file_when_a_setting_says_so(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert config.path(home, Settings()) == tmp_path / "iris/meeting.toml"
    assert config.path(home, Settings(meeting_file="../meeting.toml")) == tmp_path / "../meeting.toml"
    assert config.path(home, Settings(meeting_file="/etc/iris/meeting.toml")) == Path("/etc/iris/meeting.toml")


class TestWhoseHomeItIs:
    def test_the_profile_says_it_by_name(self, tmp_path: Path) -> None:
        meeting = config.parse(documented())
        mine = meeting.me(Home(tmp_path / "profiles" / "zhiwei"), "")
        assert mine == meeting.agent("zhiwei")
        assert meeting.me(Home(tmp_path / "zhiwei"), "") is None

    def test_the_profile_says_it_by_path(self, tmp_path: Path) -> None:
        meeting = config.parse(SMALL + f'profile = "{tmp_path}/x/../home"\n')
        assert meeting.me(Home(tmp_path / "home"), "") == meeting.agents[0]
        assert meeting.me(Home(tmp_path / "x"), "") is None

    def test_the_main_home_is_the_default_profile(self, tmp_path: Path) -> None:
        meeting = config.parse(SMALL + 'profile = "default"\n')
        assert meeting.me(Home(tmp_path / ".hermes"), "") == meeting.agents[0]
        assert meeting.me(Home(tmp_path / "profiles" / "default"), "") == meeting.agents[0]
        assert meeting.me(Home(tmp_path / "profiles" / "mohe"), "") is None

    def test_the_setting_counts_more(self, tmp_path: Path) -> None:
        meeting = config.parse(documented())
        assert meeting.me(Home(tmp_path / "profiles" / "zhiwei"), "mohe") == meeting.agent("mohe")
        with pytest.raises(SetupError, match=r"no agent nobody in meeting\.toml; there are: mohe"):
            meeting.me(Home(tmp_path), "nobody")


class TestPasswords:
    def meeting(self, extra: str) -> config.Meeting:
        return config.parse(SMALL + extra)

    def account(self, tmp_path: Path, extra: str) -> config.Account:
        meeting = self.meeting(extra)
        return meeting.account(meeting.agents[0], tmp_path)

    def test_a_file_beside_the_configuration(self, tmp_path: Path) -> None:
        secret = tmp_path / "mohe.password"
        secret.touch(mode=0o600)
        secret.write_text("hunter2\n", encoding="utf-8")
        account = self.account(tmp_path, 'password_file = "mohe.password"\n')
        assert (account.jid, account.nick, account.password) == ("mohe@example.org", "mohe", "hunter2")
        assert "hunter2" not in repr(account)

    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o620])
    def test_a_file_that_others_can_read_is_refused(self, tmp_path: Path, mode: int) -> None:
        secret = tmp_path / "mohe.password"
        secret.write_text("hunter2", encoding="utf-8")
        secret.chmod(mode)
        with pytest.raises(SetupError, match=r"agents\[0\]\.password_file: others can read .*chmod 600"):
            self.account(tmp_path, 'password_file = "mohe.password"\n')

    def test_a_file_with_nothing_in_it_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "empty").touch(mode=0o600)
        with pytest.raises(SetupError, match="is empty"):
            self.account(tmp_path, 'password_file = "empty"\n')
        with pytest.raises(SetupError, match="cannot be read"):
            self.account(tmp_path, 'password_file = "missing"\n')

    def test_a_variable(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with pytest.raises(SetupError, match=r"agents\[0\]\.password_env: the variable MOHE_PASSWORD is not set"):
            self.account(tmp_path, 'password_env = "MOHE_PASSWORD"\n')
        monkeypatch.setenv("MOHE_PASSWORD", "hunter2")
        assert self.account(tmp_path, 'password_env = "MOHE_PASSWORD"\n').password == "hunter2"

    def test_none_says_what_to_set(self, tmp_path: Path) -> None:
        with pytest.raises(SetupError, match="set password_file or password_env"):
            self.account(tmp_path, "")
        meeting = self.meeting('[person]\njid = "ada@example.org"\nnick = "ada"\n')
        assert meeting.person
        with pytest.raises(SetupError, match=r"^person \(ada@example\.org\) has no password"):
            meeting.account(meeting.person, tmp_path)


def test_an_unknown_room_names_those_there_are() -> None:
    with pytest.raises(SetupError, match=f"there are: {ROOM}"):
        config.parse(SMALL).room("other@conference.example.org")
    assert config.parse(SMALL).room(ROOM).name == "coregroup"
