"""A real ejabberd for tests, with SQLite storage: its own Mnesia loses the end of an archive when it is killed.

Started as plain Erlang, without a node name: no epmd, nothing that listens beyond loopback.
"""

import json
import os
import time
import urllib.error
import urllib.request
from dataclasses import dataclass

from hermes_iris.endpoints import free_port
from hermes_iris.meeting import prosody

from .server import NAMES, READY, XmppServer, password

_CONFIGURATION = """\
loglevel: info
hosts: ["{domain}"]
listen:
  - port: {port}
    ip: "127.0.0.1"
    module: ejabberd_c2s
    max_stanza_size: 262144
  - port: {http}
    ip: "127.0.0.1"
    module: ejabberd_http
    request_handlers:
      /api: mod_http_api
sql_type: sqlite
sql_database: "{folder}/ejabberd.db"
default_db: sql
auth_method: sql
auth_password_format: scram
disable_sasl_mechanisms: ["digest-md5", "X-OAUTH2"]
s2s_access: none
acme: {{auto: false}}
acl:
  loopback: {{ip: ["127.0.0.0/8"]}}
api_permissions:
  accounts:
    who: {{access: {{allow: {{acl: loopback}}}}}}
    what: ["register", "status"]
modules:
  mod_disco: {{}}
  mod_http_api: {{}}
  mod_mam: {{default: always}}
  mod_muc:
    host: "{rooms}"
    access_mam: all
    default_room_options: {{mam: true}}
  mod_ping: {{}}
"""


@dataclass
class Ejabberd(XmppServer):
    """An ejabberd; used like Prosody."""

    http: int = 0

    def start(self) -> None:
        super().start()
        made = self.folder / "made"
        if not made.exists():
            for name in NAMES:
                self._register(name)
            made.touch()

    def _write(self) -> None:
        self.http = free_port()
        # Erlang's resolver reads resolv.conf otherwise, and waits for it.
        (self.folder / "inetrc").write_text('{lookup,["file","native"]}.\n{host,{127,0,0,1},["localhost"]}.\n')
        (self.folder / "ejabberd.yml").write_text(
            _CONFIGURATION.format(
                folder=self.folder, port=self.port, http=self.http, domain=prosody.DOMAIN, rooms=prosody.ROOMS
            )
        )

    def _is_written(self) -> bool:
        return (self.folder / "ejabberd.yml").exists()

    def _command(self) -> list[str]:
        return ["erl", "+S", "2:2", "-noinput", "-mnesia", "dir", f'"{self.folder}/mnesia"', "-s", "ejabberd"]

    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "EJABBERD_CONFIG_PATH": str(self.folder / "ejabberd.yml"),
            "EJABBERD_LOG_PATH": str(self.log),
            "ERL_INETRC": str(self.folder / "inetrc"),
            "ERL_LIBS": "/usr/lib/x86_64-linux-gnu",
            "ERL_CRASH_DUMP_BYTES": "0",
            "HOME": str(self.folder),
        }

    def _register(self, name: str) -> None:
        body = {"user": name, "host": prosody.DOMAIN, "password": password(name)}
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.http}/api/register",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        deadline = time.monotonic() + READY
        while True:
            try:
                urllib.request.urlopen(request, timeout=10).close()
            except urllib.error.URLError as exc:
                if time.monotonic() > deadline or isinstance(exc, urllib.error.HTTPError):
                    raise RuntimeError(f"ejabberd made no account {name}: {exc}\n{self.tail()}") from exc
                time.sleep(0.1)
            else:
                return
