"""`iris up`: run a Hermes gateway with Iris in it, and, while a home has no model of its own, the rehearsal model.

Invariants: a home that this did not make is never written to, unless it was named and has no settings yet; whatever
stands in the way (a taken port, no host, another gateway) is said before anything is started; the link is printed once
the app answers; when one child ends on its own, everything ends.
"""

import argparse
import asyncio
import importlib.util
import signal
import sys
import tempfile
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from .. import endpoints, hostconfig, processes
from ..config import Home, Settings, child_environment, given_home, load, private_home
from ..endpoints import Endpoint
from ..errors import SetupError
from ..processes import ChildFailed, Children, Program
from ..protocol.types import Seconds
from . import install, pair

START_LIMIT: Seconds = 120.0
"""A first start on a small machine takes its time."""


class Plan(NamedTuple):
    """What to run, once nothing stands in the way."""

    home: Home
    settings: Settings
    model: str
    rehearsal: Program | None
    gateway: Program
    link: bool


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("up", help="run a Hermes gateway with Iris in it, and print a link to the app")
    parser.add_argument(
        "--home", type=Path, help="the Hermes home (default: $HERMES_HOME, else one of its own, made when missing)"
    )
    parser.add_argument("--port", type=_port, help="port of the app, 0 for a free one (default: the setting, 8765)")
    parser.add_argument("--model-port", type=_port, help="port of the rehearsal model (default: a free one, kept)")
    parser.add_argument("--no-link", action="store_true", help="print the address only, no pairing link")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prepare the home, then run until Ctrl+C or until something ends."""
    plan = prepare(args.home, args.port, args.model_port, not args.no_link)
    try:
        return asyncio.run(supervise(plan))
    except ChildFailed as failure:
        print(processes.tail(failure.log), file=sys.stderr)
        raise


def prepare(given: Path | None, port: int | None, model_port: int | None, link: bool) -> Plan:
    """Make the home if need be, and find out what to run.

    Raises:
        SetupError: something stands in the way; the text says what, and what to do.
    """
    named = given or given_home()
    home = Home(named or private_home())
    extra = {} if port is None else {"IRIS_PORT": str(port)}
    if named is None:
        # Newer hosts keep track of all gateways of a machine; one in a home of its own concerns no other.
        extra["HERMES_GATEWAY_LOCK_DIR"] = str(home.root / "locks")
    environment = child_environment(home, **extra)
    settings = load(home, environment)
    gateway = Program("the Hermes gateway", host_command(), environment, _log(home, "gateway"), signal.SIGINT)
    _check_free(home, settings)
    _make(home, model_port)
    config, rehearsal_port = _configure(home, model_port)
    rehearsal = None if rehearsal_port is None else _rehearsal(home, environment, rehearsal_port)
    _make_logs(home)
    return Plan(home, settings, hostconfig.model_name(config), rehearsal, gateway, link)


async def supervise(plan: Plan) -> int:
    """Run the plan until a signal; the exit code is then 0.

    Raises:
        ChildFailed: a child ended on its own or was not ready in time.
    """
    await until_signal(_run(plan))
    say("Iris has stopped. `iris up` starts it again, with everything as it was.")
    return 0


async def until_signal(work: Coroutine[Any, Any, None]) -> None:
    """Do some work until Ctrl+C or SIGTERM, which cancel it. Raises what the work raises."""
    task = asyncio.create_task(work)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, _stop, task)
    with suppress(asyncio.CancelledError):
        await task


async def _run(plan: Plan) -> None:
    """Start what the plan names, say where the app is, and stay until a child ends."""
    async with Children() as children:
        say(f"Hermes home: {plan.home.root}")
        if plan.rehearsal is not None:
            await start_model(children, plan.rehearsal)
        say("Starting the Hermes gateway …")
        endpoint = await start_gateway(children, plan)
        say(f"Iris is at {endpoint.url} (logs: {plan.gateway.log.parent})")
        if plan.link:
            pair.show(await asyncio.to_thread(pair.new_link, plan.home, plan.settings, endpoint))
        say(_about_model(plan))
        say("Ctrl+C stops it.")
        await children.ended()


async def start_model(children: Children, rehearsal: Program) -> None:
    """Start the rehearsal model, and wait for it. Raises `ChildFailed`."""
    say("Starting the rehearsal model …")
    await children.start(rehearsal)
    await children.ready(rehearsal, lambda: _announced(rehearsal.log), START_LIMIT, still)


async def start_gateway(children: Children, plan: Plan) -> Endpoint:
    """Start the gateway of a plan; where it listens. Raises `ChildFailed`."""
    await children.start(plan.gateway)
    return await children.ready(plan.gateway, lambda: endpoints.running(plan.home.endpoint), START_LIMIT, still)


def _stop(task: "asyncio.Task[None]") -> None:
    """On a signal: end the children in good order; a second one is less patient."""
    say("\nStopping …")
    task.cancel()


def still(passed: Seconds) -> None:
    """Tell the person that something takes its time."""
    say(f"… still starting ({passed:.0f} s)")


def host_command(python: Path | None = None) -> list[str]:
    """How to run the host that is installed beside a Python, by default this one.

    Raises:
        SetupError: there is none.
    """
    hermes = (python or Path(sys.executable)).with_name("hermes")
    if hermes.is_file():
        return [str(hermes), "gateway", "run"]
    if importlib.util.find_spec("hermes_cli") is not None:
        return [sys.executable, "-m", "hermes_cli.main", "gateway", "run"]
    raise SetupError("no Hermes host is installed here; install one beside Iris: pip install 'hermes-iris[host]'")


def _check_free(home: Home, settings: Settings) -> None:
    """Nobody else may use the home or the port. Raises `SetupError`."""
    other = endpoints.running(home.endpoint)
    if other is not None:
        raise SetupError(f"this home's gateway runs already (pid {other.pid}, {other.url}); `iris pair` prints a link")
    reason = endpoints.why_not_free(settings.host, settings.port)
    if reason is not None:
        where = f"{settings.host} port {settings.port}"
        raise SetupError(f"cannot listen on {where}: {reason}; `--port` names another, `--port 0` takes a free one")


def _make(home: Home, model_port: int | None) -> None:
    """Make the home and its settings when there are none. Raises `SetupError`."""
    try:
        home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        in_use = any(entry != home.iris for entry in home.root.iterdir())
    except OSError as exc:
        raise SetupError(f"the home {home.root} cannot be used: {exc.strerror}") from exc
    if home.host_config.exists():
        return
    if in_use:
        raise SetupError(f"{home.root} is in use but has no config.yaml; `iris install --home {home.root}` adds one")
    install.replace(home.host_config, hostconfig.merge("", hostconfig.private(model_port or endpoints.free_port())))


def _configure(home: Home, model_port: int | None) -> tuple[Mapping[str, object], int | None]:
    """Read the host's settings; the rehearsal's port is changed in them when another one has to be used.

    Raises:
        SetupError: the settings are not fit for Iris, or the wanted port cannot be had.
    """
    source = str(home.host_config)
    text = install.read(home.host_config)
    config = hostconfig.parse(text, source)
    if not hostconfig.is_enabled(config):
        raise SetupError(f"{source} does not enable Iris: run `iris install --home {home.root}`")
    port = hostconfig.rehearsal_port(config)
    if port is None:
        if model_port is not None:
            raise SetupError(f"--model-port is for the rehearsal; this home talks to {hostconfig.model_name(config)}")
        return config, None
    usable = _usable(port, model_port)
    if usable != port:
        install.replace(home.host_config, hostconfig.merge(text, hostconfig.rehearsal(usable), source))
    return config, usable


def _usable(port: int, wanted: int | None) -> int:
    """The rehearsal's port: the wanted one, else the one of last time, else a free one. Raises `SetupError`."""
    reason = endpoints.why_not_free("127.0.0.1", wanted or port)
    if reason is None:
        return wanted or port or endpoints.free_port()
    if wanted:
        raise SetupError(f"the rehearsal model cannot listen on port {wanted}: {reason}; name another or none")
    return endpoints.free_port()


