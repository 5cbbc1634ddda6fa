"""The day on a real host: streaming turns with tools of the rehearsal model, reports by the host's own sender.

Fewer kills than without a host (`tests/breaking/test_day.py`), since each start of a host takes seconds.
`IRIS_BREAK_HOST=500` makes that many cuts, and a tenth of them kills; `IRIS_BREAK_SEED` replays a seed.
"""

import os
import random
from pathlib import Path

from breaking.day import Plan, live

from .gateway import gateway, settings

CUTS = int(os.environ.get("IRIS_BREAK_HOST", "20"))
SEED = int(os.environ.get("IRIS_BREAK_SEED", "1"))

REPORTER = """
import asyncio, json, sys
from pathlib import Path
import gateway.platforms.base  # as the host does, before its plugins
from hermes_iris import standalone
from hermes_iris.config import Home, Settings
home = Home(Path(sys.argv[1]))
for line in sys.stdin:
    target, text = json.loads(line)
    wrapped = f"Cronjob Response: Weather\\n(job_id: job_1)\\n---\\n\\n{text}\\n\\nTo stop or manage this job, say so."
    sent = {"success": False}
    while not sent["success"]:
        sent = asyncio.run(standalone.send(home, Settings(), target, wrapped, None))
    print(json.dumps(sent["message_id"]), flush=True)
"""


def say(text: str) -> str:
    scenario = random.Random(text).choice(["plain", "plainnr", "fasttool", "think"])
    return f"rehearse {scenario} for {text}"


async def test_a_day_of_cuts_and_kills(host_python: Path, model: str, tmp_path: Path, in_no_time: None) -> None:
    home = tmp_path / "home"
    plan = Plan(
        seed=SEED,
        cuts=CUTS,
        kills=CUTS // 10,
        pace=0.7,
        haste=0.4,
        reporter=[str(host_python), "-c", REPORTER, str(home)],
        say=say,
    )
    with gateway(host_python, home, settings(), model) as running:
        print(await live(plan, running))
