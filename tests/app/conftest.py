"""What the tests of the app share: a browser for each, and a gateway with a host that takes notes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser

from host.browser import chromium
from support import Gateway, gateway


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    async with chromium() as launched:
        yield launched


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with gateway(tmp_path / "home") as running:
        yield running
