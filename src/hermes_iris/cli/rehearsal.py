"""`iris rehearsal`: run the scripted model, to try the app without an API key."""

import argparse
import math

from ..rehearsal.server import serve

PORT = 18080


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("rehearsal", help="run a scripted model on this machine, to try the app without a key")
    parser.add_argument("--port", type=_port, default=PORT, help=f"0 picks a free one (default: {PORT})")
    parser.add_argument("--pace", type=_pace, default=1.0, help="factor on every delay: 1 human, 0 none (default: 1)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    # Flushed: whoever started this with `--port 0` waits for the line to learn the port.
    serve(args.port, args.pace, lambda url: print(f"rehearsal model on {url}", flush=True))
    return 0


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError("a port is a number from 0 to 65535")
    return port


def _pace(text: str) -> float:
    pace = float(text)
    if not math.isfinite(pace) or pace < 0:
        raise argparse.ArgumentTypeError("a pace is 0 or more")
    return pace
