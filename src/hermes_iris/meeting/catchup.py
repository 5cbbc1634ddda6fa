"""How what was said in an absence, and what is said meanwhile, become one stream. Pure.

After a join, live messages are held while the archive is paged from the last message that was told on, to its end; then
those that the archive did not have are told. Invariants: each message comes once, in the order of the archive; a
message that was told on earlier never comes again; when the archive no longer has the place where it was left, that is
said (`gap`), never passed over.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

PAGE = 50
"""Messages that are asked for at once."""

STEPS_BACK = (1, 4, 20)
"""How far back, in messages, an older place is looked for when the archive does not know the last one."""


class Numbered(Protocol):
    """Anything with a place in an archive."""

    @property
    def archive_id(self) -> str:
        """Its id there."""


E = TypeVar("E", bound=Numbered)


@dataclass(frozen=True, slots=True)
class Ask:
    """A page of the archive that is wanted: the first messages after an id, or the last ones before one.

    With neither it begins at the beginning; an empty `before` is the end.
    """

    after: str | None = None
    before: str | None = None
    limit: int = PAGE


@dataclass(frozen=True, slots=True)
class Page(Generic[E]):
    """A page of the archive."""

    entries: Sequence[E]
    ids: Sequence[str]
    """Of everything on it, also of what has no text."""
    complete: bool
    """Nothing lies beyond it, in the direction of asking."""


class CatchUp(Generic[E]):
    """The way back into a room.

    Args:
        heard: archive ids that were told on, newest first; "" for the beginning of the archive; empty before the first
            join of all.
        history: how many messages before the first join are told.
    """

    def __init__(self, heard: Sequence[str], history: int = 0) -> None:
        self._history = history
        self._told = set(heard)
        self._held: list[E] = []
        self._before: list[E] = []
        self._before_ids: list[str] = []
        self._places = [heard[back] for back in (0, *STEPS_BACK) if back < len(heard)]
        self.place: str | None = None
        """Where a first join begins, once that is known; to be remembered before anything is told."""
        self.gap = False
        """Whether the archive did not reach back to the last message that was told on."""
        self.ask: Ask | None = _after(self._places.pop(0)) if heard else Ask(before="")
        """The next page to ask for; None at the end."""

    def hold(self, entry: E) -> None:
        """Keep a live message until the archive has been read."""
        self._held.append(entry)

    def unknown(self) -> None:
        """The archive does not know the place: try an older one, at last the beginning."""
        older = self._places.pop(0) if self._places else ""
        self.gap = not older
        self.ask = _after(older)

    def page(self, ask: Ask, page: Page[E]) -> list[E]:
        """Take the page that was asked for; gives what is to be told now."""
        if ask.before is not None:
            return self._back(page)
        self.ask = None if page.complete or not page.ids else _after(page.ids[-1])
        return self._fresh(page.entries)

    def release(self) -> list[E]:
        """What was held and is not told yet, once there is nothing more to ask for."""
        held, self._held = self._held, []
        return self._fresh(held)

    def _back(self, page: Page[E]) -> list[E]:
        """Find the place at which a first join begins: so much before everything that is heard live."""
        self._before = [*page.entries, *self._before]
        self._before_ids = [*page.ids, *self._before_ids]
        live = {entry.archive_id for entry in self._held}
        older = [archive_id for archive_id in self._before_ids if archive_id not in live]
        if len(older) <= self._history and page.ids and not page.complete:
            self.ask = Ask(before=page.ids[0])
            return []
        begin = max(0, len(older) - self._history)
        self.place = older[begin - 1] if begin else ""
        self.ask = _after(older[-1] if older else "")
        wanted = set(older[begin:])
        return self._fresh([entry for entry in self._before if entry.archive_id in wanted])

    def _fresh(self, entries: Sequence[E]) -> list[E]:
        fresh = []
        for entry in entries:
            if entry.archive_id not in self._told:
                self._told.add(entry.archive_id)
                fresh.append(entry)
        return fresh


def _after(archive_id: str) -> Ask:
    return Ask(after=archive_id or None)
