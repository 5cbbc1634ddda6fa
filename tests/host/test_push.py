"""A device is called by real hosts, with what they bring along, for what their agent says and asks."""

import os
from collections.abc import Iterator

import pytest

import push_service
from hermes_iris.client import new_id
from hermes_iris.protocol.frames import PushGet, PushPreferences, PushSubscribe
from push_service import PushService
from support import wait_until

from .gateway import Gateway
from .story import CHAT, play

pytestmark = pytest.mark.parametrize("mode", ["streaming"], indirect=True, scope="module")


@pytest.fixture(scope="module", autouse=True)
def allowed() -> Iterator[None]:
    """The gateway of this module may call on loopback; it is started after this."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IRIS_PUSH_HOSTS", "127.0.0.1")
        yield
    assert "IRIS_PUSH_HOSTS" not in os.environ


@pytest.fixture
def service() -> Iterator[PushService]:
    with push_service.running() as service:
        yield service


async def test_an_answer_calls_once_and_what_comes_before_it_never(running: Gateway, service: PushService) -> None:
    browser = service.subscribe()
    async with running.client() as client:
        state = await client.request(PushGet(client_id=new_id()))
        assert (state.available, state.why) == (True, "")
        told = browser.subscription
        wishes = PushPreferences(details=True)
        keys = {name: told[name] for name in ("endpoint", "p256dh", "auth")}
        await client.request(PushSubscribe(client_id=new_id(), preferences=wishes, **keys))
        story = await play(client, running, "rehearse tool2")
        await wait_until(lambda: browser.received)
    assert service.refused == []
    (note,) = browser.notes
    assert (note["type"], note["chat_id"], note["kind"]) == ("push.note", CHAT, "final")
    assert note["title"] == "Default"
    assert " ".join(story.answer_text.split()).startswith(note["text"].rstrip("…")[:100])
