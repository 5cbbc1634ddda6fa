"""The command line beside a real gateway, as a person or a script uses it."""

import os
import subprocess
from pathlib import Path

import pytest

from .gateway import Gateway

pytestmark = pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module")


def iris(running: Gateway, *args: str, said: str = "") -> subprocess.CompletedProcess[str]:
    """Run `iris` from the gateway's own environment."""
    env = {**os.environ, "HERMES_HOME": str(running.home)}
    env.pop("PYTHONPATH", None)
    return subprocess.run(
        [running.python, "-m", "hermes_iris.cli", *args],
        input=said,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_send_prints_the_answer_and_tells_what_the_agent_does(running: Gateway) -> None:
    done = iris(running, "send", "rehearse tool")
    assert done.returncode == 0, done.stderr
    assert "The run was real." in done.stdout
    assert "I'll look around first." in done.stderr
    assert "✓ terminal" in done.stderr
    assert "I'll look around first." not in done.stdout


def test_send_reads_standard_input_and_can_be_quiet(running: Gateway) -> None:
    done = iris(running, "send", "--quiet", "-", said="rehearse plainnr\n")
    assert done.stdout.startswith("A plain answer")
    assert done.stderr == ""


def test_slash_command_is_answered_by_its_notice(running: Gateway) -> None:
    done = iris(running, "send", "/status")
    assert done.returncode == 0
    assert done.stdout.strip()


def test_send_takes_files_along_and_tells_those_of_the_agent(running: Gateway, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("rehearse echoctx about the tulips", encoding="utf-8")
    done = iris(running, "send", "--quiet", "--file", str(notes))
    assert done.returncode == 0, done.stderr
    assert "tulips" in done.stdout
    assert "📎 rehearsal.png (" in iris(running, "send", "--quiet", "rehearse media").stdout
    missing = iris(running, "send", "--file", str(tmp_path / "missing.txt"))
    assert (missing.returncode, missing.stderr.count("\n")) == (1, 1)
    assert "missing.txt" in missing.stderr
    assert "[notes.txt]" in iris(running, "tail", "-n", "20", "--no-follow").stdout


def test_failed_turn_is_an_exit_code(running: Gateway) -> None:
    assert iris(running, "send", "--quiet", "rehearse error").returncode == 1


def test_channels_by_name(running: Gateway) -> None:
    made = iris(running, "channels", "create", "Build Log")
    assert made.returncode == 0, made.stderr
    address = made.stdout.strip()
    assert iris(running, "channels", "automation", "build log", "on").returncode == 0
    assert "[automation]" in next(
        line for line in iris(running, "channels").stdout.splitlines() if line.startswith(address)
    )

    assert iris(running, "channels", "create", "Pipelines", "--thread").returncode == 0
    for setting in (["automation", "Default / Pipelines", "on"], ["default", "Default / Pipelines"]):
        of_a_thread = iris(running, "channels", *setting)
        assert (of_a_thread.returncode, "this is a thread" in of_a_thread.stderr) == (1, True)

    refused = iris(running, "send", "--to", "Build Log", "hello")
    assert refused.returncode == 1
    assert "read-only" in refused.stderr
    assert "Traceback" not in refused.stderr

    assert iris(running, "channels", "rename", "Build Log", "Builds").returncode == 0
    assert iris(running, "channels", "delete", "Builds").returncode == 0
    assert "Builds" not in iris(running, "channels").stdout
    assert iris(running, "channels", "restore", "Builds").returncode == 0
    assert "Builds" in iris(running, "channels").stdout

    unknown = iris(running, "send", "--to", "No Such Channel", "hello")
    assert unknown.returncode == 1
    assert "no channel has this name" in unknown.stderr


def test_tail_tells_what_was_said(running: Gateway) -> None:
    iris(running, "send", "--quiet", "rehearse plainnr")
    done = iris(running, "tail", "-n", "2", "--no-follow")
    lines = done.stdout.splitlines()
    assert "user: rehearse plainnr" in lines[0]
    assert "assistant: A plain answer" in lines[1]


def test_without_a_gateway_it_is_one_line(running: Gateway, tmp_path: Path) -> None:
    done = iris(running, "send", "--home", str(tmp_path), "hello")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "no gateway runs" in done.stderr
