"""One stay in one room: join it, see that it is as it has to be, catch up, hear and speak.

Invariants: nothing is heard of a room that hides who is who or lets anybody in; what is heard comes in the order of the
archive, each message once; a stay ends with a `Refusal` in `gone`, and the next one begins where this one ended.
"""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from xml.etree.ElementTree import Element

from ..protocol.types import Seconds, UnixTime
from ..store.meetings import Outgoing
from . import roomform, signals, stanza, state
from .catchup import Ask, CatchUp, Page
from .config import Account
from .said import Said, Sender, SenderKind
from .stanza import Heard, Occupant
from .state import Reason, Refusal
from .stream import Rejected, Stream

JOIN_LIMIT: Seconds = 20.0

MAX_HELD = 5_000
"""Messages that wait to be told; with more, the stay ends, and the archive has them for the next one."""


class Attendance:
    """A stay in a room.

    Args:
        stream: the connection.
        account: who is there.
        room: the room's bare JID.
        mine: ids of messages that this account has sent or is to send, for rooms whose archive has no addresses.
        on_own: gets the id and the archive id of each of the account's own messages, before it is told on.
        on_occupants: somebody came or went.
        on_composing: an occupant composes a message, or no longer.
    """

    def __init__(
        self,
        stream: Stream,
        account: Account,
        room: str,
        mine: set[str],
        on_own: Callable[[str, str], None],
        on_refused: Callable[[str, str], None],
        on_occupants: Callable[[str], None],
        on_composing: Callable[[str, Sender, bool], None],
    ) -> None:
        self.room = room
        self.nick = account.nick
        self.occupants: dict[str, Occupant] = {}
        self.joined = False
        self.sent: dict[str, float] = {}
        """When each message went out that the room has not reflected yet."""

        self.gone: asyncio.Future[Refusal] = asyncio.get_running_loop().create_future()
        self.to_tell: asyncio.Queue[Said] = asyncio.Queue(MAX_HELD)
        self._stream = stream
        self._account = account
        self._mine = mine
        self._on_own = on_own
        self._on_refused = on_refused
        self._on_occupants = on_occupants
        self._on_composing = on_composing
        self._entered: asyncio.Future[Occupant] = asyncio.get_running_loop().create_future()
        self._held = 0
        self._catch_up: CatchUp[Said] | None = None
        self._results: dict[str, list[Said | str]] = {}

    async def enter(self, *, mend: bool = True) -> None:
        """Join, and make or check the room.

        Args:
            mend: whether a room that is not as it has to be is changed, where this account may.

        Raises:
            Refusal: the room does not let one in, or is not as it has to be.
        """
        self._stream.presence(f"{self.room}/{self._account.nick}", [stanza.join()])
        try:
            async with asyncio.timeout(JOIN_LIMIT):
                me = await self._entered
        except TimeoutError:
            raise Refusal(Reason.UNREACHABLE, f"{self.room} did not answer within {JOIN_LIMIT:.0f} s") from None
        self.nick = me.nick
        try:
            await self._check(me, mend)
        except Rejected as exc:
            raise Refusal(Reason.ROOM_SETTINGS, f"{self.room} does not say or do what its owner asks: {exc}") from None

    async def catch_up(self, catch_up: CatchUp[Said], begin: Callable[[str], Awaitable[None]]) -> None:
        """Read the archive to its end, and hear live from then on; to be started before `enter`.

        Raises:
            Refusal: the archive cannot be read.
        """
        while (ask := catch_up.ask) is not None:
            try:
                page = await self.page(ask)
            except Rejected as exc:
                if exc.condition != "item-not-found" or not ask.after:
                    raise Refusal(Reason.ARCHIVE, f"the archive of {self.room} cannot be read: {exc}") from None
                catch_up.unknown()
                continue
            told = catch_up.page(ask, page)
            if catch_up.place is not None:
                await begin(catch_up.place)
                catch_up.place = None
            for said in told:
                await self.to_tell.put(said)
        for said in catch_up.release():
            self._tell(said)
        self._catch_up = None
        self.joined = True

    def start_holding(self, catch_up: CatchUp[Said]) -> None:
        """Hold what is heard live from now on until the archive has been read."""
        self._catch_up = catch_up

    def say(self, message: Outgoing, signal: signals.Signal | None) -> None:
        """Send a message."""
        self._mine.add(message.origin_id)
        self.sent[message.origin_id] = time.monotonic()
        children = stanza.body(
            message.text, message.hop, message.reply_to, message.notice, signal, message.origin_id
        ) + stanza.mentions(message.text, self.room, self.occupants)
        self._stream.message(self.room, "groupchat", children, message.origin_id)

    def compose(self, on: bool) -> None:
        """Show that one composes a message, or no longer."""
        self._stream.message(self.room, "groupchat", [stanza.composing(on)])

    async def ping(self) -> None:
        """See whether one is still in the room, as one can be out of it without being told (XEP-0410).

        Raises:
            Refusal: one is not, or the server does not answer.
        """
        try:
            await self._stream.ask(f"{self.room}/{self.nick}", stanza.ping())
        except Rejected as exc:
            if exc.condition in ("not-acceptable", "item-not-found"):
                raise Refusal(
                    Reason.REMOVED, f"{self.room} has forgotten {self._account.jid}; it joins again"
                ) from None

    def leave(self) -> None:
        """Go."""
        if not self._stream.closed.done():
            self._stream.presence(f"{self.room}/{self.nick}", [], "unavailable")

    def hear_presence(self, presence: Element) -> None:
        """Take a presence of the room."""
        if presence.get("type") == "error":
            condition, words = stanza.condition(presence)
            refusal = state.join_refused(self.room, self._account.jid, self._account.nick, condition, words)
            if not self._entered.done():
                self._entered.set_exception(refusal)
            return
        occupant = stanza.read_presence(presence)
        if not occupant.nick:
            return  # of the room itself, as ejabberd sends for its picture
        if occupant.here:
            self.occupants[occupant.nick] = occupant
        else:
            self.occupants.pop(occupant.nick, None)
        if stanza.SELF in occupant.codes:
            self._hear_of_self(occupant)
        if self._entered.done():
            self._on_occupants(self.room)

    def hear_message(self, message: Element) -> None:
        """Take a message of the room."""
        if message.get("type") == "error":
            self._hear_error(message)
        elif (query := _query_of(message)) is not None:
            self._hear_archived(query, message)
        elif heard := stanza.read_message(message, self.room):
            said = self._said(heard, late=False)
            if self._catch_up is None:
                self._tell(said)
            elif self._held < MAX_HELD:
                self._held += 1
                self._catch_up.hold(said)
            else:
                self._overflow()
        elif (composing := stanza.read_state(message)) is not None:
            nick = stanza.resource(message.get("from", ""))
            if nick in self.occupants:
                self._on_composing(self.room, self.sender(nick), composing)

    def sender(self, nick: str) -> Sender:
        """An occupant, as others see them."""
        jid = self.occupants[nick].jid if nick in self.occupants else ""
        return Sender(jid, nick, self._kind(jid), own=jid == self._account.jid)

    async def _check(self, me: Occupant, mend: bool) -> None:
        """Make the room what it has to be, where one may; then see that it is. Raises `Refusal`, `Rejected`."""
        amiss = roomform.amiss(await self._stream.ask(self.room, roomform.question()))
        if mend and me.affiliation == "owner":
            if amiss or stanza.CREATED in me.codes:
                form = await self._stream.ask(self.room, roomform.form_question())
                await self._stream.ask(self.room, roomform.filled(form), change=True)
                amiss = roomform.amiss(await self._stream.ask(self.room, roomform.question()))
            await self._admit()
        if amiss:
            raise Refusal(
                Reason.ROOM_SETTINGS,
                f"{self.room} is not fit for a meeting: {', '.join(amiss)}; its owner has to change that",
            )

    async def _admit(self) -> None:
        """Make everybody of the meeting a member. Raises `Rejected`, `Refusal`."""
        present: set[str] = set()
        for affiliation in roomform.MEMBERS:
            present |= roomform.members(await self._stream.ask(self.room, roomform.members_question(affiliation)))
        for jid in sorted(set(self._account.kinds) - present):
            await self._stream.ask(self.room, roomform.admission(jid), change=True)

    async def page(self, ask: Ask) -> Page[Said]:
        """Read a page of the archive. Raises `Rejected`, `Refusal`."""
        query_id = uuid.uuid4().hex
        results = self._results[query_id] = []
        try:
            answer = await self._stream.ask(self.room, stanza.archive_query(query_id, ask), change=True)
        finally:
            del self._results[query_id]
        complete, last = stanza.read_end(answer)
        ids = [result if isinstance(result, str) else result.archive_id for result in results]
        if last and last not in ids:
            ids.append(last)
        return Page([result for result in results if isinstance(result, Said)], ids, complete)

    def _hear_archived(self, query: str, message: Element) -> None:
        result = stanza.read_archived(message, self.room)
        if query in self._results and result is not None:
            self._results[query].append(result if isinstance(result, str) else self._said(result, late=True))

    def _hear_of_self(self, me: Occupant) -> None:
        if me.here:
            if not self._entered.done():
                self._entered.set_result(me)
        elif "303" not in me.codes:  # that is a change of nick
            self._end(state.removed(self.room, self._account.jid, me.codes))

    def _hear_error(self, message: Element) -> None:
        """A message of ours came back: for good, or because one is not in the room."""
        origin_id = message.get("id", "")
        if self.sent.pop(origin_id, None) is None:
            return
        condition, words = stanza.condition(message)
        error = message.find(f"{{{stanza.CLIENT}}}error")
        if condition == "not-acceptable" or (error is not None and error.get("type") == "wait"):
            told = f": {words}" if words else ""
            self._end(
                Refusal(Reason.REMOVED, f"{self.room} takes no message now ({condition}{told}); it is tried again")
            )
        else:
            self._on_refused(origin_id, f"{self.room} refused the message: {condition}{f': {words}' if words else ''}")

    def _tell(self, said: Said) -> None:
        try:
            self.to_tell.put_nowait(said)
        except asyncio.QueueFull:
            self._overflow()

    def _overflow(self) -> None:
        self._end(Refusal(Reason.REMOVED, f"{self.room}: {MAX_HELD} messages wait; they are read from the archive"))

    def _end(self, refusal: Refusal) -> None:
        if not self._entered.done():
            self._entered.set_exception(refusal)
        if not self.gone.done():
            self.gone.set_result(refusal)

    def _said(self, heard: Heard, *, late: bool) -> Said:
        jid = heard.jid if late else self.sender(heard.nick).jid
        own = jid == self._account.jid if jid else heard.origin_id in self._mine
        if own:
            self.sent.pop(heard.origin_id, None)
            self._on_own(heard.origin_id, heard.archive_id)
        return Said(
            room=self.room,
            archive_id=heard.archive_id,
            origin_id=heard.origin_id,
            sender=Sender(jid, heard.nick, self._kind(jid), own),
            text=heard.text,
            ts=_moment(heard.stamp),
            hop=heard.hop,
            notice=heard.notice,
            reply_to=heard.reply_to,
            late=late,
            signal=heard.signal,
        )

    def _kind(self, jid: str) -> SenderKind:
        return self._account.kinds.get(jid, SenderKind.UNKNOWN)


def _moment(stamp: str) -> UnixTime:
    """A time as XMPP writes it (XEP-0082); now, where there is none that can be read."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return time.time()
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _query_of(message: Element) -> str | None:
    result = message.find(f"{{{stanza.ARCHIVE}}}result")
    return None if result is None else result.get("queryid", "")
