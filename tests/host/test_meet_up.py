"""`iris meet up`, as somebody uses it: one command, a person in the app, an answer, and nothing left over."""

import asyncio
import os
import signal
import subprocess
import time
from pathlib import Path

from hermes_iris.cli.meet_up import APP
from hermes_iris.client import new_id
from hermes_iris.config import Home
from hermes_iris.endpoints import running as running_endpoint
from hermes_iris.protocol.frames import HelloAck, Message, MessageSend, RoomState

from .gateway import Gateway

START = 180.0
"""Seconds that a server, a model and three gateways may take on a busy machine."""

TURN = 60.0


def processes_below(folder: Path) -> list[str]:
    """The command lines of processes that have to do with a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except OSError:
            continue  # no process, or one that has just ended
        if entry.name.isdecimal() and int(entry.name) != os.getpid() and str(folder).encode() in words:
            found.append((entry / "cmdline").read_text().replace("\0", " "))
    return found


def begin(python: Path, folder: Path, log: Path) -> "subprocess.Popen[bytes]":
    """Start a meeting, and wait until it is ready."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "HERMES_HOME")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [python, "-m", "hermes_iris.cli", "meet", "up", "--folder", folder],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    deadline = time.monotonic() + START
    while b"Ctrl+C ends the meeting" not in log.read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(log.read_text())
        time.sleep(0.1)
    return process


async def test_a_meeting_to_try_out(host_python: Path, tmp_path: Path) -> None:
    folder, log = tmp_path / "meeting", tmp_path / "up.log"
    process = await asyncio.to_thread(begin, host_python, folder, log)
    try:
        endpoint = running_endpoint(Home(folder / APP).endpoint)
        assert endpoint is not None
        gateway = Gateway(host_python, folder / APP, int(endpoint.url.rpartition(":")[2]))
        async with gateway.client() as client, asyncio.timeout(TURN):
            frames = client.frames()
            greeting = await anext(frames)
            assert isinstance(greeting, HelloAck)
            (room,) = [entry for entry in greeting.directory if entry.kind == "room"]
            async for frame in frames:
                if isinstance(frame, RoomState) and sum(member.here for member in frame.members) == 4:
                    break
            text = "@xiaoguo rehearse plainnr"
            await client.request(MessageSend(client_id=new_id(), chat_id=room.chat_id, text=text))
            async for frame in frames:
                if isinstance(frame, Message) and frame.sender is not None and frame.sender.name == "xiaoguo":
                    assert "A plain answer" in frame.text
                    break
    finally:
        process.send_signal(signal.SIGINT)
        ended = await asyncio.to_thread(process.wait, 60)
    printed = log.read_text()
    assert ended == 0, printed
    assert "/#pair=" in printed
    assert processes_below(folder) == []
