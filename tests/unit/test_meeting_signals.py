"""Signals of a room: what is written is read, what is not one of ours is no signal."""

from xml.etree.ElementTree import Element, fromstring, tostring

import pytest
from hypothesis import given, strategies as st

from hermes_iris.meeting import signals
from hermes_iris.meeting.signals import Lease, Resume, Revoke, Rule, Signal, Stop, Tripped

PLAIN = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), max_size=80)
UNTIL = st.floats(min_value=0, max_value=1e11)
SIGNALS = st.one_of(
    st.builds(Stop),
    st.builds(Resume),
    st.builds(Lease, UNTIL, PLAIN),
    st.builds(Revoke, PLAIN.filter(bool)),
    st.builds(Tripped, st.sampled_from(Rule), UNTIL),
)


@given(SIGNALS)
def test_what_is_written_is_read_also_after_the_wire(signal: Signal) -> None:
    written = signals.element(signal)
    assert signals.read([written]) == signal
    assert signals.read([fromstring(tostring(written))]) == signal


def _element(tag: str, namespace: str = signals.NAMESPACE, **attributes: str) -> Element:
    return Element(f"{{{namespace}}}{tag}", attributes)


@pytest.mark.parametrize(
    "child",
    [
        _element("stop", "urn:example:other"),
        Element("stop"),
        _element("unheard-of"),
        _element("lease"),
        _element("lease", until="soon"),
        _element("lease", until="nan"),
        _element("lease", until="inf"),
        _element("lease", until="-1"),
        _element("lease", until="9" * 400),
        _element("lease", until="5", title="x" * 81),
        _element("revoke"),
        _element("revoke", agent=""),
        _element("revoke", agent="a" * 1025),
        _element("tripped", rule="mood"),
        _element("tripped", rule=""),
    ],
    ids=lambda child: tostring(child).decode()[:90],
)
def test_what_is_malformed_is_no_signal(child: Element) -> None:
    assert signals.read([child]) is None


def test_the_first_that_can_be_read_counts_and_an_attribute_makes_it_no_other() -> None:
    told = [
        Element("body"),
        _element("lease", until="x"),
        _element("stop", kind="resume", agent="a@b"),
        _element("resume"),
    ]
    assert signals.read(told) == Stop()
    assert signals.read([]) is None
