"""Bytes to frames and back."""

import json
from typing import Any

import msgspec
import pytest
from frame_strategies import frames, json_values, plain, tag
from hypothesis import Phase, given, settings, strategies as st
from msgspec.structs import replace

from hermes_iris.errors import InvalidFrame, TooLarge, Unsupported
from hermes_iris.protocol import codec
from hermes_iris.protocol.export import CLIENT, SERVER
from hermes_iris.protocol.frames import (
    Event,
    Frame,
    Hello,
    Message,
    MessageSend,
    Ping,
    Pong,
    ReadMarked,
    StoredEvent,
    TurnEnded,
    TurnStarted,
)
from hermes_iris.protocol.types import MAX_FRAME, MAX_TEXT

few = settings(max_examples=25)
one_of_each = settings(max_examples=25, phases=[Phase.generate])
"""Where the first bad example tells enough."""

REFUSED = (InvalidFrame, Unsupported, TooLarge)
SECRET = "s3cr3t"


def send(**fields: Any) -> str:
    body = {"type": "message.send", "client_id": "c-123456", "chat_id": "android:default", "text": "hi", **fields}
    return json.dumps(body)


# ---------------------------------------------------------------- round trips


@pytest.mark.parametrize("cls", CLIENT, ids=tag)
@few
@given(data=st.data())
def test_a_client_frame_comes_back_as_it_was(cls: type[Frame], data: st.DataObject) -> None:
    frame = data.draw(frames(cls))
    assert codec.decode_client(codec.encode(frame)) == frame
    assert codec.decode_client(codec.encode(frame).decode()) == frame


@pytest.mark.parametrize("cls", SERVER, ids=tag)
@few
@given(data=st.data())
def test_a_server_frame_comes_back_as_it_was(cls: type[Frame], data: st.DataObject) -> None:
    frame = data.draw(frames(cls))
    assert codec.decode_server(codec.encode(frame)) == frame
    assert codec.decode_server(codec.encode(frame).decode()) == frame


@pytest.mark.parametrize("cls", CLIENT + SERVER, ids=lambda cls: cls.__name__)
@few
@given(data=st.data())
def test_what_travels_is_one_line_and_names_its_type_first(cls: type[Frame], data: st.DataObject) -> None:
    encoded = codec.encode(data.draw(frames(cls)))
    assert encoded.startswith(b'{"type":"' + tag(cls).encode() + b'"')
    assert b"\n" not in encoded


@pytest.mark.parametrize("cls", CLIENT, ids=tag)
@few
@given(data=st.data(), name=st.text(max_size=8).map(lambda text: f"x{text}"), value=json_values)
def test_an_unknown_field_is_ignored(cls: type[Frame], data: st.DataObject, name: str, value: Any) -> None:
    frame = data.draw(frames(cls))
    assert codec.decode_client(json.dumps({**plain(frame), name: value})) == frame


def test_a_frame_is_immutable() -> None:
    with pytest.raises(AttributeError):
        codec.decode_client(send()).text = "x"  # type: ignore[misc,union-attr]


def test_a_default_does_not_travel() -> None:
    assert codec.encode(TurnEnded(turn_id="t", chat_id="android:default", outcome="success", ts=1.0)) == (
        b'{"type":"turn.ended","turn_id":"t","chat_id":"android:default","outcome":"success","ts":1.0}'
    )


# ---------------------------------------------------------------- numbers of events


@pytest.mark.parametrize("cls", StoredEvent.__args__, ids=tag)
@few
@given(data=st.data(), seq=st.integers(1, 2**53 - 1))
def test_a_number_is_put_into_the_finished_bytes(cls: type[Event], data: st.DataObject, seq: int) -> None:
    event = data.draw(frames(cls))
    numbered = codec.number(seq, codec.encode_event(event))
    assert codec.decode_server(numbered) == msgspec.structs.replace(event, seq=seq)
    assert [pair[0] for pair in json.loads(numbered, object_pairs_hook=list)].count("seq") == 1


def test_an_event_is_kept_without_its_number() -> None:
    event = TurnStarted(turn_id="t", chat_id="android:default", ts=1.0, seq=7)
    assert b"seq" not in codec.encode_event(event)
    assert event.seq == 7
    assert codec.encode_event(event) == codec.encode_event(msgspec.structs.replace(event, seq=0))


# ---------------------------------------------------------------- refusals


