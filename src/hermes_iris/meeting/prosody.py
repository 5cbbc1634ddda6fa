"""A private Prosody on loopback, to try a meeting out: its configuration, its accounts and its command.

Invariants: it listens on 127.0.0.1 and nowhere else, and talks to no other server; everything it writes is below its
own folder, for its owner only; passwords never go over the wire (SCRAM).

`s2s` is disabled because it would listen on all interfaces, `nagle` because on loopback it costs 10 to 40 ms a message.
Never run `prosody --version`: it starts a server on all interfaces.
"""

import os
import re
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

from ..errors import SetupError
from ..protocol.types import Seconds

DOMAIN = "meeting.localhost"
ROOMS = f"rooms.{DOMAIN}"

GREETING: Seconds = 2.0

_CONFIGURATION = """\
run_as_root = {root}
pidfile = "{folder}/prosody.pid"
data_path = "{folder}/data"
certificates = "{folder}"
interfaces = {{ "127.0.0.1" }}
local_interfaces = {{ "127.0.0.1" }}
c2s_ports = {{ {port} }}
c2s_direct_tls_ports = {{}}
legacy_ssl_ports = {{}}
http_ports = {{}}
https_ports = {{}}
modules_disabled = {{ "s2s", "offline" }}
modules_enabled = {{ "saslauth", "disco", "posix", "ping"{tls} }}
log = {{ info = "*console" }}
c2s_require_encryption = {encrypted}
allow_unencrypted_plain_auth = false
authentication = "internal_hashed"
storage = "internal"
network_settings = {{ nagle = false }}
limits = {{}}

VirtualHost "{domain}"
{ssl}
Component "{rooms}" "muc"
  modules_enabled = {{ "muc_mam" }}
  restrict_room_creation = {restricted}
  muc_room_locking = false
  muc_log_by_default = true
  muc_log_expires_after = "{kept}"
  max_archive_query_results = 100
"""


def command(folder: Path) -> list[str]:
    """How to run the server in the foreground.

    Raises:
        SetupError: Prosody is not installed; the text has the command that does it.
    """
    program = shutil.which("prosody")
    if program is None:
        raise SetupError("Prosody is not installed; run: sudo apt-get install -y prosody")
    return [program, "-F", "--config", str(folder / "prosody.cfg.lua")]


def write(
    folder: Path,
    port: int,
    passwords: Mapping[str, str],
    *,
    certificate: tuple[Path, Path] | None = None,
    restricted: bool = False,
    kept: str = "never",
) -> None:
    """Write configuration and accounts.

    Args:
        folder: the server's own; made if missing.
        port: where it listens on 127.0.0.1.
        passwords: by the part of the JID before the `@`; letters, digits, `-` and `_` only.
        certificate: certificate and key; with one, every connection has to be encrypted.
        restricted: whether only admins can make rooms, so that nobody here can.
        kept: after what time the archive forgets, as Prosody writes it, e.g. `1w`.
    """
    accounts = folder / "data" / _encoded(DOMAIN) / "accounts"
    accounts.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, password in passwords.items():
        _private(accounts / f"{_encoded(name)}.dat", f'return {{ ["password"] = "{password}"; }};\n')
    ssl = '  ssl = {{ certificate = "{}"; key = "{}" }}\n'.format(*certificate) if certificate else ""
    text = _CONFIGURATION.format(
        folder=folder,
        port=port,
        domain=DOMAIN,
        rooms=ROOMS,
        root=_lua(os.geteuid() == 0),
        tls=', "tls"' if certificate else "",
        encrypted=_lua(certificate is not None),
        restricted=_lua(restricted),
        ssl=ssl,
        kept=kept,
    )
    _private(folder / "prosody.cfg.lua", text)


def greets(port: int) -> bool:
    """Whether a server on loopback is ready: it greets a client with what it offers. Takes two seconds at most."""
    opening = f"<?xml version='1.0'?><stream:stream to='{DOMAIN}' version='1.0' xmlns='jabber:client'"
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=GREETING) as sock:
            sock.sendall(f"{opening} xmlns:stream='http://etherx.jabber.org/streams'>".encode())
            answer = b""
            while b"</stream:features>" not in answer and (more := sock.recv(4096)):
                answer += more
    except OSError:
        return False
    return b"</stream:features>" in answer


def _private(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")


def _lua(value: bool) -> str:
    return "true" if value else "false"


def _encoded(name: str) -> str:
    """A name as Prosody writes it into a path (`util.datamanager`)."""
    return re.sub("[^A-Za-z0-9]", lambda found: f"%{ord(found[0]):02x}", name)
