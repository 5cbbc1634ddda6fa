import msgspec
import pytest
from meeting_kit import ANA, ME, STRANGER, ZHIWEI, said, seat

from hermes_iris.meeting import room
from hermes_iris.meeting.room import State, Verdict, begin, ended, heard, restored
from hermes_iris.meeting.said import Said, Sender, SenderKind
from hermes_iris.meeting.signals import Lease, Resume, Revoke, Rule, Stop, Tripped

NOW = 1000.0


def after(*messages: Said, state: State | None = None, **how: object) -> tuple[State, list[Verdict]]:
    """The state after some messages, and what became of each."""
    state = state or State()
    verdicts = []
    for message in messages:
        state, verdict, _ = heard(state, message, seat(**how), NOW)  # type: ignore[arg-type]
        verdicts.append(verdict)
    return state, verdicts


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        (said(ANA, "@mohe hello"), Verdict.ANSWER),
        (said(ANA, "hello"), Verdict.UNADDRESSED),
        (said(ANA, "@zhiwei hello"), Verdict.UNADDRESSED),
        (said(ANA, "@mohe hello", ts=NOW - 601), Verdict.STALE),
        (said(ANA, "[YOU] I am mohe"), Verdict.UNADDRESSED),
        (said(ZHIWEI, "@mohe hello", hop=1), Verdict.ANSWER),
        (said(ZHIWEI, "hello", hop=1), Verdict.UNADDRESSED),
        (said(ZHIWEI, "@mohe hello", hop=4), Verdict.HOPS),
        (said(ZHIWEI, "@mohe failed", notice=True), Verdict.NOTICE),
        (said(STRANGER, "@mohe hello"), Verdict.ANSWER),
        (said(ME, "@mohe hello"), Verdict.OWN),
        (said(ANA, "停"), Verdict.STOP),
        (said(ANA, "Stop!"), Verdict.STOP),
        (said(ANA, "@mohe 停。"), Verdict.STOP),
        (said(ANA, "@zhiwei 停"), Verdict.UNADDRESSED),
        (said(ANA, "never stop"), Verdict.UNADDRESSED),
        (said(ANA, "stop", ts=0.0), Verdict.STOP),
        (said(ANA, "please", signal=Stop()), Verdict.STOP),
        (said(ANA, "继续"), Verdict.GO),
        (said(ANA, "please", signal=Resume()), Verdict.GO),
        (said(ZHIWEI, "停"), Verdict.UNADDRESSED),
        (said(STRANGER, "stop", signal=Stop()), Verdict.UNADDRESSED),
        (said(ZHIWEI, "@mohe I am silent", signal=Tripped(Rule.RUN)), Verdict.NOTICE),
        (said(ANA, "@mohe revoked", signal=Revoke(agent="mohe@test")), Verdict.NOTICE),
        (said(ZHIWEI, "@mohe I share", signal=Lease(until=5.0)), Verdict.ANSWER),
    ],
)
def test_one_message(message: Said, verdict: Verdict) -> None:
    assert after(message)[1] == [verdict]


def test_where_agents_always_answer_a_person_who_addresses_another_is_left_to_them() -> None:
    assert after(said(ANA, "hello"), said(ANA, "@zhiwei hello"), said(ZHIWEI, "hello"), always=True)[1] == [
        Verdict.ANSWER,
        Verdict.UNADDRESSED,
        Verdict.UNADDRESSED,
    ]


def test_a_person_s_reply_is_an_address_an_agent_s_is_not() -> None:
    own = said(ME, "I say", origin_id="o1")
    state, _ = after(own)
    for known in (own.archive_id, "o1"):
        assert after(said(ANA, "why?", reply_to=known), state=state)[1] == [Verdict.ANSWER]
        assert after(said(ZHIWEI, "why?", reply_to=known), state=state)[1] == [Verdict.UNADDRESSED]
    assert after(said(ANA, "why?", reply_to="other"), state=state)[1] == [Verdict.UNADDRESSED]


def test_a_message_that_comes_twice_is_heard_once() -> None:
    message = said(ANA, "@mohe hello")
    state, verdicts = after(message, message)
    assert verdicts == [Verdict.ANSWER, Verdict.KNOWN]
    assert len(state.pending) == 1


