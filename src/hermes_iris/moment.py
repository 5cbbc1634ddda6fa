"""A place in the order of things: what everything is sorted and named by."""

from typing import NamedTuple

SPAN = 64
"""Places that one moment may use up: everything that one host call brings forth is ordered inside its moment."""


class Moment(NamedTuple):
    """When something happened, as a place in the order and as a time."""

    order: int
    """Microseconds since 1970, pushed forward where needed so that moments never collide or go back."""

    ts: float
    """Seconds since 1970."""

    def at(self, place: int) -> "Moment":
        """The moment's `place`-th place, counted from 0; places past `SPAN` share the last one."""
        return Moment(self.order + min(place, SPAN - 1), self.ts)

    def name(self, kind: str) -> str:
        """An id that sorts by age, e.g. `m_65a…` for kind `m`."""
        return f"{kind}_{self.order:014x}"
