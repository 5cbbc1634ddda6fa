"""Search and history through a running gateway: scopes, qualifiers, pages, and sessions of the host."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hermes_iris.address import Lane
from hermes_iris.host import HostSession
from hermes_iris.protocol.frames import Channel, Hit, SessionLine, SnippetPart
from hermes_iris.store import channels
from hermes_iris.turns import calls
from support import CHAT, FakeHost, Gateway, Wire, gateway

ELSEWHERE = [
    Hit(session_id=f"cli_{n}", session="Deploying", role="user", snippet=[SnippetPart(text="deploy", hit=True)], ts=1.0)
    for n in range(1, 4)
]


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with gateway(tmp_path) as running:
        yield running


@pytest.fixture
async def wire(running: Gateway) -> AsyncIterator[Wire]:
    async with running.wire() as wire:
        yield wire


async def answer(running: Gateway, text: str, lane: Lane = Lane(CHAT)) -> None:  # noqa: B008 - immutable
    await running.service.hub.call(lane, calls.Sent(text))


async def channel(wire: Wire, name: str) -> Lane:
    return Lane((await wire.ask("channel.create", name=name, kind="channel"))["chat_id"])


async def thread_under(running: Gateway, lane: Lane, name: str) -> Lane:
    """A thread as the gateway itself opens it under any channel."""
    entry = Channel(chat_id=lane.chat_id, thread_id="t_1", name=name, kind="thread", created=1.0)
    await running.service.store.write(lambda conn: channels.put(conn, entry))
    return Lane(lane.chat_id, "t_1")


async def search(wire: Wire, query: str, **fields: Any) -> dict[str, Any]:
    found = await wire.ask("search", query=query, **fields)
    assert found["type"] == "search.results", found
    return found


def texts(found: dict[str, Any]) -> list[str]:
    return ["".join(part["text"] for part in hit["snippet"]) for hit in found["hits"]]


# ---------------------------------------------------------------- search


async def test_what_was_just_said_is_found_newest_first(running: Gateway, wire: Wire) -> None:
    await wire.say("deploy one")
    await answer(running, "deploy two")
    await wire.say("something else")
    found = await search(wire, "Deploy")
    assert texts(found) == ["deploy two", "deploy one"]
    assert [hit["role"] for hit in found["hits"]] == ["notice", "user"]
    assert "cursor" not in found or found["cursor"] is None


async def test_a_hit_opens_at_its_message(running: Gateway, wire: Wire) -> None:
    for n in range(9):
        await wire.say("needle" if n == 4 else f"text {n}")
    (hit,) = (await search(wire, "needle"))["hits"]
    page = await wire.ask("history", chat_id=hit["chat_id"], around=hit["order"], limit=3)
    assert [entry["text"] for entry in page["entries"]] == ["text 3", "needle", "text 5"]
    assert (page["has_more"], page["has_newer"]) == (True, True)
    assert page["entries"][1]["message_id"] == hit["message_id"]


async def test_a_scope_and_a_channel_by_its_name_narrow_down(running: Gateway, wire: Wire) -> None:
    lane = await channel(wire, "Two Words")
    thread = await thread_under(running, lane, "A Thread")
    for text, where in (("deploy here", Lane(CHAT)), ("deploy there", lane), ("deploy under it", thread)):
        await answer(running, text, where)
    assert texts(await search(wire, "deploy", scope="chat", chat_id=lane.chat_id)) == [
        "deploy under it",
        "deploy there",
    ]
    only = await search(wire, "deploy", scope="chat", chat_id=thread.chat_id, thread_id=thread.thread_id)
    assert texts(only) == ["deploy under it"]
    for query in ('channel:"Two Words" deploy', 'deploy channel:"two words"', f"deploy channel:{lane.chat_id}"):
        assert texts(await search(wire, query)) == ["deploy under it", "deploy there"]
    assert texts(await search(wire, 'deploy channel:"Two Words / A Thread"')) == ["deploy under it"]
    assert texts(await search(wire, "deploy channel:default")) == ["deploy here"]
    assert texts(await search(wire, "channel:default")) == []


async def test_a_scope_of_one_chat_must_say_which(running: Gateway, wire: Wire) -> None:
    """Everything would be found otherwise, and look as if it were said there."""
    await answer(running, "deploy")
    refused = await wire.ask("search", query="deploy", scope="chat")
    assert (refused["type"], refused.get("code")) == ("error", "invalid_frame")
    assert "$.chat_id" in refused["message"]


@pytest.mark.parametrize("query", ["deploy channel:Nowhere", 'deploy channel:"Two Wo', "channel:No"])
async def test_a_channel_that_is_not_there_has_nothing(running: Gateway, wire: Wire, query: str) -> None:
    """Nothing in a query is an error: a person is still typing the name."""
    await answer(running, "deploy")
    assert (await search(wire, query))["hits"] == []


async def test_an_archived_channel_is_searched_too_and_its_hit_opens(running: Gateway, wire: Wire) -> None:
    lane = await channel(wire, "Old")
    await answer(running, "deploy", lane)
    await wire.ask("channel.delete", chat_id=lane.chat_id)
    (hit,) = (await search(wire, "deploy"))["hits"]
    assert hit["chat_id"] == lane.chat_id
    page = await wire.ask("history", chat_id=lane.chat_id, around=hit["order"])
    assert [entry["text"] for entry in page["entries"]] == ["deploy"]


@pytest.mark.parametrize("order", ["newest", "best"])
async def test_pages_join_by_their_cursor(running: Gateway, wire: Wire, order: str) -> None:
    for n in range(7):
        await answer(running, f"deploy {n}")
    joined: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(3):
        found = await search(wire, "deploy", order=order, limit=3, **cursor)
        joined += texts(found)
        cursor = {"cursor": found["cursor"]} if found.get("cursor") else {}
    assert cursor == {}
    assert sorted(joined) == [f"deploy {n}" for n in range(7)]
    assert order == "best" or joined == sorted(joined, reverse=True)


@pytest.mark.parametrize("cursor", ["", "x", "-1", "0", "1e3", "9" * 18, "9" * 64, "٣", "²", "\0"])
@pytest.mark.parametrize("order", ["newest", "best"])
async def test_no_cursor_is_a_fault_of_ours(running: Gateway, wire: Wire, cursor: str, order: str) -> None:
    await answer(running, "deploy")
    told = await wire.ask("search", query="deploy", cursor=cursor, order=order)
    assert told["type"] == "search.results" or told["code"] == "invalid_frame", told


@pytest.mark.parametrize("query", ["", '"', "NEAR(", "*", "\0", "\ud800", "role:", 'channel:"', "(" * 500])
async def test_no_query_is_an_error(wire: Wire, query: str) -> None:
    raw = query.encode("utf-8", "replace").decode()
    assert (await search(wire, raw))["hits"] == []


# ---------------------------------------------------------------- sessions of the host


async def collect(wire: Wire, query: str, **fields: Any) -> list[str]:
    """The hits of every page: the text of ours, the session of the host's."""
    joined: list[str] = []
    cursor: dict[str, str] = {}
    for _ in range(9):
        found = await search(wire, query, **fields, **cursor)
        joined += [hit.get("session_id") or text for hit, text in zip(found["hits"], texts(found), strict=True)]
        if not found.get("cursor"):
            return joined
        cursor = {"cursor": found["cursor"]}
    raise AssertionError("there is no last page")


