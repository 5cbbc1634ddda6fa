"""Where a device may say that it is called: nowhere inside of the operator's network, unless the operator says so."""

import ipaddress
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, strategies as st

from hermes_iris.errors import InvalidFrame
from hermes_iris.push.endpoint import is_public, place


def leading(*addresses: str) -> Callable[[str, int], Awaitable[list[str]]]:
    """A name server that has one answer."""

    async def look_up(host: str, port: int) -> list[str]:
        return list(addresses)

    return look_up


async def test_a_place_in_the_internet_is_taken() -> None:
    found = await place("https://push.example/a/b?c=d", look_up=leading("8.8.8.8", "2001:4860:4860::8888"))
    assert found == ["8.8.8.8", "2001:4860:4860::8888"]


@pytest.mark.parametrize(("endpoint", "port"), [("https://push.example/x", 443), ("https://push.example:8443/x", 8443)])
async def test_host_and_port_are_looked_up(endpoint: str, port: int) -> None:
    asked: list[tuple[str, int]] = []

    async def look_up(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return ["8.8.8.8"]

    await place(endpoint, look_up=look_up)
    assert asked == [("push.example", port)]


async def test_of_several_addresses_the_private_ones_are_left_out() -> None:
    assert await place("https://push.example/x", look_up=leading("10.0.0.1", "8.8.8.8", "::1")) == ["8.8.8.8"]


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://push.example/x",
        "ftp://push.example/x",
        "push.example/x",
        "https:///x",
        "https://user:secret@push.example/x",
        "https://push.example:99999/x",
        "https://[::1/x",
        "https://пуш.example/x",
        "https://push.example/\u202e",
        "",
    ],
)
async def test_what_is_no_endpoint_is_refused_before_anything_is_looked_up(endpoint: str) -> None:
    async def look_up(host: str, port: int) -> list[str]:
        raise AssertionError(host)

    with pytest.raises(InvalidFrame, match=r"\$\.endpoint"):
        await place(endpoint, look_up=look_up)


PRIVATE = [
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1%eth0",
    "fd00::1",
    "ff02::1",
    "ff0e::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
]


@pytest.mark.parametrize("address", PRIVATE)
async def test_a_name_that_leads_into_a_private_network_is_refused(address: str) -> None:
    with pytest.raises(InvalidFrame, match="push_hosts"):
        await place("https://push.example/x", look_up=leading(address))


async def test_a_host_that_the_operator_has_named_may_be_private() -> None:
    found = await place("https://ntfy.lan/x", ["ntfy.lan"], leading("192.168.1.5"))
    assert found == ["192.168.1.5"]
    with pytest.raises(InvalidFrame):
        await place("https://other.lan/x", ["ntfy.lan"], leading("192.168.1.5"))


async def test_without_tls_there_is_loopback_only_and_only_if_it_is_named() -> None:
    found = await place("http://localhost:8080/x", ["localhost"], leading("127.0.0.1", "::1"))
    assert found == ["127.0.0.1", "::1"]
    with pytest.raises(InvalidFrame):
        await place("http://ntfy.lan/x", ["ntfy.lan"], leading("192.168.1.5"))


async def test_a_name_that_is_not_known_may_be_known_later() -> None:
    async def look_up(host: str, port: int) -> list[str]:
        raise OSError("no such host")

    with pytest.raises(OSError, match="no such host"):
        await place("https://push.example/x", look_up=look_up)


@given(st.ip_addresses(v=4))
def test_an_address_inside_of_another_is_as_public_as_by_itself(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    mapped = ipaddress.IPv6Address((0xFFFF << 32) | number)
    translated = ipaddress.IPv6Address((0x64FF9B << 96) | number)
    tunnelled = ipaddress.IPv6Address((0x2002 << 112) | (number << 80))
    assert is_public(mapped) == is_public(translated) == is_public(tunnelled) == is_public(address)
    assert is_public(address) == (address.is_global and not address.is_multicast)
