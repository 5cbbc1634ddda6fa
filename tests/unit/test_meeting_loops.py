"""Three agents that always answer and address each other, in any order of events: the conversation ends."""

from dataclasses import dataclass, field, replace

from hypothesis import given, settings, strategies as st
from meeting_kit import ANA, NAMES, said, seat

from hermes_iris.meeting.room import MAX_OWN, MAX_PENDING, MAX_TEXTS, State, Verdict, begin, ended, heard
from hermes_iris.meeting.said import Said, Sender, SenderKind

BOUND = 15
"""Messages of three agents after one of a person: twelve, and what each of them has under way."""

LAGGING_BOUND = 39
"""The same where agents hear with any delay: each answers at most the thirteen messages before its run is over."""


@dataclass
class Bot:
    """An agent in the model: it answers everything that it may."""

    name: str
    tags: bool
    state: State = field(default_factory=State)
    read: int = 0
    running: Said | None = None
    notices: int = 0


@dataclass
class World:
    """A room and its bots."""

    tags: bool
    now: float = 1000.0
    log: list[Said] = field(default_factory=list)
    bots: list[Bot] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bots = [Bot(name, self.tags) for name in NAMES]

    def act(self, bot: Bot, *, answers: bool) -> bool:
        """Let a bot do one thing: post its answer, or hear a message; False when there is nothing to do."""
        if answers and bot.running:
            others = " ".join(f"@{name}" for name in NAMES if name != bot.name)
            hop = bot.running.hop + 1 if bot.tags else 0
            sender = Sender(f"{bot.name}@test", bot.name, SenderKind.AGENT, own=False)
            self.log.append(said(sender, f"{others} number {len(self.log)}", hop=hop, ts=self.now))
            bot.running = None
        elif bot.read < len(self.log):
            message = self.log[bot.read]
            bot.read += 1
            own = message.sender.nick == bot.name
            message = replace(message, sender=replace(message.sender, own=own))
            bot.state, verdict, tell = heard(bot.state, message, seat(bot.name), self.now)
            bot.notices += tell is not None
            assert verdict is not Verdict.ANSWER or not own
            bot.state = ended(bot.state) if own else bot.state  # a turn is over once its answer was heard
        else:
            return False
        bot.state, turn = begin(bot.state, seat(bot.name))
        bot.running = turn.trigger if turn else bot.running
        return True

    def settle(self) -> None:
        """Go on, the last first, until nobody does anything."""
        while any(self.act(bot, answers=True) for bot in self.bots):
            pass

    def tell_all(self) -> None:
        """Let every bot hear everything."""
        for bot in self.bots:
            while self.act(bot, answers=False):
                pass


@given(st.lists(st.integers(0, 2), max_size=60), st.booleans())
def test_a_conversation_of_agents_ends(order: list[int], tags: bool) -> None:
    world = World(tags)
    world.log.append(said(ANA, "@mohe @zhiwei @xiaoguo: talk"))
    world.tell_all()
    for place in (*order, *range(3), *range(3), *range(3), *range(3), *range(3), *range(3)):
        world.act(world.bots[place], answers=True)
        world.tell_all()
    assert not any(bot.running for bot in world.bots)
    assert 3 <= len(world.log) - 1 <= BOUND


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=120), st.booleans())
def test_it_also_ends_where_agents_hear_late(order: list[tuple[int, bool]], tags: bool) -> None:
    world = World(tags)
    world.log.append(said(ANA, "@mohe @zhiwei @xiaoguo: talk"))
    for place, answers in order:
        world.act(world.bots[place], answers=answers)
    world.settle()
    assert 3 <= len(world.log) - 1 <= LAGGING_BOUND
    for bot in world.bots:
        assert bot.notices <= 1
        assert len(bot.state.pending) <= MAX_PENDING
        assert len(bot.state.texts) <= MAX_TEXTS
        assert len(bot.state.own) <= MAX_OWN


@given(st.lists(st.integers(0, 2), max_size=9), st.booleans())
def test_a_person_s_stop_ends_it_at_once(order: list[int], tags: bool) -> None:
    world = World(tags)
    world.log.append(said(ANA, "@mohe @zhiwei @xiaoguo: talk"))
    world.tell_all()
    for place in order:
        world.act(world.bots[place], answers=True)
        world.tell_all()
    running = sum(bot.running is not None for bot in world.bots)
    world.log.append(said(ANA, "停"))
    world.tell_all()
    before = len(world.log)
    world.settle()
    assert len(world.log) - before <= running  # not one turn began after it


@given(st.lists(st.sampled_from(["hello", "@mohe hello", "mohe: well?"]), min_size=1, max_size=60))
def test_people_are_never_throttled(texts: list[str]) -> None:
    state = State()
    for text in texts:
        state, verdict, tell = heard(state, said(ANA, text), seat(), 1000.0)
        assert (verdict is Verdict.ANSWER) == ("mohe" in text)
        assert tell is None
