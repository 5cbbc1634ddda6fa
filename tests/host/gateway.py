"""A real gateway for tests: the rehearsal model and an unmodified host with Iris, in processes of their own."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from hermes_iris.client import Client
from hermes_iris.config import Home
from hermes_iris.protocol.frames import DeviceInfo, Position
from hermes_iris.store import connect, devices, transaction

READY = 60.0
"""Seconds that a gateway may take to open its port."""

STREAMING: Mapping[str, Any] = {
    "streaming": {"enabled": True, "transport": "edit", "cursor": ""},
    "display": {
        "platforms": {
            "android": {
                "streaming": True,
                "show_reasoning": False,
                "tool_progress": "off",
                "interim_assistant_messages": True,
                "long_running_notifications": False,
            }
        }
    },
}
"""The recommended settings of the host."""


def settings(*, streaming: bool = True, operator: bool = False) -> dict[str, Any]:
    """Settings of a host: recommended, with streaming off, or as an operator might have changed them."""
    made: dict[str, Any] = json.loads(json.dumps(STREAMING))
    android = made["display"]["platforms"]["android"]
    made["streaming"]["enabled"] = android["streaming"] = streaming
    if operator:
        android |= {"show_reasoning": True, "tool_progress": "verbose"}
        made["streaming"]["cursor"] = " ▉"
    return made


@dataclass
class Gateway:
    """A host in a process of its own; `log` is what it printed."""

    python: Path
    home: Path
    port: int = 0
    process: subprocess.Popen[bytes] | None = None
    tokens: dict[str, tuple[DeviceInfo, str]] = field(default_factory=dict)

    @property
    def runs(self) -> bool:
        """Whether the process is there."""
        return self.process is not None and self.process.poll() is None

    @property
    def log(self) -> Path:
        return self.home / "gateway.log"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def command(self) -> list[str]:
        """What runs the gateway."""
        return [str(self.python), "-m", "hermes_cli.main", "gateway", "run", "-v"]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the host's processes."""
        env = {
            **os.environ,
            "HERMES_HOME": str(self.home),
            "IRIS_PORT": str(self.port),
            "HERMES_DISABLE_LAZY_INSTALLS": "1",
            "HERMES_GATEWAY_LOCK_DIR": str(self.home),
        }
        env.pop("PYTHONPATH", None)
        return env

    def launch(self) -> None:
        """Begin to start; the same port again after a restart."""
        Home(self.home).endpoint.unlink(missing_ok=True)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.home,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def start(self) -> None:
        """Start the host and wait for the port."""
        self.launch()
        assert self.process is not None
        endpoint = Home(self.home).endpoint
        deadline = time.monotonic() + READY
        while not endpoint.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the gateway did not start:\n{self.tail()}")
            time.sleep(0.02)
        self.port = int(json.loads(endpoint.read_text())["url"].rpartition(":")[2])

    def stop(self) -> None:
        """Stop as an operator would; the host answers SIGTERM."""
        if self.process is not None and self.runs:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()

    def renew(self) -> None:
        """Start again with nothing but the settings of the host."""
        self.stop()
        for entry in self.home.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)
            elif entry.name != "config.yaml":
                entry.unlink()
        self.tokens.clear()
        self.start()

    def kill(self) -> None:
        """Kill without a warning."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def paired(self, name: str) -> tuple[DeviceInfo, str]:
        """A device, paired at first use, and its token."""
        if name not in self.tokens:
            conn = connect(Home(self.home).database)
            with transaction(conn):
                paired = devices.add(conn, name, "script", time.time())
            conn.close()
            self.tokens[name] = (DeviceInfo(id=paired.device_id, name=name, kind="script"), paired.token)
        return self.tokens[name]

    def client(self, name: str = "test", resume: Position | None = None) -> Client:
        """A client of a device."""
        return Client(self.url, *self.paired(name), resume)

    def tail(self) -> str:
        """The end of the host's logs, for a failure."""
        logs = [self.log, self.home / "logs/agent.log"]
        return "\n".join(f"--- {log.name}\n" + log.read_text(errors="replace")[-6000:] for log in logs if log.exists())


@contextmanager
def rehearsal(pace: float) -> Iterator[str]:
    """The rehearsal model in a process of its own; yields its base address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "hermes_iris.cli", "rehearsal", "--port", "0", "--pace", str(pace)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.communicate(timeout=20)


@contextmanager
def gateway(python: Path, home: Path, host_settings: Mapping[str, Any], model: str) -> Iterator[Gateway]:
    """A running gateway whose home is made for it."""
    home.mkdir(parents=True, exist_ok=True)
    config = {
        "model": {"default": "iris-rehearsal", "provider": "custom", "base_url": model, "api_key": "none"},
        "plugins": {"enabled": ["hermes-iris"]},
        "security": {"allow_lazy_installs": False, "tirith_enabled": False},
        "agent": {"auto_recovery_cycles": 0},  # 0.22 would try again for minutes
        **host_settings,
    }
    with (home / "config.yaml").open("w") as file:
        YAML(typ="safe").dump(config, file)
    running = Gateway(python, home)
    running.start()
    try:
        yield running
    finally:
        running.stop()


async def within(seconds: float, awaitable: Any, running: Gateway) -> Any:
    """Wait with a limit; a failure shows the host's log."""
    try:
        async with asyncio.timeout(seconds):
            return await awaitable
    except TimeoutError:
        raise AssertionError(f"nothing more came within {seconds} s\n{running.tail()}") from None
