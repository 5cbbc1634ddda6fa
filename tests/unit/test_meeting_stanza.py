"""Stanzas of a room: what is read of those that servers send, and what is built."""

from xml.etree.ElementTree import Element, fromstring

import pytest

from hermes_iris.meeting import stanza
from hermes_iris.meeting.catchup import Ask
from hermes_iris.meeting.signals import Lease, Stop
from hermes_iris.meeting.stanza import Heard, Occupant

ROOM = "coregroup@rooms.example.org"
ID = f'<stanza-id xmlns="urn:xmpp:sid:0" by="{ROOM}" id="a-1"/>'


def message(inside: str, attributes: str = 'type="groupchat" id="o-1"', sender: str = f"{ROOM}/mohe") -> Element:
    return fromstring(f'<message xmlns="jabber:client" from="{sender}" {attributes}>{inside}</message>')


def heard(inside: str) -> Heard:
    read = stanza.read_message(message(inside), ROOM)
    assert read
    return read


class TestAMessage:
    def test_of_any_client(self) -> None:
        assert heard(f"<body>hello</body>{ID}") == Heard("a-1", "o-1", "mohe", "", "hello", "", 0, False, "", None)

    @pytest.mark.parametrize(
        "other",
        [
            message(ID),
            message(f"<body/>{ID}"),
            message("<body>hello</body>"),
            message(f"<body>hello</body>{ID.replace('coregroup', 'other')}"),
            message(f"<body>hello</body>{ID}", 'type="chat"'),
            message(f"<body>hello</body>{ID}", sender="other@rooms.example.org/mohe"),
            message(f"<subject>hello</subject>{ID}"),
        ],
    )
    def test_is_none_without_text_or_place(self, other: Element) -> None:
        assert stanza.read_message(other, ROOM) is None

    def test_has_the_id_that_the_room_gave_whatever_its_sender_claims(self) -> None:
        forged = '<stanza-id xmlns="urn:xmpp:sid:0" by="mohe@example.org" id="a-0"/>'
        assert heard(f"<body>hello</body>{forged}{ID}").archive_id == "a-1"

    def test_has_no_address_of_its_own_making(self) -> None:
        forged = '<x xmlns="http://jabber.org/protocol/muc#user"><item jid="ada@example.org"/></x>'
        assert heard(f"<body>hello</body>{forged}{ID}").jid == ""

    def test_tells_its_hop_and_whether_it_is_a_notice(self) -> None:
        def turn(attributes: str) -> Heard:
            return heard(f'<body>b</body>{ID}<turn xmlns="urn:hermes-iris:meeting:0" {attributes}/>')

        assert (turn('hop="3"').hop, turn('hop="3"').notice) == (3, False)
        assert (turn('hop="-3" notice="true"').hop, turn('notice="true"').notice) == (0, True)
        assert turn('hop="99999999"').hop == stanza.MAX_HOP
        assert turn('hop="٣"').hop == 0

    def test_carries_a_signal(self) -> None:
        assert heard(f'<body>stop</body>{ID}<stop xmlns="urn:hermes-iris:meeting:0"/>').signal == Stop()

    def test_answers_another_one_without_the_quote(self) -> None:
        reply = '<reply xmlns="urn:xmpp:reply:0" id="a-0" to="x"/>'
        fallback = '<fallback xmlns="urn:xmpp:fallback:0" for="urn:xmpp:reply:0"><body start="0" end="9"/></fallback>'
        read = heard(f"<body>&gt; @mohe?\nyes</body>{ID}{reply}{fallback}")
        assert (read.reply_to, read.text) == ("a-0", "yes")

    @pytest.mark.parametrize(
        "fallback",
        [
            '<fallback xmlns="urn:xmpp:fallback:0" for="urn:xmpp:sfs:0"><body start="0" end="2"/></fallback>',
            '<fallback xmlns="urn:xmpp:fallback:0" for="urn:xmpp:reply:0"/>',
            '<fallback xmlns="urn:xmpp:fallback:0" for="urn:xmpp:reply:0"><body/></fallback>',
            '<fallback xmlns="urn:xmpp:fallback:0" for="urn:xmpp:reply:0"><body start="0" end="500"/></fallback>',
            '<fallback xmlns="urn:xmpp:fallback:0" for="urn:xmpp:reply:0"><body start="3" end="1"/></fallback>',
        ],
    )
    def test_keeps_its_text_when_the_quote_is_not_plain(self, fallback: str) -> None:
        assert heard(f"<body>hello</body>{ID}{fallback}").text == "hello"


