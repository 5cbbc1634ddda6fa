"""The tree of errors."""

from typing import get_args

import pytest

from hermes_iris import errors
from hermes_iris.errors import ErrorCode, IrisError, SetupError

TRAVELLING = [
    found
    for found in vars(errors).values()
    if isinstance(found, type) and issubclass(found, IrisError) and found not in (IrisError, SetupError)
]


@pytest.mark.parametrize("error", TRAVELLING)
def test_each_error_has_a_code_of_its_own(error: type[IrisError]) -> None:
    assert error.code in get_args(ErrorCode)
    assert [other for other in TRAVELLING if other.code == error.code] == [error]
    assert f"{error.__name__} " in (errors.__doc__ or "")
    assert f" {error.code} " in (errors.__doc__ or "")


def test_each_code_is_that_of_an_error() -> None:
    assert {error.code for error in TRAVELLING} | {"internal"} == set(get_args(ErrorCode))
    assert IrisError.code == SetupError.code == "internal"


def test_what_may_work_later_is_worth_another_try() -> None:
    assert {error.code for error in TRAVELLING if error.retryable} == {"busy", "disk_full", "rate_limited"}
