"""A scripted day over a bad network and a gateway that is killed, and the verdict on it.

Everything that chance decides comes from one seed: who says what, which fault happens when and to whom. How the
processes interleave is the machine's; so a failure prints the seed and the schedule as it went, with the logs.
"""

import asyncio
import contextlib
import json
import random
import sqlite3
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from hermes_iris.client import Client
from hermes_iris.config import Home
from hermes_iris.protocol import codec
from hermes_iris.protocol.frames import ChannelAccepted, MessageAccepted, MessageSend
from hermes_iris.store import connect, log, messages
from host.gateway import Gateway
from support import shown, unread, wait_until

from .phone import Phone, PlainClient
from .proxy import FAULTS, Fault, Proxy, open_proxy

SETTLED = 60.0
"""Seconds that everything may take to come to rest after the last fault."""

PHONES = {"phone1": Client, "phone2": Client, "phone3": Client, "phone4": Client, "plain": PlainClient}
"""The devices, each with what it can."""

FINAL = "SELECT COUNT(*) FROM messages WHERE role = 'assistant' AND kind = 'final' AND text = ?"


@dataclass(frozen=True)
class Plan:
    """How much happens in a day."""

    seed: int
    cuts: int
    kills: int
    pace: float
    """Seconds between two faults, on the average."""

    haste: float
    """What a device does in a second, on the average."""

    reporter: list[str]
    """Command of a process that stores reports: for each line `[target, text]` it says which message that became."""

    say: Callable[[str], str] = str
    answer: Callable[[str], str] | None = None
    """The only answer that a message may get, where it can be told."""


