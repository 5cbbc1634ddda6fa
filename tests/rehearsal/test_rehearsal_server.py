"""The server on a real loopback socket."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from hermes_iris.errors import SetupError
from hermes_iris.rehearsal import server

SOURCE = Path(server.__file__).parents[2]


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with server.running() as url, httpx.Client(base_url=url, timeout=20, trust_env=False) as client:
        yield client


def body(said: str, **more: Any) -> dict[str, Any]:
    return {"model": "iris-rehearsal", "messages": [{"role": "user", "content": said}], **more}


def test_it_listens_on_loopback_only(client: httpx.Client) -> None:
    assert client.base_url.host == "127.0.0.1"


def test_the_models_are_listed_with_their_context_length(client: httpx.Client) -> None:
    (card,) = client.get("/models").json()["data"]
    assert (card["id"], card["context_length"]) == ("iris-rehearsal", 200_000)
    assert client.get("/models/iris-rehearsal").json() == card
    missing = client.get("/models/another")
    assert missing.status_code == 404
    assert "iris-rehearsal" in missing.json()["error"]["message"]


def test_a_stream_is_server_sent_events_up_to_done(client: httpx.Client) -> None:
    with client.stream("POST", "/chat/completions", json=body("rehearse plain", stream=True)) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in response.iter_lines() if line]
    assert lines[-1] == "data: [DONE]"
    deltas = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    text = "".join(choice["delta"].get("content", "") for delta in deltas for choice in delta["choices"])
    assert "plain answer" in text
    assert "usage" in deltas[-1]


def test_without_stream_the_answer_comes_whole(client: httpx.Client) -> None:
    first = client.post("/chat/completions", json=body("rehearse plainnr")).json()
    again = client.post("/chat/completions", json=body("rehearse plainnr")).json()
    assert "plain answer" in first["choices"][0]["message"]["content"]
    assert first["id"] != again["id"]


@pytest.mark.parametrize("stream", [True, False])
def test_error_is_an_http_error_in_openai_form(client: httpx.Client, stream: bool) -> None:
    response = client.post("/chat/completions", json=body("rehearse error", stream=stream))
    assert response.status_code == 500
    assert response.json()["error"]["type"] == "server_error"


DEEP = b'{"messages": [{"role": "user", "content": ' + b"[" * 100_000


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"messages": "x"}', b"\xff", DEEP])
def test_a_malformed_request_is_refused_politely(client: httpx.Client, content: bytes) -> None:
    response = client.post("/chat/completions", content=content)
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_a_request_over_the_limit_is_refused(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_BODY", 1000)
    response = client.post("/chat/completions", json=body("x" * 1000))
    assert response.status_code == 413
    assert "1000 bytes" in response.json()["error"]["message"]


def test_a_port_in_use_is_a_setup_error(client: httpx.Client) -> None:
    with pytest.raises(SetupError, match="cannot listen"):
        server.serve(client.base_url.port or 0, 0, lambda url: None)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_command_cleanly_in_the_middle_of_an_answer(number: signal.Signals) -> None:
    code = (
        "import argparse; from hermes_iris.cli import rehearsal; parser = argparse.ArgumentParser();"
        "rehearsal.add(parser.add_subparsers()); args = parser.parse_args(['rehearsal', '--port', '0', '--pace', '1']);"
        "raise SystemExit(args.run(args))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("rehearsal model on http://127.0.0.1:")
        url = line.split()[-1]
        slow = body("rehearse slow", stream=True)
        with httpx.stream("POST", f"{url}/chat/completions", json=slow, timeout=20, trust_env=False) as response:
            lines = response.iter_lines()  # kept: the connection closes with it
            assert next(lines).startswith("data: ")
            process.send_signal(number)
            out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.parametrize("wrong", [["--port", "70000"], ["--port", "x"], ["--pace", "-1"], ["--pace", "nan"]])
def test_wrong_usage_is_refused(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    import argparse

    from hermes_iris.cli import rehearsal

    parser = argparse.ArgumentParser()
    rehearsal.add(parser.add_subparsers())
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args(["rehearsal", *wrong])
    assert stopped.value.code == 2
    assert wrong[0] in capsys.readouterr().err
