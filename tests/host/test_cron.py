"""Cron reports of real hosts: each spelling of a target lands in its lane, by the gateway and by other processes."""

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from hermes_iris.client import Client, new_id
from hermes_iris.protocol.frames import (
    ChannelCreate,
    ChannelCreated,
    ChannelRenamed,
    ChannelSetDefault,
    CronList,
    CronSetTarget,
    Event,
    History,
    Message,
    MessageSend,
    TurnEnded,
)

from .gateway import Gateway, gateway, settings, within

TICK = 90.0
"""Seconds within which the host's scheduler looks at its jobs: once a minute."""

TEXT = "A plain answer of the rehearsal model, without any thought before it."


@dataclass
class Made:
    """A gateway with a channel, a thread under the default channel, and a thread under that channel's reports."""

    running: Gateway
    python: Path
    channel: str
    thread: str

    def host(self, code: str, *, check: bool = True) -> str:
        """Run Python in the host's environment, as another process of the same home."""
        done = subprocess.run(
            [self.python, "-c", code],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert not check or done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    def command(self, *args: str) -> str:
        """Run a `hermes` command in another process."""
        done = subprocess.run(
            [self.python, "-m", "hermes_cli.main", *args],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
        )
        return done.stdout + done.stderr

    @property
    def environment(self) -> dict[str, str]:
        env = {
            **os.environ,
            "HERMES_HOME": str(self.running.home),
            "HERMES_GATEWAY_LOCK_DIR": str(self.running.home),
            "HERMES_DISABLE_LAZY_INSTALLS": "1",
        }
        env.pop("PYTHONPATH", None)
        return env

    def make_jobs(
        self, jobs: dict[str, dict[str, object]], *, now: bool, prompt: str = "rehearse plainnr"
    ) -> dict[str, str]:
        """Make jobs through the host, each by name with its `deliver` and what else; returns their ids by name."""
        made = self.host(
            "import json\n"
            "from cron.jobs import create_job, trigger_job\n"
            f"prompt = {prompt!r}\n"
            f"wanted = json.loads({json.dumps(json.dumps(jobs))})\n"
            "jobs = {n: create_job(prompt, 'every 1h', name=n, **more) for n, more in wanted.items()}\n"
            f"for job in jobs.values() if {now} else ():\n"
            "    trigger_job(job['id'])\n"
            "print('MADE' + json.dumps({n: job['id'] for n, job in jobs.items()}))"
        )
        return dict(json.loads(made.rpartition("MADE")[2]))


@pytest.fixture(scope="module")
def made(host_python: Path, model: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    with ExitStack() as stack:
        home = tmp_path_factory.mktemp("cron") / "home"
        running = stack.enter_context(gateway(host_python, home, settings(), model))
        channel, thread = asyncio.run(_directory(running))
        yield Made(running, host_python, channel, thread)


async def _directory(running: Gateway) -> tuple[str, str]:
    async with running.client() as client:
        channel = await client.request(ChannelCreate(client_id=new_id(), name="Cron Reports"))
        thread = await client.request(
            ChannelCreate(client_id=new_id(), name="Weekly", kind="thread", parent_chat_id="android:default")
        )
    return channel.chat_id, str(thread.thread_id)


@pytest.fixture
async def client(made: Made) -> AsyncIterator[Client]:
    async with made.running.client() as client:
        yield client


async def events_until(client: Client, made: Made, seconds: float, done: object) -> list[Event]:
    """The events up to the one with which a condition on all of them holds."""
    events: list[Event] = []

    async def collect() -> list[Event]:
        async for frame in client.frames():
            if isinstance(frame, Event):
                events.append(frame)
                if done(events):  # type: ignore[operator]
                    return events
        return events

    return list(await within(seconds, collect(), made.running))


def reports(events: list[Event]) -> dict[str, list[tuple[str, str | None, str]]]:
    """The reports among events, by the name of their job: lane and text of each."""
    told: dict[str, list[tuple[str, str | None, str]]] = {}
    for event in events:
        if isinstance(event, Message) and event.role == "cron" and event.job:
            told.setdefault(event.job.name, []).append((event.chat_id, event.thread_id, event.text))
    return told


async def test_every_spelling_of_a_target(made: Made, client: Client, host: str) -> None:
    """Fired by the host's own scheduler, through the running gateway."""
    default, channel, thread = "android:default", made.channel, made.thread
    in_thread = {"platform": "android", "chat_id": "default", "thread_id": thread}
    wanted: dict[str, tuple[dict[str, object], tuple[str, str | None]]] = {
        "bare": ({"deliver": "android"}, (default, None)),
        "address": ({"deliver": f"android:{channel}"}, (channel, None)),
        "thread": ({"deliver": f"android:android:default:{thread}"}, (default, thread)),
        "name": ({"deliver": "android:Cron Reports"}, (channel, None)),
        "other case": ({"deliver": "android:cron reports"}, (channel, None)),
        "origin": ({"deliver": "origin", "origin": in_thread}, (default, thread)),
    }
    if host == "v19":  # 0.22 itself gives up a report whose target it does not know
        wanted["nowhere"] = ({"deliver": "android:Nowhere At All"}, (default, None))
    else:
        made.make_jobs({"nowhere": {"deliver": "android:Nowhere At All"}}, now=True)
    in_flat_lane = {"platform": "android", "chat_id": "default"}
    continued: dict[str, object] = {"deliver": "origin", "origin": in_flat_lane, "attach_to_session": True}
    ids = made.make_jobs({**{name: job for name, (job, _) in wanted.items()}, "continued": continued}, now=True)

    def told_of_nowhere(events: list[Event]) -> bool:
        notices = [event for event in events if isinstance(event, Message) and event.role == "notice"]
        return any("Nowhere At All" in notice.text and notice.chat_id == default for notice in notices)

    def complete(events: list[Event]) -> bool:
        return len(reports(events)) == len(ids) and told_of_nowhere(events)

    events = await events_until(client, made, TICK, complete)
    told = reports(events)
    # A job that its conversation can go on from gets a thread, which the host asks for by name.
    opened = next(event.channel for event in events if isinstance(event, ChannelCreated))
    assert "continued" in opened.name
    assert told.pop("continued") == [(default, opened.thread_id, TEXT)]
    assert told == {name: [(*lane, TEXT)] for name, (_, lane) in wanted.items()}
    jobs = {event.job.id for event in events if isinstance(event, Message) and event.job}
    assert jobs == set(ids.values())


async def test_jobs_are_listed_and_counted(made: Made, client: Client) -> None:
    ids = made.make_jobs({"counted": {"deliver": f"android:{made.channel}"}}, now=False)
    listed = await client.request(CronList(client_id=new_id()))
    job = next(job for job in listed.jobs if job.id == ids["counted"])
    assert (job.name, job.enabled, job.chat_id, job.thread_id) == ("counted", True, made.channel, None)
    assert job.next_run is not None

    await client.request(
        CronSetTarget(client_id=new_id(), job_id=job.id, chat_id="android:default", thread_id=made.thread)
    )

    def moved(events: list[Event]) -> bool:
        badges = {e.channel.thread_id for e in events if isinstance(e, ChannelRenamed) and e.channel.cron_jobs > 0}
        return made.thread in badges

    await events_until(client, made, 20, moved)
    listed = await client.request(CronList(client_id=new_id()))
    assert {job.id: job.thread_id for job in listed.jobs}[ids["counted"]] == made.thread


@pytest.mark.parametrize("target", ["name", "address", "home"])
async def test_another_process_delivers_while_the_gateway_runs(made: Made, client: Client, target: str) -> None:
    """`hermes send` writes to the store; the gateway notices and every device sees it at once."""
    number = made.channel.rpartition("_")[2]
    spelled, lane = {
        "name": ("android:Cron Reports", made.channel),
        "address": (f"android:{number}", made.channel),
        "home": ("android", "android:default"),
    }[target]
    text = f"Posted from a script, by {target}."
    answer = made.command("send", "--to", spelled, text)

    def posted(events: list[Event]) -> bool:
        return any(isinstance(event, Message) and event.text == text for event in events)

    try:
        events = await events_until(client, made, 20, posted)
    except AssertionError as exc:
        raise AssertionError(answer) from exc
    message = next(event for event in events if isinstance(event, Message) and event.text == text)
    assert (message.chat_id, message.thread_id) == (lane, None)


async def test_another_process_knows_the_default_channel_of_now(made: Made, client: Client) -> None:
    await client.request(ChannelSetDefault(client_id=new_id(), chat_id=made.channel))
    try:
        answer = made.command("send", "--to", "android", "Without a target.")
    finally:
        await client.request(ChannelSetDefault(client_id=new_id(), chat_id="android:default"))
    page = await client.request(History(client_id=new_id(), chat_id=made.channel))
    assert "Without a target." in [entry.text for entry in page.entries if isinstance(entry, Message)], answer


async def test_files_of_a_report_follow_it(made: Made, client: Client) -> None:
    """Neither host says with a file which job it is of."""
    made.make_jobs({"painter": {"deliver": "android:Cron Reports"}}, now=True, prompt="rehearse media")

    def painted(events: list[Event]) -> bool:
        return any(isinstance(event, Message) and event.attachments for event in events)

    events = await events_until(client, made, TICK, painted)
    messages = [event for event in events if isinstance(event, Message) and event.role == "cron"]
    assert [(message.chat_id, message.job and message.job.name) for message in messages] == [
        (made.channel, "painter")
    ] * 2
    assert "seven stripes" in messages[0].text
    assert "MEDIA" not in messages[0].text
    assert [file.name for file in messages[1].attachments] == ["rehearsal.png"]


async def test_another_process_sends_a_file(made: Made, client: Client, tmp_path: Path) -> None:
    """`hermes send` names it like the agent does; it stands in the same message as the text."""
    chart = tmp_path / "chart.csv"
    chart.write_bytes(b"month,rain\n1,70\n")
    answer = made.command("send", "--to", "android:Cron Reports", f"The rain so far.\nMEDIA:{chart}")

    def posted(events: list[Event]) -> bool:
        return any(isinstance(event, Message) and event.attachments for event in events)

    try:
        events = await events_until(client, made, 20, posted)
    except AssertionError as exc:
        raise AssertionError(answer) from exc
    message = next(event for event in events if isinstance(event, Message) and event.attachments)
    assert (message.chat_id, message.text) == (made.channel, "The rain so far.")
    (file,) = message.attachments
    assert (file.name, file.type, file.size) == ("chart.csv", "text/csv", 16)
    await client.download(file.id, tmp_path / "back.csv")
    assert (tmp_path / "back.csv").read_bytes() == chart.read_bytes()


async def test_reply_to_a_report_brings_it_to_the_agent(made: Made, client: Client) -> None:
    """The answer goes on in a thread of the report, and the agent is given exactly the delivered text."""
    page = await client.request(History(client_id=new_id(), chat_id=made.channel))
    report = next(entry for entry in page.entries if isinstance(entry, Message) and entry.role == "cron")
    accepted = await client.request(
        MessageSend(client_id=new_id(), chat_id=made.channel, text="rehearse echoctx", reply_to=report.message_id)
    )
    assert accepted.thread_id is not None
    events = await events_until(client, made, 60, lambda events: any(isinstance(e, TurnEnded) for e in events))
    opened = next(event for event in events if isinstance(event, ChannelCreated))
    assert (opened.channel.chat_id, opened.channel.thread_id) == (made.channel, accepted.thread_id)
    answer = next(
        getattr(event, "final_text", getattr(event, "text", ""))
        for event in events
        if getattr(event, "role", "") == "assistant" and getattr(event, "kind", "") == "final"
    )
    assert TEXT[-60:] in answer


async def test_delivery_with_the_gateway_down(made: Made) -> None:
    """A job that another process runs while no gateway does is there when the gateway starts, once."""
    ids = made.make_jobs({"night shift": {"deliver": "android:Cron Reports"}}, now=True)
    made.running.stop()
    made.command("cron", "tick")
    made.running.start()
    async with made.running.client() as client:
        page = await client.request(History(client_id=new_id(), chat_id=made.channel, limit=200))
    told = [
        entry.text
        for entry in page.entries
        if isinstance(entry, Message) and entry.job and entry.job.id == ids["night shift"]
    ]
    assert told == [TEXT]
