"""A process that says numbered messages in the room and writes down what it hears, to be killed at any moment.

`python -m tests.meeting.talker NAME HOME PORT COUNT`. It says `NAME 0` to `NAME COUNT-1`, each under an id of its own
that is the same at every start, and writes each delivery into `HOME/heard.db`.
"""

import asyncio
import sqlite3
import sys
from pathlib import Path

from hermes_iris.meeting.connection import Connection
from hermes_iris.meeting.said import Said
from hermes_iris.store import Store

from .server import ROOM, XmppServer

PACE = 0.01
"""Seconds between two messages: enough for others to come in between."""


def notes(home: Path) -> sqlite3.Connection:
    """What was heard, one row for each delivery."""
    conn = sqlite3.connect(home / "heard.db", isolation_level=None, timeout=20)
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute("CREATE TABLE IF NOT EXISTS heard (n INTEGER PRIMARY KEY, archive_id TEXT, jid TEXT, text TEXT)")
    return conn


async def talk(name: str, home: Path, port: int, count: int) -> None:
    """Say and hear until killed."""
    written = notes(home)

    async def hear(said: Said) -> None:
        written.execute(
            "INSERT INTO heard (archive_id, jid, text) VALUES (?, ?, ?)", (said.archive_id, said.sender.jid, said.text)
        )

    account = XmppServer(home, port=port).account(name)
    store = Store(home / "channels.db")
    connection = Connection(account, [ROOM], store, hear, lambda state: None, history=1_000_000)
    connection.start()
    for number in range(count):
        await connection.post(ROOM, f"{name} {number}", hop=0, origin_id=f"{name}-{number}")
        await asyncio.sleep(PACE)
    await asyncio.Event().wait()


if __name__ == "__main__":
    name, home, port, count = sys.argv[1:]
    asyncio.run(talk(name, Path(home), int(port), int(count)))
