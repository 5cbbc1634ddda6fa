import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import announce

from hermes_iris import endpoints, processes
from hermes_iris.config import Home
from hermes_iris.processes import ChildFailed, Children, Program

LIMIT = 20.0

SLEEPS = "import signal; print('here', flush=True); signal.pause()"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('here', flush=True); signal.pause()"
SIGNS_OFF = (
    "import signal, sys; log = open(sys.argv[1], 'a');"
    "signal.signal(signal.SIGTERM, lambda *_: (log.write(sys.argv[2]), log.close(), sys.exit(0)));"
    "print('here', flush=True); signal.pause()"
)
POLITE = (
    "import signal, sys; signal.signal(signal.SIGINT, lambda *_: (print('bye', flush=True), sys.exit(0)));"
    "print('here', flush=True); signal.pause()"
)


def program(tmp_path: Path, code: str, stop: signal.Signals = signal.SIGTERM, name: str = "child") -> Program:
    return Program(f"the {name}", [sys.executable, "-c", code], dict(os.environ), tmp_path / f"{name}.log", stop)


def says(log: Path, word: bytes) -> Callable[[], bool]:
    return lambda: word in log.read_bytes()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def run_until_one_ends(*programs: Program) -> None:
    async with Children() as children:
        for each in programs:
            await children.start(each)
        await children.ended()


async def run_until_ready(
    *programs: Program, check: Callable[[], bool], limit: float, tell: Callable[[float], None]
) -> None:
    """Wait for the first of them to get ready."""
    async with Children() as children:
        for each in programs:
            await children.start(each)
        await children.ready(programs[0], check, limit, tell)


async def gone(pid: int) -> None:
    """Wait for the end of a process that is no child of this one."""
    descriptor = os.pidfd_open(pid)
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        asyncio.get_running_loop().remove_reader(descriptor)
        os.close(descriptor)


def quiet(passed: float) -> None:
    pass


async def test_leaving_ends_a_child_in_the_way_it_asked_for(tmp_path: Path) -> None:
    polite = program(tmp_path, POLITE, signal.SIGINT)
    async with Children() as children:
        pid = await children.start(polite)
        await children.ready(polite, says(polite.log, b"here"), LIMIT, quiet)
    assert not is_alive(pid)
    assert polite.log.read_text().split() == ["here", "bye"]


async def test_the_youngest_ends_first(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    async with Children() as children:
        for name in ("old ", "young "):
            child = program(tmp_path, SIGNS_OFF, name=name)
            child = child._replace(command=[*child.command, str(shared), name])
            await children.start(child)
            await children.ready(child, says(child.log, b"here"), LIMIT, quiet)
    assert shared.read_text().split() == ["young", "old"]


async def test_a_stubborn_child_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "GRACE", 0.05)
    stubborn = program(tmp_path, STUBBORN)
    async with Children() as children:
        pid = await children.start(stubborn)
        await children.ready(stubborn, says(stubborn.log, b"here"), LIMIT, quiet)
    assert not is_alive(pid)


async def test_a_second_interrupt_does_not_wait(tmp_path: Path) -> None:
    stubborn = program(tmp_path, STUBBORN)
    started = asyncio.Event()

    async def run() -> None:
        async with Children() as children:
            await children.start(stubborn)
            await children.ready(stubborn, says(stubborn.log, b"here"), LIMIT, quiet)
            started.set()
            await children.ended()

    task = asyncio.create_task(run())
    await asyncio.wait_for(started.wait(), LIMIT)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, processes.GRACE / 2)


async def test_a_child_that_ends_is_named_with_its_log(tmp_path: Path) -> None:
    broken = program(tmp_path, "print('something is wrong'); raise SystemExit(3)")
    with pytest.raises(ChildFailed, match=r"the child ended \(exit code 3\)") as caught:
        await run_until_one_ends(broken)
    assert processes.tail(caught.value.log) == "something is wrong"


async def test_a_child_that_is_killed_is_named_with_the_signal(tmp_path: Path) -> None:
    with pytest.raises(ChildFailed, match=r"\(SIGKILL\)"):
        await run_until_one_ends(program(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))


async def test_a_command_that_does_not_exist_is_a_child_that_ended(tmp_path: Path) -> None:
    missing = program(tmp_path, "")._replace(command=[str(tmp_path / "nothing")])
    with pytest.raises(ChildFailed, match="exit code"):
        await run_until_one_ends(missing)


