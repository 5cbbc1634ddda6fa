"""Files between the vault and a host."""

from pathlib import Path

import pytest

from hermes_iris import handover
from hermes_iris.handover import Named
from hermes_iris.protocol.frames import Attachment
from hermes_iris.vault import Vault


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return Vault(tmp_path / "media", 1 << 20)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    made = (tmp_path / "images", tmp_path / "documents")
    for folder in made:
        folder.mkdir()
    return made


def sent(vault: Vault, tmp_path: Path, name: str, content: bytes, **more: bool) -> Attachment:
    source = tmp_path / name
    source.write_bytes(content)
    return handover.taken(vault, Named(str(source), **more))[1]


def test_a_file_of_the_host_gets_its_name_and_its_kind(vault: Vault, tmp_path: Path) -> None:
    made = sent(vault, tmp_path, "chart.png", b"not really")
    assert (made.name, made.type, made.kind, made.size) == ("chart.png", "image/png", "image", 10)
    assert sent(vault, tmp_path, "said.ogg", b"x", is_note=True).kind == "voice"
    named = handover.taken(vault, Named(str(tmp_path / "said.ogg"), "Better name.ogg"))[1]
    assert (named.name, named.kind) == ("Better name.ogg", "audio")


def test_the_host_gets_copies_under_names_that_it_can_read(
    vault: Vault, tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    picture = sent(vault, tmp_path, "my_own photo.png", b"pixels")
    given = handover.given(vault, [picture], *folders)
    (path,) = map(Path, given.paths)
    assert path.parent == folders[0]
    assert path.name.split("_", 2)[2] == "my_own photo.png", "what the hosts tell the agent"
    assert (path.read_bytes(), given.types, given.kind, given.texts) == (b"pixels", ["image/png"], "image", "")
    path.write_bytes(b"changed by the agent")
    assert vault.path(picture.id).read_bytes() == b"pixels"


def test_texts_stand_in_the_message_up_to_a_limit(
    vault: Vault, tmp_path: Path, folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handover, "INLINE", 10)
    files = [sent(vault, tmp_path, "a.txt", b"0123456789"), sent(vault, tmp_path, "b.csv", b"0123456789x")]
    given = handover.given(vault, files, *folders)
    assert given.kind == "document"
    assert given.texts == (
        "[Content of a.txt]:\n0123456789\n\n[Content of b.csv]:\n0123456789\n[… cut here; the file has 11 bytes]"
    )


def test_sound_beside_other_files_is_not_taken_for_speech(
    vault: Vault, tmp_path: Path, folders: tuple[Path, Path]
) -> None:
    song, picture = sent(vault, tmp_path, "song.mp3", b"x"), sent(vault, tmp_path, "a.png", b"y")
    assert handover.given(vault, [song], *folders)[1:3] == (["audio/mpeg"], "audio")
    assert handover.given(vault, [song, picture], *folders)[1:3] == (
        ["application/octet-stream", "image/png"],
        "image",
    )


def test_what_is_not_kept_any_more_is_left_out(vault: Vault, tmp_path: Path, folders: tuple[Path, Path]) -> None:
    one, other = sent(vault, tmp_path, "a.png", b"x"), sent(vault, tmp_path, "b.png", b"y")
    vault.path(one.id).unlink()
    assert [Path(path).name.endswith("b.png") for path in handover.given(vault, [one, other], *folders).paths] == [True]
