"""What the terminal shows, and where the person is in it."""

from typing import Any

import msgspec

from hermes_iris.address import DEFAULT_LANE, Lane
from hermes_iris.protocol.frames import (
    Attachment,
    Channel,
    ChannelCreated,
    ChannelDeleted,
    Event,
    HelloAck,
    HistoryPage,
    JobRef,
    LaneStatus,
    Message,
    MessageAccepted,
    MessageStart,
    Position,
    Question,
    Quote,
    RequestCard,
    Sender,
    SlashCommand,
    ToolCard,
    TurnEnded,
    TurnStarted,
    TurnSummary,
    Typing,
)
from hermes_iris.tui import slash
from hermes_iris.tui.lanes import THREADS, Heading, Item, More, listed, neighbour, path
from hermes_iris.tui.model import (
    SHOWN,
    Model,
    Pending,
    Window,
    go,
    is_busy,
    jumped,
    open_requests,
    paged,
    shown,
    starts_thread,
    take,
    to_read,
    waiting,
)
from hermes_iris.tui.rows import Ask, Line, Tool, Words, rows
from support import ack

CHAT = DEFAULT_LANE.chat_id
THREAD = Lane(CHAT, "t_1")
OTHER = Lane("android:chan_1")
HOME = Channel(chat_id=CHAT, name="Default", kind="default", is_default=True, created=0.0)
NEW = Channel(chat_id=CHAT, thread_id="t_1", name="New", kind="thread", created=5.0)
ENTRIES = (HOME, Channel(chat_id=OTHER.chat_id, name="Builds", kind="channel", created=1.0))


def greeting(*directory: Channel, lanes: Any = (), seq: int = 0) -> HelloAck:
    told = ack(Position(epoch="e", seq=seq), "reset", msgspec.to_builtins(list(lanes)), directory or ENTRIES)
    return msgspec.convert(msgspec.to_builtins(told), HelloAck)


def told(*frames: Any, first: HelloAck | None = None, model: Model | None = None) -> Model:
    """A model after these frames; events are numbered as they come."""
    model = model or Model()
    take(model, first or greeting(), 0.0)
    for seq, frame in enumerate((frame for frame in frames if isinstance(frame, Event)), 1):
        take(model, msgspec.structs.replace(frame, seq=seq), 0.0)
    for frame in frames:
        if not isinstance(frame, Event):
            take(model, frame, 0.0)
    return model


def said(order: int, text: str = "", lane: Lane = DEFAULT_LANE, **more: Any) -> Message:
    fields = {"message_id": f"m_{order}", "role": "assistant", "text": text or f"text {order}", "ts": float(order)}
    return Message(**{**fields, "chat_id": lane.chat_id, "thread_id": lane.thread_id, "order": order, **more})


def page(
    *entries: Any, lane: Lane = DEFAULT_LANE, older: bool = False, newer: bool = False, **more: Any
) -> HistoryPage:
    where = {"chat_id": lane.chat_id, "thread_id": lane.thread_id}
    return HistoryPage(client_id="12345678", entries=list(entries), has_more=older, has_newer=newer, **where, **more)


def orders(model: Model) -> list[int]:
    return [entry.order for entry in shown(model)]


# ---------------------------------------------------------------- what is known without gaps


def test_nothing_is_shown_before_the_first_page() -> None:
    model = told(said(50))
    assert (model.window, orders(model), rows(model)) == (None, [], [])
    paged(model, page(said(40), said(50), older=True))
    assert (orders(model), model.window) == ([40, 50], Window(40, None, True))


def test_older_pages_join_and_what_is_not_known_is_left_out() -> None:
    model = told(said(50))
    take(model, page(said(5)), 0.0)
    paged(model, page(said(40), said(50), older=True))
    assert orders(model) == [40, 50], "what lies before the page is not joined to it"
    paged(model, page(said(20), said(30), older=True), before=40)
    assert orders(model) == [20, 30, 40, 50]
    paged(model, page(said(5), said(10)), before=20)
    assert (orders(model), model.window) == ([5, 10, 20, 30, 40, 50], Window())


