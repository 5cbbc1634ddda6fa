"""The folder of the files that people and the agent send each other.

Invariants: a file is whole and on disk before it has a name here; only its owner reads the folder; the same content is
on disk once, under as many names as it was sent; what is taken in is a plain file that was named, never what a link
points to, and nothing is read beyond the limit. Everything here blocks.
"""

import errno
import hashlib
import os
import secrets
import shutil
import stat
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from . import pictures
from .errors import DiskFull, NotFound, TooLarge, Unsupported
from .protocol.types import MediaId, Seconds

RESERVE = 64 << 20
"""Bytes of the disk that files leave to everything else."""

CHUNK = 1 << 20

FRESH: Seconds = 86_400.0
"""Age below which a file without a row is somebody's upload that is still under way."""

_PART = ".part"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Kept(NamedTuple):
    """A file that was taken in."""

    media_id: MediaId
    digest: bytes
    size: int
    head: bytes
    """Its beginning."""


class Vault:
    """The files of a home. `max_size`: bytes of the largest one."""

    def __init__(self, folder: Path, max_size: int) -> None:
        self.max_size = max_size
        self._folder = folder

    def path(self, media_id: MediaId) -> Path:
        """Where a file is."""
        return self._folder / media_id

    def check(self, expected: int | None) -> None:
        """Refuse a file of an announced size before its first byte.

        Raises:
            TooLarge: it is over the limit.
            DiskFull: there is no room for it.
        """
        if expected is not None and expected > self.max_size:
            raise _too_large(self.max_size)
        with _told_when_full():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if shutil.disk_usage(self._folder).free < (expected or 0) + RESERVE:
                raise DiskFull(_FULL_DISK)

    @contextmanager
    def receiving(self) -> Iterator["Incoming"]:
        """A file that comes in piece by piece; unless it is kept, nothing of it stays."""
        self.check(None)
        part = self._folder / f"{secrets.token_hex(16)}{_PART}"
        incoming = Incoming(part, self)
        try:
            yield incoming
        finally:
            incoming.close()
            part.unlink(missing_ok=True)

    def take_in(self, source: Path) -> Kept:
        """Copy a file that the host named.

        Raises:
            NotFound: there is none, or it may not be read.
            Unsupported: it is a link, a folder, a device or a pipe.
            TooLarge, DiskFull: as `check`.
        """
        try:
            # Without O_NONBLOCK a pipe would be waited for.
            fd = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as exc:
            if exc.errno == errno.ELOOP:
                raise Unsupported("the file is a link; only plain files are sent") from exc
            raise NotFound(f"the file cannot be read: {exc.strerror}") from exc
        try:
            told = os.fstat(fd)
            if not stat.S_ISREG(told.st_mode):
                raise Unsupported("this is no plain file; only plain files are sent")
            self.check(told.st_size)
            with os.fdopen(fd, "rb", closefd=False) as file, self.receiving() as incoming:
                while chunk := file.read(CHUNK):
                    incoming.write(chunk)
                return incoming.keep()
        finally:
            os.close(fd)

    def share(self, media_id: MediaId, twin: MediaId) -> None:
        """Let two files of the same content be one on disk; where links are not to be had, they stay two."""
        link = self._folder / f"{secrets.token_hex(16)}{_PART}"
        with suppress(OSError):
            os.link(self.path(twin), link)
            link.replace(self.path(media_id))
        link.unlink(missing_ok=True)

    def sweep(self, known: Collection[MediaId]) -> int:
        """Delete what has no row, unless it is fresh; returns how many files went."""
        gone = 0
        if not self._folder.is_dir():
            return gone
        for path in self._folder.iterdir():
            if path.name not in known and time.time() - path.stat().st_ctime > FRESH:
                path.unlink(missing_ok=True)
                gone += 1
        return gone


class Incoming:
    """A file that is being written; made by `Vault.receiving`."""

    def __init__(self, part: Path, vault: Vault) -> None:
        self._part = part
        self._vault = vault
        self._file = os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb")
        self._digest = hashlib.sha256()
        self._size = 0
        self._head = b""

    def write(self, chunk: bytes) -> None:
        """Append a piece. Raises `TooLarge` and `DiskFull`."""
        self._size += len(chunk)
        if self._size > self._vault.max_size:
            raise _too_large(self._vault.max_size)
        with _told_when_full():
            self._file.write(chunk)
        self._digest.update(chunk)
        if len(self._head) < pictures.HEAD:
            self._head += chunk[: pictures.HEAD - len(self._head)]

    def keep(self) -> Kept:
        """Finish the file: it is on disk, under a name that nobody can guess. Raises `DiskFull`."""
        media_id = secrets.token_hex(16)
        with _told_when_full():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._part.rename(self._vault.path(media_id))
            folder = os.open(self._part.parent, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        return Kept(media_id, self._digest.digest(), self._size, self._head)

    def close(self) -> None:
        """Write no more."""
        with suppress(OSError):  # what could not be written is not kept anyway
            self._file.close()


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"a file has at most {limit} bytes (setting `max_upload_mb`)")


_FULL_DISK = "the disk of the gateway is full; free some space there and try again"


@contextmanager
def _told_when_full() -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        if exc.errno in _FULL:
            raise DiskFull(_FULL_DISK) from exc
        raise
