"""A real Prosody for tests, in a process of its own: killed and started again as the tests like."""

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hermes_iris.endpoints import free_port
from hermes_iris.meeting import prosody
from hermes_iris.meeting.config import Account, Server
from hermes_iris.meeting.said import SenderKind

ROOM = f"coregroup@{prosody.ROOMS}"
AGENTS = ("mohe", "zhiwei", "xiaoguo")
PERSON = "ada"
STRANGER = "mallory"
NAMES = (*AGENTS, PERSON, STRANGER)
READY = 60.0

KINDS = {f"{name}@{prosody.DOMAIN}": SenderKind.AGENT for name in AGENTS} | {
    f"{PERSON}@{prosody.DOMAIN}": SenderKind.PERSON
}


def password(name: str) -> str:
    return f"secret-of-{name}"


@dataclass
class XmppServer:
    """A Prosody; `log` is what it printed."""

    folder: Path
    options: dict[str, object] = field(default_factory=dict)
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.folder / "prosody.log"

    def start(self) -> None:
        """Start it and wait until it greets; the same port after a stop."""
        self.port = self.port or free_port()
        if not self._is_written():
            self._write()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command(),
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + READY
        while not prosody.greets(self.port):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the XMPP server did not start:\n{self.tail()}")
            time.sleep(0.02)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self) -> None:
        """Kill it without a warning."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def account(self, name: str, **changes: object) -> Account:
        """An account of this server, as the configuration would give it."""
        made = {
            "jid": f"{name}@{prosody.DOMAIN}",
            "nick": name,
            "password": password(name),
            "server": Server(host="127.0.0.1", port=self.port, tls=False),
            "kinds": KINDS,
        }
        return Account(**{**made, **changes})  # type: ignore[arg-type]

    def tail(self) -> str:
        """The end of its log, for a failure."""
        return f"--- {self.log}\n" + self.log.read_text(errors="replace")[-6000:] if self.log.exists() else ""

    def _is_written(self) -> bool:
        return (self.folder / "prosody.cfg.lua").exists()

    def _write(self) -> None:
        passwords = {name: password(name) for name in NAMES}
        prosody.write(self.folder, self.port, passwords, **self.options)  # type: ignore[arg-type]

    def _command(self) -> list[str]:
        return prosody.command(self.folder)

    def _environment(self) -> dict[str, str]:
        return dict(os.environ)


@contextlib.contextmanager
def running(folder: Path, kind: type[XmppServer] = XmppServer, **options: object) -> Iterator[XmppServer]:
    """A server that runs, stopped at the end; it can be killed and started meanwhile."""
    folder.mkdir(parents=True, exist_ok=True)
    server = kind(folder, options)
    server.start()
    try:
        yield server
    finally:
        server.stop()
