"""Full-text search over messages: words and prefixes in any script, CJK by any substring, newest first or best first.

Invariants: query text is literal, no input of a person can raise an FTS error; a message is indexed in the transaction
that stores it; one chat or one role is looked up by tokens in the index, without a join. The measurements behind this
are in `docs/decisions/0002-search.md`.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from ..address import Lane
from ..protocol.frames import Attachment, Hit, Sender, SnippetPart
from ..protocol.types import Role, SearchOrder
from . import media

MAX_TERMS = 16
RANKED = 2_000
"""Newest hits among which the best are looked for."""

SNIPPET = 160
"""Characters of a snippet."""

AROUND = 2 * SNIPPET
"""Characters on both sides of a find that are looked at for its snippet."""

FEW = 16
"""Words up to which a beginning is looked up as these words."""

# A beginning that has no list of its own (`prefix = '2 3'`), in letters that the tokenizer leaves as they are.
_BEGINNING = re.compile(r'"([0-9a-z]{4,})"\*', re.IGNORECASE)

# Scripts without spaces between words: each character is a word of its own, and a phrase of them a substring.
_CJK = re.compile(
    r"([\u3005-\u3007\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    r"\U00020000-\U0003ffff])"
)
_TERM = re.compile(r'"([^"]*)"?|(\S+)')


class Query(NamedTuple):
    """What is looked for: terms that must all be there, and where."""

    terms: tuple[str, ...]
    """FTS5 expressions, each safe as it is."""

    needles: tuple[str, ...]
    """The same as a person wrote them, to mark them in a snippet."""

    role: Role | None = None
    channel: str | None = None
    """A name or address that a `channel:` qualifier named."""


def parse(text: str) -> Query:
    """Read a person's query. `role:` and `channel:` are qualifiers, text in quotes is a phrase, all else is words."""
    terms: list[str] = []
    needles: list[str] = []
    role: Role | None = None
    channel: str | None = None
    plain = _plain(text)
    for match in _TERM.finditer(_qualifiers_unquoted(plain)):
        phrase, word = match[1], match[2]
        name, _, value = (word or "").partition(":")
        value = value.replace("\0", " ").strip()
        if value and name.lower() == "role" and value.lower() in ("user", "assistant", "cron", "notice"):
            role = value.lower()  # type: ignore[assignment]  # it is one of these four
        elif value and name.lower() == "channel":
            channel = value
        elif len(terms) < MAX_TERMS:
            said = (phrase if phrase is not None else word or "").replace("\0", " ")
            words = _words(said)
            if words:
                # Half a word is found by its beginning; of one letter there would be too much.
                prefix = "*" if phrase is None and len(words[-1]) > 1 and not _CJK.match(words[-1]) else ""
                terms.append(f'"{" ".join(words)}"{prefix}')
                needles.append(said.strip())
    return Query(tuple(terms), tuple(needles), role, channel)


def findable(text: str, files: Sequence[Attachment]) -> str:
    """What of a message can be found: its text, and the names of its files."""
    return "\n".join([text, *(file.name for file in files)])


def index(conn: sqlite3.Connection, rowid: int, text: str, lane: Lane, role: str) -> None:
    """Add a message to the index."""
    where = " ".join(_places(lane, role))
    conn.execute(
        "INSERT INTO message_index (rowid, body, place) VALUES (?, ?, ?)", (rowid, _split(_plain(text)), where)
    )


def drop(conn: sqlite3.Connection, rowid: int, text: str, lane: Lane, role: str) -> None:
    """Take a message out of the index, given what it was added with: the index keeps no text of its own."""
    where = " ".join(_places(lane, role))
    conn.execute(
        "INSERT INTO message_index (message_index, rowid, body, place) VALUES ('delete', ?, ?, ?)",
        (rowid, _split(_plain(text)), where),
    )


def index_all(conn: sqlite3.Connection) -> None:
    """Index what was stored before there was an index."""
    rows = conn.execute("SELECT id, text, chat_id, thread_id, role FROM messages WHERE live = 0").fetchall()
    for row in rows:
        index(conn, row["id"], row["text"], Lane(row["chat_id"], row["thread_id"] or None), row["role"])


def find(
    conn: sqlite3.Connection, query: Query, lane: Lane | None, order: SearchOrder, before: int | None, limit: int
) -> tuple[list[Hit], int | None]:
    """A page of hits, and where the next one begins. `lane` without a thread is the whole channel with its threads."""
    ids, after = numbers(conn, query, lane, order, before, limit)
    rows = {row["id"]: row for row in _rows(conn, ids)}
    return [_hit(rows[rowid], query) for rowid in ids if rowid in rows], after


def numbers(
    conn: sqlite3.Connection, query: Query, lane: Lane | None, order: SearchOrder, before: int | None, limit: int
) -> tuple[list[int], int | None]:
    """The messages of a page by their numbers in the index, and where the next page begins."""
    if not query.terms:
        return [], None
    places = [f'"{place}"' for place in (_place(lane) if lane else None, _role(query.role)) if place]
    terms = " AND ".join(_expanded(conn, query.terms))
    match = f"body : ({terms})" + "".join(f" AND place : {place}" for place in places)
    newest = "SELECT rowid FROM message_index WHERE message_index MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?"
    if order == "newest":
        ids = [row[0] for row in conn.execute(newest, (match, before or 1 << 62, limit + 1))]
        after = ids[limit - 1] if len(ids) > limit else None
    else:
        skipped = before or 0
        candidates = [row[0] for row in conn.execute(newest, (match, 1 << 62, RANKED))]
        oldest = candidates[-1] if candidates else 0
        ranked = (
            "SELECT rowid FROM message_index WHERE message_index MATCH ? AND rowid >= ? ORDER BY rank LIMIT ? OFFSET ?"
        )
        ids = [row[0] for row in conn.execute(ranked, (match, oldest, limit + 1, skipped))]
        after = skipped + limit if len(ids) > limit else None
    return ids[:limit], after


