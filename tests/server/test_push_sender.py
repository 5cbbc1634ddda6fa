"""Letters on their way: what is tried again, what takes whose place, and what is never sent."""

import asyncio
from collections.abc import Callable, Sequence

import pytest

from hermes_iris.address import Lane
from hermes_iris.protocol.frames import PushPreferences
from hermes_iris.push import sender
from hermes_iris.push.sender import Letter, Sender, Verdict
from hermes_iris.store.pushes import Subscription
from support import wait_until

A, B = Lane("android:default"), Lane("android:chan_7")
PHONE = Subscription("phone", "https://push.example/1", "", "", PushPreferences())
DELIVERED, LATER, REFUSED, GONE = (
    Verdict("delivered"),
    Verdict("later"),
    Verdict("refused"),
    Verdict("gone"),
)


def letter(text: str, *, closes: bool = False) -> Letter:
    return Letter(text.encode(), 60, "high", "topic", closes)


class Service:
    """Takes letters, and answers as it is told."""

    def __init__(self, *verdicts: Verdict) -> None:
        self.verdicts = list(verdicts)
        self.taken: list[tuple[str, str]] = []
        self.gone: list[Subscription] = []
        self.held: asyncio.Event | None = None
        self.busy = 0
        self.busiest = 0

    async def deliver(self, subscription: Subscription, sent: Letter) -> Verdict:
        self.taken.append((subscription.device_id, sent.body.decode()))
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        try:
            if self.held is not None:
                await self.held.wait()
        finally:
            self.busy -= 1
        return self.verdicts.pop(0) if self.verdicts else DELIVERED

    def sender(self, gather: float = 0.0, pauses: Sequence[float] = (0.0, 0.0)) -> Sender:
        return Sender(self.deliver, self.gone.append, gather, tuple(pauses))

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.taken]


async def settled(service: Service, condition: Callable[[], object]) -> None:
    """Wait for a condition, and then until nothing more would come of itself."""
    await wait_until(condition)
    for _ in range(5):
        await asyncio.sleep(0)
    assert condition()


async def test_of_a_lane_only_the_newest_is_sent() -> None:
    service = Service()
    sending = service.sender()
    for text in ("one", "two"):
        sending.put(PHONE, A, letter(text))
    sending.put(PHONE, B, letter("other"))
    await settled(service, lambda: service.texts == ["two", "other"])
    await sending.stop()


async def test_a_call_that_never_left_is_taken_back_without_a_word() -> None:
    service = Service()
    sending = service.sender()
    sending.put(PHONE, A, letter("one"))
    sending.take_back(PHONE, A, letter("close", closes=True))
    sending.put(PHONE, B, letter("other"))
    await settled(service, lambda: service.texts == ["other"])
    await sending.stop()


async def test_a_call_that_left_is_closed_once() -> None:
    service = Service()
    sending = service.sender()
    sending.put(PHONE, A, letter("one"))
    await wait_until(lambda: service.texts == ["one"])
    for _ in range(2):
        sending.take_back(PHONE, A, letter("close", closes=True))
    await settled(service, lambda: service.texts == ["one", "close"])
    sending.take_back(PHONE, A, letter("close", closes=True))
    sending.put(PHONE, B, letter("other"))
    await settled(service, lambda: service.texts == ["one", "close", "other"])
    await sending.stop()


async def test_a_call_that_is_on_its_way_is_closed_behind_it() -> None:
    service = Service()
    service.held = asyncio.Event()
    sending = service.sender()
    sending.put(PHONE, A, letter("one"))
    await wait_until(lambda: service.busy)
    sending.take_back(PHONE, A, letter("close", closes=True))
    service.held.set()
    await settled(service, lambda: service.texts == ["one", "close"])
    await sending.stop()


async def test_it_is_tried_again_and_what_is_newer_takes_its_place() -> None:
    service = Service(LATER, LATER)
    held = service.held = asyncio.Event()
    sending = service.sender(pauses=(0.0, 0.0))
    sending.put(PHONE, A, letter("one"))
    await wait_until(lambda: service.busy)
    sending.put(PHONE, A, letter("two"))
    held.set()
    await settled(service, lambda: service.texts == ["one", "two", "two"])
    await sending.stop()


async def test_it_is_not_tried_for_ever(caplog: pytest.LogCaptureFixture) -> None:
    service = Service(*[LATER] * 9)
    sending = service.sender(pauses=(0.0, 0.0))
    sending.put(PHONE, A, letter("one"))
    await settled(service, lambda: service.texts == ["one"] * 3)
    assert "again and again" in caplog.text
    service.verdicts.clear()
    sending.put(PHONE, A, letter("two"))
    await settled(service, lambda: service.texts[3:] == ["two"])
    await sending.stop()