@given(raw=st.binary(max_size=200) | st.text(max_size=200))
def test_any_bytes_are_a_frame_or_refused(raw: bytes | str) -> None:
    _decode_both(raw)


@given(value=json_values)
def test_any_json_is_a_frame_or_refused(value: Any) -> None:
    _decode_both(json.dumps(value))


wrong = st.one_of(
    json_values,
    st.integers(min_value=2**53),
    st.sampled_from([-1, 1e300, "", "x" * 200, {"type": "x"}, [[[[]]]]]),
)


@pytest.mark.parametrize("cls", CLIENT + SERVER, ids=lambda cls: cls.__name__)
@few
@given(data=st.data())
def test_a_frame_with_one_wrong_field_is_a_frame_or_refused(cls: type[Frame], data: st.DataObject) -> None:
    body = plain(data.draw(frames(cls)))
    name = data.draw(st.sampled_from([field.encode_name for field in msgspec.structs.fields(cls)] + ["type"]))
    body[name] = data.draw(wrong)
    _decode_both(json.dumps(body))


def _decode_both(raw: bytes | str) -> list[str]:
    """Decode in both directions; what the refusals said."""
    said: list[str] = []
    for decode, group in ((codec.decode_client, CLIENT), (codec.decode_server, SERVER)):
        try:
            assert isinstance(decode(raw), group)
        except REFUSED as exc:
            said.append(str(exc))
            assert said[-1]
            assert "\n" not in said[-1]
    found = codec.correlation(raw)
    assert found is None or len(found) <= 64
    return said


def _texts_replaced(value: Any, *, keep_type: bool = True) -> Any:
    match value:
        case str():
            return SECRET
        case dict():
            return {
                key: inner if key == "type" and keep_type else _texts_replaced(inner) for key, inner in value.items()
            }
        case list():
            return [_texts_replaced(inner) for inner in value]
        case _:
            return value


@pytest.mark.parametrize("cls", CLIENT + SERVER, ids=lambda cls: cls.__name__)
@one_of_each
@given(data=st.data())
def test_a_refusal_never_repeats_what_the_peer_sent(cls: type[Frame], data: st.DataObject) -> None:
    """Also where only one of a few words is allowed, and where it names a type."""
    body = plain(data.draw(frames(cls)))
    said = _decode_both(json.dumps(_texts_replaced(body, keep_type=False)))
    for name in body.keys() - {"type"}:
        said += _decode_both(json.dumps({**body, name: _texts_replaced(body[name])}))
    assert not [text for text in said if SECRET in text]


def test_a_word_that_is_not_allowed_is_named_by_its_place_only() -> None:
    hello = {"type": "hello", "level": {"min": 1, "max": 1}, "device": {"id": "d", "name": "n", "kind": SECRET}}
    with pytest.raises(InvalidFrame) as refused:
        codec.decode_client(json.dumps({**hello, "token": "t"}))
    assert "$.device.kind" in str(refused.value)
    assert SECRET not in str(refused.value)


def test_an_unknown_type_is_unsupported_for_a_client_only() -> None:
    with pytest.raises(Unsupported, match=r"\$\.type"):
        codec.decode_client('{"type":"s3cr3t"}')
    with pytest.raises(InvalidFrame) as refused:
        codec.decode_server('{"type":"s3cr3t"}')
    assert "$.type" in str(refused.value)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("raw", ['{"type":', '{"type":5}', '{"type":null}', "[]", '{"client_id":"c-123456"}'])
def test_what_has_no_readable_type_is_invalid_rather_than_unsupported(raw: str) -> None:
    with pytest.raises(InvalidFrame):
        codec.decode_client(raw)


def test_the_direction_of_a_frame_counts() -> None:
    assert isinstance(codec.decode_client('{"type":"ping"}'), Ping)
    assert isinstance(codec.decode_server('{"type":"pong"}'), Pong)
    with pytest.raises(Unsupported):
        codec.decode_client('{"type":"pong"}')
    with pytest.raises(InvalidFrame):
        codec.decode_server('{"type":"ping"}')


@pytest.mark.parametrize(
    "raw", [b"\xff", send(text="~").encode().replace(b"~", b"\xc3\x28"), '{"type":"ping","x":"\udcff"}']
)
def test_what_is_not_utf8_is_invalid(raw: bytes | str) -> None:
    with pytest.raises(InvalidFrame):
        codec.decode_client(raw)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
