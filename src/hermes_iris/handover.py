"""Files on their way between the vault and the host. Everything here blocks.

Invariant: the host gets copies, so that nothing an agent does to a file changes what was sent; of what it names, only
plain files are taken.
"""

import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from . import files
from .protocol.frames import Attachment
from .protocol.types import MediaKind, Seconds
from .vault import Kept, Vault

INLINE = 100 << 10
"""Bytes of a text file that the agent gets with the message; the host's own words promise that it does."""


class Named(NamedTuple):
    """A file of the host, as its adapter calls name it."""

    path: str
    name: str | None = None
    is_note: bool = False
    """Whether it is to be heard at once, like something said."""


class Given(NamedTuple):
    """What of a message's files goes into the host's event."""

    paths: list[str]
    types: list[str]
    kind: MediaKind
    """Of the message as a whole."""

    texts: str
    """The text files, to stand under what the person wrote."""


def taken(vault: Vault, named: Named) -> tuple[Kept, Attachment]:
    """Take in a file of the host.

    Raises:
        NotFound, Unsupported, TooLarge, DiskFull: as `Vault.take_in`.
    """
    source = Path(named.path)
    kept = vault.take_in(source)
    note: Seconds | None = 0.0 if named.is_note else None
    return kept, files.described(kept.media_id, named.name or source.name, "", kept.size, kept.head, note)


def given(vault: Vault, attachments: Sequence[Attachment], pictures: Path, others: Path) -> Given:
    """Copy a message's files into the host's folders; one that is not kept any more is left out.

    A message of one kind is of this kind. In a mixed one the host looks at each type, and takes sound for something
    said (both hosts, `_event_media_is_stt_input`), so a sound that was not recorded as a note goes as a mere file.
    """
    kinds = {attachment.kind for attachment in attachments}
    paths, types, texts = [], [], []
    for attachment in attachments:
        source = vault.path(attachment.id)
        if not source.is_file():
            continue
        # Both hosts tell the agent the name behind the second underscore.
        target = (pictures if attachment.kind == "image" else others) / f"iris_{attachment.id}_{attachment.name}"
        if not target.exists():
            part = target.with_name(f"{secrets.token_hex(8)}.part")
            shutil.copyfile(source, part)
            part.replace(target)
        paths.append(str(target))
        types.append(files.UNKNOWN if attachment.kind == "audio" and len(kinds) > 1 else attachment.type)
        if files.is_text(attachment):
            texts.append(_text(attachment, target))
    return Given(paths, types, kinds.pop() if len(kinds) == 1 else "image", "\n\n".join(texts))


def _text(attachment: Attachment, path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(INLINE)
    text = head.decode("utf-8", "replace")
    cut = "" if attachment.size <= INLINE else f"\n[… cut here; the file has {attachment.size} bytes]"
    return f"[Content of {attachment.name}]:\n{text}{cut}"