def test_a_jump_shows_its_surroundings_until_they_reach_the_end() -> None:
    model = told()
    paged(model, page(said(90), said(100), older=True))
    visit = model.visit
    jumped(model, page(said(20), said(30), older=True, newer=True))
    assert (orders(model), model.visit, to_read(model)) == ([20, 30], visit + 1, None)
    paged(model, page(said(90), said(100), older=True))
    assert orders(model) == [20, 30], "the end is fetched beside it"
    paged(model, page(said(10)), before=20)
    assert orders(model) == [10, 20, 30]
    paged(model, page(said(40), said(50), newer=True), after=30)
    assert orders(model) == [10, 20, 30, 40, 50]
    paged(model, page(said(90), said(100)), after=50)
    assert (orders(model), model.excerpt) == ([10, 20, 30, 40, 50, 90, 100], None)
    jumped(model, page())
    assert orders(model)[-1] == 100
    jumped(model, page(said(90), said(100), older=True))
    assert (orders(model), model.excerpt) == ([90, 100], None)


def test_a_long_lane_that_is_opened_again_begins_near_its_end() -> None:
    model = told()
    paged(model, page(*(said(n) for n in range(1, SHOWN + 11))))
    go(model, DEFAULT_LANE)
    assert (len(orders(model)), model.window) == (SHOWN, Window(11, None, True))


def test_a_new_log_forgets_what_was_known() -> None:
    model = told(said(1))
    paged(model, page(said(1)))
    take(model, greeting(seq=9), 0.0)
    assert model.window is None


# ---------------------------------------------------------------- where the person is


def test_a_lane_that_is_gone_is_left_for_the_default_one() -> None:
    model = told(model=Model(place=OTHER))
    assert model.place == OTHER
    gone = msgspec.structs.replace(ENTRIES[1], archived=True)
    take(model, ChannelDeleted(channel=gone, seq=1), 0.0)
    assert model.place == DEFAULT_LANE
    assert told(model=Model(place=Lane("android:nowhere"))).place == DEFAULT_LANE


def test_whoever_sends_a_message_goes_where_it_went() -> None:
    for first in ("accepted", "echo"):
        model = told()
        paged(model, page())
        model.pending["12345678"] = Pending("12345678", DEFAULT_LANE, "Hi", 1.0)
        take(model, ChannelCreated(channel=NEW, auto=True, seq=1), 0.0)
        accepted = MessageAccepted(client_id="12345678", message_id="m_7", chat_id=CHAT, thread_id="t_1", seq=2)
        echo = said(7, "Hi", THREAD, role="user", client_id="12345678", seq=2)
        for frame in (accepted, echo) if first == "accepted" else (echo, accepted):
            take(model, frame, 0.0)
            assert model.place == THREAD
            assert [row.text for row in rows(model) if isinstance(row, Words)] == ["Hi"]
        assert model.pending == {}


def test_an_acceptance_may_come_before_its_thread() -> None:
    model = told()
    model.pending["12345678"] = Pending("12345678", DEFAULT_LANE, "Hi", 1.0)
    assert waiting(model) == [model.pending["12345678"]]
    take(model, MessageAccepted(client_id="12345678", message_id="m_7", chat_id=CHAT, thread_id="t_1"), 0.0)
    assert (model.place, waiting(model)) == (THREAD, [])
    assert [row.state for row in rows(model) if isinstance(row, Words)] == ["on its way"]
    take(model, MessageAccepted(client_id="87654321", message_id="m_8", chat_id=CHAT), 0.0)
    assert model.place == THREAD, "of a message that is not ours"


def test_an_accepted_message_that_is_there_already_does_not_wait() -> None:
    model = told()
    model.pending["12345678"] = Pending("12345678", DEFAULT_LANE, "Hi", 1.0)
    take(model, page(said(7, role="user")), 0.0)
    take(model, MessageAccepted(client_id="12345678", message_id="m_7", chat_id=CHAT), 0.0)
    assert model.pending == {}
    model.pending["12345678"] = Pending("12345678", DEFAULT_LANE, "Hi", 1.0)
    paged(model, page(said(8, role="user", client_id="12345678")))
    assert model.pending == {}


def test_only_words_in_the_split_default_channel_open_a_thread() -> None:
    split = msgspec.structs.replace(HOME, threads=True)
    model = told(first=greeting(split, ENTRIES[1], NEW))
    assert [starts_thread(model, text) for text in ("Hi", "/new", " ")] == [True, False, False]
    go(model, OTHER)
    assert not starts_thread(model, "Hi")
    assert not starts_thread(told(), "Hi")