@pytest.mark.parametrize("around", ["%s", '{"type":"ping","x":%s', '{"type":%s', '{"client_id":%s'])
def test_deep_nesting_is_refused_and_nothing_worse(opening: str, around: str) -> None:
    raw = around % (opening * ((MAX_FRAME - 50) // len(opening)))
    with pytest.raises(InvalidFrame):
        codec.decode_client(raw)
    assert codec.correlation(raw) is None


def test_deep_nesting_says_so() -> None:
    raw = '{"type":"ping","x":' + "[" * 5000 + "]" * 5000 + "}"
    with pytest.raises(InvalidFrame, match="nested too deeply"):
        codec.decode_client(raw)


def test_an_oversized_frame_of_a_client_is_too_large_and_not_even_read() -> None:
    with pytest.raises(TooLarge, match=str(MAX_FRAME)):
        codec.decode_client(b" " * (MAX_FRAME + 1))
    assert codec.decode_client(b'{"type":"ping"}'.ljust(MAX_FRAME)) == Ping()


def test_a_page_of_the_gateway_may_be_longer() -> None:
    """200 messages of full length are more than what a client may send."""
    assert codec.decode_server(b'{"type":"pong"}'.ljust(2 * MAX_FRAME)) == Pong()


def test_a_text_ends_at_its_limit() -> None:
    longest = codec.decode_client(send(text="好" * MAX_TEXT))
    assert isinstance(longest, MessageSend)
    assert len(longest.text) == MAX_TEXT
    with pytest.raises(InvalidFrame, match=r"\$\.text"):
        codec.decode_client(send(text="好" * (MAX_TEXT + 1)))


@pytest.mark.parametrize("field", ["chat_id", "thread_id", "client_id"])
def test_an_id_ends_where_it_ends(field: str) -> None:
    """A pattern's `$` also matches before a line break at the end."""
    good = {"chat_id": "android:default", "thread_id": "t_31", "client_id": "c-123456"}[field]
    codec.decode_client(send(**{field: good}))
    with pytest.raises(InvalidFrame, match=rf"\$\.{field}"):
        codec.decode_client(send(**{field: good + "\n"}))


@pytest.mark.parametrize("number", [2**63, 2**64, 10**30])
def test_a_place_is_a_number_that_the_store_can_look_for(number: int) -> None:
    """SQLite's numbers end at 2**63; beyond that a query raises `OverflowError`."""
    history = {"type": "history", "client_id": "c-123456", "chat_id": "android:default", "before": number}
    with pytest.raises(InvalidFrame, match=r"\$\.before"):
        codec.decode_client(json.dumps(history))


# ---------------------------------------------------------------- correlation


@pytest.mark.parametrize(
    ("raw", "found"),
    [
        (send(text=5), "c-123456"),
        (send(client_id="short"), "short"),
        (send(client_id="x" * 64), "x" * 64),
        (send(client_id="x" * 65), None),
        (send(client_id=7), None),
        ('{"type":"nothing","client_id":"c-123456"}', "c-123456"),
        ('{"type":"ping"}', None),
        ("[]", None),
        ('{"client_id":"c-123456"', None),
        ('{"client_id":"\\ud800-123456"}', None),
    ],
)
def test_a_refused_frame_is_told_by_its_client_id(raw: str, found: str | None) -> None:
    assert codec.correlation(raw) == found
    assert codec.correlation(raw.encode()) == found


@pytest.mark.parametrize("raw", [b'{"client_id":"c-\xff23456"}', b"\xff", '{"client_id":"c-123456\udcff"}'])
def test_a_client_id_that_is_not_utf8_is_none(raw: bytes | str) -> None:
    assert codec.correlation(raw) is None


def test_a_message_of_a_person_carries_the_id_of_its_request() -> None:
    echo = Message(
        message_id="m",
        chat_id="android:default",
        role="user",
        text="t",
        client_id="c-123456",
        ts=1.0,
        order=1,
    )
    assert codec.correlation(codec.encode(echo)) == "c-123456"


def test_a_hello_needs_no_client_id() -> None:
    assert "client_id" not in Hello.__struct_fields__


def test_what_another_process_has_logged_is_read_if_it_is_an_event_that_is_known() -> None:
    marked = ReadMarked(chat_id="android:default", order=3, unread=0)
    assert codec.logged(codec.number(7, codec.encode_event(marked))) == replace(marked, seq=7)
    assert codec.logged(b'{"seq":7,"type":"of.a.later.version"}') is None
    assert codec.logged(b'{"seq":7,"type":"pong"}') is None
