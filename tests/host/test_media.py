"""Files between a person and the agent of a real host: a person's reach it as files, its own arrive as attachments."""

import asyncio
import base64
import sqlite3
from pathlib import Path

import pytest

from hermes_iris.client import Client, new_id
from hermes_iris.protocol.frames import Message, MessageSend, MessageStop, MessageUpdate, TurnEnded
from hermes_iris.rehearsal.texts import PICTURE

from .gateway import Gateway, within
from .story import CHAT, TURN, play


async def turn(client: Client, running: Gateway, text: str, *files: Path) -> list[Message | MessageStop]:
    """Send a message with files; everything that was said from then until the turn's end."""
    attachments = [(await client.upload(path)).id for path in files]
    request = MessageSend(client_id=new_id(), chat_id=CHAT, text=text, attachments=attachments)

    async def watch() -> list[Message | MessageStop]:
        said: list[Message | MessageStop] = []
        async for frame in client.frames():
            if isinstance(frame, Message | MessageStop):
                said.append(frame)
            if isinstance(frame, TurnEnded):
                return said
        raise AssertionError("the connection ended")

    watching = asyncio.create_task(watch())
    await client.request(request)
    said: list[Message | MessageStop] = await within(TURN, watching, running)
    return said


def answer_in(said: list[Message | MessageStop]) -> str:
    """The text of the one answer."""
    (answer,) = [frame for frame in said if frame.role == "assistant" and frame.kind == "final"]
    return answer.final_text if isinstance(answer, MessageStop) else answer.text


def heard(running: Gateway) -> str:
    """The last message as the agent of the host got it."""
    conn = sqlite3.connect(f"file:{running.home}/state.db?mode=ro", uri=True)
    try:
        rows = conn.execute("SELECT content FROM messages WHERE role = 'user' ORDER BY id DESC LIMIT 1").fetchone()
    finally:
        conn.close()
    return str(rows[0])


def handed(running: Gateway) -> dict[str, bytes]:
    """What lies in the host's own folders for files that people send, by the name that the agent is told."""
    found = [path for path in (running.home / "cache").rglob("iris_*") if path.is_file()]
    return {path.name.split("_", 2)[2]: path.read_bytes() for path in found}


@pytest.mark.parametrize("mode", ["streaming", "whole"], indirect=True, scope="module")
class TestBothWays:
    async def test_the_agent_s_picture_arrives_under_its_answer(self, running: Gateway, tmp_path: Path) -> None:
        async with running.client() as client:
            story = await play(client, running, "rehearse media")
            assert not [frame for frame in story.of(MessageUpdate) if "MEDIA" in frame.text]
            (message,) = [frame for frame in story.of(Message) if frame.attachments]
            (file,) = message.attachments
            assert (file.name, file.type, file.kind) == ("rehearsal.png", "image/png", "image")
            assert (file.width or 0) > 0
            assert message.role == "assistant"
            assert story.kinds[-3:] == ["final", "final", "turn.ended"], "after the answer, inside of its turn"
            answer = next(frame for frame in story.frames if isinstance(frame, Message | MessageStop) and frame.model)
            assert "MEDIA" not in (answer.final_text if isinstance(answer, MessageStop) else answer.text)
            assert answer.order < message.order
            assert message.turn_id == answer.turn_id
            await client.download(file.id, tmp_path / "back.png")
        assert (tmp_path / "back.png").read_bytes() == base64.b64decode(PICTURE)

    async def test_a_picture_reaches_the_agent(self, running: Gateway, tmp_path: Path) -> None:
        picture = tmp_path / "my photo.png"
        picture.write_bytes(base64.b64decode(PICTURE))
        async with running.client() as client:
            said = await turn(client, running, "rehearse echoctx", picture)
        assert isinstance(said[0], Message)
        assert [file.name for file in said[0].attachments] == ["my photo.png"]
        assert handed(running)["my photo.png"] == picture.read_bytes()

    async def test_a_document_without_a_word_is_a_message(self, running: Gateway, tmp_path: Path) -> None:
        notes = tmp_path / "notes.md"
        notes.write_text("rehearse echoctx: the flower of this garden is the tulip\n", encoding="utf-8")
        async with running.client() as client:
            said = await turn(client, running, "", notes)
        assert "tulip" in answer_in(said), "the rehearsal answers with what it was told"
        assert handed(running)["notes.md"] == notes.read_bytes()

    @pytest.mark.parametrize(("name", "content"), [("film.mp4", b"\0\0\0\x18ftypmp42"), ("song.mp3", b"ID3")])
    async def test_a_film_or_a_sound_is_told_by_its_name(
        self, running: Gateway, tmp_path: Path, name: str, content: bytes
    ) -> None:
        path = tmp_path / name
        path.write_bytes(content)
        async with running.client() as client:
            said = await turn(client, running, "rehearse echoctx", path)
        assert answer_in(said)
        assert handed(running)[name] == content
        assert f"'{name}'" in heard(running), "the host tells the agent of it"
