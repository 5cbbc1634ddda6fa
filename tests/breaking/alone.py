"""A gateway without Hermes in a process of its own: the real store, hub, server, courier and watcher.

In the place of the host stands an actor that plays streaming turns with tools, as the adapter and the hooks would tell
them. `Alone` starts and kills that process; run as a script this file is the process.
"""

import asyncio
import logging
import os
import random
import signal
import sys
from pathlib import Path

from hermes_iris.address import Lane
from hermes_iris.config import Home, Settings
from hermes_iris.host import Context
from hermes_iris.hub import Hub
from hermes_iris.protocol.frames import Channel, Message
from hermes_iris.service import Service
from hermes_iris.turns import calls
from hermes_iris.turns.calls import Origin
from host.gateway import Gateway
from support import FakeHost

TESTS = Path(__file__).parents[1]


class Alone(Gateway):
    """That process, from outside."""

    @property
    def command(self) -> list[str]:
        return [str(self.python), __file__, str(self.home), str(self.port)]

    @property
    def environment(self) -> dict[str, str]:
        paths = [str(TESTS.parent / "src"), str(TESTS), str(TESTS / "server")]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


class Actor(FakeHost):
    """Plays a turn for each message, in order within a lane, at most one at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.ready: asyncio.Future[Hub] = asyncio.get_running_loop().create_future()
        self._waiting: dict[Lane, list[Message]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def deliver(self, message: Message, channel: Channel, context: Context) -> None:
        lane = Lane(message.chat_id, message.thread_id)
        if lane in self._waiting:
            self._waiting[lane].append(message)
            return
        self._waiting[lane] = [message]
        task = asyncio.create_task(self._work(lane))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def title(self, lane: Lane) -> str | None:
        return f"About {lane.thread_id}"

    async def stop(self, lane: Lane) -> None:
        await (await self.ready).call(lane, calls.Processed("cancelled"))

    async def _work(self, lane: Lane) -> None:
        hub = await self.ready
        while self._waiting[lane]:
            await _turn(hub, lane, self._waiting[lane][0])
            del self._waiting[lane][0]
        del self._waiting[lane]


async def _turn(hub: Hub, lane: Lane, message: Message) -> None:
    chance, turn = random.Random(message.text), f"turn of {message.message_id}"
    await hub.call(lane, calls.TypingSet(True))
    await asyncio.to_thread(hub.post, lane, calls.TurnBegan(turn))
    for number in range(chance.choice([0, 0, 1, 2])):
        remark, call = f"Let me look, {number}.", f"call {number} of {message.message_id}"
        await _stream(hub, lane, turn, remark, chance, more=True)
        await asyncio.to_thread(hub.post, lane, calls.ToolBegan(turn, call, "terminal", {"command": f"echo {number}"}))
        await asyncio.sleep(chance.random() / 20)
        done = calls.ToolDone(turn, call, "ok", 0.25, f'{{"output": "{number}", "exit_code": 0}}')
        await asyncio.to_thread(hub.post, lane, done)
    await _stream(hub, lane, turn, f"The answer to {message.text}.", chance, more=False)
    hub.post(lane, calls.TurnReported(turn, "success"))
    await hub.call(lane, calls.Processed("success"))


async def _stream(hub: Hub, lane: Lane, turn: str, text: str, chance: random.Random, *, more: bool) -> None:
    bubble = (await hub.call(lane, calls.Sent("", Origin.PREVIEW))).name("m")
    for end in range(1, len(text), 4):
        await asyncio.sleep(chance.random() / 100)
        await hub.call(lane, calls.Edited(bubble, text[:end], final=False))
    await asyncio.to_thread(hub.post, lane, calls.ModelReplied(turn, text, more))
    await hub.call(lane, calls.Edited(bubble, text, final=True))


async def main(root: Path, port: int) -> None:
    """Run until SIGTERM."""
    logging.basicConfig(level=logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)  # hundreds of connections
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    actor = Actor()
    service = await Service.start(Home(root), Settings(port=port), actor, "0.0.0")
    actor.ready.set_result(service.hub)
    await ended.wait()
    await service.stop()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
