"""`iris chat`: Iris in the terminal."""

import argparse
import asyncio
import os
import sys
from collections.abc import Callable

from ..client import Client
from ..errors import IrisError, SetupError
from ..protocol.types import Seconds
from .connection import TERMINAL, add_arguments, client_of, lane_of

LOOK: Seconds = 2.0
"""How often it is looked whether the terminal is still there."""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("chat", help="talk to the agent in this terminal")
    add_arguments(parser)
    parser.add_argument(
        "--theme",
        choices=["dark", "light", "ansi-dark", "ansi-light"],
        default="dark",
        help="its colours; the last two take those of the terminal (default: dark)",
    )
    parser.set_defaults(run=run)


async def _until_hung_up(leave: Callable[[], None]) -> None:
    """Leave with the terminal.

    One that does not control the session goes without a signal, and reading from it then never waits.
    """
    while True:
        try:
            os.get_terminal_size(sys.stdin.fileno())
        except OSError:
            return leave()
        await asyncio.sleep(LOOK)


def run(args: argparse.Namespace) -> int:
    """Run until the person leaves; 1 when the gateway shut the device out."""
    try:
        from ..tui import app as tui
    except ModuleNotFoundError as exc:
        if exc.name is None or exc.name.split(".")[0] not in ("textual", "rich", "markdown_it"):
            raise
        raise SetupError("it needs an extra that is not installed; run: pip install 'hermes-iris[tui]'") from exc
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SetupError("it needs a terminal; `iris send` and `iris tail` are for scripts")

    async def chat(client: Client) -> str | None:
        async with client:
            app = tui.Chat(client, lane_of(client, args), args.theme)
            watching = asyncio.create_task(_until_hung_up(app.exit))
            try:
                return await app.run_async()
            finally:
                watching.cancel()

    if why := asyncio.run(chat(client_of(args, TERMINAL))):
        raise IrisError(why)
    return 0
