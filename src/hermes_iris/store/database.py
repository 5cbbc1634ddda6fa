"""The file and its threads: one writer with natural group commit, one reader.

Invariants: a job's result is seen only after its commit; jobs run in the order in which they were given; a job that
fails takes none of its neighbours along; nothing here runs on the event loop. While the disk is full or another program
holds the file, a job is told so as `Busy`, or waits if it is `lasting`: then it comes before all that was given later.
"""

import asyncio
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ..errors import Busy, SetupError
from ..protocol.types import Seconds
from .migrations import migrate

logger = logging.getLogger(__name__)

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]

MAX_WAITING = 10_000
"""Jobs that may wait for the writer."""

MAX_GROUP = 256
"""Jobs that share a commit."""

SEARCH_LIMIT: Seconds = 2.0
"""How long a search may take."""

STEPS_BETWEEN_LOOKS = 10_000
"""Steps of SQLite between two looks at the clock."""

BUSY_TIMEOUT = 5_000
"""Milliseconds that a transaction waits for one of another process."""

RETRY: Seconds = 1.0
"""Until what lasts is tried again, if nothing else is to be stored before."""

PASSING = {
    sqlite3.SQLITE_BUSY: "another program holds the gateway's database; try again in a moment",
    sqlite3.SQLITE_FULL: "the gateway's disk is full; make room, then try again",
    sqlite3.SQLITE_IOERR: "the gateway cannot write its database; look at its disk, then try again",
}
"""Faults that are not the job's, and may be over at the next try."""


def connect(path: Path) -> sqlite3.Connection:
    """Open the file, made and migrated as needed; only its owner can read it.

    Raises:
        SetupError: the folder cannot be written, the file is no database, or a newer Iris wrote it.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        conn = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            conn.row_factory = sqlite3.Row
            conn.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT}")
            _use_wal(conn)
            conn.execute("PRAGMA synchronous = FULL")
            migrate(conn)
        except BaseException:
            conn.close()
            raise
    except (OSError, sqlite3.Error) as exc:
        raise SetupError(f"{path} cannot be opened: {exc}") from exc
    return conn


def _use_wal(conn: sqlite3.Connection) -> None:
    """Switch to the write-ahead log. SQLite does not wait while another one does the same, so that waits here."""
    deadline = time.monotonic() + BUSY_TIMEOUT / 1000
    while True:
        try:
            conn.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


@contextmanager
def transaction(conn: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """One write transaction on a connection of one's own, for the command line."""
    conn.execute("BEGIN IMMEDIATE")
    try:
        yield conn
    except BaseException:
        conn.execute("ROLLBACK")
        raise
    conn.execute("COMMIT")


class _Waiting(NamedTuple):
    """A job for the writer."""

    job: Job[Any]
    future: "Future[Any]"
    lasting: bool


