"""Many jobs, a slice at a time."""

import asyncio
from itertools import pairwise

import pytest

from hermes_iris.slices import SLICE, Slices
from support import wait_until


@pytest.mark.parametrize(("cost", "together"), [(SLICE, 1), (SLICE / 4, 4)])
async def test_jobs_run_in_order_a_slice_in_each_turn_of_the_loop(cost: float, together: int) -> None:
    now, done, turns = 0.0, list[int](), list[int]()
    slices = Slices(lambda: now)

    def job(n: int) -> None:
        nonlocal now
        now += cost
        done.append(n)

    for n in range(100):
        slices.add(lambda n=n: job(n))
    assert slices.busy
    while slices.busy:
        await asyncio.sleep(0)
        turns.append(len(done))
    assert done == list(range(100))
    assert {after - before for before, after in pairwise([0, *turns[:-1]])} == {together}


async def test_a_job_that_fails_costs_no_other_its_turn(caplog: pytest.LogCaptureFixture) -> None:
    slices, done = Slices(), list[int]()
    slices.add(lambda: done.append(1 // 0))
    slices.add(lambda: done.append(2))
    await wait_until(lambda: not slices.busy)
    assert done == [2]
    assert "ZeroDivisionError" in caplog.text
