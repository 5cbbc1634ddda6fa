"""A made store of many messages: words as unevenly frequent as those of a language, code, and Chinese.

Made once for each size and each form of the store, and kept in the cache.
"""

import hashlib
import itertools
import random
import time
from collections.abc import Iterator
from pathlib import Path

from hermes_iris.protocol.frames import Message
from hermes_iris.store import connect, messages, migrations, search, transaction

from .kit import CACHE, Report

CHANNELS = 50
_chance = random.Random(11)
WORDS = [f"w{n}{_chance.choice(['ing', 'ed', 'er', ''])}" for n in range(50_000)]
WEIGHTS = list(itertools.accumulate(1 / (n + 1) for n in range(len(WORDS))))
HAN = [chr(0x4E00 + n) for n in range(3_000)]
CODE = "for {0} in self._{1}:\n    if {0}.is_{2}() and not seen[{0}.id]:\n        raise ValueError('{3}')"


def texts(count: int, seed: int = 7) -> Iterator[str]:
    """The texts of so many messages."""
    chance = random.Random(seed)
    for n in range(count):
        text = " ".join(chance.choices(WORDS, cum_weights=WEIGHTS, k=20))
        if n % 5 == 0:
            text += " " + "".join(chance.choices(HAN, k=12))
        if n % 7 == 0:
            text += "\n```python\n" + CODE.format(*chance.choices(WORDS, cum_weights=WEIGHTS, k=4)) + "\n```"
        yield text


def message(n: int, text: str) -> Message:
    """Message number `n`; every channel gets its turn."""
    chat = f"android:chan_{n % CHANNELS}"
    role = "user" if n % 2 else "assistant"
    return Message(message_id=f"m_{n:012}", chat_id=chat, role=role, text=text, ts=float(n), order=n + 1)  # type: ignore[arg-type]


def store(report: Report, count: int) -> Path:
    """The file of a store with so many messages."""
    sources = [Path(__file__), *(Path(str(module.__file__)) for module in (migrations, messages, search))]
    version = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:8]
    path = CACHE / f"corpus-{count}-{version}" / "channels.db"
    if path.exists():
        return path
    making = path.with_suffix(".making")
    making.unlink(missing_ok=True)
    began = time.perf_counter()
    conn = connect(making)
    numbered = enumerate(texts(count))
    while group := list(itertools.islice(numbered, 5_000)):
        with transaction(conn):
            messages.record(conn, [message(n, text) for n, text in group])
            conn.execute("DELETE FROM events")  # the log is bounded
    conn.close()
    making.replace(path)
    took = time.perf_counter() - began
    report.note(
        f"{count:,} messages stored and indexed in {took:.0f} s ({took / count * 1e6:.0f} µs each),"
        f" {path.stat().st_size / 1e6:,.0f} MB"
    )
    return path
