"""`iris install`: put Iris into the `config.yaml` of a Hermes home that somebody already uses.

Invariants: nothing is written before the change was shown and agreed to; the file as it was stays beside it; the new
one replaces it in one step, with the same mode; a second run has nothing to do.
"""

import argparse
import os
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

from .. import hostconfig
from ..config import Home, default_home
from ..errors import SetupError


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("install", help="add Iris to the configuration of an existing Hermes home")
    parser.add_argument("--home", type=Path, help="the Hermes home (default: $HERMES_HOME, else ~/.hermes)")
    parser.add_argument("--yes", action="store_true", help="change the file without asking")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Show the change, ask, write it."""
    home = Home(args.home or default_home())
    if not home.root.is_dir():
        raise SetupError(f"there is no Hermes home at {home.root}; `iris up` makes one of its own")
    source = home.host_config
    old = read(source) if source.exists() else ""
    config = hostconfig.parse(old, str(source))
    if hostconfig.is_disabled(config):
        raise SetupError(f"plugins.disabled in {source} names {hostconfig.PLUGIN}: take it out there first")
    additions = hostconfig.additions(config)
    new = hostconfig.merge(old, additions, str(source))
    if new == old:
        print(f"{source} has everything that Iris needs; nothing to do.")
        return 0
    print(hostconfig.diff(old, new, str(source)))
    if "streaming" in additions:
        print("Streaming is shared: `display.platforms.<name>.streaming: false` keeps another platform as it is.\n")
    if not args.yes and not _agreed():
        return 1
    if source.exists():
        print(f"The file as it was: {_back_up(source)}")
    replace(source, new)
    print("Iris is installed. Next: restart the gateway (`hermes gateway restart`), then run `iris pair`.")
    return 0


def read(path: Path) -> str:
    """The text of a file, line ends as they are.

    Raises:
        SetupError: it cannot be read; the text names it.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeError) as exc:
        raise SetupError(f"{path} cannot be read: {exc}") from exc


def replace(path: Path, text: str) -> None:
    """Write a file in one step; it keeps its mode, a new one is for its owner alone. A symbolic link stays one.

    Raises:
        SetupError: it cannot be written; the text names it.
    """
    target = path.resolve()
    draft = target.with_name(f".{target.name}.iris-{os.getpid()}")
    try:
        try:
            draft.touch(mode=0o600)
            draft.write_bytes(text.encode("utf-8"))
            if target.exists():
                shutil.copymode(target, draft)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as exc:
        raise SetupError(f"{path} cannot be written: {exc.strerror}") from exc


def _agreed() -> bool:
    """Whether the person says yes.

    Raises:
        SetupError: nobody is there to ask.
    """
    if not sys.stdin.isatty():
        raise SetupError("nothing was changed: there is no terminal to ask on; pass --yes to accept this change")
    answer = ""
    with suppress(EOFError):
        answer = input("Change the file like this? [y/N] ")
    if answer.strip().lower() in ("y", "yes"):
        return True
    print("Nothing was changed.")
    return False


def _back_up(source: Path) -> Path:
    """Copy the file, with its mode, to a name of its own."""
    backup = source.with_name(f"{source.name}.before-iris-{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        shutil.copy2(source, backup)
    except OSError as exc:
        raise SetupError(f"{backup} cannot be written: {exc.strerror}") from exc
    return backup
