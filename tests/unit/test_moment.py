"""Places in the order of things."""

from hypothesis import given, strategies as st

from hermes_iris.moment import SPAN, Moment

orders = st.integers(0, 2**53 - 1 - SPAN)


@given(orders, orders)
def test_names_sort_as_their_moments_do(left: int, right: int) -> None:
    names = (Moment(left, 0.0).name("m"), Moment(right, 0.0).name("m"))
    assert (names[0] < names[1]) == (left < right)
    assert (names[0] == names[1]) == (left == right)


@given(orders, st.integers(0, 2 * SPAN))
def test_every_place_of_a_moment_lies_before_the_next_moment(order: int, place: int) -> None:
    moment = Moment(order, 1.5)
    assert moment.order <= moment.at(place).order < order + SPAN
    assert moment.at(place).ts == moment.ts


def test_places_count_from_the_moment_itself() -> None:
    moment = Moment(640, 1.5)
    assert moment.at(0) == moment
    assert [moment.at(place).order for place in (1, 2, SPAN - 1, SPAN, 10 * SPAN)] == [641, 642, 703, 703, 703]


def test_a_name_is_short_and_says_its_kind() -> None:
    assert Moment(1_700_000_000_000_000, 0.0).name("m") == "m_060a24181e4000"
    assert Moment(1_700_000_000_000_000, 0.0).name("turn").startswith("turn_")