async def test_another_child_that_ends_cuts_the_wait_short(tmp_path: Path) -> None:
    waited, broken = program(tmp_path, SLEEPS, name="waited"), program(tmp_path, "", name="broken")
    with pytest.raises(ChildFailed, match="the broken ended"):
        await run_until_ready(waited, broken, check=lambda: False, limit=LIMIT, tell=quiet)


async def test_a_child_that_never_gets_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "POLL", 0.01)
    monkeypatch.setattr(processes, "TELL", 0.01)
    told: list[float] = []
    slow = program(tmp_path, SLEEPS)
    with pytest.raises(ChildFailed, match="the child was not ready after 0 s"):
        await run_until_ready(slow, check=lambda: False, limit=0.2, tell=told.append)
    assert told


async def test_what_check_gives_is_handed_on(tmp_path: Path) -> None:
    async with Children() as children:
        await children.start(slept := program(tmp_path, SLEEPS))
        assert await children.ready(slept, lambda: "found", LIMIT, quiet) == "found"


async def test_children_do_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    """Only the Linux kernel tells children of a killed parent."""
    parent = (
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        "from hermes_iris.processes import Children, Program\n"
        "async def main():\n"
        f"    child = Program('the child', [sys.executable, '-c', {SLEEPS!r}], dict(os.environ), Path(sys.argv[1]))\n"
        "    async with Children() as children:\n"
        "        print(await children.start(child), flush=True)\n"
        "        await children.ready(child, lambda: b'here' in child.log.read_bytes(), 20, print)\n"
        "        print('ready', flush=True)\n"
        "        await children.ended()\n"
        "asyncio.run(main())\n"
    )
    command = [sys.executable, "-c", parent, str(tmp_path / "child.log")]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    pid = int(await asyncio.wait_for(process.stdout.readline(), LIMIT))
    assert await asyncio.wait_for(process.stdout.readline(), LIMIT) == b"ready\n"
    watcher = asyncio.create_task(gone(pid))
    await asyncio.sleep(0)
    assert not watcher.done()
    process.kill()
    await process.wait()
    await asyncio.wait_for(watcher, LIMIT)


async def test_a_log_holds_one_run_and_the_last_one_is_kept(tmp_path: Path) -> None:
    for word in ("one", "two", "three"):
        with pytest.raises(ChildFailed):
            await run_until_one_ends(program(tmp_path, f"print({word!r})"))
    assert (tmp_path / "child.log").read_text() == "three\n"
    assert (tmp_path / "child.1.log").read_text() == "two\n"


def test_the_tail_of_a_log_is_short(tmp_path: Path) -> None:
    log = tmp_path / "long.log"
    log.write_bytes(b"\xff" * 50_000 + b"\n" + b"".join(b"%d\n" % number for number in range(100)))
    assert processes.tail(log).splitlines() == [str(number) for number in range(80, 100)]


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"url": "http://127.0.0.1:1", "pid": 0}'])
def test_an_endpoint_file_that_means_nothing(home: Home, content: str) -> None:
    home.iris.mkdir()
    home.endpoint.write_text(content, encoding="utf-8")
    assert endpoints.running(home.endpoint) is None


def test_a_gateway_runs_when_its_process_lives_and_answers(home: Home, gateway_url: str) -> None:
    assert endpoints.running(home.endpoint) is None
    announce(home, gateway_url, os.getpid())
    assert endpoints.running(home.endpoint) == endpoints.Endpoint(gateway_url, os.getpid())
    announce(home, gateway_url, 2**22 + 1)
    assert endpoints.running(home.endpoint) is None
    announce(home, f"http://127.0.0.1:{endpoints.free_port()}", os.getpid())
    assert endpoints.running(home.endpoint) is None


@pytest.mark.parametrize("url", ["", "http://", "nonsense"])
def test_an_address_without_a_host_is_not_healthy(url: str) -> None:
    assert not endpoints.is_healthy(endpoints.Endpoint(url, 1))


def test_a_taken_port_is_said() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        assert endpoints.why_not_free("127.0.0.1", sock.getsockname()[1]) == "Address already in use"
    assert endpoints.why_not_free("127.0.0.1", 0) is None


def test_an_address_of_another_machine_is_said() -> None:
    assert endpoints.why_not_free("192.0.2.1", 8765) == "Cannot assign requested address"
