"""A gateway that is killed in the middle of a stream: nothing is lost or doubled, nothing stays open."""

from pathlib import Path

from hermes_iris.client import Client, new_id
from hermes_iris.protocol.frames import (
    HelloAck,
    History,
    Message,
    MessageSend,
    MessageStop,
    MessageUpdate,
    ServerFrame,
    ToolCard,
    TurnEnded,
    TurnStarted,
)

from .gateway import Gateway, gateway, settings, within
from .story import CHAT, play


async def until(client: Client, gateway: Gateway, kind: type, count: int = 1, text: str = "") -> list[ServerFrame]:
    """The frames up to the `count`-th of a kind (whose text holds `text`)."""

    async def collect() -> list[ServerFrame]:
        frames: list[ServerFrame] = []
        async for frame in client.frames():
            frames.append(frame)
            if sum(isinstance(f, kind) and text in getattr(f, "text", "") for f in frames) >= count:
                return frames
        return frames

    frames: list[ServerFrame] = await within(60, collect(), gateway)
    return frames


async def test_kill_in_the_middle_of_a_stream(host_python: Path, model: str, tmp_path: Path) -> None:
    with gateway(host_python, tmp_path / "home", settings(), model) as running:
        async with running.client() as client:
            await play(client, running, "rehearse tool")
            request = MessageSend(client_id=new_id(), chat_id=CHAT, text="rehearse slow")
            await client.request(request)
            # Enough text that some of it has been saved: that happens once a second.
            before = await until(client, running, MessageUpdate, count=12)
            running.kill()
            running.start()

            after = await until(client, running, TurnEnded)
            (ack,) = [frame for frame in after if isinstance(frame, HelloAck)]
            assert ack.mode == "resumed"
            closed = after[after.index(ack) + 1 :]
            (stop,) = [frame for frame in closed if isinstance(frame, MessageStop)]
            (ended,) = [frame for frame in closed if isinstance(frame, TurnEnded)]
            (started,) = [frame for frame in before if isinstance(frame, TurnStarted)]
            assert (stop.kind, stop.state) == ("partial", "aborted")
            assert stop.final_text.startswith("This answer is slow")
            assert (ended.turn_id, ended.outcome) == (started.turn_id, "interrupted")

            # The same request again, as a client does that never saw its answer: it is not a second message.
            await client.request(request)
            await play(client, running, "rehearse plain")
            page = await client.request(History(client_id=new_id(), chat_id=CHAT))

    said = [entry for entry in page.entries if isinstance(entry, Message)]
    assert [entry.text for entry in said if entry.role == "user"] == [
        "rehearse tool",
        "rehearse slow",
        "rehearse plain",
    ]
    assert len({entry.message_id for entry in said}) == len(said)
    assert [entry.order for entry in page.entries] == sorted(entry.order for entry in page.entries)
    assert [entry.kind for entry in said if entry.role == "assistant"].count("partial") == 1
    assert all(entry.state != "running" for entry in page.entries if isinstance(entry, ToolCard))
