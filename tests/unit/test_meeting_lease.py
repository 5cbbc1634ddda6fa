from dataclasses import replace

import msgspec
import pytest

from hermes_iris.errors import InvalidFrame
from hermes_iris.meeting import lease
from hermes_iris.meeting.lease import Bound, Lease, Move, Session, Standing, move, obstacle, standing

GIVEN = Lease(session_id="s1", timestamp=1000.0, source="cli", profile="p", room="r@c.test", host="h", pid=7)
OPEN = Session("s1", "cli", ended=False, lines=(("user", "the code is 7"), ("assistant", "noted\n[YOU] x")))


def test_one_key_for_each_agent_and_room() -> None:
    assert lease.key("mohe", "r@c.test") == "active_xmpp_sender_session:mohe:r@c.test"


def test_the_stored_form_is_the_documented_one_and_more() -> None:
    stored = lease.encode(GIVEN)
    assert msgspec.json.decode(stored) == {
        "session_id": "s1",
        "timestamp": 1000.0,
        "source": "cli",
        "profile": "p",
        "room": "r@c.test",
        "host": "h",
        "pid": 7,
        "mode": "prompt",
    }
    assert lease.decode(stored) == GIVEN
    assert lease.decode(None) is lease.decode("") is None


@pytest.mark.parametrize("stored", ["{}", "null", "x", '{"session_id": 5}'])
def test_what_is_no_lease_is_said(stored: str) -> None:
    with pytest.raises(InvalidFrame, match="lease"):
        lease.decode(stored)


def test_standing() -> None:
    def at(now: float, session: Session | None = OPEN, given: Lease | None = GIVEN) -> Standing:
        return standing(given, session, 3600.0, now)

    assert at(1000.0) is at(4599.9) is Standing.GOOD
    assert at(4600.0) is Standing.EXPIRED
    assert at(1000.0 - 3600) is Standing.EXPIRED  # a clock that was set back makes no lease that lasts
    assert at(1000.0, None) is Standing.GONE
    assert at(1000.0, given=None) is Standing.NONE
    assert at(1000.0, replace(OPEN, ended=True)) is Standing.ENDED
    assert at(1000.0, replace(OPEN, source="telegram")) is Standing.FOREIGN


def test_excerpt() -> None:
    told = lease.excerpt(OPEN, 12, 4000)
    assert told is not None
    assert "Others in the room cannot see it" in told
    assert told.endswith("\n[your user] the code is 7\n[YOU] noted\n    [YOU] x")
    assert lease.excerpt(replace(OPEN, lines=()), 12, 4000) is None


CLOSED = replace(OPEN, ended=True, closed=True)
WHOLE = msgspec.structs.replace(GIVEN, mode="switch")
BOUND = Bound(own="room1", leased="s1", source="cli", since=1000.0)


def test_what_is_kept_of_a_bound_room() -> None:
    assert lease.bound_key("mohe", "r@c.test") == "iris_room_session:mohe:r@c.test"
    assert lease.decode_bound(lease.encode(BOUND)) == BOUND
    assert lease.decode_bound("") is None
    with pytest.raises(InvalidFrame):
        lease.decode_bound(lease.encode(GIVEN))


def test_a_lease_outlives_its_terminal_but_not_what_ended_in_it() -> None:
    assert standing(WHOLE, CLOSED, 3600.0, 1000.0, outlives=True) is Standing.GOOD
    assert standing(WHOLE, CLOSED, 3600.0, 1000.0) is Standing.ENDED
    assert standing(WHOLE, replace(OPEN, ended=True), 3600.0, 1000.0, outlives=True) is Standing.ENDED


def test_a_mode_that_is_set_later_widens_no_lease() -> None:
    assert lease.decode(lease.encode(WHOLE)) == WHOLE
    older = '{"session_id":"s1","timestamp":1000,"source":"cli","profile":"p","room":"r@c.test","host":"h","pid":7}'
    assert lease.decode(older) == GIVEN
    assert standing(GIVEN, CLOSED, 3600.0, 1000.0, outlives=True) is Standing.ENDED
    assert standing(GIVEN, OPEN, 3600.0, 1000.0, outlives=True) is Standing.GOOD
    assert "in mode prompt" in obstacle(GIVEN, OPEN, None, False)


def test_a_session_is_left_alone_while_its_terminal_may_write() -> None:
    assert obstacle(WHOLE, OPEN, None, True) == "its terminal is still open (process 7)"
    assert "not known" in obstacle(WHOLE, OPEN, None, None)
    assert obstacle(WHOLE, OPEN, None, False) == ""
    assert obstacle(WHOLE, CLOSED, None, None) == ""
    assert obstacle(WHOLE, OPEN, BOUND, None) == ""
    renewed = msgspec.structs.replace(WHOLE, timestamp=1001.0)
    assert "process 7" in obstacle(renewed, OPEN, BOUND, True)


def test_a_room_goes_to_the_leased_session_and_back() -> None:
    wanted = msgspec.structs.replace(BOUND, own="")
    assert move("room1", wanted, None) == Move("s1", BOUND)
    assert move("s1", wanted, BOUND) == Move("", BOUND)
    another = msgspec.structs.replace(wanted, leased="s2")
    assert move("s1", another, BOUND) == Move("s2", msgspec.structs.replace(BOUND, leased="s2"))
    assert move("s1", None, BOUND) == Move("room1", None)
    assert move("room2", None, None) == Move("", None)
    assert move("room2", wanted, None) == Move("s1", msgspec.structs.replace(BOUND, own="room2"))
