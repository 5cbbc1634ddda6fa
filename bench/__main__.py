"""The one entry: what there is, and runs of it.

    python -m bench list
    python -m bench run fanout search          # or: run all
    python -m bench run all --quick --json DIR # fewer rounds; and every table as JSON

Each benchmark is one file with a `run`, and has a process of its own, so that none measures what another left behind.
"""

import argparse
import ast
import asyncio
import importlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from .kit import Given, Missed, Report

NAMES = (
    "fanout",
    "stream",
    "commit",
    "resume",
    "history",
    "search",
    "memory",
    "rendering",
    "turn",
    "meeting",
    "growth",
    "soak",
)


def title(name: str) -> str:
    """What a benchmark measures, in one line."""
    source = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]


def alone(name: str, given: Given) -> int:
    """Run one benchmark here."""
    print(f"== {name}: {title(name)}", flush=True)
    report = Report(name, given)
    status = 0
    try:
        asyncio.run(importlib.import_module(f"bench.{name}").run(report, given))
    except Missed as exc:
        report.note(f"MISSED: {exc}")
        status = 1
    report.save()
    return status


def each(names: list[str], options: list[str]) -> int:
    """Run benchmarks one after the other, each in a process of its own."""
    command = [sys.executable, "-m", "bench", "run", *options]
    return max(subprocess.run([*command, name], cwd=ROOT, check=False).returncode for name in names)


def main() -> int:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="what can be measured")
    run = commands.add_parser("run", help="measure")
    run.add_argument("names", nargs="+", choices=(*NAMES, "all"), metavar="NAME")
    run.add_argument(
        "--quick", action="store_true", help="fewer rounds, smaller stores: whether it works, not how fast"
    )
    run.add_argument("--json", type=Path, metavar="DIR", help="keep the tables there, a file for each benchmark")
    run.add_argument("--minutes", type=float, default=30.0, help="how long `soak` takes")
    given = parser.parse_args()
    if given.command == "list":
        for name in NAMES:
            print(f"{name:10} {title(name)}")
        return 0
    names = list(NAMES) if "all" in given.names else given.names
    if len(names) > 1:
        options = ["--quick"] * given.quick + ["--minutes", str(given.minutes)]
        return each(names, options + (["--json", str(given.json)] if given.json else []))
    return alone(names[0], Given(given.quick, given.json, given.minutes))


if __name__ == "__main__":
    sys.exit(main())
