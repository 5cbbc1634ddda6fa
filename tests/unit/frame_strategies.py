"""Hypothesis strategies for frames, made from their declarations: a new frame is covered on the day it is declared."""

import re
from functools import cache
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import inspect as mi

from hermes_iris.protocol.frames import Frame, MessageUpdate

SAFE = 2**53 - 1
"""The largest whole number that JavaScript tells apart from its neighbours."""

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-SAFE, SAFE) | st.floats(-1e9, 1e9) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


IDS = (
    "android:default",
    "android:chan_7",
    f"android:{'x' * 64}",
    "t_31",
    "0",
    "c-123456",
    "x" * 64,
    "-_-_-_-_",
    "5f" * 16,
    "x" * 22,
    "-" * 87,
    "zh",
)


@cache
def frames(cls: type[Frame]) -> st.SearchStrategy[Any]:
    """Every well-formed frame of a class."""
    return _struct(mi.type_info(cls))


FORMS: dict[type, st.SearchStrategy[Any]] = {
    MessageUpdate: st.builds(MessageUpdate, message_id=st.just("m_1"), text=st.text(max_size=40))
    | st.builds(MessageUpdate, message_id=st.just("m_1"), offset=st.integers(0, SAFE), append=st.text(max_size=40))
}
"""Frames whose fields exclude each other."""


def _struct(info: mi.Type) -> st.SearchStrategy[Any]:
    assert isinstance(info, mi.StructType)
    if info.cls in FORMS:
        return FORMS[info.cls]
    required = {field.name: _values(field.type) for field in info.fields if field.required}
    optional = {field.name: _values(field.type) for field in info.fields if not field.required}
    return st.fixed_dictionaries(required, optional=optional).map(lambda fields: info.cls(**fields))


def _values(info: mi.Type) -> st.SearchStrategy[Any]:
    match info:
        case mi.Metadata(type=inner):
            return _values(inner)
        case mi.StrType(pattern=str(pattern)):
            return st.sampled_from([name for name in IDS if re.match(pattern, name)])
        case mi.StrType(min_length=shortest, max_length=longest):
            return st.text(min_size=shortest or 0, max_size=min(longest or 40, 40))
        case mi.IntType(ge=least, le=most):
            return st.integers(-SAFE if least is None else least, SAFE if most is None else min(most, SAFE))
        case mi.FloatType(ge=least):
            return st.floats(least, 1e12, allow_nan=False, allow_infinity=False).map(abs)
        case mi.LiteralType(values=values):
            return st.sampled_from(values)
        case mi.ListType(item_type=item):
            return st.lists(_values(item), max_size=3)
        case mi.DictType():
            return st.dictionaries(st.text(max_size=8), json_values, max_size=4)
        case mi.UnionType(types=types):
            return st.one_of(*map(_values, types))
        case mi.BoolType():
            return st.booleans()
        case mi.NoneType():
            return st.none()
        case mi.StructType():
            return _struct(info)
        case _:
            raise TypeError(f"no strategy for {info!r}")


def tag(cls: type[Frame]) -> str:
    """The name under which a frame travels."""
    found = cls.__struct_config__.tag
    assert isinstance(found, str)
    return found


def plain(frame: Frame) -> Any:
    """A frame as the JSON object that travels."""
    return msgspec.json.decode(msgspec.json.encode(frame))
