"""`iris meet`: speak in the meeting room, see who is there, and what the agent knows there of a terminal session."""

import argparse
import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import endpoints
from ..config import Home, load
from ..errors import IrisError, NotFound
from ..meeting.config import Agent, Meeting
from ..meeting.lease import Standing
from ..store import connect
from . import meet_agent, meet_doctor, meet_up
from .connection import add_home
from .pair import find_home


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("meet", help="the meeting room: speak in it, see who is there")
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    send = actions.add_parser("send", help="say something in the room, and lease the terminal session to the agent")
    send.add_argument("text", help="what to say")
    send.add_argument("--session", metavar="ID", help="the session (default: the one that this is run from, if any)")
    send.set_defaults(run=_send)
    for name, about, run in (
        ("active", "the terminal session that the agent knows in the room; 1 when there is none", _active),
        ("lease", "the same, with all that the agent is told of it", _lease),
        ("clear", "let the agent forget the terminal session", _clear),
        ("who", "who belongs to the room, and who is in it", _who),
    ):
        actions.add_parser(name, help=about).set_defaults(run=run)
    for action in actions.choices.values():
        add_home(action)
        action.add_argument("--agent", metavar="NAME", help="which agent (default: the one of the home)")
        action.add_argument("--room", default="", help="which room, by JID or name (default: the agent's first)")
    for more in (meet_agent, meet_doctor, meet_up):
        more.add(actions)


@dataclass(frozen=True, slots=True)
class _Place:
    """Which agent and room are meant."""

    home: Home
    meeting: Meeting
    me: Agent
    base: Path
    room: str


def _place(args: argparse.Namespace) -> _Place:
    """Raises `SetupError`, `NotFound`."""
    from ..attending import rooms  # the rest of the command line works without a host

    home = find_home(args.home)
    meeting, me, base = rooms.attending(home, load(home), args.agent or "")
    home = rooms.home_of(me, home) if args.agent else home
    return _Place(home, meeting, me, base, rooms.named(meeting, me, args.room))


def _send(args: argparse.Namespace) -> int:
    from ..attending import standalone

    if not args.text.strip():
        raise IrisError("there is nothing to say")
    place = _place(args)
    spoken = asyncio.run(
        standalone.speak(
            place.home,
            place.meeting,
            place.me,
            place.meeting.account(place.me, place.base),
            args.text,
            room=place.room,
            session_id=args.session,
        )
    )
    print(f"{place.me.name} said it in {spoken.room} ({spoken.archive_id})")
    if spoken.lease:
        print(f"there it knows session {spoken.lease.session_id} for {place.meeting.lease.ttl / 60:.0f} minutes")
    elif spoken.refused:
        print(f"no session is leased: {spoken.refused}")
    return 0


def _active(args: argparse.Namespace) -> int:
    from ..attending.leases import Leases

    place = _place(args)
    found = Leases(place.home, place.me, place.meeting.lease).find(place.room)
    if found.lease is None or found.standing is not Standing.GOOD:
        print(f"{place.me.name} knows no terminal session in {place.room}: {found.standing.value}")
        return 1
    until = time.strftime("%H:%M:%S", time.localtime(found.lease.timestamp + place.meeting.lease.ttl))
    print(f"{found.lease.session_id} ({found.lease.source}), known to {place.me.name} in {place.room} until {until}")
    if place.meeting.lease.mode == "switch":
        print(f"only its end, not all of it: {found.obstacle}" if found.obstacle else "the room's turns run in it")
    return 0


def _lease(args: argparse.Namespace) -> int:
    from ..attending.leases import Leases

    code = _active(args)
    place = _place(args)
    excerpt = Leases(place.home, place.me, place.meeting.lease).excerpt(place.room)
    if excerpt:
        print(f"\n{excerpt}")
    return code


def _clear(args: argparse.Namespace) -> int:
    from ..attending import standalone
    from ..attending.leases import Leases

    place = _place(args)
    if not Leases(place.home, place.me, place.meeting.lease).clear(place.room):
        print(f"{place.me.name} knows no terminal session in {place.room}")
        return 0
    print("forgotten")
    try:
        account = place.meeting.account(place.me, place.base)
        asyncio.run(standalone.tell_cleared(place.home, place.meeting, place.me, account, place.room))
    except IrisError as exc:
        print(f"the room has not been told: {exc}")
    return 0


def _who(args: argparse.Namespace) -> int:
    from ..attending import memory

    place = _place(args)
    print(f"{place.meeting.room(place.room).name} ({place.room})")
    for line in _members(place):
        print(f"  {line}")
    if endpoints.running(place.home.endpoint) is None:
        print(f"the gateway of {place.me.name} does not run, so who is there is not known")
        return 0
    with contextlib.closing(connect(place.home.database)) as conn:
        seen = memory.seen(conn, place.me, place.room)
    if seen is None:
        raise NotFound(f"the gateway of {place.me.name} has not looked into the room yet")
    print(f"{place.me.name} is {seen.phase}{f': {seen.text}' if seen.text else ''}")
    print(f"there: {', '.join(seen.occupants) or 'nobody'}")
    return 0


def _members(place: _Place) -> Sequence[str]:
    meeting = place.meeting
    agents = [agent for agent in meeting.agents if place.room in [room.jid for room in meeting.rooms_of(agent)]]
    lines = [f"{agent.shown} (agent) {agent.jid}, called {', '.join(agent.addressed)}" for agent in agents]
    return [*lines, f"{meeting.person.nick} (person) {meeting.person.jid}"] if meeting.person else lines
