"""By what a push service knows this gateway (RFC 8292): a key of its own, made once, and a signed word for each one.

Invariant: the key is readable by its owner only, and never changes by itself: subscriptions are bound to it.
"""

from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from .. import atomic
from ..errors import SetupError
from ..protocol.types import Seconds, UnixTime
from . import cipher

LIFETIME: Seconds = 12 * 3600.0
"""How long a word is good; services take at most a day."""


class Vapid:
    """The gateway's key."""

    def __init__(self, key: ec.EllipticCurvePrivateKey, contact: str = "") -> None:
        self._key = key
        self._contact = contact
        self.public = cipher.text(cipher.point(key.public_key()))
        """What a browser needs for its subscription."""

    @classmethod
    def at(cls, path: Path, contact: str = "") -> "Vapid":
        """The key of a file, which is made if it is missing.

        Args:
            path: the file.
            contact: `mailto:` or `https:`, where the people of a push service find those of this gateway.

        Raises:
            SetupError: it cannot be read or made, or is no such key.
        """
        try:
            written = path.read_bytes() if path.exists() else _made(path)
            key = load_pem_private_key(written, None)
            if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
                raise ValueError("it is no key of the curve P-256")
        except (OSError, ValueError, TypeError) as exc:
            raise SetupError(f"{path} cannot be used ({exc}); move it away, and turn notifications on anew") from exc
        return cls(key, contact)

    def authorization(self, endpoint: str, now: UnixTime) -> str:
        """The header with which a delivery to an endpoint is signed."""
        parts = urlsplit(endpoint)
        claims = {"aud": f"{parts.scheme}://{parts.netloc}", "exp": int(now + LIFETIME)}
        if self._contact:
            claims["sub"] = self._contact
        word = ".".join(cipher.text(msgspec.json.encode(part)) for part in ({"typ": "JWT", "alg": "ES256"}, claims))
        r, s = decode_dss_signature(self._key.sign(word.encode(), ec.ECDSA(hashes.SHA256())))
        signed = f"{word}.{cipher.text(r.to_bytes(32) + s.to_bytes(32))}"
        return f"vapid t={signed}, k={self.public}"


def _made(path: Path) -> bytes:
    key = ec.generate_private_key(cipher.CURVE)
    written = bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    atomic.write(path, written)
    return written
