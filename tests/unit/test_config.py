"""Settings: defaults, the file, the environment, and one line for every mistake."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hermes_iris import config
from hermes_iris.config import DEFAULT_PORT, ENV_PREFIX, Home, Settings, load
from hermes_iris.errors import SetupError


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "iris").mkdir()
    return Home(tmp_path)


def write(home: Home, text: str) -> Home:
    home.settings.write_text(text, encoding="utf-8")
    return home


def test_nothing_needs_to_be_set(tmp_path: Path) -> None:
    settings = load(Home(tmp_path / "nowhere"), {})
    assert settings == Settings()
    assert (settings.host, settings.port) == ("127.0.0.1", DEFAULT_PORT)


def test_the_file_counts_more_than_the_defaults(home: Home) -> None:
    write(home, 'port = 9000\npublic_hosts = ["iris.example"]\nuser_name = "Ada"\npairing_ttl = 60\n')
    settings = load(home, {})
    assert settings == Settings(port=9000, public_hosts=["iris.example"], user_name="Ada", pairing_ttl=60.0)


def test_the_environment_counts_more_than_the_file(home: Home) -> None:
    write(home, 'port = 9000\nuser_name = "Ada"\n')
    settings = load(home, {"IRIS_PORT": "9001", "IRIS_PUBLIC_HOSTS": "a.example,b.example", "IRIS_PAIRING_TTL": "30.5"})
    assert (settings.port, settings.user_name, settings.pairing_ttl) == (9001, "Ada", 30.5)
    assert settings.public_hosts == ["a.example", "b.example"]


@pytest.mark.parametrize(
    ("value", "hosts"),
    [
        ("", []),
        ("a.example", ["a.example"]),
        ("a.example, b.example", ["a.example", "b.example"]),
        ("a.example,", ["a.example"]),
    ],
)
def test_a_list_in_the_environment_is_read_as_it_is_meant(home: Home, value: str, hosts: list[str]) -> None:
    """Spaces and an end comma are no host names, and neither is nothing."""
    assert load(home, {"IRIS_PUBLIC_HOSTS": value}).public_hosts == hosts


def test_the_environment_of_the_process_is_read_when_none_is_given(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRIS_PORT", "9002")
    assert load(home).port == 9002


def test_other_variables_are_none_of_our_business(home: Home) -> None:
    assert load(home, {"IRIS_NOTHING": "x", "PORT": "1", "iris_port": "2"}) == Settings()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("prot = 9000\n", "prot"),
        ("port = 65536\n", "$.port"),
        ("port = -1\n", "$.port"),
        ('port = "many"\n', "$.port"),
        ("pairing_ttl = 9\n", "$.pairing_ttl"),
        ("pairing_ttl = 86401\n", "$.pairing_ttl"),
        ("log_events = 99\n", "$.log_events"),
        ('user_name = ""\n', "$.user_name"),
        (f'user_name = "{"x" * 81}"\n', "$.user_name"),
        ('public_hosts = "a"\n', "$.public_hosts"),
        ("port = [\n", "iris.toml"),
        ("port = 1\nport = 2\n", "iris.toml"),
        ("[server]\nport = 9000\n", "server"),
    ],
)
def test_a_mistake_in_the_file_is_one_line_that_names_it(home: Home, text: str, named: str) -> None:
    with pytest.raises(SetupError) as refused:
        load(write(home, text), {})
    assert named in str(refused.value)
    assert str(home.settings) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value", "named"),
    [
        ("IRIS_PORT", "many", "$.port"),
        ("IRIS_PORT", "", "$.port"),
        ("IRIS_PORT", "70000", "$.port"),
        ("IRIS_LOG_EVENTS", "5", "$.log_events"),
        ("IRIS_USER_NAME", "", "$.user_name"),
    ],
)
def test_a_mistake_in_the_environment_is_one_line_that_names_it(home: Home, name: str, value: str, named: str) -> None:
    with pytest.raises(SetupError) as refused:
        load(home, {name: value})
    assert named in str(refused.value)
    assert ENV_PREFIX in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_no_text_is_one_line_that_names_it(home: Home) -> None:
    home.settings.write_bytes(b'user_name = "\xff"\n')
    with pytest.raises(SetupError, match=r"iris\.toml cannot be read"):
        load(home, {})


def test_a_folder_in_place_of_the_file_is_no_file(home: Home) -> None:
    home.settings.mkdir()
    assert load(home, {}) == Settings()


# ---------------------------------------------------------------- where things are


def test_the_files_of_a_home(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert home.host_config == tmp_path / "config.yaml"
    ours = (home.database, home.settings, home.endpoint, home.device("cli"))
    assert {path.parent for path in ours} == {home.iris}
    assert len(set(ours)) == len(ours)


def test_the_home_that_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    assert config.default_home() == config.given_home() == tmp_path
    monkeypatch.setenv("HERMES_HOME", "")
    assert config.default_home() == Path.home() / ".hermes"
    assert config.given_home() is None
    monkeypatch.delenv("HERMES_HOME")
    assert config.default_home() == Path.home() / ".hermes"
    assert config.given_home() is None


def test_the_home_that_iris_makes_for_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert config.private_home() == tmp_path / "hermes-iris"
    monkeypatch.delenv("XDG_DATA_HOME")
    assert config.private_home() == Path.home() / ".local" / "share" / "hermes-iris"


def test_a_host_works_in_the_home_that_it_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERMES_HOME", "/elsewhere")
    monkeypatch.setenv("KEPT", "1")
    environment = config.child_environment(Home(tmp_path), KEPT="2", MORE="3")
    assert (environment["HERMES_HOME"], environment["KEPT"], environment["MORE"]) == (str(tmp_path), "2", "3")
    assert os.environ["HERMES_HOME"] == "/elsewhere"


def test_the_operator_has_the_last_word_on_the_home_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANDROID_HOME_CHANNEL", "android:chan_7")
    config.set_home_channel("ANDROID_HOME_CHANNEL", "android:default")
    assert os.environ["ANDROID_HOME_CHANNEL"] == "android:chan_7"
    monkeypatch.delenv("ANDROID_HOME_CHANNEL")
    config.set_home_channel("ANDROID_HOME_CHANNEL", "android:default")
    assert os.environ["ANDROID_HOME_CHANNEL"] == "android:default"
    config.set_home_channel("ANDROID_HOME_CHANNEL", "android:chan_8")
    assert os.environ["ANDROID_HOME_CHANNEL"] == "android:chan_8"
    monkeypatch.setenv("ANDROID_HOME_CHANNEL", "android:chan_7")
    config.set_home_channel("ANDROID_HOME_CHANNEL", "android:chan_9")
    assert os.environ["ANDROID_HOME_CHANNEL"] == "android:chan_7"
    monkeypatch.delenv("ANDROID_HOME_CHANNEL")


# ---------------------------------------------------------------- the page


def test_the_table_has_a_row_for_every_setting() -> None:
    rows = config.markdown().splitlines()[2:]
    assert len(rows) == len(msgspec.structs.fields(Settings))
    for field, row in zip(msgspec.structs.fields(Settings), rows, strict=True):
        name, variable, default, about = (cell.strip() for cell in row.strip("|").split("|"))
        assert name == f"`{field.name}`"
        assert variable == f"`IRIS_{field.name.upper()}`"
        assert json.loads(default.strip("`")) == getattr(Settings(), field.name)
        assert about.endswith(".")


def test_the_table_is_a_table() -> None:
    text = config.markdown()
    assert text.startswith("| setting |")
    assert text.endswith("|\n")
    assert {line.count("|") for line in text.splitlines()} == {5}


@pytest.mark.parametrize(
    ("given", "contact"),
    [
        ({}, ""),
        ({"public_hosts": ["iris.example", "other.example"]}, "https://iris.example"),
        ({"link_base": "http://iris.example"}, ""),
        ({"link_base": "https://iris.example/", "public_hosts": ["other.example"]}, "https://iris.example/"),
        ({"link_base": "https://iris.example/", "push_contact": "mailto:ada@iris.example"}, "mailto:ada@iris.example"),
    ],
)
def test_push_services_are_told_how_to_reach_somebody(given: dict[str, Any], contact: str) -> None:
    assert Settings(**given).contact == contact


def test_a_contact_that_nobody_can_follow_is_refused(home: Home) -> None:
    with pytest.raises(SetupError, match="push_contact"):
        load(home, {"IRIS_PUSH_CONTACT": "ada@iris.example"})
