"""The proof by breaking it: days over a bad network and a gateway that is killed. Its failures are told in full."""

import pytest

pytest.register_assert_rewrite("breaking.day", "breaking.phone")
