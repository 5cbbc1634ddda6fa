"""Meeting: how long a message takes through a room, and how many get through, on a private Prosody of this machine.

Two accounts, each with a store of its own. Beside them the limit: slixmpp alone in the same room, which stores nothing,
checks nothing and waits for no archive.
"""

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

import slixmpp

from meeting.presence import Presence, present
from meeting.server import ROOM, XmppServer, running

from .kit import Given, Ratio, Report, interleaved, p50, p99


class Bare(slixmpp.ClientXMPP):
    """An account that says and hears, and does nothing else."""

    def __init__(self, server: XmppServer) -> None:
        account = server.account("xiaoguo")
        super().__init__(account.jid, account.password)
        self.register_plugin("xep_0045")
        self.enable_plaintext = True  # without TLS, as the accounts of this measurement are
        self.plugin["feature_mechanisms"].unencrypted_scram = True
        self._heard: dict[str, asyncio.Future[None]] = {}
        self.add_event_handler("groupchat_message", self._on_message)
        self._port = server.port

    async def enter(self) -> None:
        """Connect and enter the room."""
        started = asyncio.get_running_loop().create_future()
        self.add_event_handler("session_start", lambda _: started.set_result(None), disposable=True)
        self.connect("127.0.0.1", self._port)
        await started
        await self["xep_0045"].join_muc_wait(slixmpp.JID(ROOM), "bare", maxchars=0)

    async def say(self, text: str) -> None:
        """Say something, and wait until the room has said it."""
        self._heard[text] = asyncio.get_running_loop().create_future()
        self.send_message(mto=slixmpp.JID(ROOM), mbody=text, mtype="groupchat")
        await self._heard[text]

    def _on_message(self, message: Any) -> None:
        if (waiting := self._heard.pop(message["body"], None)) is not None:
            waiting.set_result(None)


async def trips(report: Report, mohe: Presence, zhiwei: Presence, bare: Bare, rounds: int) -> None:
    """One message after the other."""
    count = 0

    async def reflected() -> float:
        nonlocal count
        began, count = time.perf_counter(), count + 1
        await mohe.say(f"reflected {count}")
        took = time.perf_counter() - began
        await zhiwei.until(lambda: zhiwei.texts and zhiwei.texts[-1] == f"reflected {count}")
        return took * 1e3

    async def heard() -> float:
        nonlocal count
        began, count = time.perf_counter(), count + 1
        await mohe.say(f"heard {count}")
        await zhiwei.until(lambda: zhiwei.texts and zhiwei.texts[-1] == f"heard {count}")
        return (time.perf_counter() - began) * 1e3

    async def alone() -> float:
        nonlocal count
        began, count = time.perf_counter(), count + 1
        await bare.say(f"alone {count}")
        took = time.perf_counter() - began
        await zhiwei.until(lambda: zhiwei.texts and zhiwei.texts[-1] == f"alone {count}")
        return took * 1e3

    ways = {"slixmpp alone, said and reflected": alone, "Iris, said and reflected": reflected, "Iris, heard": heard}
    found = await interleaved(rounds, ways)
    limit = p50(found["slixmpp alone, said and reflected"])
    table = report.table("one message after the other", "p50 ms", "p99 ms", "x")
    for name, values in found.items():
        table.row(name, p50(values), p99(values), Ratio(p50(values) / limit))


async def flow(report: Report, mohe: Presence, zhiwei: Presence, count: int) -> None:
    """Many at once."""
    before = len(zhiwei.heard)
    began = time.perf_counter()
    for n in range(count):
        await mohe.connection.post(ROOM, f"flow {n}", hop=0)
    await zhiwei.until(lambda: len(zhiwei.heard) == before + count, limit=300.0)
    report.table("many messages at once", "a second").row(f"{count:,} messages", count / (time.perf_counter() - began))


async def run(report: Report, given: Given) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with running(folder / "prosody") as server:
            async with present(server.account("mohe"), folder / "mohe") as mohe:
                await mohe.until_joined()  # the first one sets up the room
                async with present(server.account("zhiwei"), folder / "zhiwei") as zhiwei:
                    await zhiwei.until_joined()
                    bare = Bare(server)
                    await bare.enter()
                    await trips(report, mohe, zhiwei, bare, 20 if given.quick else 200)
                    await bare.disconnect()
                    await flow(report, mohe, zhiwei, 100 if given.quick else 1_000)