@pytest.mark.parametrize("order", ["newest", "best"])
@pytest.mark.parametrize("ours", [0, 1, 2, 3, 4, 5])
async def test_the_host_s_sessions_come_after_all_of_ours(running: Gateway, wire: Wire, ours: int, order: str) -> None:
    running.host.elsewhere = ELSEWHERE[:1]
    for n in range(ours):
        await answer(running, f"deploy {n}")
    joined = await collect(wire, "deploy", limit=2, order=order)
    assert joined[-1:] == ["cli_1"]
    assert sorted(joined[:-1]) == [f"deploy {n}" for n in range(ours)]


async def test_the_host_fills_up_a_page_and_no_more(running: Gateway, wire: Wire) -> None:
    running.host.elsewhere = ELSEWHERE
    await answer(running, "deploy")
    assert len((await search(wire, 'role:user "deploy now"', limit=3))["hits"]) == 3
    assert len((await search(wire, "deploy", limit=3))["hits"]) == 3
    assert running.host.searched == [(("deploy now",), "user", 3), (("deploy",), None, 2)]


async def test_the_host_is_asked_only_about_everything(running: Gateway, wire: Wire) -> None:
    running.host.elsewhere = ELSEWHERE
    await answer(running, "deploy")
    await search(wire, "deploy", scope="chat", chat_id=CHAT)
    await search(wire, "deploy channel:default")
    await search(wire, "role:user")
    await search(wire, "...")
    assert running.host.searched == []


async def test_a_session_of_the_host_is_read(running: Gateway, wire: Wire) -> None:
    host: FakeHost = running.host
    host.sessions["cli_1"] = HostSession("Deploying", "cli", [SessionLine(role="user", text="deploy", ts=1.0)])
    told = await wire.ask("session.get", session_id="cli_1")
    assert (told["type"], told["title"], told["source"]) == ("session", "Deploying", "cli")
    assert told["lines"] == [{"role": "user", "text": "deploy", "ts": 1.0}]
    refused = await wire.ask("session.get", session_id="cli_2")
    assert (refused["code"], refused["message"][:12]) == ("not_found", "$.session_id")


# ---------------------------------------------------------------- history


@pytest.mark.parametrize(
    "places",
    [
        {"before": 5, "after": 5},
        {"before": 5, "around": 0},
        {"after": 0, "around": 5},
        {"before": 0, "after": 0, "around": 0},
    ],
)
async def test_the_places_of_a_window_exclude_each_other(wire: Wire, places: dict[str, int]) -> None:
    refused = await wire.ask("history", chat_id=CHAT, **places)
    assert refused["code"] == "invalid_frame"
    assert all(f"$.{name}" in refused["message"] for name in ("before", "after", "around"))


async def test_history_goes_on_after_a_place(running: Gateway, wire: Wire) -> None:
    for n in range(5):
        await wire.say(f"text {n}")
    last = await wire.ask("history", chat_id=CHAT, limit=4)
    assert (last["has_more"], last.get("has_newer", False)) == (True, False)
    place = last["entries"][0]["order"]
    page = await wire.ask("history", chat_id=CHAT, after=place, limit=2)
    assert [entry["text"] for entry in page["entries"]] == ["text 2", "text 3"]
    assert (page["has_more"], page["has_newer"]) == (True, True)
    refused = await wire.ask("history", chat_id="android:nowhere", around=place)
    assert refused["code"] == "not_found"
