"""Real gateways, shared by the tests of a module: a host takes seconds to start and its first turn some more."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from . import hosts
from .gateway import Gateway, gateway, rehearsal, settings

MODES = {
    "streaming": settings(),
    "whole": settings(streaming=False),
    "operator-streaming": settings(operator=True),
    "operator-whole": settings(streaming=False, operator=True),
}


FAILED = pytest.StashKey[bool]()


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The built wheel of this tree, or the one of $IRIS_TEST_WHEEL that was built before."""
    built = os.environ.get("IRIS_TEST_WHEEL")
    return Path(built) if built else hosts.build_wheel()


@pytest.fixture(scope="session", params=[h for h in hosts.REQUIREMENTS if os.environ.get("IRIS_TEST_HOST", h) == h])
def host(request: pytest.FixtureRequest) -> str:
    """Each supported host, or the one of $IRIS_TEST_HOST, so that two runs can share a machine."""
    return str(request.param)


@pytest.fixture(scope="session")
def host_python(host: str, wheel: Path) -> Path:
    """The Python of a venv with the host and the installed wheel."""
    return hosts.with_wheel(host, wheel)


@pytest.fixture(scope="session")
def model() -> Iterator[str]:
    """A rehearsal model that streams fast, but streams."""
    with rehearsal(0.15) as address:
        yield address


@pytest.fixture(scope="module", params=list(MODES))
def mode(request: pytest.FixtureRequest) -> str:
    """Each way in which an operator may have set the host."""
    return str(request.param)


@pytest.fixture(scope="module")
def running(host_python: Path, mode: str, model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A gateway of one host in one mode."""
    with ExitStack() as stack:
        yield stack.enter_context(gateway(host_python, tmp_path_factory.mktemp("home") / "home", MODES[mode], model))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is about the app alone, or about what one host has, runs beside one host: `only_beside` names it."""
    marks = {item: item.get_closest_marker("only_beside") for item in items}
    left_out = [item for item, mark in marks.items() if mark and _host(item) not in mark.args]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def _host(item: pytest.Item) -> str | None:
    return item.callspec.params.get("host") if isinstance(item, pytest.Function) and hasattr(item, "callspec") else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """A failure prints the host's log, and leaves a gateway as new to what runs next: itself again, or another test."""
    report = yield
    running = getattr(item, "funcargs", {}).get("running")
    if not isinstance(running, Gateway):
        return report
    if report.failed:
        item.stash[FAILED] = True
        report.sections.append(("host", running.tail()))
        if report.when == "call" and not running.runs:
            running.start()
    # With the last test of a module its gateway is gone by now.
    if report.when == "teardown" and item.stash.get(FAILED, False) and running.runs:
        item.stash[FAILED] = False
        running.renew()
    return report