def _expanded(conn: sqlite3.Connection, terms: Sequence[str]) -> list[str]:
    """Terms of which a beginning that few words have is these words.

    FTS5 reads every hit of every word before the first hit of a beginning; hits of words it reads newest first, as many
    as are wanted.
    """
    conn.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.message_words USING fts5vocab('main', 'message_index', 'instance')"
    )
    expanded = []
    for term in terms:
        beginning = _BEGINNING.fullmatch(term)
        words = _beginning_with(conn, beginning[1].lower()) if beginning else []
        expanded.append(f"({' OR '.join(words)})" if words else term)
    return expanded


def _beginning_with(conn: sqlite3.Connection, beginning: str) -> list[str]:
    """The words with a beginning, quoted; nothing when there are none or more than a few."""
    words: list[str] = []
    least = beginning
    while len(words) <= FEW:
        # Not `term >`: that reads all places of the word before.
        row = conn.execute("SELECT term FROM temp.message_words WHERE term >= ? LIMIT 1", (least,)).fetchone()
        if row is None or not row[0].startswith(beginning):
            return words
        words.append(f'"{row[0]}"')
        least = f"{row[0]}\x01"
    return []


def snippet(text: str, needles: tuple[str, ...]) -> list[SnippetPart]:
    """The part of a text around what was found first, the finds marked."""
    pattern = _marks(needles)
    begin = max(0, _first(text, needles, pattern) - AROUND)
    end = begin + 2 * AROUND + SNIPPET
    line = " ".join(text[begin:end].split())
    first = pattern.search(line) if pattern else None
    start = max(0, (first.start() if first else 0) - SNIPPET // 3)
    if start:
        start = line.find(" ", start, start + 20) + 1 or start
    piece = line[start : start + SNIPPET]
    parts = [SnippetPart(text="…")] if start or begin else []
    done = 0
    for match in pattern.finditer(piece) if pattern else ():
        if match.start() > done:
            parts.append(SnippetPart(text=piece[done : match.start()]))
        parts.append(SnippetPart(text=match[0], hit=True))
        done = match.end()
    rest = piece[done:] + ("…" if start + SNIPPET < len(line) or text[end:].strip() else "")
    return [*parts, SnippetPart(text=rest)] if rest else parts


@lru_cache(maxsize=32)
def _marks(needles: tuple[str, ...]) -> re.Pattern[str] | None:
    """What finds the needles, whatever blanks are between their words."""
    wanted = [needle.split() for needle in (needle[: SNIPPET // 2] for needle in needles) if needle.strip()]
    patterns = [r"\s+".join(map(re.escape, words)) for words in wanted]
    return re.compile("|".join(patterns), re.IGNORECASE) if patterns else None


def _first(text: str, needles: tuple[str, ...], pattern: re.Pattern[str] | None) -> int:
    """About where the first find is; 0 if there is none. A pattern is slow on a long text, and mostly not needed."""
    lower = text.lower()
    found = [at for needle in needles if needle.strip() and (at := lower.find(needle.lower())) >= 0]
    if found or pattern is None:
        return min(found, default=0)
    match = pattern.search(text)
    return match.start() if match else 0


def _rows(conn: sqlite3.Connection, ids: list[int]) -> list[sqlite3.Row]:
    marks = ", ".join("?" * len(ids))
    return conn.execute(f"SELECT * FROM messages WHERE id IN ({marks})", ids).fetchall()  # noqa: S608 - marks only


def _hit(row: sqlite3.Row, query: Query) -> Hit:
    return Hit(
        chat_id=row["chat_id"],
        thread_id=row["thread_id"] or None,
        message_id=row["message_id"],
        order=row["ord"],
        role=row["role"],
        sender=msgspec.json.decode(row["sender"], type=Sender).name if row["sender"] else "",
        snippet=snippet(findable(row["text"], media.told(row["attachments"])), query.needles),
        ts=row["ts"],
    )


def _plain(text: str) -> str:
    """Text as it can be indexed and asked for: one form of each character, nothing that SQLite cannot hold."""
    return unicodedata.normalize("NFKC", text.replace("\0", " ").encode("utf-8", "replace").decode())


def _split(text: str) -> str:
    return _CJK.sub(r" \1 ", text)


def _words(text: str) -> list[str]:
    """The words of a text, as the tokenizer sees them: runs of letters, digits and marks."""
    kept = "".join(char if unicodedata.category(char)[0] in "LNM" else " " for char in _split(text))
    return [word for word in kept.split() if any(unicodedata.category(char)[0] in "LN" for char in word)]


def _qualifiers_unquoted(text: str) -> str:
    """`channel:"Cron Reports"` as one word, its blanks kept apart from those between words."""
    return re.sub(r'(?i)\bchannel:"([^"]*)"?', lambda match: "channel:" + match[1].replace(" ", "\0"), text)


def _places(lane: Lane, role: str) -> list[str]:
    """Tokens that say where a message is: its channel, its thread, its role."""
    tokens = [_place(Lane(lane.chat_id)), _role(role)]
    return [token for token in (*tokens, _place(lane) if lane.thread_id else None) if token]


def _place(lane: Lane) -> str:
    return f"lane{':'.join(filter(None, lane)).encode().hex()}"


def _role(role: str | None) -> str | None:
    return f"role{role}" if role else None
