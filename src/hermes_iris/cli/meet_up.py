"""`iris meet up`: a ready meeting on this machine, to try one out: a private XMPP server, agents, a person in the app.

Invariants: everything lies in one folder, made when it is missing; what stands there already is used as it is, so a
further agent in its `meeting.toml` is one more gateway; nothing listens but on loopback; when one child ends on its
own, everything ends.
"""

import argparse
import asyncio
import importlib.util
import json
import secrets
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .. import endpoints, hostconfig, processes
from ..config import Home, child_environment, private_home
from ..errors import SetupError
from ..meeting import config, prosody
from ..meeting.config import Account, Agent, Meeting, Person
from ..processes import ChildFailed, Children, Program
from . import install, pair, up

AGENTS = ("mohe", "zhiwei", "xiaoguo")
APP = AGENTS[0]
"""The agent whose gateway the person's app talks to."""

PERSON = "you"
ROOM = f"coregroup@{prosody.ROOMS}"


class Plan(NamedTuple):
    """What to run, once nothing stands in the way."""

    folder: Path
    meeting: Meeting
    server: Program
    gateways: Sequence[tuple[Agent, up.Plan]]
    """The first one is that of the app."""


def add(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the arguments."""
    parser = actions.add_parser("up", help="run a ready meeting on this machine: XMPP server, agents, you in the app")
    parser.add_argument("--folder", type=Path, help="where it keeps everything (default: one of its own)")
    parser.add_argument("--port", type=int, default=0, help="port of the app (default: a free one)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Make the folder if need be, then run until Ctrl+C or until something ends."""
    folder = args.folder or private_home().with_name("hermes-iris-meeting")
    plan = prepare(folder.expanduser().resolve(), args.port)
    try:
        asyncio.run(up.until_signal(_run(plan)))
    except ChildFailed as failure:
        print(processes.tail(failure.log), file=sys.stderr)
        raise
    up.say("The meeting is over. `iris meet up` goes on where it was.")
    return 0


def prepare(folder: Path, port: int) -> Plan:
    """Make what is missing, and find out what to run.

    Raises:
        SetupError: something stands in the way; the text says what, and what to do.
    """
    command = prosody.command(folder / "prosody")
    if importlib.util.find_spec("slixmpp") is None:
        raise SetupError("the XMPP library is not installed here; run: pip install 'hermes-iris[xmpp]'")
    file = folder / "meeting.toml"
    if not file.exists():
        _make(folder, file)
    meeting = config.load(file)
    here, person = [agent for agent in meeting.agents if agent.profile and "/" in agent.profile], meeting.person
    if not here or person is None:
        raise SetupError(f"{file} needs a [person], and an agent whose `profile` is the path of a home")
    taken = endpoints.why_not_free("127.0.0.1", meeting.server.port)
    if taken is not None:
        raise SetupError(f"the XMPP server cannot listen on port {meeting.server.port}: {taken}; see {file}")
    passwords = {
        account.jid.partition("@")[0]: account.password for account in _accounts(meeting, here, person, folder)
    }
    prosody.write(folder / "prosody", meeting.server.port, passwords)
    gateways: list[tuple[Agent, up.Plan]] = []
    model: int | None = None
    for agent in sorted(here, key=lambda agent: agent.profile != person.profile):
        made = _gateway(folder, agent, 0 if gateways else port, model)
        model = model or _model_port(made.home)
        gateways.append((agent, made))
    environment = child_environment(gateways[0][1].home)
    return Plan(
        folder, meeting, Program("the XMPP server", command, environment, folder / "logs/prosody.log"), gateways
    )


def _accounts(meeting: Meeting, agents: Sequence[Agent], person: Person, folder: Path) -> Iterator[Account]:
    """The accounts of those who meet here. Raises `SetupError`."""
    for agent in agents:
        yield meeting.account(agent, folder)
    yield meeting.account(person, folder)


async def _run(plan: Plan) -> None:
    """Start everything, say where the app is, and stay until a child ends."""
    async with Children() as children:
        up.say(f"Everything is kept in {plan.folder}")
        up.say("Starting the XMPP server …")
        await children.start(plan.server)
        port = plan.meeting.server.port
        await children.ready(plan.server, lambda: prosody.greets(port), up.START_LIMIT, up.still)
        app = plan.gateways[0][1]
        model = next((gateway.rehearsal for _, gateway in plan.gateways if gateway.rehearsal), None)
        if model is not None:
            await up.start_model(children, model)
        found = []
        for agent, gateway in plan.gateways:
            up.say(f"Starting the Hermes gateway of {agent.name} …")
            found.append(await up.start_gateway(children, gateway))
        up.say(f"Iris is at {found[0].url} (logs: {app.gateway.log.parent})")
        pair.show(await asyncio.to_thread(pair.new_link, app.home, app.settings, found[0]))
        room = plan.meeting.rooms[0].name
        up.say(f"Open the room “{room}” there and say: @{plan.gateways[-1][0].shown} hello")
        up.say("Ctrl+C ends the meeting.")
        await children.ended()


def _make(folder: Path, file: Path) -> None:
    """Make the folder: passwords, and who meets where. Raises `SetupError`."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as exc:
        raise SetupError(f"{folder} cannot be used: {exc.strerror}") from exc
    for name in (*AGENTS, PERSON):
        secret = folder / f"{name}.password"
        if not secret.exists():
            install.replace(secret, f"{secrets.token_urlsafe(24)}\n")
    install.replace(file, _meeting(folder, endpoints.free_port()))


def _meeting(folder: Path, port: int) -> str:
    """`meeting.toml`; JSON spells texts in the same way."""

    def account(name: str, home: str) -> list[str]:
        profile = json.dumps(str(folder / home), ensure_ascii=False)
        return [f'jid = "{name}@{prosody.DOMAIN}"', f"profile = {profile}", f'password_file = "{name}.password"']

    lines = ["[server]", 'host = "127.0.0.1"', f"port = {port}", "tls = false"]
    lines += ["", "[[rooms]]", f'jid = "{ROOM}"', 'name = "coregroup"']
    for name in AGENTS:
        lines += ["", "[[agents]]", f'name = "{name}"', *account(name, name)]
    return "\n".join([*lines, "", "[person]", f'nick = "{PERSON}"', *account(PERSON, APP), ""])


def _gateway(folder: Path, agent: Agent, port: int, model: int | None) -> up.Plan:
    """The gateway of an agent; all that have no model of their own share the rehearsal's port. Raises `SetupError`."""
    home = Home(Path(agent.profile or ""))
    if not home.settings.exists():
        home.iris.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = json.dumps(str(folder / "meeting.toml"), ensure_ascii=False)
        install.replace(home.settings, f"meeting_file = {file}\n")
    fresh = not home.host_config.exists()
    plan = up.prepare(home.root, port, model if fresh or _model_port(home) is not None else None, link=True)
    if fresh:
        text = install.read(home.host_config)
        install.replace(home.host_config, hostconfig.merge(text, hostconfig.meeting(), str(home.host_config)))
    # Newer hosts keep track of all gateways of a machine; those of a meeting to try out concern no other.
    environment = {**plan.gateway.environment, "HERMES_GATEWAY_LOCK_DIR": str(home.root / "locks")}
    return plan._replace(gateway=plan.gateway._replace(environment=environment))


def _model_port(home: Home) -> int | None:
    source = str(home.host_config)
    return hostconfig.rehearsal_port(hostconfig.parse(install.read(home.host_config), source))
