"""Which agent a home is, and what an agent's memory of a room survives."""

import logging
from pathlib import Path

import pytest
from meeting_kit import ANA, MOHE, ZHIWEI, said

from hermes_iris.attending import memory, rooms
from hermes_iris.attending.memory import Memory, Presence
from hermes_iris.config import Home, Settings
from hermes_iris.errors import NotFound, SetupError
from hermes_iris.meeting.room import Verdict
from hermes_iris.store import Store, connect, seats, transaction

FILE = """
[[rooms]]
jid = "core@conference.test"
name = "Core Group"

[[rooms]]
jid = "side@conference.test"
name = "side"

[[agents]]
name = "mohe"
jid = "mohe@test"
profile = "{home}"
rooms = ["core@conference.test"]

[[agents]]
name = "zhiwei"
jid = "zhiwei@test"
profile = "zhiwei"

[[agents]]
name = "far"
jid = "far@test"
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "mohe")
    home.iris.mkdir(parents=True)
    home.meeting.write_text(FILE.replace("{home}", str(home.root)), encoding="utf-8")
    return home


class TestRooms:
    def test_a_home_is_the_agent_whose_profile_it_is(self, home: Home) -> None:
        _, me, base = rooms.attending(home, Settings())
        assert (me.name, base) == ("mohe", home.iris)
        assert rooms.attends(home, Settings())
        assert rooms.attending(home, Settings(), "far")[1].name == "far"
        assert rooms.attending(home, Settings(meeting_agent="zhiwei"))[1].name == "zhiwei"
        with pytest.raises(SetupError, match="no agent nobody"):
            rooms.attending(home, Settings(), "nobody")

    def test_a_home_of_nobody_does_not_attend(self, home: Home, tmp_path: Path) -> None:
        other = Home(tmp_path / "other")
        assert not rooms.attends(other, Settings())
        settings = Settings(meeting_file=str(home.meeting))
        assert not rooms.attends(other, settings)
        with pytest.raises(SetupError, match="meeting_agent"):
            rooms.attending(other, settings)

    def test_a_meeting_that_is_wrong_is_complained_of(self, home: Home) -> None:
        home.meeting.write_text("rooms = 5", encoding="utf-8")
        assert rooms.attends(home, Settings())
        with pytest.raises(SetupError, match="rooms"):
            rooms.attending(home, Settings())

    def test_rooms_by_name(self, home: Home) -> None:
        meeting, me, _ = rooms.attending(home, Settings())
        for name in ("", "core@conference.test", "core", "core group"):
            assert rooms.named(meeting, me, name) == "core@conference.test"
        with pytest.raises(NotFound, match="mohe is in no room side"):
            rooms.named(meeting, me, "side")

    def test_the_home_of_an_agent(self, home: Home, tmp_path: Path) -> None:
        meeting, me, _ = rooms.attending(home, Settings())
        assert rooms.home_of(me, Home(tmp_path)).root == home.root
        zhiwei = meeting.agent("zhiwei")
        assert rooms.home_of(zhiwei, Home(tmp_path)).root == tmp_path / "profiles/zhiwei"
        assert rooms.home_of(zhiwei, Home(tmp_path / "profiles/mohe")).root == tmp_path / "profiles/zhiwei"
        with pytest.raises(SetupError, match="far has no `profile`"):
            rooms.home_of(meeting.agent("far"), home)


class TestMemory:
    ROOM = "core@conference.test"

    async def test_it_survives_the_process(self, home: Home) -> None:
        meeting, me, _ = rooms.attending(home, Settings())
        store = Store(home.database)
        ask = said(ANA, "@mohe hello", ts=2e9)
        assert (await Memory(store, meeting, me).hear(ask)).verdict is Verdict.ANSWER
        store.close()

        store = Store(home.database)
        again = Memory(store, meeting, me)
        assert (await again.hear(ask)).verdict is Verdict.KNOWN
        turn = await again.begin(self.ROOM)
        assert turn is not None
        assert turn.trigger == ask
        assert await again.begin(self.ROOM) is None
        await again.restored(self.ROOM)
        assert await again.begin(self.ROOM) == turn
        await again.ended(self.ROOM)
        assert await again.begin(self.ROOM) is None
        await again.keep(said(ANA, "停"))
        assert await again.stopped(self.ROOM)
        store.close()

    async def test_what_cannot_be_read_begins_afresh(self, home: Home, caplog: pytest.LogCaptureFixture) -> None:
        meeting, me, _ = rooms.attending(home, Settings())
        store = Store(home.database)
        await store.write(lambda conn: seats.save(conn, me.jid, self.ROOM, b"nonsense"))
        with caplog.at_level(logging.ERROR):
            assert not await Memory(store, meeting, me).stopped(self.ROOM)
        assert "begins afresh" in caplog.text
        store.close()

    async def test_only_agents_of_the_room_have_names_in_it(self, home: Home) -> None:
        meeting, _, _ = rooms.attending(home, Settings())
        store = Store(home.database)
        zhiwei = Memory(store, meeting, meeting.agent("zhiwei"))
        heard = await zhiwei.hear(said(ANA, "stop @mohe", room="side@conference.test"))
        assert heard.verdict is Verdict.UNADDRESSED
        assert (await zhiwei.hear(said(MOHE, "@zhiwei hello", room=self.ROOM, ts=2e9))).verdict is Verdict.ANSWER
        assert (await zhiwei.hear(said(ZHIWEI, "hello"))).verdict is Verdict.UNADDRESSED
        store.close()

    async def test_presence(self, home: Home) -> None:
        meeting, me, _ = rooms.attending(home, Settings())
        store = Store(home.database)
        presence = Presence("joined", "", ("ana (person)",))
        await Memory(store, meeting, me).see(self.ROOM, presence)
        store.close()
        conn = connect(home.database)
        with transaction(conn):
            assert memory.seen(conn, me, self.ROOM) == presence
            assert memory.seen(conn, me, "side@conference.test") is None
        conn.close()