class TestTheArchive:
    def result(self, inner: str, attributes: str = 'id="a-7"') -> Element:
        return message(
            f'<result xmlns="urn:xmpp:mam:2" {attributes} queryid="q"><forwarded xmlns="urn:xmpp:forward:0">'
            f'<delay xmlns="urn:xmpp:delay" stamp="2026-01-02T03:04:05Z"/>{inner}</forwarded></result>',
            'type="normal"',
            ROOM,
        )

    def inner(self, inside: str) -> str:
        return (
            f'<message xmlns="jabber:client" type="groupchat" id="o-1" from="{ROOM}/mohe"><body>hello</body>{inside}'
            "</message>"
        )

    def test_gives_id_time_and_real_address(self) -> None:
        item = '<x xmlns="http://jabber.org/protocol/muc#user"><item jid="Mohe@example.org/iris"/></x>'
        read = stanza.read_archived(self.result(self.inner(item)), ROOM)
        assert isinstance(read, Heard)
        assert (read.archive_id, read.stamp) == ("a-7", "2026-01-02T03:04:05Z")
        assert (read.jid, read.text) == ("mohe@example.org", "hello")

    def test_believes_the_archive_and_not_the_sender(self) -> None:
        items = "".join(
            f'<x xmlns="http://jabber.org/protocol/muc#user"><item jid="{jid}"/></x>'
            for jid in ("ada@example.org", "mallory@example.org")
        )
        read = stanza.read_archived(self.result(self.inner(items)), ROOM)
        assert isinstance(read, Heard)
        assert read.jid == "mallory@example.org"

    def test_gives_no_address_when_the_room_has_told_none(self) -> None:
        read = stanza.read_archived(self.result(self.inner("")), ROOM)
        assert isinstance(read, Heard)
        assert read.jid == ""

    def test_numbers_what_has_no_text(self) -> None:
        assert stanza.read_archived(self.result("<message xmlns='jabber:client'/>"), ROOM) == "a-7"
        assert stanza.read_archived(self.result(""), ROOM) == "a-7"
        assert stanza.read_archived(self.result("", ""), ROOM) is None
        assert stanza.read_archived(message("<body>b</body>"), ROOM) is None
        bare = message('<result xmlns="urn:xmpp:mam:2" id="a-8"/>')
        assert stanza.read_archived(bare, ROOM) == "a-8"

    def test_tells_where_a_page_ends(self) -> None:
        rsm = '<set xmlns="http://jabber.org/protocol/rsm"><last>a-9</last></set>'
        fin = f'<iq><fin xmlns="urn:xmpp:mam:2" complete="true">{rsm}</fin></iq>'
        assert stanza.read_end(fromstring(fin)) == (True, "a-9")
        assert stanza.read_end(fromstring(fin.replace(' complete="true"', ""))) == (False, "a-9")
        assert stanza.read_end(fromstring('<iq><fin xmlns="urn:xmpp:mam:2"/></iq>')) == (False, "")
        assert stanza.read_end(fromstring("<iq/>")) == (True, "")
        empty = fin.replace("<last>a-9</last>", "<last/>")
        assert stanza.read_end(fromstring(empty)) == (True, "")

    def test_is_asked_for_a_place(self) -> None:
        def asked(ask: Ask) -> list[tuple[str, str | None]]:
            query = stanza.archive_query("q", ask)
            assert query.get("queryid") == "q"
            return [(each.tag.partition("}")[2], each.text) for each in query[0]]

        assert asked(Ask(after="a-1")) == [("max", "50"), ("after", "a-1")]
        assert asked(Ask()) == [("max", "50")]
        assert asked(Ask(before="")) == [("max", "50"), ("before", None)]
        assert asked(Ask(before="a-1", limit=7)) == [("max", "7"), ("before", "a-1")]