@dataclass
class Day:
    """A day as it goes; `told` is its schedule, for a failure."""

    plan: Plan
    gateway: Gateway
    proxy: Proxy
    phones: list[Phone]
    chance: random.Random
    told: list[str] = field(default_factory=list)
    reports: list[tuple[str, str]] = field(default_factory=list)
    """Text and message of each report that its process has told us of."""

    _began: float = field(default_factory=time.monotonic)

    def note(self, line: str) -> None:
        """Put a line into the schedule."""
        self.told.append(f"{time.monotonic() - self._began:8.3f} {line}")

    # -- what goes wrong

    async def break_things(self) -> None:
        """All the cuts and kills of the plan, in an order that the seed decides."""
        blows = ["kill"] * self.plan.kills + ["cut"] * self.plan.cuts
        self.chance.shuffle(blows)
        async with asyncio.TaskGroup() as faults:
            for blow in blows:
                await asyncio.sleep(self.chance.expovariate(1 / self.plan.pace))
                if blow == "kill":
                    await self._kill()
                else:
                    faults.create_task(self._cut(self.chance.choice(FAULTS), self.chance.random()))

    async def _cut(self, fault: Fault, seconds: float) -> None:
        await wait_until(lambda: self.proxy.links, SETTLED)
        link = self.chance.choice(self.proxy.links)
        self.note(f"{fault} for {seconds:.2f} s")
        await link.suffer(fault, seconds, self.chance)

    async def _kill(self) -> None:
        """Kill the gateway; now and then once more while it starts."""
        self.gateway.kill()
        self.note("kill")
        await asyncio.sleep(self.chance.random() / 4)
        if self.chance.random() < 0.25:
            self.gateway.launch()
            await asyncio.sleep(self.chance.random())
            self.gateway.kill()
            self.note("kill during the start")
        await asyncio.to_thread(self.gateway.start)
        self.note("started")

    # -- what goes on

    async def report(self, over: asyncio.Event) -> None:
        """Reports from another process, one after the other, each tried again until it is stored."""
        reporter = await asyncio.create_subprocess_exec(
            *self.plan.reporter,
            env=self.gateway.environment,
            cwd=self.gateway.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert reporter.stdin is not None
        assert reporter.stdout is not None
        number = 0
        while not over.is_set():
            number += 1
            target = self.chance.choice(["android", "android:default", "Nowhere"])
            text = f"Report {number}"
            reporter.stdin.write(json.dumps([target, text]).encode() + b"\n")
            answer = json.loads(await reporter.stdout.readline())
            self.reports.append((text, answer))
            await asyncio.sleep(self.chance.expovariate(4.0))
        reporter.stdin.close()
        await reporter.wait()

    async def go(self) -> None:
        """The whole day, until nothing moves any more."""
        over = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(phone.run()) for phone in self.phones]
            acting = [tasks.create_task(phone.act()) for phone in self.phones]
            reporting = tasks.create_task(self.report(over))
            restarting = tasks.create_task(self._restart_phones())
            await self.break_things()
            restarting.cancel()
            over.set()
            for phone in self.phones:
                phone.over = True
            async with asyncio.timeout(SETTLED):
                await asyncio.gather(*acting, reporting)
                self.note("the last request is answered")
                await self._at_rest()
            for task in running:
                task.cancel()

    async def _restart_phones(self) -> None:
        while True:
            await asyncio.sleep(self.chance.expovariate(1.0))
            phone = self.chance.choice(self.phones)
            self.note(f"{phone.name} starts anew")
            phone.restart()

    async def _at_rest(self) -> None:
        """Wait until the host has answered all that it was given, and every device has heard of it."""
        conn = connect(Home(self.gateway.home).database)
        with contextlib.closing(conn):
            await wait_until(lambda: not self._moves(conn), SETTLED)

    def _moves(self, conn: sqlite3.Connection) -> bool:
        behind = any(self._behind(phone, conn) for phone in self.phones)
        return behind or bool(messages.waiting(conn)) or _open_turns(conn)

    def _behind(self, phone: Phone, conn: sqlite3.Connection) -> bool:
        place = phone.screen.state.position
        return place is None or place.seq < log.last(conn) or bool(phone.screen.state.typing)

    # -- the verdict

    async def judge(self, newcomer: Phone) -> None:
        """Nothing is lost, nothing is there twice, and everybody sees the same, in the same order."""
        conn = connect(Home(self.gateway.home).database)
        with contextlib.closing(conn):
            assert conn.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            self._judge_what_was_accepted(conn)
            self._judge_what_is_closed(conn)
            self._judge_the_order(conn)
        self._judge_the_screens(newcomer)

    def _judge_what_was_accepted(self, conn: sqlite3.Connection) -> None:
        accepted: dict[str, tuple[str, str]] = {}
        for request, answer in ((asked.request, asked.answer) for phone in self.phones for asked in phone.answered):
            if isinstance(answer, MessageAccepted):
                assert isinstance(request, MessageSend)
                known = accepted.setdefault(request.client_id, (answer.message_id, request.text))
                assert known[0] == answer.message_id, "one request became two messages"
            elif isinstance(answer, ChannelAccepted):
                row = "SELECT COUNT(*) FROM channels WHERE chat_id = ? AND thread_id = ?"
                assert conn.execute(row, (answer.chat_id, answer.thread_id or "")).fetchone()[0] == 1
        stored = {
            row["client_id"]: (row["message_id"], row["text"])
            for row in conn.execute("SELECT * FROM messages WHERE role = 'user'")
        }
        assert stored == accepted, "what was accepted is what is stored"
        reports = [tuple(row) for row in conn.execute("SELECT text, message_id FROM messages WHERE role = 'cron'")]
        assert sorted(reports) == sorted(self.reports), "each report is stored once"
        for _, text in accepted.values():
            if self.plan.answer:
                assert conn.execute(FINAL, (self.plan.answer(text),)).fetchone()[0] <= 1, f"{text} was answered twice"

    def _judge_what_is_closed(self, conn: sqlite3.Connection) -> None:
        assert not _open_turns(conn)
        assert conn.execute("SELECT COUNT(*) FROM messages WHERE live = 1").fetchone()[0] == 0
        assert conn.execute("SELECT COUNT(*) FROM tool_calls WHERE state = 'running'").fetchone()[0] == 0
        orders = [row[0] for row in conn.execute("SELECT ord FROM messages UNION ALL SELECT ord FROM tool_calls")]
        assert len(set(orders)) == len(orders), "two entries are at the same place"

    def _judge_the_order(self, conn: sqlite3.Connection) -> None:
        """Every device was told the log, from wherever it came in, with no event left out, doubled or changed."""
        here = log.position(conn)
        events = {seq: codec.decode_server(codec.number(seq, body)) for seq, body in log.between(conn, 0, here.seq)}
        assert list(events) == list(range(1, here.seq + 1))
        for phone in self.phones:
            for epoch, seq, frame in phone.received:
                assert epoch == here.epoch
                assert events[seq] == frame, f"{phone.name} was told another event {seq}"

    def _judge_the_screens(self, newcomer: Phone) -> None:
        expected = shown(newcomer.screen.state)
        assert not expected["turns"], "a spinner is left"
        for phone in self.phones:
            assert phone.screen.state.position == newcomer.screen.state.position
            seen = shown(phone.screen.state)
            for name, value in expected.items():
                assert seen[name] == value, f"{phone.name} shows other {name} than a new device"
            assert unread(phone.screen.state) == unread(newcomer.screen.state)

    def summary(self) -> str:
        """What happened, in a line."""
        answers = [asked.answer for phone in self.phones for asked in phone.answered]
        sent = sum(isinstance(answer, MessageAccepted) for answer in answers)
        restarts = sum(phone.restarts for phone in self.phones)
        count = {word: sum(line[9:].startswith(word) for line in self.told) for word in ("kill", *set(FAULTS))}
        events = sum(len(phone.received) for phone in self.phones)
        return (
            f"seed {self.plan.seed}: {count}, {restarts} devices restarted, {len(answers)} requests, {sent} messages,"
            f" {len(self.reports)} reports, {events} events received, {time.monotonic() - self._began:.1f} s"
        )


@asynccontextmanager
async def a_day(plan: Plan, gateway: Gateway) -> AsyncIterator[Day]:
    """A day on a gateway that runs; a failure inside it is told with the schedule and the logs."""
    chance, paired = random.Random(plan.seed), gateway.paired
    async with open_proxy(gateway.port) as proxy:
        phones = [
            Phone(name, partial(kind, proxy.url, *paired(name)), random.Random(chance.random()), plan.haste, plan.say)
            for name, kind in PHONES.items()
        ]
        day = Day(plan, gateway, proxy, phones, chance)
        try:
            yield day
        except BaseException as exc:
            exc.add_note("\n".join([day.summary(), *day.told[-200:], gateway.tail()]))
            raise


async def live(plan: Plan, gateway: Gateway) -> str:
    """Live through a day and judge it; returns what happened."""
    async with a_day(plan, gateway) as day:
        await day.go()
        newcomer = Phone("newcomer", partial(gateway.client, "newcomer"), day.chance)
        joining = asyncio.create_task(newcomer.run())
        await wait_until(lambda: newcomer.loads, SETTLED)
        joining.cancel()
        await day.judge(newcomer)
        return day.summary()


def _open_turns(conn: sqlite3.Connection) -> bool:
    return bool(conn.execute("SELECT COUNT(*) FROM turns WHERE ended IS NULL").fetchone()[0])
