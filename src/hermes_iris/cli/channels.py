"""`iris channels`: list the directory and change it."""

import argparse
import asyncio
from collections.abc import Callable

from msgspec.structs import replace

from ..address import Lane, full_name, living, resolve, spell
from ..client import Client, new_id
from ..errors import Unsupported
from ..protocol.frames import (
    Channel,
    ChannelCreate,
    ChannelDelete,
    ChannelRename,
    ChannelRestore,
    ChannelSetAutomation,
    ChannelSetDefault,
    ChannelSetThreads,
    DirectoryChange,
)
from ..protocol.types import ChatId
from .connection import add_home, client_of, greeting_of

Make = Callable[[argparse.Namespace, list[Channel]], DirectoryChange]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("channels", help="list channels and threads, make, rename and delete them")
    add_home(parser)
    parser.set_defaults(run=run, make=None, all=False)
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    listing = actions.add_parser("list", help="print each channel and thread with its address (the default action)")
    listing.add_argument("--all", action="store_true", help="deleted ones too")
    _action(actions, "create", "make a channel, or a thread under the default one", _create).add_argument(
        "--thread", action="store_true", help="make a thread"
    )
    _action(actions, "rename", "give one another name", _rename).add_argument("new_name")
    _action(actions, "delete", "hide one; its history stays", _delete)
    _action(actions, "restore", "take a deletion back", _restore)
    _action(actions, "default", "make one the default channel", _default)
    _on_off(_action(actions, "automation", "make one read-only for people, or open it", _automation))
    _on_off(_action(actions, "threads", "split the default channel in threads, or show it flat", _threads))


def run(args: argparse.Namespace) -> int:
    """List, or carry one change out."""
    return asyncio.run(_run(client_of(args), args))


async def _run(client: Client, args: argparse.Namespace) -> int:
    async with client:
        entries = greeting_of(client).directory
        if args.make is None:
            for entry in entries if args.all else living(entries):
                print(_line(entry, entries))
            return 0
        answer = await client.request(args.make(args, entries))
        print(spell(Lane(answer.chat_id, answer.thread_id)))
    return 0


def _action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, text: str, make: Make
) -> argparse.ArgumentParser:
    action = actions.add_parser(name, help=text)
    action.add_argument("channel", help="its name or address" if name != "create" else "its name")
    action.set_defaults(make=make)
    return action


def _on_off(action: argparse.ArgumentParser) -> None:
    action.add_argument("state", choices=["on", "off"])


def _create(args: argparse.Namespace, entries: list[Channel]) -> DirectoryChange:
    if not args.thread:
        return ChannelCreate(client_id=new_id(), name=args.channel)
    default = next(entry for entry in entries if entry.is_default)
    return ChannelCreate(client_id=new_id(), name=args.channel, kind="thread", parent_chat_id=default.chat_id)


def _rename(args: argparse.Namespace, entries: list[Channel]) -> DirectoryChange:
    lane = resolve(args.channel, entries)
    return ChannelRename(client_id=new_id(), chat_id=lane.chat_id, thread_id=lane.thread_id, name=args.new_name)


def _delete(args: argparse.Namespace, entries: list[Channel]) -> DirectoryChange:
    lane = resolve(args.channel, entries)
    return ChannelDelete(client_id=new_id(), chat_id=lane.chat_id, thread_id=lane.thread_id)


def _restore(args: argparse.Namespace, entries: list[Channel]) -> DirectoryChange:
    deleted = [entry for entry in entries if entry.archived]
    channels = [entry for entry in entries if entry.thread_id is None and not entry.archived]
    lane = resolve(args.channel, [*channels, *(_shown(entry) for entry in deleted)])
    return ChannelRestore(client_id=new_id(), chat_id=lane.chat_id, thread_id=lane.thread_id)


def _default(args: argparse.Namespace, entries: list[Channel]) -> DirectoryChange:
    return ChannelSetDefault(client_id=new_id(), chat_id=_channel(args.channel, entries))


def _automation(args: argparse.Namespace, entries: list[Channel]) -> DirectoryChange:
    return ChannelSetAutomation(client_id=new_id(), chat_id=_channel(args.channel, entries), on=args.state == "on")


def _threads(args: argparse.Namespace, entries: list[Channel]) -> DirectoryChange:
    return ChannelSetThreads(client_id=new_id(), chat_id=_channel(args.channel, entries), on=args.state == "on")


def _channel(target: str, entries: list[Channel]) -> ChatId:
    """What a setting of whole channels is about. Raises `Unsupported` for a thread: its channel was not meant."""
    lane = resolve(target, entries)
    if lane.thread_id is not None:
        raise Unsupported("this is a thread; only whole channels have this setting")
    return lane.chat_id


def _line(entry: Channel, entries: list[Channel]) -> str:
    marks = [
        name
        for name, is_set in (
            ("default", entry.is_default),
            ("automation", entry.automation),
            ("threads", entry.threads),
            ("deleted", entry.archived),
            (f"cron jobs: {entry.cron_jobs}", entry.cron_jobs > 0),
        )
        if is_set
    ]
    marked = f"  [{', '.join(marks)}]" if marks else ""
    return f"{spell(Lane(entry.chat_id, entry.thread_id)):32} {full_name(entry, entries)}{marked}"


def _shown(entry: Channel) -> Channel:
    return replace(entry, archived=False)
