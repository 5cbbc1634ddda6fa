"""The clock: moments never collide, whoever minted them."""

import pytest
from hypothesis import given, strategies as st

from hermes_iris import clock
from hermes_iris.clock import Clock
from hermes_iris.moment import SPAN

times = st.lists(st.floats(0, 2**32), min_size=1, max_size=8)


@given(times, st.integers(0, 2**52), st.booleans())
def test_each_moment_is_later_than_all_before_whatever_the_time_is(told: list[float], last: int, beside: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock.time, "time", iter(told).__next__)
        minting = Clock(last, beside=beside)
        orders = [minting.now().order for _ in told]
    assert all(later >= earlier + SPAN for earlier, later in zip([last, *orders], orders, strict=False))


@given(times, times, st.integers(0, 2**52))
def test_a_gateway_and_a_process_beside_it_share_no_place(here: list[float], there: list[float], last: int) -> None:
    """Also when neither knows what the other one has minted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock.time, "time", iter([*here, *there]).__next__)
        gateway, beside = Clock(last), Clock(last, beside=True)
        ours = [gateway.now() for _ in here]
        theirs = [beside.now() for _ in there]
    used = [{moment.at(place).order for moment in moments for place in range(SPAN)} for moments in (ours, theirs)]
    assert used[0].isdisjoint(used[1])
