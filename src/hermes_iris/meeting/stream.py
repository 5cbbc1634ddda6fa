"""One XMPP connection, from login to its end; the only module that knows slixmpp.

Invariants: a password goes over an encrypted connection whose certificate was checked, or over loopback; whatever keeps
a connection from being made is a `Refusal` that says what to do; nothing reconnects by itself; stanzas are handed on in
the order in which they came.

slixmpp (1.17) is told host and port each time, since it would forget them; it would also go on trying by itself, with
pauses of minutes, so an attempt that failed is ended here.
"""

import asyncio
import logging
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

from ..protocol.types import Seconds
from .config import Account
from .stanza import condition
from .state import Reason, Refusal

if TYPE_CHECKING:
    from slixmpp import ClientXMPP

logger = logging.getLogger(__name__)

LOGIN_LIMIT: Seconds = 30.0
ANSWER_LIMIT: Seconds = 20.0
CLOSE_LIMIT: Seconds = 1.0


class Rejected(Exception):
    """A request was answered with an error."""

    def __init__(self, condition: str, words: str) -> None:
        super().__init__(f"{condition}: {words}" if words else condition)
        self.condition = condition
        self.words = words


class Stream:
    """A connection that is logged in. `closed` is done at its end."""

    def __init__(self, client: "ClientXMPP", closed: "asyncio.Future[Refusal]") -> None:
        self._client = client
        self.closed = closed

    @classmethod
    async def open(cls, account: Account, resource: str, on_stanza: Callable[[Element], None]) -> "Stream":
        """Connect and log in. `on_stanza` gets every message and presence.

        Args:
            account: who logs in.
            resource: names the place; another connection with the same one is ended by the server, so that nothing that
                it had still to read can come later.
            on_stanza: must not block.

        Raises:
            Refusal: no server, no encryption, a wrong password, or no slixmpp.
        """
        loop = asyncio.get_running_loop()
        started: asyncio.Future[None] = loop.create_future()
        closed: asyncio.Future[Refusal] = loop.create_future()
        client = _client(account, resource, on_stanza)
        ending = _Ending(account, client, started, closed)
        for event in (
            "session_start",
            "failed_auth",
            "failed_all_auth",
            "no_auth",
            "connection_failed",
            "reconnect_delay",
        ):
            client.add_event_handler(event, getattr(ending, event))
        for event in ("ssl_invalid_chain", "stream_error", "disconnected"):
            client.add_event_handler(event, getattr(ending, event))
        stream = cls(client, closed)
        try:
            async with asyncio.timeout(LOGIN_LIMIT):
                client.connect(account.server.host or None, account.server.port if account.server.host else None)
                await started
        except TimeoutError:
            await stream.close()
            raise _unreachable(account, f"no login within {LOGIN_LIMIT:.0f} s") from None
        except BaseException:  # also when it is cancelled: nobody else would close it
            await stream.close()
            raise
        return stream

    def message(self, to: str, kind: str, children: Sequence[Element], message_id: str = "") -> None:
        """Send a message."""
        stanza = self._client.make_message(mto=to, mtype=kind)  # type: ignore[arg-type]
        if message_id:
            stanza["id"] = message_id
        _send(stanza, children)

    def presence(self, to: str, children: Sequence[Element], kind: str | None = None) -> None:
        """Send a presence."""
        _send(self._client.make_presence(pto=to, ptype=kind), children)  # type: ignore[arg-type]

    async def ask(self, to: str, payload: Element, *, change: bool = False) -> Element:
        """Send a request, and give the answer.

        Raises:
            Rejected: it was answered with an error.
            Refusal: it was not answered, or the connection has ended.
        """
        from slixmpp.exceptions import IqError, IqTimeout

        iq: Any = self._client.make_iq(ito=to, itype="set" if change else "get")
        iq.append(payload)
        try:
            async with asyncio.timeout(ANSWER_LIMIT):
                answer = await iq.send(timeout=ANSWER_LIMIT)
        except IqError as exc:
            raise Rejected(*condition(exc.iq.xml)) from None
        except (IqTimeout, TimeoutError):
            raise Refusal(Reason.UNREACHABLE, f"{to} did not answer within {ANSWER_LIMIT:.0f} s") from None
        xml: Element = answer.xml
        return xml

    async def close(self) -> None:
        """Say goodbye, and end the connection in any case."""
        client = self._client
        client.cancel_connection_attempt()
        await client.disconnect(wait=CLOSE_LIMIT)
        client.abort()
        # slixmpp leaves its send loop behind, which asyncio reports as a task that was destroyed.
        loop = client._run_out_filters
        if loop is not None:
            loop.cancel()
            await asyncio.gather(loop, return_exceptions=True)


def _send(stanza: Any, children: Sequence[Element]) -> None:
    for child in children:
        stanza.append(child)
    stanza.send()


