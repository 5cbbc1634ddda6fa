"""Agents that meet: a real gateway each, on one Prosody, and a person in the room with them."""

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from meeting.presence import Presence
from meeting.server import AGENTS, PERSON, ROOM, XmppServer, password, running as running_server

from .gateway import STREAMING, Gateway, gateway

ANSWER = 60.0
"""Seconds that an agent may take."""


@dataclass
class Meeting:
    """What a test plays with."""

    server: XmppServer
    gateways: dict[str, Gateway]

    def tail(self) -> str:
        """The end of every log, for a failure."""
        return "\n".join([self.server.tail(), *(running.tail() for running in self.gateways.values())])

    def iris(self, agent: str, *args: str) -> subprocess.CompletedProcess[str]:
        """Run `iris meet` in an agent's home, outside of any session."""
        return self._python(agent, "-m", "hermes_iris.cli", "meet", *args)

    def hermes(self, agent: str, *args: str) -> subprocess.CompletedProcess[str]:
        """Run the host's command in an agent's home."""
        return self._python(agent, "-m", "hermes_cli.main", *args)

    def sessions(self, agent: str, *calls: str) -> None:
        """Call the host's own `SessionDB` in an agent's home, as its terminal would."""
        body = "; ".join(f"db.{call}" for call in calls)
        done = self._python(agent, "-c", f"from hermes_state import SessionDB; db = SessionDB(); {body}; db.close()")
        assert done.returncode == 0, done.stderr

    def _python(self, agent: str, *args: str) -> subprocess.CompletedProcess[str]:
        running = self.gateways[agent]
        env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "HERMES_SESSION_ID")}
        env |= {"HERMES_HOME": str(running.home), "HERMES_DISABLE_LAZY_INSTALLS": "1"}
        env["HOME"] = str(_login(running.python, running.home))
        return subprocess.run(
            [running.python, *args],
            env=env,
            cwd=running.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )


@contextmanager
def meeting(pythons: dict[str, Path], folder: Path, model: str, extra: str = "") -> Iterator[Meeting]:
    """The room with a gateway for each agent, each on its own host."""
    with ExitStack() as stack:
        server = stack.enter_context(running_server(folder / "prosody"))
        file = folder / "meeting.toml"
        *first, last = pythons
        file.write_text(_configuration(server, folder, first) + extra, encoding="utf-8")
        running = Meeting(server, {name: Gateway(python, folder / name) for name, python in pythons.items()})
        for name in pythons:
            (folder / name / "iris").mkdir(parents=True)
            (folder / name / "iris/iris.toml").write_text(f'meeting_file = "{file}"\n', encoding="utf-8")
        profile = ["--profile", str(folder / last), "--password-file", f"{last}.password"]
        added = running.iris(last, "add-agent", last, "--jid", server.account(last).jid, *profile)
        assert added.returncode == 0, added.stderr
        for name, python in pythons.items():
            running.gateways[name] = stack.enter_context(gateway(python, folder / name, STREAMING, model))
        yield running


def _login(python: Path, home: Path) -> Path:
    """A folder for the login shell of the terminal tool, where `iris` is on the path as on a person's machine."""
    made = home / "login"
    made.mkdir(exist_ok=True)
    for name in (".profile", ".bashrc"):
        (made / name).write_text(f'export PATH="{python.parent}:$PATH"\n', encoding="utf-8")
    return made


def _configuration(server: XmppServer, folder: Path, agents: list[str]) -> str:
    lines = [
        f'[server]\nhost = "127.0.0.1"\nport = {server.port}\ntls = false\n',
        f'[[rooms]]\njid = "{ROOM}"\nname = "coregroup"\n',
    ]
    for name in (*AGENTS, PERSON):
        secret = folder / f"{name}.password"
        secret.touch(mode=0o600)
        secret.write_text(password(name), encoding="utf-8")
    for name in agents:
        profile = json.dumps(str(folder / name))
        account = f'name = "{name}"\njid = "{server.account(name).jid}"\nprofile = {profile}'
        lines.append(f'[[agents]]\n{account}\npassword_file = "{name}.password"\n')
    person = server.account(PERSON)
    lines.append(f'[person]\njid = "{person.jid}"\nnick = "{PERSON}"\npassword_file = "{PERSON}.password"\n')
    return "\n".join(lines)


async def next_words(person: Presence, agent: str, after: int, running: Meeting, limit: float = ANSWER) -> str:
    """The first thing that an agent says after so many messages."""

    def found() -> list[str]:
        return [said.text for said in person.heard[after:] if said.sender.nick == agent and not said.notice]

    try:
        await person.until(found, limit)
    except AssertionError as exc:
        raise AssertionError(f"{exc}\n{await asyncio.to_thread(running.tail)}") from None
    return found()[0]


async def ask(person: Presence, agent: str, text: str, running: Meeting) -> str:
    """Say something to an agent; what it answers to that."""
    asked = await person.say(f"@{agent} {text}")

    def found() -> list[str]:
        return [said.text for said in person.heard if said.reply_to == asked]

    try:
        await person.until(found, ANSWER)
    except AssertionError as exc:
        raise AssertionError(f"{exc}\n{await asyncio.to_thread(running.tail)}") from None
    return found()[0]
