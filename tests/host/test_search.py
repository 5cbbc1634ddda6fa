"""Search beside real hosts: in our own lanes, and in what was said in a terminal."""

import os
import subprocess

import pytest

from hermes_iris.client import new_id
from hermes_iris.protocol.frames import History, Message, Search, SessionGet

from .gateway import Gateway
from .story import CHAT, play

pytestmark = pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module")


def chat_in_a_terminal(running: Gateway, text: str) -> str:
    env = {**os.environ, "HERMES_HOME": str(running.home), "HERMES_DISABLE_LAZY_INSTALLS": "1"}
    env.pop("PYTHONPATH", None)
    done = subprocess.run(
        [running.python, "-m", "hermes_cli.main", "chat", "-Q", "-q", text],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stdout + done.stderr


async def test_a_message_is_found_and_opens_where_it_was_said(running: Gateway) -> None:
    async with running.client() as client:
        await play(client, running, "rehearse plainnr about a wandering albatross, 信天翁")
        for query in ("albatross", "ALBATR", '"wandering albatross"', "天翁", "role:user albatross"):
            found = await client.request(Search(client_id=new_id(), query=query, scope="chat", chat_id=CHAT))
            hit = found.hits[0]
            assert (hit.chat_id, hit.role) == (CHAT, "user"), query
            assert any(part.hit for part in hit.snippet), query
            page = await client.request(History(client_id=new_id(), chat_id=CHAT, around=hit.order, limit=10))
            assert hit.message_id in [entry.message_id for entry in page.entries if isinstance(entry, Message)]


async def test_a_terminal_session_is_found_and_can_be_read(running: Gateway) -> None:
    said = chat_in_a_terminal(running, "rehearse plainnr with a quokka")
    async with running.client() as client:
        found = await client.request(Search(client_id=new_id(), query="quokka"))
        assert found.hits, said
        hit = found.hits[0]
        assert hit.chat_id is None
        assert hit.session_id is not None
        session = await client.request(SessionGet(client_id=new_id(), session_id=hit.session_id))
        assert any("quokka" in line.text for line in session.lines)
        assert [line.role for line in session.lines][-1] == "assistant"
        inside = await client.request(Search(client_id=new_id(), query="quokka", scope="chat", chat_id=CHAT))
        assert inside.hits == []
