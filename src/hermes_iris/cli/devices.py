"""`iris devices`: list the paired devices, name one, or shut one out."""

import argparse
import asyncio
import time

from ..client import Client, new_id
from ..errors import NotFound
from ..protocol.frames import Device, DeviceList, DeviceRename, DeviceRevoke
from .connection import add_home, client_of


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = commands.add_parser("devices", help="list the paired devices, name one, or shut one out")
    add_home(parser)
    parser.add_argument("--rename", nargs=2, metavar=("DEVICE", "NAME"), help="call this device something else")
    parser.add_argument("--revoke", metavar="DEVICE", help="shut this device out, by its id or its name")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """List, rename or revoke."""
    return asyncio.run(_run(client_of(args), args.rename, args.revoke))


async def _run(client: Client, rename: tuple[str, str] | None, revoke: str | None) -> int:
    async with client:
        listed = (await client.request(DeviceList(client_id=new_id()))).devices
        if rename is not None:
            device, name = _named(rename[0], listed), rename[1]
            await client.request(DeviceRename(client_id=new_id(), device_id=device.id, name=name))
            print(f"{device.name} ({device.id}) is called {name} now")
            return 0
        if revoke is not None:
            device = _named(revoke, listed)
            await client.request(DeviceRevoke(client_id=new_id(), device_id=device.id))
            print(f"{device.name} ({device.id}) is shut out")
            return 0
    for device in listed:
        print(_line(device))
    return 0


def _named(name: str, listed: list[Device]) -> Device:
    found = [device for device in listed if name in (device.id, device.name)]
    if len(found) != 1:
        raise NotFound("no device has this id or name" if not found else "several devices are called so; give an id")
    return found[0]


def _line(device: Device) -> str:
    seen = time.strftime("%Y-%m-%d %H:%M", time.localtime(device.last_seen)) if device.last_seen else "never"
    marks = " (connected)" if device.connected else ""
    return f"{device.id}  {device.kind:6}  {device.name}  last seen {seen}{marks}"
