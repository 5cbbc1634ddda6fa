import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import announce, command

from hermes_iris import hostconfig
from hermes_iris.cli import up
from hermes_iris.config import Home, load, private_home
from hermes_iris.endpoints import free_port
from hermes_iris.errors import SetupError
from hermes_iris.processes import ChildFailed, Program

LIMIT = 30.0

MODEL = "import signal; print('rehearsal model on http://127.0.0.1:1/v1', flush=True); signal.pause()"

GATEWAY = """
import http.server, json, os, pathlib, sys

class Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()

server = http.server.HTTPServer(("127.0.0.1", 0), Healthy)
endpoint = pathlib.Path(os.environ["HERMES_HOME"], "iris", "endpoint.json")
endpoint.write_text(json.dumps({"url": f"http://127.0.0.1:{server.server_port}", "pid": os.getpid()}))
server.serve_forever()
"""


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host beside this Python, as far as the file system is concerned."""
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.with_name("hermes").touch()
    monkeypatch.setattr("sys.executable", str(python))


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        yield sock.getsockname()[1]


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    return tmp_path / "new" / "home"


def model_port(home: Home) -> int | None:
    return hostconfig.rehearsal_port(hostconfig.parse(home.host_config.read_text(encoding="utf-8"), "config.yaml"))


@pytest.mark.usefixtures("host")
class TestPrepare:
    def test_a_home_is_made_with_everything_in_it(self, empty: Path) -> None:
        plan = up.prepare(empty, 0, None, link=True)
        config = hostconfig.parse(plan.home.host_config.read_text(encoding="utf-8"), "config.yaml")
        assert hostconfig.is_enabled(config)
        assert hostconfig.deviations(config) == []
        assert plan.model == "iris-rehearsal"
        assert plan.rehearsal is not None
        assert str(model_port(plan.home)) in plan.rehearsal.command
        assert plan.gateway.command == [str(Path(sys.executable).with_name("hermes")), "gateway", "run"]
        assert plan.gateway.environment["HERMES_HOME"] == str(empty)
        assert plan.gateway.environment["IRIS_PORT"] == "0"
        assert empty.stat().st_mode & 0o077 == 0
        assert plan.home.iris.stat().st_mode & 0o077 == 0

    def test_the_second_start_changes_nothing(self, empty: Path) -> None:
        home = up.prepare(empty, 0, None, link=True).home
        before = home.host_config.read_bytes()
        up.prepare(empty, 0, None, link=True)
        assert home.host_config.read_bytes() == before

    def test_the_model_moves_when_its_port_is_taken(self, empty: Path, taken: int) -> None:
        home = up.prepare(empty, 0, None, link=True).home
        text = home.host_config.read_text(encoding="utf-8") + "# mine\n"
        home.host_config.write_text(hostconfig.merge(text, hostconfig.rehearsal(taken)), encoding="utf-8")
        plan = up.prepare(empty, 0, None, link=True)
        assert model_port(home) not in (None, taken)
        assert plan.rehearsal is not None
        assert str(model_port(home)) in plan.rehearsal.command
        assert home.host_config.read_text(encoding="utf-8").endswith("# mine\n")

    def test_the_model_moves_when_told_to(self, empty: Path) -> None:
        home = up.prepare(empty, 0, None, link=True).home
        port = free_port()
        up.prepare(empty, 0, port, link=True)
        assert model_port(home) == port

    def test_a_model_port_that_is_taken_is_not_replaced(self, empty: Path, taken: int) -> None:
        with pytest.raises(SetupError, match="rehearsal model cannot listen"):
            up.prepare(empty, 0, taken, link=True)

    def test_another_model_is_left_alone(self, home: Home) -> None:
        text = hostconfig.merge("model: {default: real}\n", hostconfig.recommended())
        home.host_config.write_text(text, encoding="utf-8")
        plan = up.prepare(home.root, 0, None, link=True)
        assert plan.rehearsal is None
        assert plan.model == "real"
        assert home.host_config.read_text(encoding="utf-8") == text
        with pytest.raises(SetupError, match="talks to real"):
            up.prepare(home.root, 0, 4711, link=True)

    def test_a_home_that_does_not_enable_iris_is_left_alone(self, home: Home) -> None:
        home.host_config.write_text("model: x\n", encoding="utf-8")
        with pytest.raises(SetupError, match="iris install --home"):
            up.prepare(home.root, 0, None, link=True)
        assert [path.name for path in home.root.iterdir()] == ["config.yaml"]

    def test_a_home_in_use_without_a_config_is_left_alone(self, home: Home) -> None:
        (home.root / "state.db").touch()
        with pytest.raises(SetupError, match="is in use"):
            up.prepare(home.root, 0, None, link=True)
        assert [path.name for path in home.root.iterdir()] == ["state.db"]

    def test_without_a_name_the_usual_home_is_not_touched(self, tmp_path: Path) -> None:
        usual = tmp_path / "person" / ".hermes"
        usual.mkdir(parents=True)
        assert up.prepare(None, 0, None, link=True).home.root == private_home()
        assert list(usual.iterdir()) == []

    def test_a_taken_port_is_said_before_anything_is_made(self, empty: Path, taken: int) -> None:
        with pytest.raises(SetupError, match=f"port {taken}: Address already in use"):
            up.prepare(empty, taken, None, link=True)
        assert not empty.exists()

    def test_a_gateway_that_runs_is_not_joined_by_another(self, home: Home, gateway_url: str) -> None:
        announce(home, gateway_url, os.getpid())
        with pytest.raises(SetupError, match="runs already"):
            up.prepare(home.root, 0, None, link=True)

    def test_a_file_where_the_home_should_be(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(SetupError, match=r"file cannot be used: (File exists|Not a directory)"):
            up.prepare(tmp_path / "file", 0, None, link=True)

    def test_a_file_where_the_logs_should_be(self, empty: Path) -> None:
        home = up.prepare(empty, 0, None, link=True).home
        (home.iris / "logs").rmdir()
        (home.iris / "logs").touch()
        with pytest.raises(SetupError, match="logs cannot be written"):
            up.prepare(empty, 0, None, link=True)


def test_without_a_host_it_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(SetupError, match=r"pip install 'hermes-iris\[host\]'"):
        up.host_command(tmp_path / "python")


def test_a_host_without_its_command_is_run_as_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    assert up.host_command(tmp_path / "python") == [sys.executable, "-m", "hermes_cli.main", "gateway", "run"]


def test_a_port_must_be_one(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command(up, "--port", "70000")
    assert "from 0 to 65535" in capsys.readouterr().err


def plan(home: Home, gateway: str, rehearsal: str | None = MODEL, link: bool = True) -> up.Plan:
    """A plan with stand-ins for the host and the model."""

    def program(name: str, code: str) -> Program:
        environment = {**os.environ, "HERMES_HOME": str(home.root)}
        return Program(name, [sys.executable, "-c", code], environment, home.iris / "logs" / f"{name}.log")

    home.iris.mkdir()
    model = None if rehearsal is None else program("model", rehearsal)
    return up.Plan(
        home, load(home), "real" if model is None else "iris-rehearsal", model, program("gateway", gateway), link
    )


async def interrupt_when_ready(monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    """Send a signal to this process once the last line is printed."""
    say, ready = up.say, asyncio.Event()

    def listen(line: str) -> None:
        say(line)
        if line.startswith("Ctrl+C"):
            ready.set()

    monkeypatch.setattr(up, "say", listen)
    await asyncio.wait_for(ready.wait(), LIMIT)
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_it_prints_a_link_and_ends_on_a_signal(
    home: Home, number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupter = asyncio.create_task(interrupt_when_ready(monkeypatch, number))
    assert await asyncio.wait_for(up.supervise(plan(home, GATEWAY)), LIMIT) == 0
    await interrupter
    printed = capsys.readouterr().out
    assert "/#pair=" in printed
    assert "rehearsal" in printed
    assert "Iris has stopped" in printed


async def test_without_a_link_it_prints_the_address(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupter = asyncio.create_task(interrupt_when_ready(monkeypatch, signal.SIGTERM))
    await asyncio.wait_for(up.supervise(plan(home, GATEWAY, rehearsal=None, link=False)), LIMIT)
    await interrupter
    printed = capsys.readouterr().out
    assert "Iris is at http://127.0.0.1:" in printed
    assert "#pair=" not in printed
    assert "model is real" in printed


def test_the_end_of_a_gateway_is_told_with_its_log(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = plan(home, "print('no luck today'); raise SystemExit(1)")
    monkeypatch.setattr(up, "prepare", lambda *_: broken)
    with pytest.raises(ChildFailed, match=r"gateway ended \(exit code 1\)"):
        command(up)
    assert "no luck today" in capsys.readouterr().err


async def test_the_end_of_the_model_ends_everything(home: Home) -> None:
    with pytest.raises(ChildFailed, match="model ended"):
        await asyncio.wait_for(up.supervise(plan(home, GATEWAY, "raise SystemExit(1)")), LIMIT)
    assert not home.endpoint.exists()
