"""Search: full-text search of 10,000, 100,000 and 1,000,000 messages in Latin words, code and Chinese; beside tantivy.

Times of CPU, of a warm file. Then what is found of Chinese, 20,000 made queries of which none may fail, and how long
the event loop waits while somebody searches.
"""

import asyncio
import contextlib
import random
import shutil
import tempfile
import time
from functools import partial
from pathlib import Path

import tantivy

from hermes_iris.address import Lane
from hermes_iris.protocol.types import SearchOrder
from hermes_iris.store import Store, connect, search

from . import corpus
from .corpus import HAN, WORDS
from .kit import Given, Ratio, Report, busy, interleaved, p50, p99

PAGE = 30
LANE = Lane("android:chan_7")
PAIR = "".join(char for char in next(corpus.texts(1)) if char in set(HAN))[3:5]
QUERIES: dict[str, tuple[str, Lane | None, SearchOrder]] = {
    "the most common word": (WORDS[0], None, "newest"),
    "a common word": (WORDS[40], None, "newest"),
    "a rare word": (WORDS[40_000], None, "newest"),
    "three words": (f"{WORDS[0]} {WORDS[3]} {WORDS[40]}", None, "newest"),
    "a beginning of two letters": ("w1", None, "newest"),
    "one Chinese character": (HAN[5], None, "newest"),
    "two Chinese characters": (PAIR, None, "newest"),
    "a common word in one chat": (WORDS[40], LANE, "newest"),
    "a rare word in one chat": (WORDS[4_000], LANE, "newest"),
    "a common word, best first": (WORDS[40], None, "best"),
    "three words, best first": (f"{WORDS[0]} {WORDS[3]} {WORDS[40]}", None, "best"),
}


class Tantivy:
    """The same texts in tantivy, newest first by a fast field."""

    def __init__(self, folder: Path, count: int) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("body", stored=False, tokenizer_name="default")
        builder.add_text_field("place", stored=False, tokenizer_name="raw")
        builder.add_integer_field("order", stored=True, indexed=True, fast=True)
        self._index = tantivy.Index(builder.build(), path=str(folder))
        writer = self._index.writer(heap_size=200_000_000, num_threads=1)
        for n, text in enumerate(corpus.texts(count)):
            writer.add_document(tantivy.Document(body=text, place=corpus.message(n, "").chat_id, order=n))
        writer.commit()
        writer.wait_merging_threads()
        self._index.reload()

    def find(self, text: str, lane: Lane | None, order: SearchOrder) -> int:
        """How many hits a page has."""
        schema = self._index.schema
        terms = [(tantivy.Occur.Must, tantivy.Query.term_query(schema, "body", word.lower())) for word in text.split()]
        if lane:
            terms.append((tantivy.Occur.Must, tantivy.Query.term_query(schema, "place", lane.chat_id)))
        by = "order" if order == "newest" else None
        searcher = self._index.searcher()
        return len(searcher.search(tantivy.Query.boolean_query(terms), PAGE, count=False, order_by_field=by).hits)


async def speed(report: Report, count: int, rounds: int) -> Path:
    """One table for a size."""
    path = corpus.store(report, count)
    with tempfile.TemporaryDirectory() as folder, contextlib.closing(connect(path)) as conn:
        peer = await asyncio.to_thread(Tantivy, Path(folder), count)
        table = report.table(
            f"{count:,} messages", "hits", "p50 ms", "p99 ms", "index alone", "tantivy", "index / tantivy"
        )
        for name, (text, lane, order) in QUERIES.items():
            query = search.parse(text)
            hits, _ = search.find(conn, query, lane, order, None, PAGE)
            # tantivy gives numbers of messages; the page of Iris has their texts, and what was found is marked.
            ways = {
                "iris": busy(partial(search.find, conn, query, lane, order, None, PAGE)),
                "index": busy(partial(search.numbers, conn, query, lane, order, None, PAGE)),
            }
            # It has no words of Chinese by itself, and finds no beginnings.
            alike = "Chinese" not in name and "beginning" not in name
            if alike:
                ways["tantivy"] = busy(partial(peer.find, text, lane, order))
            found = await interleaved(rounds, ways)
            iris, other = found["iris"], found.get("tantivy")
            ratio = Ratio(p50(found["index"]) / p50(other)) if other else None
            table.row(name, len(hits), p50(iris), p99(iris), p50(found["index"]), p50(other) if other else None, ratio)
    return path


