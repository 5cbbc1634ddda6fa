"""The `iris` command: one module per command, each with `add(commands)` and a `run`."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence

from .. import __version__
from ..errors import IrisError
from . import channels, chat, devices, doctor, install, meet, pair, rehearsal, schema, search, send, tail, up


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code: 0 done, 1 it could not be done (one line on standard error says why), 2 wrong usage.
    """
    parser = argparse.ArgumentParser(prog="iris", description="Iris: an app of your own for a Hermes agent.")
    parser.add_argument("--version", action="version", version=f"iris {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in (up, pair, devices, channels, chat, send, tail, search, meet, install, doctor, rehearsal, schema):
        command.add(commands)
    args = parser.parse_args(argv)
    # What the host logs while a command looks into it is not meant for a person; what fails is said below.
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        return int(args.run(args))
    except IrisError as exc:
        print(f"iris {args.command}: {exc}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has what it wants
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as exc:
        print(f"iris {args.command}: {exc}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
