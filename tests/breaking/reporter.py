"""A process beside the gateway that stores reports: a line `[target, text]` comes in, the message's id goes out."""

import json
import sqlite3
import sys
from pathlib import Path

from directory_kit import JOB, post_elsewhere

from hermes_iris.config import Home
from hermes_iris.reports import Report

home = Home(Path(sys.argv[1]))
for line in sys.stdin:
    target, text = json.loads(line)
    message_id = None
    while message_id is None:
        try:
            message_id = post_elsewhere(home, Report(target, text, JOB, run=text))
        except sqlite3.OperationalError as exc:
            print(exc, file=sys.stderr)
    print(json.dumps(message_id), flush=True)
