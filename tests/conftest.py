"""What all tests share: marks of what needs a host or a server, and Hypothesis without time limits: machines differ."""

from itertools import repeat
from pathlib import Path

import pytest
from hypothesis import settings

from hermes_iris import client

HOSTS = Path(__file__).parent / "host"
MEETING = Path(__file__).parent / "meeting"
APP = Path(__file__).parent / "app"

LONGEST = 8_000
"""Characters that are printed of why a test was run again."""

settings.register_profile("iris", deadline=None)
settings.load_profile("iris")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a real host, XMPP server or browser, so that `-m "not host and not xmpp and not browser"`
    is the quick part.
    """
    for item in items:
        if HOSTS in item.path.parents:
            item.add_marker("host")
        if MEETING in item.path.parents:
            item.add_marker("xmpp")
        if APP in item.path.parents:
            item.add_marker("browser")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why a test had to be run again: it named a race, which nobody could find otherwise."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"RERUN {report.nodeid}")
        terminalreporter.line(report.longreprtext[-LONGEST:])


@pytest.fixture
def in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A device that lost its connection tries again at once: the pauses of the client are no part of what is tested."""
    monkeypatch.setattr("websockets.asyncio.client.backoff", lambda: repeat(0.05))
    monkeypatch.setattr(client, "PAUSE", 0.05)