def test_what_is_seen_is_to_be_marked_up_to_what_is_still_written() -> None:
    model = told(first=greeting(lanes=[LaneStatus(chat_id=CHAT, read=10, unread=1)]))
    assert to_read(model) is None, "nothing is shown yet"
    go(model, DEFAULT_LANE)
    assert model.new_after == 10
    paged(model, page(said(10), said(20)))
    assert to_read(model) == 20
    start = {"chat_id": CHAT, "role": "assistant", "turn_id": "turn_1", "ts": 1.0}
    take(model, MessageStart(message_id="m_15", order=15, **start), 0.0)
    assert to_read(model) is None
    assert Words("m_15", "answer", "", ts=1.0, live=True) in rows(model)


def test_the_agent_is_busy_in_a_turn_or_while_it_types() -> None:
    model = told(Typing(chat_id=CHAT, on=True, ttl=5.0))
    assert [is_busy(model, DEFAULT_LANE, now) for now in (4.0, 6.0)] == [True, False]
    take(model, Typing(chat_id=CHAT, on=False), 0.0)
    assert not is_busy(model, DEFAULT_LANE, 1.0)
    assert is_busy(told(TurnStarted(turn_id="t", chat_id=CHAT, ts=0.0)), DEFAULT_LANE, 9.0)


# ---------------------------------------------------------------- rows


def card(order: int, **more: Any) -> ToolCard:
    fields = {"chat_id": CHAT, "turn_id": "turn_1", "index": 1, "name": "terminal", "state": "ok", "ts": float(order)}
    return ToolCard(**{**fields, "tool_call_id": f"c_{order}", "order": order, **more})


def test_every_kind_of_entry_has_its_row() -> None:
    asked = RequestCard(request_id="r", chat_id=CHAT, question=Question(kind="question", title=""), ts=1.0, order=9)
    quoted = Quote(message_id="m_1", order=1, role="user", text="mine")
    file = Attachment(id="0" * 32, name="a\x1b[1m.txt", type="text/plain", size=2048, kind="document")
    model = told()
    paged(
        model,
        page(
            said(1, "mine", role="user", client_id="12345678", state="error"),
            said(2, "remark", kind="commentary", reasoning="why\x07"),
            card(3),
            said(4, "answer", turn_id="turn_1", model="m-1", tokens=1200, attachments=[file]),
            said(5, "notice", role="notice"),
            said(6, "report", role="cron", job=JobRef(id="j", name="Rain")),
            said(7, "nameless", role="cron"),
            said(8, "room", sender=Sender(name="mohe", kind="agent"), quote=quoted),
            asked,
            msgspec.structs.replace(said(10), text=""),
            turns=[TurnSummary(turn_id="turn_1", started=0.0, ended=3.0, outcome="success")],
        ),
    )
    first, remark, tool, answer, end, notice, report, nameless, room, ask = rows(model)
    assert first == Words("12345678", "mine", "mine", ts=1.0, state="not taken by the room")
    assert remark == Words("m_2", "remark", "remark", reasoning="why", ts=2.0)
    assert tool == Tool("c_3", card(3))
    assert answer == Words("m_4", "answer", "answer", files=("a.txt · 2.0 kB",), ts=4.0)
    assert end == Line("end-turn_1", "m-1 · 1,200 tokens · 3.0 s", "footer")
    assert isinstance(room, Words)
    assert room.quote == "You: mine"
    looks = [(row.look, row.who) for row in (notice, report, nameless, room) if isinstance(row, Words)]
    assert looks == [("notice", ""), ("report", "Rain"), ("report", "Scheduled report"), ("said", "mohe")]
    assert ask == Ask("r", asked)
    assert open_requests(model) == open_requests(model, DEFAULT_LANE) == [asked]
    assert open_requests(model, OTHER) == []


