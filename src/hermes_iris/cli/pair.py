"""`iris pair`: a one-time link, and its QR code, with which a device joins."""

import argparse
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from ..config import Home, Settings, default_home, given_home, load, private_home
from ..endpoints import Endpoint, running
from ..errors import SetupError
from ..invitations import Link, base
from ..protocol.types import Seconds
from ..store.database import connect, transaction
from ..store.devices import new_code


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("pair", help="print a one-time link and a QR code that add a device")
    parser.add_argument(
        "--home", type=Path, help="the Hermes home (default: $HERMES_HOME, else the one with Iris in it)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print a link, also while the gateway does not run."""
    home = find_home(args.home)
    if not home.root.is_dir():
        raise SetupError(f"there is no Hermes home at {home.root}; `iris up` makes one, `--home` names another")
    settings = load(home)
    endpoint = running(home.endpoint)
    show(new_link(home, settings, endpoint))
    if endpoint is None:
        print("The gateway of this home does not run now: start it before you open the link (`iris up`).")
    return 0


def find_home(given: Path | None) -> Home:
    """The home that a command works on: the given one, else `$HERMES_HOME`, else the one that has Iris in it.

    When both the usual home and the one of `iris up` have it, the one whose gateway runs is meant.
    """
    chosen = given or given_home()
    if chosen is not None:
        return Home(chosen)
    homes = [home for home in (Home(default_home()), Home(private_home())) if home.iris.is_dir()]
    alive = (home for home in homes if running(home.endpoint))
    return _first(alive) or _first(homes) or Home(default_home())


def new_link(home: Home, settings: Settings, endpoint: Endpoint | None) -> Link:
    """Mint a pairing code of a home and put it into a link.

    Raises:
        SetupError: the address is not known before the gateway runs, or the database cannot be opened.
    """
    address = base(settings, endpoint.url if endpoint else None)
    conn = connect(home.database)
    try:
        with transaction(conn):
            code = new_code(conn, time.time(), settings.pairing_ttl)
    finally:
        conn.close()
    return Link.to(address, code, settings)


def show(link: Link) -> None:
    """Print a link as text and as a QR code."""
    print(f"\n  {link.url}\n")
    link.qr.terminal(sys.stdout, border=2, compact=True)
    print(f"\nOpen it on the device that you want to add. It works once, within {_duration(link.ttl)}.")
    if link.is_local:
        print("This address is of this machine only; docs/configuration.md says how other devices reach it.")


def _duration(seconds: Seconds) -> str:
    return f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"


def _first(homes: Iterable[Home]) -> Home | None:
    return next(iter(homes), None)
