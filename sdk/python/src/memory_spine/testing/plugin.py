"""Fixtures for pytest, found by their entry point."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from ..aio import AsyncMemorySpine
from ..client import MemorySpine
from ..local import LocalServer


@pytest.fixture(scope="session")
def memory_spine_server() -> Iterator[LocalServer]:
    """A private server for all tests of this run. Example: ``MemorySpine(memory_spine_server.endpoint)``."""
    server = LocalServer.start()
    yield server
    server.stop()


@pytest.fixture
def memory_spine_workspace() -> str:
    """A workspace of the test's own. Example: ``MemorySpine(endpoint, workspace=memory_spine_workspace)``."""
    return f"test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def memory_spine(memory_spine_server: LocalServer, memory_spine_workspace: str) -> Iterator[MemorySpine]:
    """A client that blocks, in a workspace of its own. Example: ``def test_it(memory_spine): memory_spine.store("…")``."""
    with MemorySpine(memory_spine_server.endpoint, workspace=memory_spine_workspace) as spine:
        yield spine


@pytest.fixture
def async_memory_spine(memory_spine_server: LocalServer, memory_spine_workspace: str) -> AsyncMemorySpine:
    """A client that is awaited, in a workspace of its own. Example: ``await async_memory_spine.store("…")``."""
    return AsyncMemorySpine(memory_spine_server.endpoint, workspace=memory_spine_workspace)