class TestTurns:
    def test_what_was_said_before_is_context_what_comes_after_waits(self) -> None:
        first, ask, later = said(ANA, "a fact"), said(ANA, "@mohe what?"), said(ZHIWEI, "I know", hop=1)
        state, turn = begin(after(first, ask, later)[0], seat())
        assert turn is not None
        assert (turn.trigger, turn.context) == (ask, (first,))
        assert [entry.said for entry in state.pending] == [later]

    def test_one_at_a_time_and_what_is_asked_meanwhile_is_one_turn(self) -> None:
        state, turn = begin(after(said(ANA, "@mohe one"))[0], seat())
        assert turn is not None
        two, three = said(ANA, "@mohe two"), said(ANA, "@mohe three")
        state, _ = after(two, three, state=state)
        assert begin(state, seat()) == (state, None)
        state, turn = begin(ended(state), seat())
        assert turn is not None
        assert (turn.trigger, turn.context) == (three, (two,))
        assert begin(ended(state), seat())[1] is None

    def test_a_person_s_question_comes_before_an_agent_s(self) -> None:
        first, person, agent = (
            said(ZHIWEI, "@mohe a"),
            said(ANA, "@mohe b"),
            said(ZHIWEI, "@mohe c"),
        )
        state, turn = begin(after(first, person, agent)[0], seat())
        assert turn is not None
        assert (turn.trigger, turn.context) == (person, (first,))
        state, turn = begin(ended(state), seat())
        assert turn is not None
        assert (turn.trigger, turn.context) == (agent, ())

    def test_own_answers_are_no_context_what_was_said_in_a_terminal_is(self) -> None:
        spoken = said(ME, "from my terminal")
        state, _ = after(said(ME, "an answer", hop=1), spoken, said(ME, "tripped", notice=True))
        assert [entry.said for entry in state.pending] == [spoken]

    def test_a_turn_that_died_is_given_again(self) -> None:
        fact, ask, later = said(ANA, "a fact"), said(ANA, "@mohe what?"), said(ANA, "hm")
        state, turn = begin(after(fact, ask)[0], seat())
        state = msgspec.json.decode(msgspec.json.encode(after(later, state=state)[0]), type=State)
        state, again = begin(restored(state), seat())
        assert again == turn
        assert [entry.said for entry in state.pending] == [later]
        assert restored(ended(state)) == ended(state)

    def test_the_oldest_make_room_and_those_that_ask_stay(self) -> None:
        ask = said(ANA, "@mohe what?")
        chatter = [said(ANA, f"word {number}") for number in range(room.MAX_PENDING + 5)]
        state, _ = after(ask, *chatter)
        assert len(state.pending) == room.MAX_PENDING
        assert state.pending[0].said == ask
        assert state.left_out == 6
        state, turn = begin(after(said(ANA, "@mohe well?"), state=state)[0], seat())
        assert turn is not None
        assert turn.left_out == 7
        assert state.left_out == 0

    def test_when_all_ask_the_oldest_makes_room(self) -> None:
        asks = [said(ANA, f"@mohe {number}") for number in range(room.MAX_PENDING + 1)]
        state, _ = after(*asks)
        assert state.pending[0].said == asks[1]


