"""What a file is, from what its sender says and from its first bytes."""

import unicodedata

import pytest
from hypothesis import given, strategies as st
from test_pictures import png

from hermes_iris.files import MAX_NAME, SHOWN, allowed, described, is_text, media_type, safe_name
from hermes_iris.protocol.frames import Attachment

ID = "0" * 32


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\photo.jpg", "photo.jpg"),
        ("a\nb\u202egnp.exe", "abgnp.exe"),
        ("  two   words .txt ", "two words .txt"),
        ("文件.md", "文件.md"),
        (".bashrc", ".bashrc"),
        ("..", "file"),
        ("", "file"),
        ("x/", "file"),
        ("x" * 300 + ".tar", "x" * (MAX_NAME - 5) + "….tar"),
        ("x" * 300, "x" * (MAX_NAME - 1) + "…"),
        ("x" * 200 + "." + "y" * 100, "x" * (MAX_NAME - 1) + "…"),
    ],
)
def test_safe_name(name: str, expected: str) -> None:
    assert safe_name(name) == expected


@given(st.text())
def test_any_name_becomes_one_that_is_safe(name: str) -> None:
    safe = safe_name(name)
    assert 0 < len(safe) <= MAX_NAME
    assert safe not in (".", "..")
    assert not {"/", "\\"} & set(safe)
    assert not {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} & {unicodedata.category(char) for char in safe}
    assert safe_name(safe) == safe


@pytest.mark.parametrize(
    ("claimed", "name", "expected"),
    [
        ("image/png", "x", "image/png"),
        ("Audio/WebM; codecs=opus", "x", "audio/webm"),
        ("", "photo.JPG", "image/jpeg"),
        ("application/octet-stream", "notes.md", "text/markdown"),
        ("", "no end", "application/octet-stream"),
        ("nonsense", "x.svg", "image/svg+xml"),
        ("text/html\r\nset-cookie: a=b", "x", "application/octet-stream"),
    ],
)
def test_media_type(claimed: str, name: str, expected: str) -> None:
    assert media_type(claimed, name) == expected


@pytest.mark.parametrize(
    ("name", "claimed", "note", "kind"),
    [
        ("a.png", "", None, "image"),
        ("a.svg", "", None, "document"),
        ("a.html", "text/html", None, "document"),
        ("a.mp3", "", None, "audio"),
        ("a.webm", "audio/webm;codecs=opus", 3.5, "voice"),
        ("a.mp4", "", None, "video"),
        ("a.png", "", 3.5, "image"),
        ("a.bin", "", None, "document"),
    ],
)
def test_kind(name: str, claimed: str, note: float | None, kind: str) -> None:
    made = described(ID, name, claimed, 5, png(64, 48), note)
    assert made.kind == kind
    assert (made.width, made.height) == ((64, 48) if kind == "image" else (None, None))
    assert made.duration == (3.5 if kind == "voice" else None)


def test_a_picture_of_unknown_size_is_still_a_picture() -> None:
    made = described(ID, "a.avif", "", 5, b"", None)
    assert made == Attachment(id=ID, name="a.avif", type="image/avif", size=5, kind="image")


def test_nothing_that_can_run_is_shown() -> None:
    assert not {"image/svg+xml", "text/html", "text/xml", "application/pdf", "application/xml"} & SHOWN


@pytest.mark.parametrize(
    ("patterns", "fits"),
    [(["*/*"], True), (["image/*"], True), (["image/png"], True), (["image/gif", "text/*"], False)],
)
def test_allowed(patterns: list[str], fits: bool) -> None:
    assert allowed("image/png", patterns) is fits


@pytest.mark.parametrize(("kind", "readable"), [("text/plain", True), ("application/json", True), ("image/png", False)])
def test_is_text(kind: str, readable: bool) -> None:
    assert is_text(Attachment(id=ID, name="a", type=kind, size=1, kind="document")) is readable
