"""The day without Hermes: hundreds of cuts and dozens of kills of the real store, hub and server.

`IRIS_BREAK=5000` makes that many cuts, and a tenth of them kills; `IRIS_BREAK_SEED` replays a seed.
"""

import os
import sys
from pathlib import Path

from .alone import Alone
from .day import Plan, live

CUTS = int(os.environ.get("IRIS_BREAK", "200"))
SEED = int(os.environ.get("IRIS_BREAK_SEED", "1"))
REPORTER = Path(__file__).with_name("reporter.py")


async def test_a_day_of_cuts_and_kills(tmp_path: Path, in_no_time: None) -> None:
    gateway = Alone(Path(sys.executable), tmp_path)
    plan = Plan(
        seed=SEED,
        cuts=CUTS,
        kills=CUTS // 10,
        pace=0.1,
        haste=8.0,
        reporter=[sys.executable, str(REPORTER), str(tmp_path)],
        answer=lambda text: f"The answer to {text}.",
    )
    gateway.start()
    try:
        print(await live(plan, gateway))
    finally:
        gateway.stop()
    assert "ERROR" not in gateway.log.read_text(), gateway.tail()
