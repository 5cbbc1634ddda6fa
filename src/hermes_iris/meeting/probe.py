"""Try an account out: log in, look at a room, join it, read its archive, leave.

Invariant: nothing is changed by it, and it disturbs no gateway that is in the room for the account meanwhile.
"""

from collections.abc import AsyncIterator
from typing import NamedTuple
from xml.etree.ElementTree import Element

from . import roomform, stanza
from .attendance import Attendance
from .catchup import Ask
from .config import Account
from .state import Reason, Refusal
from .stream import Rejected, Stream

RESOURCE = "iris-doctor"


class Step(NamedTuple):
    """A step that worked, or the one at which it ends."""

    reason: Reason | None
    """What keeps the account from it; None when nothing does."""
    text: str


async def walk(account: Account, room: str) -> AsyncIterator[Step]:
    """Every step of an account into a room, up to the first that fails."""
    stays: list[Attendance] = []

    def hear(element: Element) -> None:
        if stays and stanza.bare(element.get("from", "")) == room:
            (stays[0].hear_presence if element.tag.endswith("}presence") else stays[0].hear_message)(element)

    try:
        stream = await Stream.open(account, RESOURCE, hear)
    except Refusal as refusal:
        yield Step(refusal.reason, str(refusal))
        return
    try:
        how = "encrypted, certificate checked" if account.server.tls else "plain, on this machine"
        yield Step(None, f"logged in as {account.jid} ({how})")
        stays.append(
            Attendance(
                stream,
                account,
                room,
                set(),
                on_own=lambda origin_id, archive_id: None,
                on_refused=lambda origin_id, text: None,
                on_occupants=lambda room: None,
                on_composing=lambda room, sender, on: None,
            )
        )
        yield await _exists(stream, room)
        await stays[0].enter(mend=False)
        here = ", ".join(sorted(stays[0].occupants))
        yield Step(None, f"{room}: joined; members only, nobody hidden, kept; here are: {here}")
        await stays[0].page(Ask(before="", limit=1))
        yield Step(None, f"{room}: archive")
        stays[0].leave()
    except Refusal as refusal:
        yield Step(refusal.reason, str(refusal))
    except Rejected as exc:
        yield Step(Reason.ARCHIVE, f"the archive of {room} cannot be read: {exc}")
    finally:
        await stream.close()


async def _exists(stream: Stream, room: str) -> Step:
    """Raises `Refusal` when a join would make the room."""
    try:
        await stream.ask(room, roomform.question())
    except Rejected as exc:
        if exc.condition == "item-not-found":
            raise Refusal(
                Reason.NO_ROOM,
                f"{room} does not exist yet; the first gateway that joins makes it, if its server allows",
            ) from None
        raise Refusal(Reason.NO_ROOM, f"{room} does not answer: {exc}; look at `jid` of [[rooms]]") from None
    return Step(None, f"{room}: exists")
