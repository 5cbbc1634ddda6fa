"""Whether the gateway may send to where a device says that it is called: a device must not make it knock elsewhere.

Invariants: only HTTPS, and only to addresses of the internet, but for hosts that the operator has named; the address
that was looked at is the one that is connected to, whatever the name means a moment later.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection
from ipaddress import IPv4Address, IPv6Address
from urllib.parse import urlsplit

from ..errors import InvalidFrame
from ..protocol.types import Seconds

Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[list[str]]]

RESOLVE: Seconds = 5.0
"""How long a name may take to be looked up."""

NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


async def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host. Raises `OSError`."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def place(endpoint: str, named: Collection[str] = (), look_up: Resolve = resolve) -> list[str]:
    """Look at an endpoint: the addresses to which may be connected.

    Args:
        endpoint: as a device gave it.
        named: hosts of the operator, which may be in a network of their own, and on loopback do without TLS.
        look_up: how a name is looked up.

    Raises:
        InvalidFrame: nothing may be sent there.
        OSError: its name cannot be looked up now.
    """
    try:
        parts = urlsplit(endpoint)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        host, port = "", 0
    if not host or parts.username is not None or parts.scheme not in ("https", "http") or not endpoint.isascii():
        raise InvalidFrame("$.endpoint is no address of a push service")
    is_named = host in named
    if parts.scheme == "http" and not is_named:
        raise InvalidFrame("$.endpoint must begin with https://")
    async with asyncio.timeout(RESOLVE):
        addresses = [ipaddress.ip_address(found.partition("%")[0]) for found in await look_up(host, port)]
    if parts.scheme == "http":
        allowed = [address for address in addresses if address.is_loopback]
    else:
        allowed = [address for address in addresses if is_named or is_public(address)]
    if not allowed:
        raise InvalidFrame(
            "$.endpoint leads into a private network; if that is meant, name its host in the setting `push_hosts`"
        )
    return [str(address) for address in allowed]


def is_public(address: Address) -> bool:
    """Whether an address belongs to the internet, or the one that it stands for does."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if address in NAT64:
            inner = IPv4Address(int(address) & 0xFFFF_FFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast
