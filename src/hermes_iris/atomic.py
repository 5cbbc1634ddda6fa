"""Files that are seen whole or not at all."""

from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """Write a file for its owner only; whoever reads it sees the old one or the new one. Raises `OSError`."""
    fresh = path.with_suffix(".new")
    fresh.touch(mode=0o600)
    fresh.write_bytes(data)
    fresh.replace(path)
