"""What can go wrong on purpose, before a step of a chain."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

from .._values import Duration, seconds
from ..client import MemorySpine

Fault: TypeAlias = Callable[[MemorySpine, str], None]
TAKE_S_MAX = 30


def drop_receiver(times: int = 1, lease: Duration = 1) -> Fault:
    """The receiver takes the work and dies: the lease runs out and the work comes again.

    Example: ``chain(spine).agent("a", write).then("b", test, fault=drop_receiver()).run("…")``
    """

    def drop(spine: MemorySpine, agent: str) -> None:
        for _ in range(times):
            # A client of its own that ends at once: nobody keeps the lease alive.
            with MemorySpine(spine.identity.endpoint, spine.identity.api_key, spine.identity.workspace) as dying:
                taken = next(dying.receive(agent, wait=TAKE_S_MAX, lease=lease), None)
                if taken is None:
                    raise AssertionError(f"nothing came to {agent} within {TAKE_S_MAX} s that could be dropped")
                taken.accept()

    return drop


def vanish(*ids: str) -> Fault:
    """Memories are deleted while the handoff is on its way.

    Example: ``chain(spine).agent("a", write, fault=vanish("ms-1")).run("…")``
    """

    def delete(spine: MemorySpine, agent: str) -> None:
        for id in ids:
            spine.delete(id)

    return delete


def delay(duration: Duration) -> Fault:
    """The receiver comes late.

    Example: ``chain(spine).agent("a", write, fault=delay(2)).run("…")``
    """

    def wait(spine: MemorySpine, agent: str) -> None:
        time.sleep(seconds(duration))

    return wait
