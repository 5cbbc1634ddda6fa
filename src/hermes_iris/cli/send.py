"""`iris send`: say something in a lane and print the answer."""

import argparse
import asyncio
import sys
from pathlib import Path

from ..address import Lane
from ..client import Client, new_id
from ..errors import IrisError
from ..protocol.frames import (
    Commentary,
    Message,
    MessageSend,
    MessageStop,
    ServerFrame,
    ToolEnd,
    ToolStart,
    TurnEnded,
)
from .connection import add_arguments, client_of, lane_of


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("send", help="say something and print the answer")
    parser.add_argument("text", nargs="?", default="", help="what to say; - reads it from standard input")
    parser.add_argument(
        "--file", type=Path, action="append", default=[], metavar="PATH", help="send a file along; may be repeated"
    )
    add_arguments(parser)
    parser.add_argument("--no-wait", action="store_true", help="return as soon as the message is stored")
    parser.add_argument("--quiet", action="store_true", help="print the answer only, not what the agent does")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Send, then wait for the end of the turn; 1 when the turn failed."""
    text = sys.stdin.read() if args.text == "-" else args.text
    if not text.strip() and not args.file:
        raise IrisError("there is nothing to say")
    return asyncio.run(_send(client_of(args), args, text))


async def _send(client: Client, args: argparse.Namespace, text: str) -> int:
    async with client:
        lane = lane_of(client, args)
        files = [await client.upload(path) for path in args.file]
        request = MessageSend(
            client_id=new_id(),
            chat_id=lane.chat_id,
            thread_id=lane.thread_id,
            text=text,
            attachments=[file.id for file in files],
        )
        await client.request(request)
        if args.no_wait:
            return 0
        echoed = False
        async for frame in client.frames():
            if isinstance(frame, Message) and frame.client_id == request.client_id:
                if frame.sender is not None:  # a room: who answers, and whether, is up to its members
                    return 0 if frame.state == "complete" else 1
                echoed = True
            elif echoed and _concerns(frame, lane) and (code := _show(frame, text, quiet=args.quiet)) is not None:
                return code
    return 1


def _concerns(frame: ServerFrame, lane: Lane) -> bool:
    return (getattr(frame, "chat_id", None), getattr(frame, "thread_id", None)) == lane


def _show(frame: ServerFrame, text: str, *, quiet: bool) -> int | None:
    """Print a frame; the exit code when it was the last one of the turn."""
    doing = None
    match frame:
        case Message(role="notice", text=notice):
            if text.startswith("/"):  # a command of the host has no turn: its notice is the answer
                print(notice)
                return 0
            doing = notice
        case Message(role="assistant", kind="final", attachments=[_, *_] as files, text=caption):
            print("\n".join([caption, *(f"📎 {file.name} ({file.size} bytes)" for file in files)]).strip())
        case Message(role="assistant", kind="final", text=answer) | MessageStop(kind="final", final_text=answer):
            print(answer)
        case MessageStop(final_text=said) | Commentary(text=said):
            doing = said
        case ToolStart(name=name, preview=preview):
            doing = f"… {name}: {preview}"
        case ToolEnd(name=name, state=state, duration=duration):
            doing = f"{'✓' if state == 'ok' else '✗'} {name} ({state}, {duration:.1f} s)"
        case TurnEnded(outcome=outcome) if outcome != "interrupted":  # an interrupted one is followed by another
            return 0 if outcome == "success" else 1
        case _:
            pass
    if doing and not quiet:
        print(doing, file=sys.stderr)
    return None
