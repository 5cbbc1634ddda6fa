"""The folder of files: what is taken in, what is refused, and that nothing half-written stays."""

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hermes_iris import vault as vault_module
from hermes_iris.errors import DiskFull, IrisError, NotFound, TooLarge, Unsupported
from hermes_iris.vault import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "media", 1 << 20)


def names(vault: Vault) -> list[str]:
    folder = vault.path("x").parent
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


@contextmanager
def little_room(size: int) -> Iterator[None]:
    """A real limit of the system on the size of any file that this process writes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_file_comes_in_whole_and_for_its_owner_only(vault: Vault) -> None:
    with vault.receiving() as incoming:
        for piece in (b"one ", b"two"):
            incoming.write(piece)
        kept = incoming.keep()
    path = vault.path(kept.media_id)
    assert path.read_bytes() == b"one two" == kept.head
    assert kept.size == 7
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert names(vault) == [kept.media_id]


def test_what_is_not_kept_leaves_nothing(vault: Vault) -> None:
    with vault.receiving() as incoming:
        incoming.write(b"half")
        assert len(names(vault)) == 1
    assert names(vault) == []


def test_more_than_the_limit_is_refused_whatever_was_announced(vault: Vault) -> None:
    with pytest.raises(TooLarge, match="max_upload_mb"):
        vault.check((1 << 20) + 1)
    with vault.receiving() as incoming:
        incoming.write(bytes(1 << 20))
        with pytest.raises(TooLarge):
            incoming.write(b"x")
    assert names(vault) == []


def test_a_full_disk_is_told_and_leaves_nothing(vault: Vault) -> None:
    with vault.receiving() as incoming, little_room(100_000):
        incoming.write(bytes(90_000))
        with pytest.raises(DiskFull, match="full"):
            incoming.write(bytes(90_000))
    with vault.receiving() as incoming, little_room(10):
        incoming.write(bytes(11))
        with pytest.raises(DiskFull, match="full"):
            incoming.keep()
    assert names(vault) == []


def test_too_little_room_is_told_before_the_first_byte(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vault_module, "RESERVE", 1 << 62)
    with pytest.raises(DiskFull):
        vault.check(5)


def test_a_file_of_the_host_is_copied(vault: Vault, tmp_path: Path) -> None:
    source = tmp_path / "made.txt"
    source.write_bytes(b"made by the agent")
    kept = vault.take_in(source)
    source.write_bytes(b"changed later")
    assert vault.path(kept.media_id).read_bytes() == b"made by the agent"


def test_only_plain_files_are_taken(vault: Vault, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    link = tmp_path / "link"
    link.symlink_to(secret)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    large = tmp_path / "large"
    large.write_bytes(bytes((1 << 20) + 1))
    refused: list[tuple[Path, type[IrisError]]] = [
        (link, Unsupported),
        (pipe, Unsupported),
        (tmp_path, Unsupported),
        (Path("/dev/zero"), Unsupported),
        (tmp_path / "missing", NotFound),
        (tmp_path / "missing" / "file", NotFound),
        (large, TooLarge),
    ]
    for path, error in refused:
        with pytest.raises(error):
            vault.take_in(path)
    assert names(vault) == []


def test_the_same_content_is_on_disk_once(vault: Vault, tmp_path: Path) -> None:
    source = tmp_path / "twice"
    source.write_bytes(b"the same")
    first, second = vault.take_in(source), vault.take_in(source)
    assert first.digest == second.digest
    vault.share(second.media_id, first.media_id)
    assert vault.path(first.media_id).samefile(vault.path(second.media_id))
    vault.path(first.media_id).unlink()
    assert vault.path(second.media_id).read_bytes() == b"the same"
    assert names(vault) == [second.media_id]


def test_sharing_with_a_file_that_is_gone_changes_nothing(vault: Vault, tmp_path: Path) -> None:
    source = tmp_path / "once"
    source.write_bytes(b"alone")
    kept = vault.take_in(source)
    vault.share(kept.media_id, "f" * 32)
    assert vault.path(kept.media_id).read_bytes() == b"alone"
    assert names(vault) == [kept.media_id]


def test_sweeping_leaves_what_is_known_and_what_is_fresh(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert vault.sweep(set()) == 0, "there is no folder yet"
    source = tmp_path / "file"
    source.write_bytes(b"x")
    known, stray = vault.take_in(source), vault.take_in(source)
    assert vault.sweep({known.media_id}) == 0, "it may be an upload that is under way"
    monkeypatch.setattr(vault_module, "FRESH", -1.0)
    assert vault.sweep({known.media_id}) == 1
    assert names(vault) == [known.media_id]
    assert stray.media_id != known.media_id
