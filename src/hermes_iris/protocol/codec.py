"""Bytes to frames and back.

Invariants: decoding raises `InvalidFrame` or `Unsupported` and nothing else, and neither text repeats what the peer
sent; an event is encoded once, its number is put in front of the finished bytes.
"""

import re
from typing import TypeVar

import msgspec

from ..errors import InvalidFrame, TooLarge, Unsupported
from .frames import ClientFrame, Event, Frame, ServerFrame
from .types import MAX_FRAME, Seq

F = TypeVar("F", bound=Frame)

_client: msgspec.json.Decoder[ClientFrame] = msgspec.json.Decoder(ClientFrame)
_server: msgspec.json.Decoder[ServerFrame] = msgspec.json.Decoder(ServerFrame)


class _Envelope(msgspec.Struct):
    """What can be read of a frame whose body is wrong."""

    type: object = None
    client_id: object = None


_envelope = msgspec.json.Decoder(_Envelope)
_TYPES = frozenset(cls.__struct_config__.tag for cls in ClientFrame.__args__)

_ECHO = re.compile(r"Invalid (?:enum )?value .*(?= - at `)", re.DOTALL)

encode = msgspec.json.Encoder().encode


def decode_client(raw: bytes | str) -> ClientFrame:
    """Parse a frame that a client sent.

    Raises:
        TooLarge: longer than `MAX_FRAME`.
        Unsupported: well-formed JSON of a type that this level does not have.
        InvalidFrame: anything else that is not a frame; the text names the field.
    """
    if len(raw) > MAX_FRAME:
        raise TooLarge(f"a frame has at most {MAX_FRAME} bytes")
    return _decode(_client, raw, _TYPES)


def decode_server(raw: bytes | str) -> ServerFrame:
    """Parse a frame that the gateway sent. Raises `InvalidFrame`."""
    return _decode(_server, raw, None)


def logged(raw: bytes) -> Event | None:
    """An event of the log, with its number; None for one that another version of Iris has stored and this one lacks."""
    try:
        frame = decode_server(raw)
    except InvalidFrame:
        return None
    return frame if isinstance(frame, Event) else None


def correlation(raw: bytes | str) -> str | None:
    """The `client_id` of a frame that could not be decoded, if it can be told, so that its error finds its way."""
    try:
        found = _envelope.decode(raw).client_id
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    return found if isinstance(found, str) and len(found) <= 64 else None


def number(seq: Seq, body: bytes) -> bytes:
    """Put its number in an encoded event: the bytes that travel."""
    return b'{"seq":%d,%b' % (seq, body[1:])


def encode_event(event: Event) -> bytes:
    """Encode an event without its number, as the log keeps it."""
    return encode(msgspec.structs.replace(event, seq=0) if event.seq else event)


def _decode(decoder: msgspec.json.Decoder[F], raw: bytes | str, known: frozenset[object] | None) -> F:
    try:
        return decoder.decode(raw)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as exc:
        if known is not None and (kind := _type_of(raw)) is not None and kind not in known:
            raise Unsupported("$.type names no frame of this protocol level") from exc
        raise InvalidFrame(reason(exc)) from exc


def _type_of(raw: bytes | str) -> str | None:
    try:
        kind = _envelope.decode(raw).type
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    return kind if isinstance(kind, str) else None


def reason(exc: Exception) -> str:
    """Why something could not be decoded, in one line that does not repeat it."""
    match exc:
        case RecursionError():
            return "the frame is nested too deeply"
        case UnicodeError():
            return "the frame is not UTF-8"
        case msgspec.ValidationError():
            return _ECHO.sub("Invalid value", str(exc))
        case _:
            return "the frame is not JSON"
