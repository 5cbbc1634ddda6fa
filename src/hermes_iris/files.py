"""What a file is: its name, its type, as what it is shown. Pure.

Invariants: a name has no folder, no character that cannot be seen, and an end; nothing that a browser could run is of a
type that is shown.
"""

import re
import unicodedata
from collections.abc import Iterable

from . import pictures
from .protocol.frames import Attachment
from .protocol.types import MediaId, MediaKind, Seconds

UNKNOWN = "application/octet-stream"
MAX_NAME = 120
"""Characters of a file's name."""

MAX_SUFFIX = 12
"""Characters of a name's end that survive when the name is cut."""

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
"""Pictures that every browser draws. SVG is none of them: it is a page that can run."""

SHOWN = PICTURES | {
    "audio/aac",
    "audio/flac",
    "audio/mp4",
    "audio/mpeg",
    "audio/ogg",
    "audio/wav",
    "audio/webm",
    "video/mp4",
    "video/ogg",
    "video/quicktime",
    "video/webm",
}
"""Types that a browser may show by itself; all others are only downloaded."""

_TYPES = {
    "aac": "audio/aac",
    "avif": "image/avif",
    "csv": "text/csv",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "flac": "audio/flac",
    "gif": "image/gif",
    "gz": "application/gzip",
    "htm": "text/html",
    "html": "text/html",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "json": "application/json",
    "log": "text/plain",
    "m4a": "audio/mp4",
    "md": "text/markdown",
    "mov": "video/quicktime",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "odt": "application/vnd.oasis.opendocument.text",
    "oga": "audio/ogg",
    "ogg": "audio/ogg",
    "ogv": "video/ogg",
    "opus": "audio/ogg",
    "pdf": "application/pdf",
    "png": "image/png",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "py": "text/x-python",
    "svg": "image/svg+xml",
    "tar": "application/x-tar",
    "toml": "text/plain",
    "txt": "text/plain",
    "wav": "audio/wav",
    "webm": "video/webm",
    "webp": "image/webp",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xml": "text/xml",
    "yaml": "text/plain",
    "yml": "text/plain",
    "zip": "application/zip",
}

_TYPE = re.compile(r"[a-z0-9][a-z0-9.+-]{0,62}/[a-z0-9][a-z0-9.+-]{0,62}")
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def described(media_id: MediaId, name: str, claimed: str, size: int, head: bytes, note: Seconds | None) -> Attachment:
    """A file as it travels. `claimed` is the type that its sender gave; `note` the length of a recorded note."""
    name = safe_name(name)
    kind_of_file = media_type(claimed, name)
    kind: MediaKind = "voice" if note is not None and kind_of_file.startswith("audio/") else _kind(kind_of_file)
    pixels = pictures.size(head) if kind == "image" else None
    return Attachment(
        id=media_id,
        name=name,
        type=kind_of_file,
        size=size,
        kind=kind,
        width=pixels.width if pixels else None,
        height=pixels.height if pixels else None,
        duration=(note or None) if kind == "voice" else None,
    )


def safe_name(name: str) -> str:
    """The last part of a path, of what can be seen; cut in its middle, so that it keeps its end."""
    last = re.split(r"[/\\]", name)[-1]
    seen = "".join(char for char in last if unicodedata.category(char) not in _HIDDEN)
    plain = " ".join(seen.split())
    if not plain.strip(". "):
        return "file"
    if len(plain) > MAX_NAME:
        stem, dot, suffix = plain.rpartition(".")
        end = dot + suffix if stem and len(suffix) <= MAX_SUFFIX else ""
        plain = plain[: MAX_NAME - 1 - len(end)] + "…" + end
    return plain


def media_type(claimed: str, name: str) -> str:
    """The type of a file: as its sender says, else by its name's end."""
    plain = claimed.partition(";")[0].strip().lower()
    if _TYPE.fullmatch(plain) and plain != UNKNOWN:
        return plain
    return _TYPES.get(name.rpartition(".")[2].lower(), UNKNOWN)


def allowed(media_type: str, patterns: Iterable[str]) -> bool:
    """Whether a type is one of `image/png`, `image/*`, `*/*`."""
    family = media_type.partition("/")[0]
    return any(pattern in ("*/*", f"{family}/*", media_type) for pattern in patterns)


def is_text(attachment: Attachment) -> bool:
    """Whether a person could read the bytes as they are."""
    return attachment.type.startswith("text/") or attachment.type in ("application/json", "application/xml")


def _kind(media_type: str) -> MediaKind:
    if media_type in PICTURES:
        return "image"
    if media_type not in SHOWN:
        return "document"
    return "audio" if media_type.startswith("audio/") else "video"
