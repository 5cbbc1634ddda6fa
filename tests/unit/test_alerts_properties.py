"""Whom to call, held against a slow account of everything that has happened."""

from dataclasses import dataclass, field

from hypothesis import given, settings, strategies as st

from hermes_iris import alerts
from hermes_iris.address import Lane
from hermes_iris.alerts import (
    Alert,
    Answered,
    Board,
    Gone,
    Happening,
    Looked,
    Lost,
    Raised,
    Read,
    Recipient,
    Subscribed,
)
from hermes_iris.protocol.frames import PushPreferences

LANES = [Lane("android:default"), Lane("android:default", "t_1"), Lane("android:chan_7")]
DEVICES = ["phone", "desk", "tablet"]
CONNECTIONS = ["a", "b", "c"]

preferences = st.builds(
    PushPreferences,
    finals=st.booleans(),
    requests=st.booleans(),
    reports=st.booleans(),
    muted=st.lists(st.sampled_from(["android:default", "android:chan_7"]), max_size=1),
)
lanes = st.sampled_from(LANES)
raised = st.builds(lambda lane, kind: (lane, kind), lanes, st.sampled_from(["final", "request", "report"]))
looked = st.builds(
    lambda connection, lane, behind: Looked(connection, DEVICES[CONNECTIONS.index(connection)], lane, behind),
    st.sampled_from(CONNECTIONS),
    st.none() | lanes,
    st.integers(0, 3),
)
"""`seq` is how far the device is behind, until it is told."""
others = (
    st.builds(Read, lanes, st.integers(0, 30))
    | st.builds(Answered, st.integers(0, 30).map(lambda number: f"ask_{number}"))
    | st.builds(Gone, lanes)
    | st.builds(Lost, st.sampled_from(CONNECTIONS))
    | st.builds(Subscribed, st.sampled_from(DEVICES))
)


@dataclass
class Account:
    """What is known of everything, the plain way."""

    alerts: list[Alert] = field(default_factory=list)
    closed: set[int] = field(default_factory=set)
    looks: dict[object, tuple[str, Lane]] = field(default_factory=dict)
    shown_to_all: set[int] = field(default_factory=set)
    shown: set[tuple[str, int]] = field(default_factory=set)
    called: dict[tuple[str, int], bool] = field(default_factory=dict)

    def take(self, happened: Happening) -> set[int]:
        """Note it; which alerts it has closed."""
        before = set(self.closed)
        match happened:
            case Raised(alert):
                self.alerts.append(alert)
            case Read(lane, order):
                self.closed |= {a.seq for a in self.alerts if a.lane == lane and a.order <= order}
            case Answered(request_id):
                self.closed |= {a.seq for a in self.alerts if a.request_id == request_id}
            case Gone(lane):
                under = (lane.chat_id,) if lane.thread_id is None else lane
                self.closed |= {a.seq for a in self.alerts if a.lane[: len(under)] == tuple(under)}
            case Looked(connection, device_id, lane, seq):
                if connection in self.looks:
                    who, where = self.looks.pop(connection)
                    had = [a for a in self.alerts if a.seq <= seq]
                    self.shown_to_all |= {a.seq for a in had if a.lane == where}
                    self.shown |= {(who, a.seq) for a in had}
                if lane is not None:
                    self.looks[connection] = (device_id, lane)
            case Lost(connection):
                self.looks.pop(connection, None)
            case Subscribed(device_id):
                self.shown |= {(device_id, a.seq) for a in self.alerts}
        return self.closed - before

    def must_be_called(self, recipient: Recipient) -> set[int]:
        """The alerts that a device has to have been called for by now, unless it was before."""
        wants = recipient.preferences
        kinds = {"final": wants.finals, "request": wants.requests, "report": wants.reports}
        return {
            a.seq
            for a in self.alerts
            if a.seq not in self.closed | self.shown_to_all
            and (recipient.device_id, a.seq) not in self.shown
            and kinds[a.kind]
            and a.lane.chat_id not in wants.muted
            and a.lane not in [lane for _, lane in self.looks.values()]
            and recipient.device_id not in [who for who, _ in self.looks.values()]
        }


@settings(max_examples=300)
@given(
    wishes=st.lists(preferences, min_size=1, max_size=3),
    script=st.lists(raised | looked | others, max_size=30),
)
def test_exactly_those_are_called_who_have_to_be(wishes: list[PushPreferences], script: list[object]) -> None:
    recipients = [Recipient(name, wish) for name, wish in zip(DEVICES, wishes, strict=False)]
    board, account = Board(), Account()
    called: dict[str, set[int]] = {recipient.device_id: set() for recipient in recipients}
    for step in script:
        match step:
            case Looked(connection, device_id, lane, behind):
                happened: Happening = Looked(connection, device_id, lane, len(account.alerts) - behind)
            case (Lane() as lane, str(kind)):
                seq = len(account.alerts) + 1
                request_id = f"ask_{seq}" if kind == "request" else None
                happened = Raised(Alert(lane, kind, seq, seq, float(seq), "", request_id))  # type: ignore[arg-type]
            case _:
                happened = step  # type: ignore[assignment]
        closed = account.take(happened)
        awake = {who for who, _ in account.looks.values()}
        shows = {(who, a.lane): a.seq for a in account.alerts for who, seqs in called.items() if a.seq in seqs}
        board, settled, calls = alerts.step(board, happened, recipients)
        for recipient in recipients:
            device_id = recipient.device_id
            must = account.must_be_called(recipient) - called[device_id]
            newest = {a.lane: a.seq for a in account.alerts if a.seq in must}
            assert {c.alert.lane: c.alert.seq for c in calls if c.device_id == device_id} == newest
            called[device_id] |= must
        by_seq = {a.seq: a for a in account.alerts}
        gone = {(who, lane): seq for (who, lane), seq in shows.items() if seq in closed and who not in awake}
        assert {(s.device_id, s.lane): s.order for s in settled} == {k: by_seq[seq].order for k, seq in gone.items()}