class _Ending:
    """Turns what slixmpp reports of a connection's fate into one `Refusal`; each event is a method of its name."""

    EVENTS = (
        "session_start",
        "failed_auth",
        "failed_all_auth",
        "no_auth",
        "connection_failed",
        "reconnect_delay",
        "ssl_invalid_chain",
        "stream_error",
        "disconnected",
    )

    def __init__(
        self,
        account: Account,
        client: "ClientXMPP",
        started: "asyncio.Future[None]",
        closed: "asyncio.Future[Refusal]",
    ) -> None:
        self._account = account
        self._client = client
        self._started = started
        self._closed = closed
        self._why: Refusal | None = None

    def session_start(self, _: object) -> None:
        if not self._started.done():
            self._started.set_result(None)

    def failed_auth(self, stanza: Any) -> None:
        self._why = Refusal(
            Reason.PASSWORD,
            f"the server does not take the password of {self._account.jid} ({stanza['condition']}); look at its"
            " password_file or password_env in meeting.toml, and whether the account exists",
        )

    def failed_all_auth(self, _: object) -> None:
        self._fail(self._why or self._no_login())

    def no_auth(self, _: object) -> None:
        self._fail(self._why or self._no_login())

    def connection_failed(self, reason: object) -> None:
        """One of the server's addresses; there may be more."""
        self._why = _unreachable(self._account, str(reason))

    def reconnect_delay(self, _: object) -> None:
        """No address is left, and slixmpp would begin anew after a pause."""
        self._fail(self._why or _unreachable(self._account, "none of its addresses answers"))

    def ssl_invalid_chain(self, error: ssl.SSLError) -> None:
        self._fail(_untrusted(self._account, error))

    def stream_error(self, error: Any) -> None:
        words = f": {error['text']}" if error["text"] else ""
        self._why = _unreachable(self._account, f"it ended the connection with {error['condition']}{words}")

    def disconnected(self, reason: object) -> None:
        if isinstance(reason, ssl.SSLError):
            self._fail(_untrusted(self._account, reason))
        else:
            self._fail(self._why or _unreachable(self._account, str(reason or "it closed the connection")))

    def _no_login(self) -> Refusal:
        transport = self._client.transport
        if self._account.server.tls and not (transport and transport.get_extra_info("ssl_object")):
            return Refusal(
                Reason.TLS,
                f"the server of {self._account.jid} offers no encryption, so no password is sent; switch on TLS there",
            )
        return Refusal(
            Reason.PASSWORD, f"the server of {self._account.jid} offers no way to log in; it needs SCRAM or PLAIN"
        )

    def _fail(self, refusal: Refusal) -> None:
        if not self._started.done():
            self._started.set_exception(refusal)
        if not self._closed.done():
            self._closed.set_result(refusal)


def _untrusted(account: Account, error: ssl.SSLError) -> Refusal:
    text = getattr(error, "verify_message", "") or str(error)
    return Refusal(
        Reason.TLS,
        f"no trusted encryption with the server of {account.jid}: {text}; give the server a certificate for its domain,"
        " or name its authority as `ca_file` in [server]",
    )


def _unreachable(account: Account, text: str) -> Refusal:
    server = account.server
    where = f"{server.host} port {server.port}" if server.host else f"the server of {account.jid}"
    return Refusal(Reason.UNREACHABLE, f"{where} cannot be reached: {text}; look at [server], and whether it runs")


def _client(account: Account, resource: str, on_stanza: Callable[[Element], None]) -> "ClientXMPP":
    """A client that is not connected yet. Raises `Refusal` when there is no slixmpp."""
    try:
        from slixmpp import ClientXMPP
        from slixmpp.xmlstream.handler import Callback
        from slixmpp.xmlstream.matcher import StanzaPath
    except ImportError as exc:
        raise Refusal(
            Reason.NOT_INSTALLED, f"slixmpp is missing ({exc}); run: pip install 'hermes-iris[xmpp]'"
        ) from None
    client = ClientXMPP(f"{account.jid}/{resource}", account.password)
    client.enable_direct_tls = account.server.tls and not account.server.host
    client.enable_starttls = account.server.tls
    client.enable_plaintext = not account.server.tls
    if ca_file := account.server.ca_file:
        if not Path(ca_file).is_file():
            raise Refusal(
                Reason.TLS, f"the certificates of `ca_file` in [server] cannot be read: there is no {ca_file}"
            )
        client.ca_certs = Path(ca_file)
    mechanisms: Any = client.plugin["feature_mechanisms"]
    mechanisms.unencrypted_scram = not account.server.tls
    client.register_plugin("xep_0030")
    client.register_plugin("xep_0199")
    for path in ("message", "presence"):
        client.register_handler(Callback(f"iris {path}", StanzaPath(path), lambda stanza: on_stanza(stanza.xml)))
    return client
