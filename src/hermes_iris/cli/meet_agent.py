"""`iris meet add-agent`: another agent in `meeting.toml`, checked before it is written."""

import argparse
import json

from ..config import load
from ..errors import SetupError
from ..meeting import config
from . import install
from .connection import add_home
from .pair import find_home


def add(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the arguments."""
    parser = actions.add_parser("add-agent", help="add an agent to meeting.toml")
    parser.add_argument("name", help="its name on the command line")
    parser.add_argument("--jid", required=True, help="its bare JID")
    parser.add_argument("--nick", help="its name in the rooms (default: NAME)")
    parser.add_argument(
        "--mention", dest="mentions", action="append", metavar="NAME", help="a further name; repeatable"
    )
    parser.add_argument("--in", dest="rooms", action="append", metavar="JID", help="one of its rooms (default: all)")
    parser.add_argument("--profile", help="its Hermes profile, by name or as the path of a home")
    password = parser.add_mutually_exclusive_group()
    password.add_argument("--password-file", metavar="PATH", help="file with its password, readable by its owner alone")
    password.add_argument("--password-env", metavar="NAME", help="variable with its password")
    add_home(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the agent down.

    Raises:
        SetupError: there is no meeting, or it would be wrong with this agent; nothing is changed then.
    """
    home = find_home(args.home)
    file = config.path(home, load(home))
    if not file.is_file():
        raise SetupError(f"there is no {file}; docs/meeting.md says what to write there")
    text = install.read(file)
    grown = f"{text.rstrip()}\n\n{_block(args)}"
    config.parse(grown, str(file))
    install.replace(file, grown)
    print(f"{args.name} is in {file}; start its gateway, or start it again")
    return 0


def _block(args: argparse.Namespace) -> str:
    """The agent as TOML; JSON spells texts and lists of texts in the same way."""
    fields = ("name", "jid", "nick", "mentions", "rooms", "profile", "password_file", "password_env")
    lines = [
        f"{field} = {json.dumps(value, ensure_ascii=False)}" for field in fields if (value := getattr(args, field))
    ]
    return "\n".join(["[[agents]]", *lines, ""])
