"""What benchmarks share: tables that are printed and kept, statistics, turns taken in rotation, programs in C."""

import hashlib
import json
import math
import os
import platform
import random
import resource
import statistics
import subprocess
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".cache" / "bench"


class Missed(Exception):
    """What a benchmark holds to be a fault was found."""


@dataclass(frozen=True)
class Given:
    """What was asked for."""

    quick: bool = False
    folder: Path | None = None
    """Where the tables are kept."""

    minutes: float = 30.0


class Ratio(float):
    """How many times another figure of the same run."""

    def __str__(self) -> str:
        return f"{float(self):.2f} x"


Cell = str | int | float | None


@dataclass
class Table:
    """Rows of figures; each is printed as it comes."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, tuple[Cell, ...]]] = field(default_factory=list)

    def row(self, name: str, *cells: Cell) -> None:
        """Add a row and print it."""
        if not self.rows:
            print(f"\n{self.title}")
            self._print("", self.columns)
        self.rows.append((name, cells))
        self._print(name, [shown(cell) for cell in cells])

    def _print(self, name: str, cells: Sequence[str]) -> None:
        widths = [max(10, len(column)) for column in self.columns]
        print(f"  {name:38}", *(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=False)), flush=True)


class Report:
    """All that a benchmark has to say."""

    def __init__(self, name: str, given: Given) -> None:
        self._name, self._given = name, given
        self._tables: list[Table] = []
        self._notes: list[str] = []

    def table(self, title: str, *columns: str) -> Table:
        """A new table."""
        table = Table(title, columns)
        self._tables.append(table)
        return table

    def note(self, text: str) -> None:
        """Say something beside the tables, e.g. what could not be measured here."""
        self._notes.append(text)
        print(f"  {text}", flush=True)

    def save(self) -> None:
        """Keep it as JSON, if that was asked for."""
        if self._given.folder is None:
            return
        self._given.folder.mkdir(parents=True, exist_ok=True)
        tables = [
            {"title": table.title, "columns": table.columns, "rows": [[name, *cells] for name, cells in table.rows]}
            for table in self._tables
        ]
        whole = {"benchmark": self._name, "machine": machine(), "notes": self._notes, "tables": tables}
        (self._given.folder / f"{self._name}.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False))


def shown(cell: Cell) -> str:
    """A figure with three digits that count."""
    if cell is None:
        return "–"
    if isinstance(cell, Ratio | str):
        return str(cell)
    if isinstance(cell, int) or cell == 0 or abs(cell) >= 100:
        return f"{cell:,.0f}"
    return f"{cell:.{max(0, 2 - math.floor(math.log10(abs(cell))))}f}"


def machine() -> str:
    """Where this was measured, and how busy it was."""
    load = os.getloadavg()[0]
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, load {load:.1f}"


def p50(values: Sequence[float]) -> float:
    """The median."""
    return statistics.median(values)


def p99(values: Sequence[float]) -> float:
    """What one of a hundred exceeds."""
    return sorted(values)[math.ceil(len(values) * 0.99) - 1]


async def interleaved(rounds: int, contenders: Mapping[str, Callable[[], Awaitable[float]]]) -> dict[str, list[float]]:
    """Let all of them take part in every round, each time another one first: noise then meets all alike."""
    found: dict[str, list[float]] = {name: [] for name in contenders}
    order = list(contenders)
    for n in range(rounds):
        for name in order[n % len(order) :] + order[: n % len(order)]:
            found[name].append(await contenders[name]())
    return found


def busy(job: Callable[[], object], count: int = 1) -> Callable[[], Awaitable[float]]:
    """Milliseconds of this thread's CPU that a job takes, for each of so many things; other programs count less so."""

    async def timed() -> float:
        before = time.thread_time_ns()
        job()
        return (time.thread_time_ns() - before) / 1e6 / count

    return timed


def compiled(name: str) -> Path:
    """A program in C of this folder, compiled unless it was before."""
    source = Path(__file__).with_name(f"{name}.c")
    program = CACHE / f"{name}-{hashlib.sha256(source.read_bytes()).hexdigest()[:12]}"
    if not program.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cc", "-O2", "-o", program, source], check=True)
    return program


def words(size: int, seed: int = 7) -> str:
    """A made text of so many characters, whose words are as unevenly frequent as those of a language."""
    chance = random.Random(seed)
    known = [f"{'re' * (n % 3)}word{n}" for n in range(2_000)]
    weights = [1 / (n + 1) for n in range(len(known))]
    return " ".join(chance.choices(known, weights, k=size // 4 + 1))[:size]


def many_files() -> None:
    """Allow this process and its children as many sockets as the machine does."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def memory_of(pid: int) -> int:
    """Bytes that a process holds for itself (its private pages)."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Private_"))


def cpu_of(pid: int) -> int:
    """Nanoseconds of CPU that a process has used, all of its threads (`clock_getcpuclockid` of Linux)."""
    return time.clock_gettime_ns((~pid << 3) | 2)
