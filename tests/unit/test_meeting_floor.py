"""What signals lead to: only who may give one changes anything, and what is over is over."""

from typing import Any

import msgspec
from hypothesis import given, strategies as st

from hermes_iris.meeting import floor
from hermes_iris.meeting.floor import MAX_EACH, Floor
from hermes_iris.meeting.guard import Guard
from hermes_iris.meeting.said import Said, Sender, SenderKind
from hermes_iris.meeting.signals import Lease, Resume, Revoke, Rule, Signal, Stop, Tripped

LIN = Sender("lin@example.org", "Lin", SenderKind.PERSON, own=True)
MOHE = Sender("mohe@example.org", "mohe", SenderKind.AGENT, own=False)
ZHIWEI = Sender("zhiwei@example.org", "zhiwei", SenderKind.AGENT, own=False)
GUEST = Sender("", "mohe", SenderKind.UNKNOWN, own=False)
HIDDEN = Sender("", "mohe", SenderKind.AGENT, own=False)


def said(sender: Sender, signal: Signal | None = None, **more: Any) -> Said:
    told = {"room": "r@c", "archive_id": "1", "origin_id": "", "text": "x", "ts": 5.0, "hop": 0, "notice": False}
    return Said(sender=sender, signal=signal, **{"reply_to": "", "late": False, **told, **more})


def run(*words: Said) -> Floor:
    result = Floor()
    for word in words:
        result = floor.after(result, word, Guard())
    return result


def test_a_person_stops_the_agents_and_lets_them_go_on() -> None:
    assert run(said(LIN, Stop())).stopped_by == "Lin"
    assert run(said(LIN, Stop()), said(MOHE)).stopped_by == "Lin"
    assert run(said(LIN, Stop()), said(LIN, Resume())) == Floor()


def test_a_persons_bare_word_is_as_good() -> None:
    assert run(said(LIN, text="停！")).stopped_by == "Lin"
    assert run(said(LIN, text=" Stop. ")).stopped_by == "Lin"
    assert run(said(LIN, Stop()), said(LIN, text="Go on!")) == Floor()
    assert run(said(LIN, text="stop it, mohe"), said(LIN, text="@mohe stop"), said(MOHE, text="stop")) == Floor()


def test_nobody_else_does() -> None:
    for sender in (MOHE, GUEST, HIDDEN):
        assert run(said(sender, Stop())) == Floor()
        assert run(said(LIN, Stop()), said(sender, Resume())).stopped_by == "Lin"


def test_an_agent_shares_renews_and_ends_its_own_session_only() -> None:
    shared = run(said(MOHE, Lease(60.0, "Oslo")), said(ZHIWEI, Lease(70.0)), said(MOHE, Lease(90.0, "Bergen")))
    assert [(lease.agent, lease.title, lease.until) for lease in shared.leases] == [
        ("zhiwei@example.org", "", 70.0),
        ("mohe@example.org", "Bergen", 90.0),
    ]
    assert floor.after(shared, said(ZHIWEI, Lease(0.0)), Guard()).leases == shared.leases[1:]
    assert floor.after(shared, said(LIN, Revoke("mohe@example.org")), Guard()) == shared, (
        "the agent has the last word on it"
    )


def test_who_is_no_agent_shares_nothing() -> None:
    for sender in (LIN, GUEST, HIDDEN):
        assert run(said(sender, Lease(60.0)), said(sender, Tripped(Rule.RUN))) == Floor()


def test_a_limit_without_a_time_lasts_until_a_person_speaks() -> None:
    limited = run(said(MOHE, Tripped(Rule.RUN)), said(ZHIWEI, Tripped(Rule.PAIR, 99.0)), said(MOHE))
    assert [(limit.name, limit.rule, limit.until) for limit in limited.limits] == [
        ("mohe", "run", 0.0),
        ("zhiwei", "pair", 99.0),
    ]
    assert [limit.name for limit in floor.after(limited, said(LIN), Guard()).limits] == ["zhiwei"]
    assert [limit.name for limit in floor.at(limited, 99.0).limits] == ["mohe"]


def test_what_is_over_goes_and_when_that_will_be_is_known() -> None:
    shared = run(said(MOHE, Lease(60.0)), said(ZHIWEI, Lease(70.0)), said(MOHE, Tripped(Rule.RUN)))
    assert floor.next_end(shared) == 60.0
    later = floor.at(shared, 60.0)
    assert [lease.agent for lease in later.leases] == ["zhiwei@example.org"]
    assert floor.next_end(later) == 70.0
    assert floor.next_end(floor.at(later, 70.0)) is None


SIGNALS = st.sampled_from(
    [None, Stop(), Resume(), Lease(60.0), Lease(0.0), Tripped(Rule.ROOM), Tripped(Rule.HOPS, 8.0)]
)
SENDERS = st.one_of(
    st.sampled_from([LIN, GUEST, HIDDEN]),
    st.integers(0, 200).map(lambda n: Sender(f"a{n}@b", "a", SenderKind.AGENT, own=False)),
)


@given(st.lists(st.tuples(SENDERS, SIGNALS), max_size=300))
def test_it_stays_small_and_can_be_kept(words: list[tuple[Sender, Signal | None]]) -> None:
    result = run(*(said(*word) for word in words))
    assert len(result.leases) <= MAX_EACH
    assert len(result.limits) <= MAX_EACH
    assert len({lease.agent for lease in result.leases}) == len(result.leases)
    assert msgspec.json.decode(msgspec.json.encode(result), type=Floor) == result