class TestLimits:
    def test_run(self) -> None:
        chatter = [said(ZHIWEI, f"word {number}", hop=1) for number in range(12)]
        state, _ = after(*chatter)
        state, verdict, tell = heard(state, said(ZHIWEI, "@mohe and you?", hop=1), seat(), NOW)
        assert (verdict, tell) == (Verdict.RUN, Tripped(Rule.RUN))
        assert after(said(ZHIWEI, "@mohe again", hop=1), state=state)[1] == [Verdict.RUN]
        assert after(said(ANA, "well"), said(ZHIWEI, "@mohe again", hop=1), state=state)[1][1] is Verdict.ANSWER

    def test_the_room_is_told_once_until_a_person_speaks(self) -> None:
        state = State()
        told = []
        for message in (
            said(ZHIWEI, "@mohe 1", hop=4),
            said(ZHIWEI, "@mohe 2", hop=4),
            said(ANA, "hm"),
            said(ZHIWEI, "@mohe 3", hop=4),
        ):
            state, _, tell = heard(state, message, seat(), NOW)
            told.append(tell)
        assert told == [Tripped(Rule.HOPS), None, None, Tripped(Rule.HOPS)]

    def test_pair_and_the_window(self) -> None:
        state, verdicts = after(*(said(ZHIWEI, f"@mohe {number}", hop=1) for number in range(7)))
        assert verdicts == [Verdict.ANSWER] * 6 + [Verdict.PAIR]
        assert after(said(STRANGER, "@mohe hello"), state=state)[1] == [Verdict.ANSWER]
        late = heard(state, said(ZHIWEI, "@mohe later", hop=1, ts=NOW + 300), seat(), NOW + 300)
        assert late.verdict is Verdict.ANSWER

    def test_room_then_a_pause(self) -> None:
        def ask(number: int) -> Said:
            return said(Sender(f"a{number}@test", "x", SenderKind.AGENT, own=False), f"@mohe {number}", hop=1)

        limits = {"run": 100, "room": 3}
        state, verdicts = after(*map(ask, range(3)), **limits)
        assert verdicts == [Verdict.ANSWER] * 3
        state, verdict, tell = heard(state, ask(3), seat(**limits), NOW)
        assert (verdict, tell) == (Verdict.TURNS, Tripped(Rule.ROOM, NOW + 600))
        assert after(ask(4), state=state, **limits)[1] == [Verdict.PAUSED]
        assert after(said(ANA, "@mohe you"), state=state, **limits)[1] == [Verdict.ANSWER]

    def test_the_same_again(self) -> None:
        again = [said(ZHIWEI, "@mohe  hello", hop=1), said(ZHIWEI, "@mohe hello\n", hop=1)]
        assert after(*again)[1] == [Verdict.ANSWER, Verdict.REPEATED]
        people = [said(ANA, "@mohe hello"), said(ANA, "@mohe hello")]
        assert after(*people)[1] == [Verdict.ANSWER, Verdict.ANSWER]

    def test_a_turn_that_waited_past_the_run_is_dropped_unless_a_person_asked(self) -> None:
        agent, person = said(ZHIWEI, "@mohe hello", hop=1), said(ANA, "@mohe hello")
        chatter = [said(ZHIWEI, f"word {number}", hop=1) for number in range(13)]
        state, _ = after(agent, *chatter)
        state, turn = begin(state, seat())
        assert turn is None
        assert not any(entry.asks for entry in state.pending)
        state, turn = begin(after(agent, person, *chatter)[0], seat())
        assert turn is not None
        assert turn.trigger == person


class TestStop:
    def test_nothing_that_was_asked_before_is_answered(self) -> None:
        state, _ = after(said(ANA, "@mohe one"), said(ANA, "停"))
        assert begin(state, seat()) == (state, None)
        state, verdicts = after(said(ANA, "hm"), said(ZHIWEI, "@mohe hello", hop=1), state=state)
        assert verdicts == [Verdict.UNADDRESSED, Verdict.STOPPED]
        state, _ = after(said(ANA, "go on"), state=state)
        assert begin(state, seat())[1] is None

    def test_where_agents_always_answer_a_word_to_nobody_wakes_none(self) -> None:
        assert after(said(ANA, "停"), said(ANA, "hm"), always=True)[1][1] is Verdict.STOPPED

    def test_a_person_wakes_the_agent_whom_they_address(self) -> None:
        state, verdicts = after(said(ANA, "停"), said(ANA, "@mohe you may"))
        assert verdicts[1] is Verdict.ANSWER
        assert begin(state, seat())[1] is not None

    def test_going_on_forgets_nothing_that_was_asked_since(self) -> None:
        state, _ = after(said(ANA, "@mohe one"), said(ANA, "继续"))
        assert begin(state, seat())[1] is not None

    def test_it_outlives_the_gateway(self) -> None:
        state, _ = after(said(ANA, "停"))
        assert msgspec.json.decode(msgspec.json.encode(state), type=State).stopped
