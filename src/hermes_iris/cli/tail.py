"""`iris tail`: follow what is said, in one lane or in all."""

import argparse
import asyncio
import sys
import time

from ..client import Client, new_id
from ..protocol import codec
from ..protocol.frames import (
    Commentary,
    Event,
    History,
    Message,
    MessageStop,
    RequestCard,
    RequestClosed,
    RequestOpened,
    ServerFrame,
    ToolCard,
    ToolEnd,
    TurnEnded,
)
from .connection import add_arguments, client_of, lane_of


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("tail", help="follow what is said")
    add_arguments(parser)
    parser.add_argument("--all", action="store_true", help="every lane, not only the one of --to")
    parser.add_argument("-n", type=int, default=10, metavar="N", help="first print the last N messages (default: 10)")
    parser.add_argument("--no-follow", action="store_true", help="stop after those")
    parser.add_argument("--json", action="store_true", help="print frames as JSON lines")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print until interrupted."""
    asyncio.run(_tail(client_of(args), args))
    return 0


async def _tail(client: Client, args: argparse.Namespace) -> None:
    async with client:
        lane = lane_of(client, args)
        if args.n > 0:
            limit = min(args.n, 200)
            page = await client.request(
                History(client_id=new_id(), chat_id=lane.chat_id, thread_id=lane.thread_id, limit=limit)
            )
            for entry in page.entries:
                _print(entry, as_json=args.json)
        if args.no_follow:
            return
        async for frame in client.frames():
            here = (getattr(frame, "chat_id", None), getattr(frame, "thread_id", None))
            if isinstance(frame, Event) and (args.all or here == lane):
                _print(frame, as_json=args.json)


def _print(frame: ServerFrame | ToolCard | RequestCard, *, as_json: bool) -> None:
    if as_json:
        print(codec.encode(frame).decode())
    elif line := _line(frame):
        print(line)
    sys.stdout.flush()


def _line(frame: ServerFrame | ToolCard | RequestCard) -> str | None:
    match frame:
        case Message(role=role, sender=sender, text=text, attachments=files, ts=ts) if text or files:
            who = sender.name if sender else role
            return " ".join(part for part in (f"{_clock(ts)} {who}:", text, *(f"[{f.name}]" for f in files)) if part)
        case MessageStop(role=role, final_text=text, ts=ts) if text:
            return f"{_clock(ts)} {role}: {text}"
        case Commentary(text=text, ts=ts) if text:
            return f"{_clock(ts)} assistant: {text}"
        case ToolCard(name=name, preview=preview, state=state, ts=ts):
            return f"{_clock(ts)} tool {name}: {preview} ({state})"
        case RequestOpened(question=asked, ts=ts) | RequestCard(question=asked, ts=ts):
            about = asked.prompt or asked.detail
            return f"{_clock(ts)} {asked.kind}: {' – '.join(filter(None, (asked.title, about)))}"
        case RequestClosed(outcome=outcome, answer=answer, by_name=by_name):
            by = f" by {by_name}" if by_name else ""
            return f"         {outcome}{f': {answer}' if answer else ''}{by}"
        case ToolEnd(name=name, state=state, duration=duration):
            return f"         tool {name}: {state} after {duration:.1f} s"
        case TurnEnded(outcome=outcome, ts=ts) if outcome != "success":
            return f"{_clock(ts)} turn: {outcome}"
        case _:
            return None


def _clock(ts: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(ts))
