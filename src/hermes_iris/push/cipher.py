"""A note, encrypted so that only its device can read it (RFC 8291, in one record of `aes128gcm`, RFC 8188).

Invariant: the length of what travels tells the length of the note only in steps of `STEP` bytes.
"""

import base64
import binascii
import os
from typing import NamedTuple

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ..errors import InvalidFrame, TooLarge

RECORD = 4096
"""Bytes of a record, and of a body that every push service takes (RFC 8030, 7.2)."""

HEADER = 16 + 4 + 1 + 65
"""Salt, size of a record, length of the key, key."""

MAX_NOTE = RECORD - HEADER - 16 - 1
"""Bytes of a note: without the header, the tag of AES-GCM and the mark that ends the text."""

STEP = 256

CURVE = ec.SECP256R1()


class Keys(NamedTuple):
    """Of a subscription: the device's public key and the secret that it shares with the gateway."""

    device: bytes
    secret: bytes


def keys(p256dh: str, auth: str) -> Keys:
    """Read the keys that a device sent.

    Raises:
        InvalidFrame: the key is no point of the curve.
    """
    try:
        device = plain(p256dh)
        ec.EllipticCurvePublicKey.from_encoded_point(CURVE, device)
    except (ValueError, binascii.Error):
        raise InvalidFrame("$.p256dh is no public key of the curve P-256") from None
    return Keys(device, plain(auth))


def encrypt(note: bytes, to: Keys, own: ec.EllipticCurvePrivateKey | None = None, salt: bytes | None = None) -> bytes:
    """The body of a delivery. `own` and `salt` are new for each one, but for tests.

    Raises:
        TooLarge: the note does not fit.
    """
    if len(note) > MAX_NOTE:
        raise TooLarge(f"a note has at most {MAX_NOTE} bytes")
    own = own or ec.generate_private_key(CURVE)
    salt = salt or os.urandom(16)
    public = point(own.public_key())
    shared = own.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, to.device))
    secret = _derived(shared, to.secret, b"WebPush: info\0" + to.device + public, 32)
    key = _derived(secret, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(secret, salt, b"Content-Encoding: nonce\0", 12)
    sealed = AESGCM(key).encrypt(nonce, _padded(note), None)
    return salt + RECORD.to_bytes(4, "big") + bytes([len(public)]) + public + bytes(sealed)


def point(key: ec.EllipticCurvePublicKey) -> bytes:
    """A public key as it travels."""
    return bytes(key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint))


def plain(text: str) -> bytes:
    """Base64url, with or without its padding, to bytes."""
    bare = text.rstrip("=")
    return base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))


def text(data: bytes) -> str:
    """Bytes to base64url without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _padded(note: bytes) -> bytes:
    """The note, the mark of the last record, and zeros."""
    whole = min(-(-(len(note) + 1) // STEP) * STEP, MAX_NOTE + 1)
    return (note + b"\x02").ljust(whole, b"\0")


def _derived(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return bytes(HKDF(hashes.SHA256(), length, salt, info).derive(secret))
