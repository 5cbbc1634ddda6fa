"""The bench itself: its one entry, its figures, and that a soak says what it is there to say."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from bench import kit, soak  # noqa: E402 - the folder is in the path from here on
from bench.__main__ import NAMES  # noqa: E402

QUEUES = {"a queue": 0, "tasks": 30, "files": 20}


def test_everything_that_can_be_measured_is_listed() -> None:
    command = [sys.executable, "-m", "bench", "list"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split()[0] for line in told] == list(NAMES)
    assert all(len(line) > 40 for line in told)


def test_the_product_knows_nothing_of_it() -> None:
    for file in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "bench")
            assert not (isinstance(node, ast.Import) and any(name.name.startswith("bench") for name in node.names))


@pytest.mark.parametrize(
    ("figure", "shown"),
    [(0.123456, "0.123"), (12.3456, "12.3"), (123456.7, "123,457"), (0, "0"), (7, "7"), (kit.Ratio(1.239), "1.24 x")],
)
def test_figures_have_three_digits_that_count(figure: float, shown: str) -> None:
    assert kit.shown(figure) == shown


def test_one_of_a_hundred_exceeds_the_p99() -> None:
    assert kit.p99(list(range(1, 101))) == 99
    assert kit.p99([5.0]) == 5.0


async def test_each_contender_is_the_first_in_its_turn() -> None:
    order: list[str] = []

    async def measured(name: str) -> float:
        order.append(name)
        return float(len(order))

    contenders = {name: (lambda name=name: measured(name)) for name in "abc"}
    found = await kit.interleaved(3, contenders)
    assert order == list("abcbcacab")
    assert found == {"a": [1, 6, 8], "b": [2, 4, 9], "c": [3, 5, 7]}


def test_tables_are_kept(tmp_path: Path) -> None:
    report = kit.Report("one", kit.Given(folder=tmp_path))
    report.table("A table", "ms", "x").row("first", 1.5, kit.Ratio(2.0))
    report.save()
    kept = json.loads((tmp_path / "one.json").read_text())
    assert kept["tables"] == [{"title": "A table", "columns": ["ms", "x"], "rows": [["first", 1.5, 2.0]]}]


def judged(sizes: list[float], most: int = 0, left: int = 0, frames: int = 1) -> None:
    people = [soak.Person("", {}, n) for n in range(2)]
    for person in people:
        person.frames = frames
    samples = [(size * 1e6, {**QUEUES, "a queue": most}) for size in sizes]
    soak.judge(kit.Report("soak", kit.Given()), samples, {**QUEUES, "a queue": left}, people)


def test_a_soak_that_stays_as_it_is_passes() -> None:
    judged([20, 30, 39, 40, 40, 41, 40, 41], most=300)


@pytest.mark.parametrize(
    ("sizes", "most", "left", "frames", "words"),
    [
        ([20, 30, 40, 44, 48, 52, 56, 60], 0, 0, 1, "memory grows"),
        ([40] * 8, soak.BACKLOG + 1, 0, 1, "a queue"),
        ([40] * 8, 0, 1, 1, "a queue"),
        ([40] * 8, 0, 0, 0, "told nothing"),
    ],
)
def test_a_soak_that_does_not_fails(sizes: list[float], most: int, left: int, frames: int, words: str) -> None:
    with pytest.raises(kit.Missed, match=words):
        judged(sizes, most, left, frames)
