"""What the tests of the command line share."""

import argparse
import json
from pathlib import Path
from types import ModuleType

from hermes_iris.config import Home


def command(module: ModuleType, *argv: str | Path) -> int:
    """Run one command as `iris` does."""
    parser = argparse.ArgumentParser()
    module.add(parser.add_subparsers())
    args = parser.parse_args([module.__name__.rpartition(".")[2], *map(str, argv)])
    return int(args.run(args))


def announce(home: Home, url: str, pid: int) -> None:
    home.iris.mkdir(exist_ok=True)
    home.endpoint.write_text(json.dumps({"url": url, "pid": pid}), encoding="utf-8")
