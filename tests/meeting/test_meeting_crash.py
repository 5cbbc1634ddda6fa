"""Server and gateways are killed under load, at moments that chance chooses: nothing is lost, nothing comes twice.

`IRIS_CRASH_SEEDS=40` tries so many courses instead of a few.
"""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from .server import AGENTS, XmppServer
from .talker import notes

COUNT = 120
"""Messages of each talker."""

KILLS = 7
LIMIT = 120.0
ROOT = Path(__file__).parents[2]


class Talker:
    """A talker that can be killed and started again."""

    def __init__(self, name: str, home: Path, port: int) -> None:
        self.name = name
        self.home = home
        self.kills = 0
        self._port = port
        home.mkdir()
        self.start()

    def start(self) -> None:
        with (self.home / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.meeting.talker", self.name, self.home, str(self._port), str(COUNT)],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.kills += 1

    def heard(self) -> list[tuple[str, str, str]]:
        """Every delivery: archive id, address, text."""
        with closing(notes(self.home)) as conn:
            return conn.execute("SELECT archive_id, jid, text FROM heard ORDER BY n").fetchall()

    def has_all(self) -> bool:
        return len({archive_id for archive_id, _, _ in self.heard()}) >= len(AGENTS) * COUNT

    def tail(self) -> str:
        return f"--- {self.name}: {len(self.heard())} heard\n" + (self.home / "log").read_text()[-3000:]


@pytest.mark.parametrize("seed", range(int(os.environ.get("IRIS_CRASH_SEEDS", "3"))))
def test_nothing_is_lost_or_doubled(server: XmppServer, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    talkers = [Talker(name, tmp_path / name, server.port) for name in AGENTS]
    try:
        _trouble(chance, server, talkers)
        _wait_for_all(talkers)
    finally:
        for talker in talkers:
            talker.process.kill()
            talker.process.wait()
    order = _once(talkers[0])
    for talker in talkers:
        assert _once(talker) == order, f"{talker.name} heard another order than {talkers[0].name}"
    for name in AGENTS:
        assert [text for _, _, text in order if text.startswith(name)] == [f"{name} {n}" for n in range(COUNT)]
    assert all(jid.partition("@")[0] == text.partition(" ")[0] for _, jid, text in order)


def _trouble(chance: random.Random, server: XmppServer, talkers: list[Talker]) -> None:
    """Kill somebody each time a few more messages have come through, and start them again."""
    for _ in range(KILLS):
        goal = len(talkers[0].heard()) + chance.randint(1, 40)
        pause = time.monotonic() + 4.0
        while len(talkers[0].heard()) < goal and time.monotonic() < pause:
            time.sleep(0.01)
        victims = chance.sample(talkers, chance.randint(0, len(talkers)))
        if not victims or chance.random() < 0.5:
            server.kill()
            server.start()
        for talker in victims:
            talker.kill()
        for talker in victims:
            talker.start()


def _wait_for_all(talkers: list[Talker]) -> None:
    deadline = time.monotonic() + LIMIT
    while not all(talker.has_all() for talker in talkers):
        if time.monotonic() > deadline:
            pytest.fail("messages are missing\n" + "\n".join(talker.tail() for talker in talkers))
        time.sleep(0.1)


def _once(talker: Talker) -> list[tuple[str, str, str]]:
    """What a talker heard. Only the message at which it was killed may come to it again, as the same one."""
    heard = talker.heard()
    again = {archive_id: count for archive_id, count in Counter(row[0] for row in heard).items() if count > 1}
    assert sum(again.values()) - len(again) <= talker.kills, f"{talker.name}: {again}"
    once = list(dict.fromkeys(heard))
    assert len(once) == len(AGENTS) * COUNT, f"{talker.name} heard {len(once)}"
    return once
