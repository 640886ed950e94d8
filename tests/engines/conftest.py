"""A pool that a few thousand rows exceed."""

import pytest

from small_pools import shrink_pool


@pytest.fixture
def small_pool(monkeypatch):
    """Let a thousand rows be a pool, so that three thousand are more than one."""
    shrink_pool(monkeypatch, 1000)
