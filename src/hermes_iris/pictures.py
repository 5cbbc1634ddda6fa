"""How large a picture is, read from the beginning of its file. Pure.

Invariant: any bytes are legal; what is no picture of a known format, or is cut too early, has no size.
"""

from typing import NamedTuple

HEAD = 512 << 10
"""Bytes that are looked at: a photograph may carry a preview of itself before its size."""

_TURNED = range(5, 9)
"""Values of EXIF's orientation under which width and height change places."""

_SIZED = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers that carry the size: the start of a frame, of every coding."""


class Size(NamedTuple):
    """Pixels, as the picture is seen."""

    width: int
    height: int


def size(head: bytes) -> Size | None:
    """The size of a PNG, GIF, JPEG or WebP."""
    if head.startswith(b"\x89PNG\r\n\x1a\n") and len(head) >= 24:
        return _checked(int.from_bytes(head[16:20]), int.from_bytes(head[20:24]))
    if head.startswith((b"GIF87a", b"GIF89a")) and len(head) >= 10:
        return _checked(int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little"))
    if head.startswith(b"\xff\xd8"):
        return _jpeg(head)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP" and len(head) >= 30:
        return _webp(head)
    return None


def _checked(width: int, height: int) -> Size | None:
    return Size(width, height) if width and height else None


def _jpeg(head: bytes) -> Size | None:
    turned = False
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker, length = head[at + 1], int.from_bytes(head[at + 2 : at + 4])
        if marker in _SIZED:
            height, width = int.from_bytes(head[at + 5 : at + 7]), int.from_bytes(head[at + 7 : at + 9])
            return _checked(height, width) if turned else _checked(width, height)
        if marker == 0xE1 and head[at + 4 : at + 10] == b"Exif\0\0":
            turned = _orientation(head[at + 10 : at + 2 + length]) in _TURNED
        at += 2 + length
    return None


def _orientation(tiff: bytes) -> int:
    """EXIF's orientation; 1, upright, when there is none."""
    if tiff[:2] not in (b"II", b"MM"):
        return 1

    def number(at: int, length: int) -> int:
        return int.from_bytes(tiff[at : at + length], "little" if tiff[:2] == b"II" else "big")

    first = number(4, 4)
    for at in range(first + 2, first + 2 + 12 * number(first, 2), 12):
        if at + 12 > len(tiff):
            break
        if number(at, 2) == 0x0112:
            return number(at + 8, 2)
    return 1


def _webp(head: bytes) -> Size | None:
    match head[12:16]:
        case b"VP8X":
            return Size(int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1)
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return Size((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8 ":
            width, height = int.from_bytes(head[26:28], "little"), int.from_bytes(head[28:30], "little")
            return _checked(width & 0x3FFF, height & 0x3FFF)
        case _:
            return None
