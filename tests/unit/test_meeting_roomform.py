"""What a room has to be like, its owner's form, and the words for what keeps an account out."""

from xml.etree.ElementTree import Element, SubElement, fromstring

import pytest

from hermes_iris.meeting import roomform, state
from hermes_iris.meeting.state import Reason

ROOM = "coregroup@rooms.example.org"


def info(*features: str) -> Element:
    answer = Element("iq")
    query = SubElement(answer, f"{{{roomform.DISCO}}}query")
    for feature in features:
        SubElement(query, f"{{{roomform.DISCO}}}feature", var=feature)
    return answer


def test_a_good_room_lacks_nothing() -> None:
    assert roomform.amiss(info(*roomform.NEEDED, "muc_hidden")) == []


def test_an_open_room_is_told() -> None:
    assert roomform.amiss(info("muc_open", "muc_semianonymous", "muc_persistent", "urn:xmpp:mam:2")) == [
        "it lets anybody in",
        "it hides who is who",
    ]
    assert len(roomform.amiss(info())) == len(roomform.NEEDED)


def test_the_form_goes_back_with_what_a_meeting_needs_and_the_rest_as_it_was() -> None:
    answer = fromstring(
        '<iq xmlns="jabber:client"><query xmlns="http://jabber.org/protocol/muc#owner"><x xmlns="jabber:x:data">'
        '<field type="hidden" var="FORM_TYPE"><value>http://jabber.org/protocol/muc#roomconfig</value></field>'
        '<field type="fixed"><value>Title</value></field><field type="fixed" var="x"><value>y</value></field>'
        '<field type="boolean" var="muc#roomconfig_membersonly"><value>0</value></field>'
        '<field type="list-single" var="muc#roomconfig_whois"><value>moderators</value></field>'
        '<field type="jid-multi" var="muc#roomconfig_roomadmins"><value>a@b</value><value/></field>'
        '<field type="text-single" var="muc#roomconfig_roomname"/></x></query></iq>'
    )
    query = roomform.filled(answer)
    form = query[0]
    assert form.get("type") == "submit"
    assert {field.get("var"): [value.text for value in field] for field in form} == {
        "FORM_TYPE": ["http://jabber.org/protocol/muc#roomconfig"],
        "muc#roomconfig_membersonly": ["1"],
        "muc#roomconfig_whois": ["anyone"],
        "muc#roomconfig_roomadmins": ["a@b", ""],
        "muc#roomconfig_roomname": [],
    }


def test_members_are_asked_for_and_made() -> None:
    assert roomform.members_question("member")[0].get("affiliation") == "member"
    answer = fromstring(
        '<iq><query xmlns="http://jabber.org/protocol/muc#admin"><item jid="Ada@example.org"/><item/></query></iq>'
    )
    assert roomform.members(answer) == {"ada@example.org", ""}
    assert roomform.admission("ada@example.org")[0].attrib == {"affiliation": "member", "jid": "ada@example.org"}
    assert roomform.question().tag.endswith("disco#info}query")
    assert roomform.form_question().tag.endswith("muc#owner}query")


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("registration-required", Reason.NOT_MEMBER),
        ("forbidden", Reason.BANNED),
        ("conflict", Reason.NICK_TAKEN),
        ("item-not-found", Reason.NO_ROOM),
        ("not-allowed", Reason.NO_ROOM),
        ("remote-server-not-found", Reason.NO_ROOM),
        ("not-authorized", Reason.ROOM_PASSWORD),
        ("service-unavailable", Reason.ROOM_FULL),
        ("jid-malformed", Reason.REFUSED),
    ],
)
def test_a_refused_join_has_a_reason_and_one_line(condition: str, reason: Reason) -> None:
    refusal = state.join_refused(ROOM, "mohe@example.org", "mohe", condition, "No entry.")
    assert refusal.reason is reason
    assert ROOM in str(refusal)
    assert str(refusal).endswith("(No entry.)")
    assert "\n" not in str(refusal)
    assert "(" not in str(state.join_refused(ROOM, "mohe@example.org", "mohe", condition, ""))


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("301", Reason.BANNED),
        ("307", Reason.REMOVED),
        ("321", Reason.NOT_MEMBER),
        ("322", Reason.NOT_MEMBER),
        ("332", Reason.UNREACHABLE),
        ("999", Reason.REMOVED),
    ],
)
def test_who_is_no_longer_in_a_room_knows_why(code: str, reason: Reason) -> None:
    refusal = state.removed(ROOM, "mohe@example.org", frozenset({"110", code}))
    assert refusal.reason is reason
    assert str(refusal).startswith(f"{ROOM}: mohe@example.org is")