async def test_what_is_taken_back_is_not_tried_again() -> None:
    service = Service(LATER)
    sending = service.sender(pauses=(0.05,))
    sending.put(PHONE, A, letter("one"))
    await wait_until(lambda: service.texts)
    await wait_until(lambda: not service.busy)
    sending.take_back(PHONE, A, None)
    sending.put(PHONE, B, letter("other"))
    await settled(service, lambda: service.texts == ["one", "other"])
    await sending.stop()


@pytest.mark.parametrize(("asked", "pause"), [(0.3, 0.3), (10_000_000.0, sender.LONGEST_PAUSE)])
async def test_a_service_that_asks_for_patience_gets_some(
    asked: float, pause: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    sleep = asyncio.sleep

    async def noted(delay: float) -> None:
        slept.append(delay)
        await sleep(0)

    monkeypatch.setattr(sender.asyncio, "sleep", noted)
    service = Service(Verdict("later", asked))
    sending = service.sender(pauses=(0.1,))
    sending.put(PHONE, A, letter("one"))
    while len(service.texts) < 2:
        await sleep(0)
    assert slept == [0.0, pause]
    await sending.stop()


async def test_a_refused_letter_is_dropped() -> None:
    service = Service(REFUSED)
    sending = service.sender()
    sending.put(PHONE, A, letter("one"))
    sending.put(PHONE, B, letter("two"))
    await settled(service, lambda: service.texts == ["one", "two"])
    assert service.gone == []
    await sending.stop()


async def test_a_place_that_is_gone_is_told_once_and_gets_nothing_more() -> None:
    service = Service(GONE)
    sending = service.sender()
    sending.put(PHONE, A, letter("one"))
    sending.put(PHONE, B, letter("two"))
    await settled(service, lambda: service.gone == [PHONE])
    assert service.texts == ["one"]
    await sending.stop()


async def test_a_place_that_was_changed_meanwhile_is_not_gone() -> None:
    service = Service(GONE)
    service.held = asyncio.Event()
    sending = service.sender()
    sending.put(PHONE, A, letter("one"))
    await wait_until(lambda: service.busy)
    sending.put(PHONE._replace(endpoint="https://push.example/2"), B, letter("two"))
    service.held.set()
    await settled(service, lambda: service.texts == ["one", "two"])
    assert service.gone == []
    await sending.stop()


async def test_a_device_that_is_dropped_gets_nothing_more() -> None:
    service = Service()
    sending = service.sender()
    sending.put(PHONE, A, letter("one"))
    sending.drop(PHONE.device_id)
    other = PHONE._replace(device_id="desk")
    sending.put(other, A, letter("two"))
    await settled(service, lambda: service.taken == [("desk", "two")])
    await sending.stop()


async def test_of_many_lanes_the_newest_wait() -> None:
    service = Service()
    sending = service.sender()
    for number in range(sender.MAX_LANES + 5):
        sending.put(PHONE, Lane(f"android:chan_{number}"), letter(str(number)))
    await settled(service, lambda: len(service.texts) == sender.MAX_LANES)
    assert service.texts[0] == "5"
    await sending.stop()


async def test_one_delivery_at_a_time_goes_to_a_device_and_a_few_altogether() -> None:
    service = Service()
    service.held = asyncio.Event()
    sending = service.sender()
    for number in range(sender.AT_ONCE + 5):
        for lane in (A, B):
            sending.put(PHONE._replace(device_id=f"d{number}"), lane, letter("x"))
    await wait_until(lambda: service.busy == sender.AT_ONCE)
    assert len({device for device, _ in service.taken}) == sender.AT_ONCE
    service.held.set()
    await wait_until(lambda: len(service.taken) == 2 * (sender.AT_ONCE + 5))
    assert service.busiest == sender.AT_ONCE
    await sending.stop()


async def test_a_fault_of_ours_drops_what_waits_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    service = Service()
    faults = [RuntimeError("a fault of ours")]

    async def deliver(subscription: Subscription, sent: Letter) -> Verdict:
        if faults:
            raise faults.pop()
        return await service.deliver(subscription, sent)

    sending = Sender(deliver, service.gone.append, 0.0, ())
    sending.put(PHONE, A, letter("one"))
    await wait_until(lambda: "a fault of ours" in caplog.text)
    sending.put(PHONE, A, letter("two"))
    await settled(service, lambda: service.texts == ["two"])
    await sending.stop()


async def test_stopping_ends_what_is_under_way() -> None:
    service = Service()
    service.held = asyncio.Event()
    sending = service.sender()
    sending.put(PHONE, A, letter("one"))
    await wait_until(lambda: service.busy)
    await sending.stop()
    assert service.busy == 0
