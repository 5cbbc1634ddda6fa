"""The shape of the code: imports point downwards only, pure modules stay pure, the host is known in one place."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "hermes_iris"

LAYERS = (
    {"errors"},
    {"moment"},
    {"protocol"},
    {"address", "names", "tools", "reasoning", "pictures"},
    {"jobs", "turns", "reducer", "questions", "alerts", "packet", "slices", "files", "tls", "vault", "atomic"},
    {
        "store",
        "outbox",
        "clock",
        "config",
        "hostconfig",
        "processes",
        "endpoints",
        "rehearsal",
        "host",
        "handover",
        "transfer",
    },
    {"audience"},
    {"bubbles", "joining"},
    {"directory", "reports", "hub", "courier", "sweeper", "invitations"},
    {"meeting"},
    {"watcher", "desk", "push"},
    {"commands"},
    {"server", "client"},
    {"service", "tui"},
    {"undo"},
    {"hostapi", "hoststate", "host_sessions", "host_requests", "cron_command"},
    {"hooks", "standalone"},
    {"platform"},
    {"bridge", "channel_tool", "attending"},
    {"adapter"},
    {"plugin", "cli"},
)
"""From the bottom to the top; a part may import from the parts below its own line only."""

RANK = {part: rank for rank, layer in enumerate(LAYERS) for part in layer}

PURE = {
    "errors",
    "moment",
    "address",
    "names",
    "jobs",
    "protocol",
    "tools",
    "reasoning",
    "turns",
    "reducer",
    "questions",
    "alerts",
    "pictures",
    "files",
}
PURE_MODULES = {
    f"meeting.{name}"
    for name in (
        *(
            "catchup",
            "floor",
            "guard",
            "lease",
            "mentions",
            "rendering",
            "room",
            "roomform",
            "said",
            "shown",
            "signals",
        ),
        *("stanza", "state"),
    )
} | {f"tui.{name}" for name in ("lanes", "model", "rows", "slash", "text")}
"""Pure modules of parts that are not pure as a whole."""

HARMLESS = {
    "collections",
    "dataclasses",
    "enum",
    "functools",
    "hashlib",
    "itertools",
    "json",
    "math",
    "msgspec",
    "re",
    "typing",
    "unicodedata",
    "xml",
}
"""All that a pure part may import from outside: nothing that reads a clock, a file, a socket or a random number."""

HOST = {
    "agent",
    "cron",
    "gateway",
    "hermes_cli",
    "hermes_constants",
    "hermes_state",
    "model_tools",
    "run_agent",
    "tools",
}
"""Top packages of the host; `tools` is ours only as `.tools`."""

KNOWS_HOST = {"hostapi", "hoststate", "host_requests"}
"""The parts that know modules of the host."""

HOST_SIDE = {"hostapi", "host_requests", "standalone", "hooks", "platform", "bridge", "adapter", "attending", "plugin"}
"""The parts that may ask them; all others run, and are tested, without a host."""

SESSIONS_SIDE = {"bridge"}
"""The part that may ask `host_sessions`, which reads the host's own database."""

ENVIRONMENT = {"environ", "environb", "getenv", "putenv", "unsetenv"}


class Import(NamedTuple):
    """One imported module or name; `ours` is the part of the package that it lies in, None outside the package."""

    name: str
    ours: str | None
    line: int
    deferred: bool


def _files() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "static" not in path.parts)


def _part(path: Path) -> str:
    """The part of the package that a file belongs to; the empty text for the package's own `__init__`."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def _module(path: Path) -> str:
    """A file's dotted name inside the package."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def _imports(path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = set(tree.body)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, None, node.lineno, node not in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield _from(path, node, alias.name, node not in top)


