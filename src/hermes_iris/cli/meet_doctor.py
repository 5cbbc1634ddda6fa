"""`iris meet doctor`: what is amiss with the meeting of a home, and what to do; it changes nothing."""

import argparse
import asyncio
from collections.abc import Iterator
from pathlib import Path

from .. import hostconfig
from ..config import Home, load
from ..errors import IrisError, SetupError
from ..meeting import config, probe
from ..meeting.config import Account, Agent, Meeting, Person
from ..meeting.state import Reason
from . import doctor, install
from .connection import add_home
from .doctor import Finding
from .pair import find_home


def add(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the arguments."""
    parser = actions.add_parser("doctor", help="check the meeting: file, account, server, rooms, host settings")
    add_home(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print every finding; 1 when one of them keeps the agent out of a room."""
    home = find_home(args.home)
    print(f"Hermes home: {home.root}")
    return doctor.report(examine(home))


def examine(home: Home) -> Iterator[Finding]:
    """Every finding about the meeting of a home."""
    try:
        settings = load(home)
        file = config.path(home, settings)
        meeting = config.load(file)
        me = meeting.me(home, settings.meeting_agent)
    except SetupError as exc:
        yield Finding("FAIL", str(exc))
        return
    yield Finding("ok", f"{file}: {len(meeting.agents)} agents, {len(meeting.rooms)} rooms")
    if me is None:
        yield Finding("warn", f"no agent there has this home as its `profile`; set that, or `meeting_agent` in {file}")
    else:
        yield Finding("ok", f"this home is {me.name}, {me.jid}")
        yield from _host_settings(home)
        yield from _switching(home, meeting, me)
    for one in (me, meeting.person_of(home)):
        if one is not None and (one is me or one.password_file or one.password_env):
            yield from _account(meeting, one, file.parent)


def _host_settings(home: Home) -> Iterator[Finding]:
    try:
        text = install.read(home.host_config) if home.host_config.exists() else ""
        parsed = hostconfig.parse(text, str(home.host_config))
    except SetupError as exc:
        yield Finding("FAIL", str(exc))
        return
    yield from doctor.recommendations(parsed, hostconfig.MEETING)


def _switching(home: Home, meeting: Meeting, me: Agent) -> Iterator[Finding]:
    """Where mode `switch` cannot do more than `prompt` at the moment."""
    if meeting.lease.mode != "switch":
        return
    from ..attending.leases import Leases

    leases = Leases(home, me, meeting.lease)
    for room in meeting.rooms_of(me):
        try:
            obstacle = leases.find(room.jid).obstacle
        except IrisError as exc:
            obstacle = str(exc)
        if obstacle:
            yield Finding("warn", f"{room.jid} is only told the end of the leased session: {obstacle}")


def _account(meeting: Meeting, one: Agent | Person, base: Path) -> Iterator[Finding]:
    """An account's way into each of its rooms."""
    try:
        account = meeting.account(one, base)
    except SetupError as exc:
        yield Finding("FAIL", str(exc))
        return
    for room in meeting.rooms_of(one):
        yield from asyncio.run(_walk(account, room.jid))


async def _walk(account: Account, room: str) -> list[Finding]:
    return [_finding(step) async for step in probe.walk(account, room)]


def _finding(step: probe.Step) -> Finding:
    if step.reason is None:
        return Finding("ok", step.text)
    # Before the first gateway has been in it there is no room, which is no fault yet.
    return Finding("warn" if step.reason is Reason.NO_ROOM else "FAIL", step.text)