class Store:
    """The database of a running gateway. Raises `SetupError` as `connect` does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._write_conn = connect(path)
        self._reader = _Reader(path, "iris-read")
        self._searcher = _Reader(path, "iris-search")
        self._jobs: queue.Queue[_Waiting | None] = queue.Queue(MAX_WAITING)
        self._lasting: list[_Waiting] = []
        """Jobs that failed and are tried again."""

        self._trouble = ""
        self._gate = threading.Lock()
        self._closed = False
        self._writer = threading.Thread(target=self._run, name="iris-store", daemon=True)
        self._writer.start()

    def submit(self, job: Job[T], *, lasting: bool = False) -> "Future[T]":
        """Queue a job for the writer; the future is done after the commit.

        A fault that passes is the job's `Busy`; a `lasting` job runs anew until it is stored or the store is closed.

        Raises:
            Busy: too many jobs wait, or the store is closed.
        """
        future: Future[T] = Future()
        with self._gate:
            if self._closed:
                raise Busy("the gateway stops; try again in a moment")
            try:
                if len(self._lasting) >= MAX_WAITING:
                    raise queue.Full
                self._jobs.put_nowait(_Waiting(job, future, lasting))
            except queue.Full:
                raise Busy("the store is busy; try again in a moment") from None
        return future

    async def write(self, job: Job[T]) -> T:
        """Run a job in a write transaction; returns after the commit."""
        return await asyncio.wrap_future(self.submit(job))

    async def read(self, job: Job[T]) -> T:
        """Run a job that only reads, on a snapshot."""
        return await self._reader.run(job)

    async def search(self, job: Job[T]) -> T:
        """Run a job that reads and may take its time: apart from the other reads, and not for ever.

        Raises:
            Busy: it took longer than `SEARCH_LIMIT`.
        """
        try:
            return await self._searcher.run(job, SEARCH_LIMIT)
        except sqlite3.OperationalError as exc:
            if exc.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
                raise Busy("the search takes too long; add another word") from exc
            raise

    def close(self) -> None:
        """Finish what waits, as far as it can be stored, then close."""
        with self._gate:
            self._closed = True
        self._jobs.put(None)
        self._writer.join()
        self._reader.close()
        self._searcher.close()
        self._write_conn.close()

    def _run(self) -> None:
        open_ = True
        while open_:
            group: list[_Waiting | None] = []
            with suppress(queue.Empty):
                group.append(self._jobs.get(timeout=RETRY if self._lasting else None))
                while len(group) < MAX_GROUP:
                    group.append(self._jobs.get_nowait())
            open_ = None not in group
            self._commit([*self._lasting, *(waiting for waiting in group if waiting is not None)])
        self._give_up(self._lasting, Busy("the gateway stopped before this could be stored"))

    def _commit(self, group: list[_Waiting]) -> None:
        results: list[tuple[Future[Any], Any, BaseException | None]] = []
        conn = self._write_conn
        try:
            conn.execute("BEGIN IMMEDIATE")
            for job, future, _ in group:
                conn.execute("SAVEPOINT job")
                try:
                    results.append((future, job(conn), None))
                except Exception as exc:  # a job's own fault is for whoever waits for it
                    if _passing(exc):
                        raise
                    conn.execute("ROLLBACK TO job")
                    results.append((future, None, exc))
                conn.execute("RELEASE job")
            conn.execute("COMMIT")
        except sqlite3.Error as exc:
            with suppress(sqlite3.Error):
                conn.execute("ROLLBACK")
            self._failed(group, exc)
            return
        self._lasting, self._trouble = [], ""
        for future, result, error in results:
            if not future.set_running_or_notify_cancel():
                continue
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)

    def _failed(self, group: list[_Waiting], exc: sqlite3.Error) -> None:
        passing = _passing(exc)
        if str(exc) != self._trouble:
            self._trouble = str(exc)
            logger.error("nothing can be stored: %s", exc)
        self._lasting = [waiting for waiting in group if passing and waiting.lasting]
        told = Busy(passing) if passing else exc
        self._give_up([waiting for waiting in group if not (passing and waiting.lasting)], told)

    def _give_up(self, group: list[_Waiting], exc: Exception) -> None:
        for waiting in group:
            if waiting.future.set_running_or_notify_cancel():
                waiting.future.set_exception(exc)


def _passing(exc: Exception) -> str | None:
    """What to tell of a fault that may pass, None of any other."""
    code = getattr(exc, "sqlite_errorcode", None)
    return PASSING.get(code & 0xFF) if code is not None else None  # the low byte is the kind of fault


class _Reader:
    """A connection that only reads, in a thread of its own."""

    def __init__(self, path: Path, name: str) -> None:
        self._conn = connect(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(self, job: Job[T], limit: Seconds | None = None) -> T:
        """Run a job on a snapshot; over the limit SQLite interrupts it."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, job, limit)

    def close(self) -> None:
        """Finish what runs, then close."""
        self._thread.shutdown()
        self._conn.close()

    def _run(self, job: Job[T], limit: Seconds | None) -> T:
        if limit is not None:
            deadline = time.monotonic() + limit
            self._conn.set_progress_handler(lambda: time.monotonic() > deadline, STEPS_BETWEEN_LOOKS)
        self._conn.execute("BEGIN")
        try:
            return job(self._conn)
        finally:
            self._conn.set_progress_handler(None, 0)
            self._conn.execute("ROLLBACK")