def _from(path: Path, node: ast.ImportFrom, name: str, deferred: bool) -> Import:
    if node.level == 0:
        return Import(f"{node.module}.{name}", None, node.lineno, deferred)
    folder = path.relative_to(PACKAGE).parts[:-1]
    assert node.level - 1 <= len(folder), f"{path}:{node.lineno} reaches out of the package"
    parts = [*folder[: len(folder) - node.level + 1], *(node.module or "").split("."), name]
    parts = [part for part in parts if part]
    is_module = (PACKAGE / parts[0]).is_dir() or (PACKAGE / f"{parts[0]}.py").is_file()
    return Import(".".join(parts), parts[0] if is_module else "", node.lineno, deferred)


@pytest.mark.parametrize("path", _files(), ids=lambda path: str(path.relative_to(PACKAGE)))
class TestEachFile:
    def test_its_part_has_a_layer(self, path: Path) -> None:
        part = _part(path)
        assert part in RANK or part == "", f"say in LAYERS of {Path(__file__).name} where {part} stands"

    def test_its_imports_point_downwards(self, path: Path) -> None:
        here = _part(path)
        for found in _imports(path):
            if found.ours and found.ours != here and here:
                assert RANK[found.ours] < RANK[here], f"{path}:{found.line} imports upwards: {found.name}"

    def test_it_is_pure_if_it_is_said_to_be(self, path: Path) -> None:
        if _part(path) in PURE or _module(path) in PURE_MODULES:
            for found in _imports(path):
                if found.ours is None:
                    assert found.name.split(".")[0] in HARMLESS, f"{path}:{found.line} is pure but imports {found.name}"
                else:
                    pure = found.ours in PURE or ".".join(found.name.split(".")[:2]) in PURE_MODULES
                    assert pure, f"{path}:{found.line} is pure but imports {found.name}"

    def test_it_imports_its_own_package_relatively(self, path: Path) -> None:
        """Iris also runs as a plugin folder, where its package has another name."""
        for found in _imports(path):
            assert found.ours is not None or found.name.split(".")[0] != "hermes_iris", f"{path}:{found.line}"

    def test_it_leaves_the_host_to_hostapi(self, path: Path) -> None:
        if _part(path) not in KNOWS_HOST:
            for found in _imports(path):
                assert found.ours is not None or found.name.split(".")[0] not in HOST, f"{path}:{found.line}"

    def test_it_asks_hostapi_only_on_the_host_s_side(self, path: Path) -> None:
        for found in _imports(path):
            assert found.ours not in KNOWS_HOST or _part(path) in HOST_SIDE, f"{path}:{found.line} imports {found.name}"

    def test_it_asks_host_sessions_only_in_the_bridge(self, path: Path) -> None:
        for found in _imports(path):
            allowed = found.ours != "host_sessions" or _part(path) in SESSIONS_SIDE
            assert allowed, f"{path}:{found.line} imports {found.name}"

    def test_it_leaves_the_environment_to_config(self, path: Path) -> None:
        if path.name == "config.py":
            return
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
                assert node.attr not in ENVIRONMENT, f"{path}:{node.lineno} reads the environment"
            if isinstance(node, ast.ImportFrom) and node.module == "os":
                assert not ENVIRONMENT & {alias.name for alias in node.names}, f"{path}:{node.lineno}"


def test_the_package_itself_loads_no_part_of_it() -> None:
    """The host imports the package of a plugin folder; the client library must not load the host side."""
    for found in _imports(PACKAGE / "__init__.py"):
        assert found.ours is None or found.deferred, f"line {found.line} imports {found.name} at once"


def test_the_layers_name_what_exists() -> None:
    parts = {_part(path) for path in _files()} - {""}
    assert set(RANK) <= parts
    assert sum(map(len, LAYERS)) == len(RANK), "a part stands in two layers"
    assert {_module(path) for path in _files()} >= PURE_MODULES
    assert set(RANK) >= PURE | HOST_SIDE | SESSIONS_SIDE | {"host_sessions"}


def test_the_environment_is_read_under_the_names_that_are_looked_for() -> None:
    assert all(hasattr(os, name) for name in ENVIRONMENT)
