"""The way back into a room: whatever comes when, each message is told once and in order, or a gap is."""

from dataclasses import dataclass, field

from hypothesis import given, strategies as st

from hermes_iris.meeting.catchup import PAGE, Ask, CatchUp, Page


@dataclass(frozen=True)
class Entry:
    archive_id: str


@dataclass
class Archive:
    """A room's archive, as servers page it; every `silent` entry has no text."""

    ids: list[str] = field(default_factory=list)
    silent: set[str] = field(default_factory=set)
    most: int = 30
    """Whatever is asked for: servers have a limit of their own."""

    def knows(self, ask: Ask) -> bool:
        return not ask.after or ask.after in self.ids

    def page(self, ask: Ask) -> Page[Entry]:
        most = min(ask.limit, self.most)
        if ask.before is not None:
            rest = self.ids[: self.ids.index(ask.before) if ask.before else None]
            ids = rest[-most:]
        else:
            rest = self.ids[self.ids.index(ask.after) + 1 if ask.after else 0 :]
            ids = rest[:most]
        return Page([Entry(one) for one in ids if one not in self.silent], ids, len(rest) <= most)


def numbered(*numbers: int) -> list[str]:
    return [f"m{number}" for number in numbers]


def catch_up(archive: Archive, back: CatchUp[Entry], live: dict[int, int] | None = None) -> list[str]:
    """Go the whole way; before the step of a number in `live` that many messages are said."""
    told: list[str] = []
    step = 0
    while True:
        for _ in range((live or {}).get(step, 0)):
            new = f"m{len(archive.ids) + 1_000}"
            archive.ids.append(new)
            back.hold(Entry(new))
        step += 1
        ask = back.ask
        if ask is None:
            return told + [entry.archive_id for entry in back.release()]
        if archive.knows(ask):
            told += [entry.archive_id for entry in back.page(ask, archive.page(ask))]
        else:
            back.unknown()


def test_a_first_join_tells_nothing_that_was_said_before() -> None:
    back: CatchUp[Entry] = CatchUp([])
    assert catch_up(Archive(numbered(1, 2, 3)), back) == []
    assert (back.place, back.gap) == ("m3", False)


def test_a_first_join_of_an_empty_room_begins_at_the_beginning() -> None:
    back: CatchUp[Entry] = CatchUp([])
    assert catch_up(Archive(), back) == []
    assert back.place == ""


def test_a_first_join_tells_as_much_as_is_asked_for() -> None:
    back: CatchUp[Entry] = CatchUp([], history=2)
    assert catch_up(Archive(numbered(1, 2, 3)), back) == numbered(2, 3)
    assert back.place == "m1"
    all_of_it: CatchUp[Entry] = CatchUp([], history=9)
    assert catch_up(Archive(numbered(1, 2, 3)), all_of_it) == numbered(1, 2, 3)
    assert all_of_it.place == ""


def test_what_is_said_during_a_first_join_is_told() -> None:
    archive = Archive(numbered(1))
    back: CatchUp[Entry] = CatchUp([])
    assert catch_up(archive, back, {0: 3, 1: 2}) == archive.ids[1:]
    assert back.place == "m1"


def test_a_later_join_tells_what_was_missed() -> None:
    archive = Archive([f"m{number}" for number in range(3 * PAGE)])
    back: CatchUp[Entry] = CatchUp(numbered(1, 0))
    assert catch_up(archive, back) == archive.ids[2:]
    assert (back.place, back.gap) == (None, False)


def test_entries_without_text_are_passed_over() -> None:
    archive = Archive([f"m{number}" for number in range(2 * PAGE)], {f"m{number}" for number in range(PAGE + 5)})
    assert catch_up(archive, CatchUp(["m0"])) == archive.ids[PAGE + 5 :]


def test_an_archive_that_lost_its_end_is_read_from_an_older_place() -> None:
    back: CatchUp[Entry] = CatchUp(numbered(5, 4, 3, 2, 1))
    assert catch_up(Archive(numbered(1, 2, 3, 6)), back) == ["m6"]
    assert not back.gap


def test_an_archive_that_no_longer_reaches_back_is_a_gap() -> None:
    back: CatchUp[Entry] = CatchUp(numbered(2, 1))
    assert catch_up(Archive(numbered(8, 9)), back) == numbered(8, 9)
    assert back.gap


def test_a_room_that_was_made_anew_is_a_gap() -> None:
    back: CatchUp[Entry] = CatchUp(["m2", ""])
    assert catch_up(Archive(numbered(8)), back) == ["m8"]
    assert back.gap


@given(
    before=st.integers(0, 2 * PAGE),
    missed=st.integers(0, 3 * PAGE),
    silent=st.sets(st.integers(0, 5 * PAGE)),
    live=st.dictionaries(st.integers(0, 6), st.integers(0, PAGE)),
    lost=st.integers(0, 3),
)
def test_each_message_is_told_once_and_in_order(
    before: int, missed: int, silent: set[int], live: dict[int, int], lost: int
) -> None:
    """Whatever is said while the archive is read, and also when it has lost the last few messages that were heard."""
    old = [f"old{number}" for number in range(before)]
    heard = [*reversed(old), ""]
    kept = old[: max(0, before - lost)]
    fresh = [f"new{number}" for number in range(missed)]
    archive = Archive(kept + fresh, {f"new{number}" for number in silent})
    back: CatchUp[Entry] = CatchUp(heard)
    told = catch_up(archive, back, live)
    assert told == [one for one in archive.ids if one not in archive.silent and one not in kept]


@given(st.integers(0, 3 * PAGE), st.integers(0, 2 * PAGE), st.dictionaries(st.integers(0, 6), st.integers(0, 2 * PAGE)))
def test_a_first_join_tells_history_and_all_that_comes(said: int, history: int, live: dict[int, int]) -> None:
    before = [f"old{number}" for number in range(said)]
    archive = Archive(list(before))
    back: CatchUp[Entry] = CatchUp([], history)
    told = catch_up(archive, back, live)
    begin = max(0, said - history)
    assert told == archive.ids[begin:]
    assert back.place == (before[begin - 1] if begin else "")