def recall(report: Report, path: Path, count: int, rounds: int) -> None:
    """Whether every piece of Chinese that is there is found."""
    chance = random.Random(3)
    pieces = []
    for text in corpus.texts(min(count, 10_000)):
        run = "".join(char for char in text if char in HAN_SET)
        if run:
            start, size = chance.randrange(len(run) - 4), chance.choice((1, 2, 3, 4))
            pieces.append((run[start : start + size], run))
    found = 0
    sample = chance.sample(pieces, rounds)
    with contextlib.closing(connect(path)) as conn:
        for piece, run in sample:
            query = search.parse(piece)
            match = f'body : ({" AND ".join(query.terms)} AND "{" ".join(run)}")'
            found += bool(
                conn.execute("SELECT 1 FROM message_index WHERE message_index MATCH ? LIMIT 1", (match,)).fetchone()
            )
    report.table("Chinese of one to four characters", "found", "of").row("recall", found, rounds)


HAN_SET = frozenset(HAN)
ODD = [
    '"',
    "'",
    "*",
    "^",
    "(",
    ")",
    "NEAR",
    "AND",
    "OR",
    "NOT",
    ":",
    "-",
    "+",
    "\0",
    "\ud800",
    "{",
    "}",
    "\\",
    "%",
    "文",
]


def fuzz(report: Report, path: Path, rounds: int) -> None:
    """Queries of which none may raise."""
    chance = random.Random(5)
    failed = 0
    with contextlib.closing(connect(path)) as conn:
        for _ in range(rounds):
            parts = [
                chance.choice((chance.choice(ODD), chance.choice(WORDS[5_000:]), chr(chance.randrange(0x3000))))
                for _ in range(6)
            ]
            text = chance.choice(("", " ")).join(parts)
            try:
                search.find(conn, search.parse(text), None, "newest", None, 5)
            except Exception as exc:  # what is counted
                failed += 1
                report.note(f"{text!r}: {exc}")
    report.table("made queries", "asked", "failed").row("of odd characters and words", rounds, failed)


async def lag(report: Report, path: Path, rounds: int) -> None:
    """How long a turn of the loop takes while another thread searches for the dearest."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(path, Path(folder) / "channels.db")
        store = await asyncio.to_thread(Store, Path(folder) / "channels.db")
        waits: list[float] = []
        query = search.parse(f"{WORDS[0]} {WORDS[3]} {WORDS[40]}")
        for _ in range(rounds):
            searching = asyncio.ensure_future(
                store.search(lambda conn: search.find(conn, query, None, "best", None, PAGE))
            )
            while not searching.done():
                began = time.perf_counter()
                await asyncio.sleep(0.001)
                waits.append((time.perf_counter() - began) * 1e3 - 1)
        await asyncio.to_thread(store.close)
    table = report.table("how late the loop is while somebody searches, best first", "p50 ms", "p99 ms")
    table.row("a pause of one millisecond", p50(waits), p99(waits))


async def run(report: Report, given: Given) -> None:
    """Measure and print."""
    sizes = (10_000,) if given.quick else (10_000, 100_000, 1_000_000)
    for count in sizes:
        path = await speed(report, count, 30 if given.quick else 200)
    recall(report, path, sizes[-1], 100 if given.quick else 1_000)
    fuzz(report, path, 2_000 if given.quick else 20_000)
    await lag(report, path, 20 if given.quick else 100)
