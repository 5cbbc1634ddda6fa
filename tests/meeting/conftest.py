"""A server for each test; a failure prints its log.

`IRIS_TEST_XMPP=ejabberd` takes an ejabberd that is installed (`apt-get install ejabberd erlang-p1-sqlite3`); it has to
pass `test_meeting_room.py` and `test_meeting_crash.py`. The other modules need Prosody's ways.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .ejabberd import Ejabberd
from .server import XmppServer, running

KINDS = {"prosody": XmppServer, "ejabberd": Ejabberd}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[XmppServer]:
    with running(tmp_path / "server", KINDS[os.environ.get("IRIS_TEST_XMPP", "prosody")]) as server:
        yield server


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    server = getattr(item, "funcargs", {}).get("server")
    if report.failed and isinstance(server, XmppServer):
        report.sections.append(("XMPP server", server.tail()))
    return report
