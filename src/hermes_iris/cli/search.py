"""`iris search`: find what was said."""

import argparse
import asyncio
import sys
import time

from ..address import Lane, full_name
from ..client import Client, new_id
from ..protocol.frames import Channel, Hit, Search
from .connection import add_home, client_of, greeting_of, lane_of

MARK, PLAIN = "\x1b[1;35m", "\x1b[0m"


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("search", help="find what was said, in Iris and in the host's other sessions")
    parser.add_argument("query", nargs="+", help='words, "a phrase", role:user, channel:"Cron Reports"')
    add_home(parser)
    parser.add_argument("--to", metavar="LANE", help="only in this channel or thread, by name or address")
    parser.add_argument("--best", action="store_true", help="the best first, not the newest")
    parser.add_argument("-n", type=int, default=20, metavar="N", help="at most N hits (default: 20)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the hits, newest first; 1 when there are none."""
    return asyncio.run(_search(client_of(args), args))


async def _search(client: Client, args: argparse.Namespace) -> int:
    async with client:
        lane = lane_of(client, args) if args.to else None
        found: list[Hit] = []
        cursor: str | None = None
        while len(found) < args.n:
            page = await client.request(
                Search(
                    client_id=new_id(),
                    query=" ".join(args.query),
                    scope="chat" if lane else "all",
                    chat_id=lane.chat_id if lane else None,
                    thread_id=lane.thread_id if lane else None,
                    order="best" if args.best else "newest",
                    cursor=cursor,
                    limit=min(args.n - len(found), 100),
                )
            )
            found += page.hits
            cursor = page.cursor
            if cursor is None:
                break
        names = {Lane(e.chat_id, e.thread_id): _name(e, client) for e in greeting_of(client).directory}
    for hit in found:
        print(_line(hit, names, colour=sys.stdout.isatty()))
    return 0 if found else 1


def _line(hit: Hit, names: dict[Lane, str], *, colour: bool) -> str:
    where = names.get(Lane(hit.chat_id, hit.thread_id), hit.chat_id) if hit.chat_id else f"{hit.session} (not in Iris)"
    text = "".join(f"{MARK}{part.text}{PLAIN}" if part.hit and colour else part.text for part in hit.snippet)
    return f"{time.strftime('%Y-%m-%d %H:%M', time.localtime(hit.ts))}  {where}  {hit.sender or hit.role}: {text}"


def _name(entry: Channel, client: Client) -> str:
    return full_name(entry, greeting_of(client).directory)
