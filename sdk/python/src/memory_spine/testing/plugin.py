"""Fixtures for pytest, found by their entry point."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from ..aio import AsyncMemorySpine
from ..client import MemorySpine
from ..local import LocalServer
from .clock import AsyncClock, Clock


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
def memory_spine_clock_server() -> Iterator[LocalServer]:
    """A server for this test alone, whose time it moves. Example: ``MemorySpine(memory_spine_clock_server.endpoint)``."""
    server = LocalServer.start(test_clock=True)
    yield server
    server.stop()


@pytest.fixture
def memory_spine_endpoint(request: pytest.FixtureRequest) -> str:
    """Where this test's server is: that of all tests, or its own. Example: ``MemorySpine(memory_spine_endpoint)``."""
    own = "memory_spine_clock_server"
    name = own if own in request.fixturenames else "memory_spine_server"
    server: LocalServer = request.getfixturevalue(name)
    return server.endpoint


@pytest.fixture
def memory_spine(memory_spine_endpoint: str, memory_spine_workspace: str) -> Iterator[MemorySpine]:
    """A client that blocks, in a workspace of its own. Example: ``def test_it(memory_spine): memory_spine.store("…")``."""
    with MemorySpine(memory_spine_endpoint, workspace=memory_spine_workspace) as spine:
        yield spine


@pytest.fixture
def async_memory_spine(memory_spine_endpoint: str, memory_spine_workspace: str) -> AsyncMemorySpine:
    """A client that is awaited, in a workspace of its own. Example: ``await async_memory_spine.store("…")``."""
    return AsyncMemorySpine(memory_spine_endpoint, workspace=memory_spine_workspace)


@pytest.fixture
def memory_spine_clock(memory_spine_clock_server: LocalServer, memory_spine: MemorySpine) -> Clock:
    """The clock of this test's own server. Example: ``memory_spine_clock.advance(3600)``."""
    return Clock(memory_spine)


@pytest.fixture
def async_memory_spine_clock(memory_spine_clock_server: LocalServer, async_memory_spine: AsyncMemorySpine) -> AsyncClock:
    """The clock of this test's own server. Example: ``await async_memory_spine_clock.advance(3600)``."""
    return AsyncClock(async_memory_spine)
