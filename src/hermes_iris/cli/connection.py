"""The command line as a device of the gateway on this machine.

Whoever can read the home's database is its owner, so the command line pairs itself; its token is kept in a file of the
same permissions.
"""

import argparse
import json
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from .. import endpoints, tls
from ..address import PLATFORM, Lane, resolve
from ..client import Client
from ..config import Home
from ..errors import Busy, SetupError, Unauthorized
from ..protocol.frames import DeviceInfo, HelloAck
from ..protocol.types import DeviceKind
from ..store import connect, devices, transaction
from .pair import find_home


def add_home(parser: argparse.ArgumentParser) -> None:
    """Add the argument that says which gateway is meant."""
    parser.add_argument(
        "--home", type=Path, help="the Hermes home (default: $HERMES_HOME, else the one with Iris in it)"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say which gateway and which lane is meant."""
    add_home(parser)
    parser.add_argument(
        "--to",
        default=PLATFORM,
        metavar="LANE",
        help="a channel or thread, e.g. 'Cron Reports' or chan_7:t_31 (default: the default channel)",
    )


class Kind(NamedTuple):
    """As what the command line joins."""

    kind: DeviceKind
    name: str


COMMANDS = Kind("cli", "Command line")
TERMINAL = Kind("tui", "Terminal")


def client_of(args: argparse.Namespace, kind: Kind = COMMANDS) -> Client:
    """A client of the gateway that runs in the home of the arguments.

    Raises:
        SetupError: no gateway runs there, or its database cannot be opened.
    """
    home = find_home(args.home)
    gateway = endpoints.running(home.endpoint)
    if gateway is None:
        raise SetupError(f"no gateway runs in {home.root}; start it with `iris up` or `hermes gateway run`")
    return Client(gateway.url, *_device(home, kind), tls=tls.trusting(gateway.certificate))


def greeting_of(client: Client) -> HelloAck:
    """What the gateway said when the client connected."""
    if client.greeting is None:
        raise Busy("the gateway has not answered yet; try again")
    return client.greeting


def lane_of(client: Client, args: argparse.Namespace) -> Lane:
    """The lane that the arguments name.

    Raises:
        NotFound, Conflict: nothing, or more than one, is called like that.
    """
    return resolve(args.to, greeting_of(client).directory)


def _device(home: Home, kind: Kind) -> tuple[DeviceInfo, str]:
    """The device of a file; another one when there is none, or when it was revoked."""
    file = home.device(kind.kind)
    with closing(connect(home.database)) as conn:
        try:
            token = str(json.loads(file.read_text(encoding="utf-8"))["token"])
            device_id = devices.holder(conn, token)
        except (OSError, ValueError, LookupError, TypeError, Unauthorized):
            with transaction(conn):
                device_id, token, _ = devices.add(conn, kind.name, kind.kind, time.time())
            file.touch(mode=0o600)
            file.write_text(json.dumps({"id": device_id, "token": token}), encoding="utf-8")
    return DeviceInfo(id=device_id, name=kind.name, kind=kind.kind), token