class TestAPresence:
    def presence(self, inside: str, attributes: str = "") -> Occupant:
        return stanza.read_presence(
            fromstring(
                f'<presence xmlns="jabber:client" from="{ROOM}/mohe" {attributes}>'
                f'<x xmlns="http://jabber.org/protocol/muc#user">{inside}</x></presence>'
            )
        )

    def test_of_oneself_in_a_new_room(self) -> None:
        item = '<item jid="mohe@example.org/iris" affiliation="owner" role="moderator"/>'
        occupant = self.presence(f'{item}<status code="110"/><status code="201"/>')
        assert occupant == Occupant("mohe", "mohe@example.org", "owner", True, frozenset({"110", "201"}))

    def test_of_somebody_who_leaves(self) -> None:
        assert self.presence("", 'type="unavailable"') == Occupant("mohe", "", "none", False, frozenset())


@pytest.mark.parametrize(("state", "composing"), [("composing", True), ("paused", False), ("active", False)])
def test_a_chat_state_is_read(state: str, composing: bool) -> None:
    read = message(f'<thing xmlns="urn:x"/><{state} xmlns="http://jabber.org/protocol/chatstates"/>')
    assert stanza.read_state(read) is composing


def test_no_chat_state_is_none() -> None:
    assert stanza.read_state(message("<subject/>")) is None


class TestAnError:
    def test_has_a_condition_and_words(self) -> None:
        error = message(
            '<error type="cancel"><text xmlns="urn:ietf:params:xml:ns:xmpp-stanzas">No.</text>'
            '<conflict xmlns="urn:ietf:params:xml:ns:xmpp-stanzas"/></error>'
        )
        assert stanza.condition(error) == ("conflict", "No.")

    def test_may_say_little(self) -> None:
        bare = message('<error><gone xmlns="urn:ietf:params:xml:ns:xmpp-stanzas"/><other/></error>')
        assert stanza.condition(bare) == ("gone", "")
        empty = message('<error><text xmlns="urn:ietf:params:xml:ns:xmpp-stanzas"/></error>')
        assert stanza.condition(empty) == ("undefined-condition", "")
        assert stanza.condition(message("")) == ("undefined-condition", "")


class TestWhatIsBuilt:
    def round(self, text: str, **given: object) -> Heard:
        built = Element("{jabber:client}message", {"from": f"{ROOM}/mohe", "type": "groupchat", "id": "o-1"})
        values = {"hop": 2, "reply_to": "", "notice": False, "signal": None, "origin_id": "o-1", **given}
        built.extend(stanza.body(text, **values))  # type: ignore[arg-type]
        built.append(fromstring(ID))
        read = stanza.read_message(built, ROOM)
        assert read
        return read

    def test_reads_as_it_was_meant(self) -> None:
        assert self.round("hello") == Heard("a-1", "o-1", "mohe", "", "hello", "", 2, False, "", None)
        lease = Lease(until=17.0, title="Oslo")
        read = self.round("shared", notice=True, reply_to="a-0", signal=lease)
        assert (read.notice, read.reply_to, read.signal) == (True, "a-0", lease)

    def test_has_only_characters_that_xml_allows(self) -> None:
        assert self.round("a\x00b\x1b[0mc\ud800\uffffd\te\n墨和🙂").text == "ab[0mcd\te\n墨和🙂"

    def test_marks_whom_it_mentions(self) -> None:
        references = stanza.mentions("hi @mohe你好, @zhiwei2", ROOM, ["mohe", "zhiwei", "ada"])
        assert [dict(each.attrib) for each in references] == [
            {"type": "mention", "uri": f"xmpp:{ROOM}/mohe", "begin": "3", "end": "8"}
        ]

    def test_asks_to_be_let_in_without_what_was_said_before(self) -> None:
        assert stanza.join()[0].get("maxstanzas") == "0"
        assert stanza.ping().tag == "{urn:xmpp:ping}ping"

    @pytest.mark.parametrize("on", [True, False])
    def test_tells_the_state_of_who_composes(self, on: bool) -> None:
        built = message("")
        built.append(stanza.composing(on))
        assert stanza.read_state(built) is on
