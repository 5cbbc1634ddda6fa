"""`iris schema`: write what is generated from the declarations, or check that it is not stale."""

import argparse
from pathlib import Path

from .. import config
from ..errors import SetupError
from ..meeting import config as meeting
from ..protocol import export

MARK = "<!-- generated: everything below this line comes from `iris schema` -->\n"


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("schema", help="write all that is generated from the declarations")
    parser.add_argument("--root", type=Path, default=Path(), help="the project folder (default: this one)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is stale")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write or check each generated file."""
    stale = [path for path, text in _files(args.root).items() if _read(path) != text]
    if args.check:
        if stale:
            raise SetupError(f"stale: {', '.join(map(str, stale))}; run `iris schema`")
        return 0
    for path, text in _files(args.root).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"{'wrote' if path in stale else 'up to date:'} {path}")
    return 0


def _files(root: Path) -> dict[Path, str]:
    return {
        root / "docs/schema.json": export.json_schema(),
        root / "docs/protocol.md": _below_mark(root / "docs/protocol.md", export.markdown()),
        root / "docs/configuration.md": _below_mark(root / "docs/configuration.md", config.markdown()),
        root / "docs/meeting.md": _below_mark(root / "docs/meeting.md", meeting.markdown()),
        **{root / "web/src/protocol" / name: text for name, text in export.typescript().items()},
    }


def _below_mark(path: Path, tables: str) -> str:
    """The hand-written head of a page, then the generated part."""
    head = (_read(path) or "").partition(MARK)[0]
    return head + MARK + "\n" + tables


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
