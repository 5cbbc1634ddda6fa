"""A person takes part in a room from the terminal, over a real server."""

from pathlib import Path

from support import wait_until
from tui.screen import WIDE, terminal

from .app import in_room
from .presence import present
from .server import XmppServer


async def test_a_person_reads_and_posts_in_a_room(server: XmppServer, tmp_path: Path) -> None:
    async with (
        in_room(tmp_path / "home", server) as running,
        present(server.account("mohe"), tmp_path / "mohe") as mohe,
        terminal(running, WIDE) as shown,
    ):
        await mohe.until_joined()
        room = next(lane for lane, entry in shown.app.session.model.state.directory.items() if entry.kind == "room")
        shown.app.session.open(room)
        await shown.sees("Here: .*mohe")
        await shown.say("Good morning")
        await mohe.until(lambda: mohe.texts == ["Good morning"])
        await shown.sees("Good morning")
        await mohe.say("Good morning, **Ada**", hop=1)
        await shown.sees(r"mohe  \d\d:\d\d(.|\n)*Good morning, Ada")
        await wait_until(lambda: not shown.app.session.model.pending)
