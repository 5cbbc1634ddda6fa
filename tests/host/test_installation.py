"""The two ways to install Iris, both from the built wheel, and what the host itself says of the plugin."""

import subprocess
import zipfile
from pathlib import Path

import pytest

from . import hosts
from .gateway import gateway, settings
from .story import play


async def test_plugin_folder(host: str, wheel: Path, model: str, tmp_path: Path) -> None:
    """The package folder of the wheel works under `plugins/`, in a venv that has no Iris."""
    python = hosts.with_requirements(host, wheel)
    home = tmp_path / "home"
    home.mkdir()
    hosts.unpack_plugin(wheel, home)
    with gateway(python, home, settings(), model) as running:
        async with running.client() as client:
            story = await play(client, running, "rehearse tool")
    assert story.kinds == ["user", "turn.started", "commentary", "tool.start", "tool.end", "final", "turn.ended"]


def test_folder_route_has_no_installed_iris(host: str, wheel: Path) -> None:
    """Else the test above would say nothing."""
    python = hosts.with_requirements(host, wheel)
    found = subprocess.run([python, "-I", "-c", "import hermes_iris"], capture_output=True, text=True, check=False)
    assert "ModuleNotFoundError" in found.stderr


def test_entry_point_is_found_by_pip_alone(host_python: Path) -> None:
    """What every other host test runs on: a venv into which pip installed the wheel."""
    code = "from importlib.metadata import entry_points as e; print([p.value for p in e(group='hermes_agent.plugins')])"
    found = subprocess.run([host_python, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['hermes_iris.plugin']"


def test_wheel_carries_the_app_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "hermes_iris/static/index.html" in names
    assert "hermes_iris/plugin.yaml" in names
    assert {name.split("/")[0] for name in names} == {"hermes_iris", names[-1].split("/")[0]}


@pytest.mark.only_beside("v22")
def test_host_validates_the_plugin(host: str, wheel: Path, tmp_path: Path) -> None:
    """`hermes plugins validate`, which only the newer host has: no core override, no missing field."""
    python = hosts.with_requirements(host, wheel)
    hosts.unpack_plugin(wheel, tmp_path)
    done = subprocess.run(
        [python, "-m", "hermes_cli.main", "plugins", "validate", str(tmp_path / "plugins/hermes-iris")],
        env={"HERMES_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAIL" not in done.stdout
