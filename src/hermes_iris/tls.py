"""TLS by certificate files: what the gateway shows, and what programs on the same machine trust.

Invariants: files that do not fit are found before a port is open; whoever trusts a gateway by its endpoint file trusts
that one certificate, whatever names it has, and no authority that signed it.
"""

import ssl
from contextlib import suppress
from pathlib import Path

from .errors import SetupError
from .protocol.types import UnixTime

_END = "-----END CERTIFICATE-----"


def server_context(cert: Path, key: Path) -> ssl.SSLContext:
    """What a gateway with this certificate (and the chain behind it, in the same file) and key needs to listen.

    Raises:
        SetupError: a file cannot be read, is no PEM, or they do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(cert, key, password=_no_password)
    except (OSError, ValueError) as exc:  # ssl.SSLError is an OSError
        raise SetupError(f"tls_cert {cert} and tls_key {key} cannot be used: {_reason(exc)}") from exc
    return context


def leaf(cert: Path) -> str:
    """The certificate itself, without the chain behind it, as PEM."""
    text = cert.read_text(encoding="ascii", errors="replace")
    return text[text.index("-----BEGIN CERTIFICATE-----") : text.index(_END) + len(_END)] + "\n"


def trusting(certificate: str) -> ssl.SSLContext | None:
    """What a program needs that trusts exactly one certificate; None without one."""
    return _trusting(certificate) if certificate else None


def _trusting(certificate: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # the certificate itself is known, so its names say nothing more
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.load_verify_locations(cadata=certificate)
    return context


def good_until(cert: Path, key: Path) -> UnixTime:
    """When the certificate ends; found by a handshake with oneself, which also shows that all of it works.

    Raises:
        SetupError: as `server_context` does, or the certificate is not good now.
    """
    context = server_context(cert, key)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        server = context.wrap_bio(to_server, to_client, server_side=True)
        client = _trusting(leaf(cert)).wrap_bio(to_client, to_server)
        for side in (client, server, client, server):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
        shown = client.getpeercert() or {}
    except (ssl.SSLError, ValueError) as exc:
        raise SetupError(f"tls_cert {cert} cannot be used: {_reason(exc)}; renew it") from exc
    return float(ssl.cert_time_to_seconds(str(shown["notAfter"])))


def _no_password() -> str:
    raise ValueError("the key is encrypted; give one without a password, readable by this user only")


def _reason(exc: Exception) -> str:
    if isinstance(exc, ssl.SSLCertVerificationError):
        return exc.verify_message
    if isinstance(exc, ssl.SSLError):
        return (exc.reason or str(exc)).replace("_", " ").lower()
    return (exc.strerror if isinstance(exc, OSError) else None) or str(exc)