def _rehearsal(home: Home, environment: Mapping[str, str], port: int) -> Program:
    command = [sys.executable, "-m", "hermes_iris.cli", "rehearsal", "--port", str(port), "--pace", "1"]
    return Program("the rehearsal model", command, environment, _log(home, "rehearsal"))


def _announced(log: Path) -> bool:
    """Whether the rehearsal has said where it listens."""
    return b"rehearsal model on" in log.read_bytes()


def _about_model(plan: Plan) -> str:
    if plan.rehearsal is None:
        return f"The agent's model is {plan.model or 'the default one of Hermes'}."
    return (
        "The agent's model is a rehearsal: a script on this machine that shows what Iris can do.\n"
        f"For a real one, change the `model` block in {plan.home.host_config} (docs/configuration.md) and start again."
    )


def _make_logs(home: Home) -> None:
    """Make the folder of the logs, which also tells whether the home can be written to. Raises `SetupError`."""
    folder = _log(home, "gateway").parent
    try:
        for made in (home.iris, folder):
            made.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as exc:
        raise SetupError(f"{folder} cannot be written: {exc.strerror}") from exc


def _log(home: Home, name: str) -> Path:
    return home.iris / "logs" / f"{name}.log"


def say(line: str) -> None:
    """Tell the person how it goes."""
    print(line, flush=True)


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return port
