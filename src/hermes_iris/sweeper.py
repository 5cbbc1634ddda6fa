"""Deletes files that are kept no more: uploads that no message took, and all that are older than the settings say.

Invariant: a row goes first, its file after that commit, so that no row ever names a file that a sweep has deleted.
"""

import asyncio
import logging
import sqlite3
from functools import partial

from .clock import Clock
from .errors import IrisError
from .protocol.types import Seconds
from .store import Store, media
from .vault import FRESH, Vault

logger = logging.getLogger(__name__)

EVERY: Seconds = 6 * 3600.0
DAY: Seconds = 86_400.0


class Sweeper:
    """The one task that tidies up. `media_days`: how long files are kept; 0, for ever."""

    def __init__(self, store: Store, vault: Vault, clock: Clock, media_days: int) -> None:
        self._store = store
        self._vault = vault
        self._clock = clock
        self._media_days = media_days
        self._task = asyncio.create_task(self._run(), name="iris-sweeper")

    async def stop(self) -> None:
        """Stop between two files at the latest."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def sweep(self) -> int:
        """Tidy up once; returns how many files went."""
        now = self._clock.now().ts
        before = now - self._media_days * DAY if self._media_days else 0.0
        await self._store.write(partial(media.forget_old, unused_before=now - FRESH, before=before))
        known = await self._store.read(media.all_ids)
        return await asyncio.to_thread(self._vault.sweep, known)

    async def _run(self) -> None:
        while True:
            try:
                if gone := await self.sweep():
                    logger.info("%d files were kept no longer", gone)
            except (IrisError, sqlite3.Error, OSError):
                logger.exception("files could not be tidied up; it is tried again")
            await asyncio.sleep(EVERY)