def test_turns_that_ended_badly_say_so_also_without_a_word() -> None:
    model = told()
    paged(
        model,
        page(
            said(1, role="user"),
            said(5, role="user"),
            turns=[
                TurnSummary(turn_id="a", started=2.0, ended=3.0, outcome="failure", error="no model"),
                TurnSummary(turn_id="b", started=2.0, ended=3.5, outcome="success"),
            ],
        ),
    )
    take(model, TurnEnded(turn_id="c", chat_id=CHAT, outcome="interrupted", ts=9.0, seq=1), 0.0)
    assert [row.text for row in rows(model) if isinstance(row, Line)] == ["failed · no model · 1.0 s", "interrupted"]
    assert [row.key for row in rows(model)] == ["m_1", "end-a", "m_5", "end-c"]


def test_what_is_new_is_set_off() -> None:
    model = told(first=greeting(lanes=[LaneStatus(chat_id=CHAT, read=10, unread=1)]))
    go(model, DEFAULT_LANE)
    paged(model, page(said(10), said(15, role="user"), said(20)))
    assert [row.key for row in rows(model)] == ["m_10", "m_15", "divider", "m_20"]


# ---------------------------------------------------------------- lanes


def test_lanes_stand_under_their_headings() -> None:
    extra = (
        Channel(chat_id="android:chan_2", name="Reports", kind="channel", automation=True, cron_jobs=2, created=2.0),
        Channel(chat_id="android:room_1", name="Room", kind="room", created=3.0),
        Channel(chat_id="android:chan_3", name="Gone", kind="channel", archived=True, created=4.0),
        NEW,
    )
    model = told(first=greeting(*ENTRIES, *extra, lanes=[LaneStatus(chat_id=OTHER.chat_id, turn_id="t", unread=3)]))
    lines = listed(model, 0.0)
    assert [line.name for line in lines if not isinstance(line, More)] == [
        "Default", "New", "Channels", "Builds", "Automation", "Reports", "Rooms", "Room"
    ]  # fmt: skip
    headings = [line.name for line in lines if isinstance(line, Heading)]
    assert headings == ["Channels", "Automation", "Rooms"]
    items = {line.name: line for line in lines if isinstance(line, Item)}
    assert (items["Default"].is_default, items["Default"].is_open, items["Reports"].jobs) == (True, True, 2)
    assert (items["Builds"].busy, items["Builds"].unread) == (True, 3)
    assert (path(model, THREAD), path(model, OTHER)) == ("Default › New", "Builds")
    assert path(model, Lane("android:nowhere")) == "a deleted channel"


def test_many_threads_are_listed_on_demand() -> None:
    threads = [
        Channel(chat_id=CHAT, thread_id=f"t_{n}", name=f"{n}", kind="thread", created=float(n))
        for n in range(THREADS + 4)
    ]
    status = LaneStatus(chat_id=CHAT, thread_id="t_1", unread=1)
    model = told(first=greeting(HOME, *threads, lanes=[status]), model=Model(place=Lane(CHAT, "t_0")))
    lines = listed(model, 0.0)
    assert [line.name for line in lines if isinstance(line, Item)] == [
        "Default",
        "9",
        "8",
        "7",
        "6",
        "5",
        "4",
        "1",
        "0",
    ]
    assert lines[-1] == More(DEFAULT_LANE, 2)
    assert len(listed(model, 0.0, frozenset({DEFAULT_LANE}))) == 1 + len(threads)


def test_neighbours_go_round() -> None:
    model = told()
    assert (neighbour(model, 1), neighbour(model, -1)) == (OTHER, OTHER)
    assert neighbour(Model(), 1) == DEFAULT_LANE


# ---------------------------------------------------------------- slash commands


def test_commands_are_completed() -> None:
    commands = [
        SlashCommand(name="new", description="Start anew.", args="[name]", aliases=["reset"]),
        SlashCommand(name="news", description="News."),
        SlashCommand(name="cron", description="Jobs.", subcommands=["list", "add"]),
    ]
    assert slash.completed("/ne", commands) == "/new "
    assert slash.completed("/news", commands) == "/news"
    assert slash.completed("/res", commands) == "/new "
    assert slash.completed("/cron l", commands) == "/cron list"
    assert slash.completed("/cron x", commands) is None
    assert slash.completed("/x", commands) is None
    assert slash.completed("no /ne", commands) is None
    assert slash.hint("/ne", commands) == "Tab: /new  /news"
    assert slash.hint("/new it", commands) == "/new [name] – Start anew."
    assert slash.hint("/news", commands) == "/news – News."
    assert slash.hint("hello", commands) == ""
    assert slash.hint("/x", commands) == ""
