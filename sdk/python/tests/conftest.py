"""Every test that takes ``spine`` runs on the client that blocks and on the one that is awaited."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from blocked import Blocked, Loop

from memory_spine import AsyncHandoffClient, AsyncMemorySpine, HandoffClient, LocalServer, MemorySpine
from memory_spine.testing import AsyncClock, Clock

KINDS = ("sync", "async")


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def make(kind: str) -> Iterator[Callable[..., Any]]:
    """Makes clients of this kind; closes them."""
    loop, made = Loop() if kind == "async" else None, []

    def client(*args: Any, **kwargs: Any) -> Any:
        spine = MemorySpine(*args, **kwargs) if loop is None else Blocked(AsyncMemorySpine(*args, **kwargs), loop)
        made.append(spine)
        return spine

    yield client
    for spine in made:
        spine.close()
    if loop is not None:
        loop.close()


@pytest.fixture
def spine(make: Callable[..., Any], memory_spine_endpoint: str, memory_spine_workspace: str) -> Any:
    return make(memory_spine_endpoint, workspace=memory_spine_workspace)


@pytest.fixture
def clock(memory_spine_clock_server: LocalServer, spine: Any) -> Any:
    """The clock of this test's own server, by the client of this kind."""
    if isinstance(spine, Blocked):
        return Blocked(AsyncClock(spine.blocked_target), spine.blocked_loop)
    return Clock(spine)


@pytest.fixture
def handoff_client(kind: str) -> Callable[..., Any]:
    def client(spine: Any, **options: Any) -> Any:
        if kind == "sync":
            return HandoffClient(spine, **options)
        return Blocked(AsyncHandoffClient(spine.blocked_target, **options), spine.blocked_loop)

    return client


def pause(spine: Any, seconds: float) -> None:
    """Time passes for the server, and for the client's heartbeats."""
    spine.sleep(seconds) if isinstance(spine, Blocked) else time.sleep(seconds)


def until(spine: Any, met: Callable[[], Any], timeout_s: float = 20) -> Any:
    """What is waited for, as soon as it is there."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        found = met()
        if found:
            return found
        pause(spine, 0.05)
    raise AssertionError(f"it did not come within {timeout_s} s")


def one(spine: Any, agent: str, **options: Any) -> Any:
    """The next delivery for an agent."""
    for delivery in spine.receive(agent, wait=20, **options):
        return delivery
    raise AssertionError(f"nothing came to {agent}")
