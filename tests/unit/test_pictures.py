"""The size of a picture from the beginning of its file."""

import struct

import pytest
from hypothesis import given, strategies as st

from hermes_iris.pictures import Size, size


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\0\0\0"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0"


def exif(order: str, orientation: int | None) -> bytes:
    """The segment in which a camera says how it was held, among other things."""
    ends = {"<": b"II", ">": b"MM"}[order]
    entries = [struct.pack(f"{order}HHI4s", 0x010F, 2, 1, b"Cam\0")]
    if orientation is not None:
        entries.append(struct.pack(f"{order}HHIHH", 0x0112, 3, 1, orientation, 0))
    tiff = ends + struct.pack(f"{order}HIH", 42, 8, len(entries)) + b"".join(entries)
    return segment(0xE1, b"Exif\0\0" + tiff)


def segment(marker: int, body: bytes) -> bytes:
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def jpeg(width: int, height: int, *before: bytes, marker: int = 0xC0) -> bytes:
    frame = segment(marker, struct.pack(">BHH", 8, height, width) + b"\x03" + bytes(9))
    return b"\xff\xd8" + segment(0xE0, b"JFIF\0" + bytes(9)) + b"".join(before) + frame


def webp(kind: bytes, body: bytes) -> bytes:
    chunk = kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(chunk) + 4) + b"WEBP" + chunk + bytes(10)


LOSSY = b"\x10\x02\x00\x9d\x01\x2a" + struct.pack("<HH", 640, 480 | 0x4000)
LOSSLESS = b"\x2f" + struct.pack("<I", 639 | 479 << 14)
EXTENDED = b"\x10\0\0\0" + (639).to_bytes(3, "little") + (479).to_bytes(3, "little")
WIDE, TALL = Size(640, 480), Size(480, 640)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (png(640, 480), WIDE),
        (gif(640, 480), WIDE),
        (jpeg(640, 480), WIDE),
        (jpeg(640, 480, marker=0xC2), WIDE),
        (jpeg(640, 480, segment(0xC4, bytes(40))), WIDE),
        (jpeg(640, 480, exif("<", 6)), TALL),
        (jpeg(640, 480, exif(">", 8)), TALL),
        (jpeg(640, 480, exif(">", 3)), WIDE),
        (jpeg(640, 480, exif("<", None)), WIDE),
        (jpeg(640, 480, segment(0xE1, b"Exif\0\0nonsense")), WIDE),
        (jpeg(640, 480, segment(0xE1, b"Exif\0\0II*\0\x08\0\0\0\xff\xff")), WIDE),
        (jpeg(640, 480, segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0")), WIDE),
        (webp(b"VP8 ", LOSSY), WIDE),
        (webp(b"VP8L", LOSSLESS), WIDE),
        (webp(b"VP8X", EXTENDED), WIDE),
        (webp(b"ICCP", bytes(20)), None),
        (png(0, 480), None),
        (jpeg(640, 480)[:20], None),
        (b"\xff\xd8\xff", None),
        (b"\xff\xd8no marker follows", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        (b"", None),
    ],
)
def test_size(head: bytes, expected: Size | None) -> None:
    assert size(head) == expected


@given(st.sampled_from([b"", b"\xff\xd8", b"\xff\xd8\xff\xe1", b"RIFF0000WEBPVP8X", b"GIF89a"]), st.binary())
def test_any_bytes_are_legal(begin: bytes, rest: bytes) -> None:
    found = size(begin + rest)
    assert found is None or (found.width > 0 and found.height > 0)
