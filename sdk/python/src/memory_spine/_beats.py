"""Heartbeats in the background: one thread, or one task, for all leases of a client, while there are any."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from collections.abc import Awaitable, Callable

from ._deliveries import heartbeat
from ._effects import Operation
from ._leases import Hands

LOOK_AGAIN_S = 1.0
"""A lease may have been made shorter meanwhile."""
IDLE_S = 5.0
"""With nothing to keep alive for this long, the thread or task ends; the next lease starts a new one."""


def pause_s(hands: Hands) -> float:
    """How long until somebody should look."""
    next_beat_at = hands.next_beat_at()
    if next_beat_at is None:
        return IDLE_S
    return min(LOOK_AGAIN_S, max(0.0, next_beat_at - time.monotonic()))


class BlockingBeats:
    """A thread that ends with the process, or with the client."""

    def __init__(self, hands: Hands, run: Callable[[Operation[None]], None]) -> None:
        self._hands, self._run = hands, run
        self._stopped = False
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """There is something new to keep alive."""
        with self._lock:
            if self._thread is None:
                # A thread of its own context: it handles no delivery.
                run = contextvars.Context().run
                self._thread = threading.Thread(target=run, args=(self._beat,), name="memory-spine-heartbeats", daemon=True)
                self._thread.start()
        self._wake.set()

    def _beat(self) -> None:
        while not self._is_at_end():
            for lease in self._hands.due(time.monotonic()):
                self._run(heartbeat(lease))
            self._wake.wait(pause_s(self._hands))
            self._wake.clear()

    def _is_at_end(self) -> bool:
        """Decided under the lock, so that a lease that comes at this moment finds the thread or starts one."""
        with self._lock:
            if self._stopped or (not self._hands.held() and not self._wake.is_set()):
                self._thread = None
                return True
            return False

    def stop(self) -> None:
        """No more heartbeats."""
        self._stopped = True
        self._wake.set()


class AwaitedBeats:
    """A task of the event loop that the client is used in."""

    def __init__(self, hands: Hands, run: Callable[[Operation[None]], Awaitable[None]]) -> None:
        self._hands, self._run = hands, run
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """There is something new to keep alive."""
        self._wake.set()
        if self._task is None or self._task.done():
            # A task of its own context: it handles no delivery.
            create = asyncio.get_running_loop().create_task
            self._task = contextvars.Context().run(create, self._beat())

    async def _beat(self) -> None:
        while self._hands.held():
            self._wake.clear()
            for lease in self._hands.due(time.monotonic()):
                await self._run(heartbeat(lease))
            await self._pause()

    async def _pause(self) -> None:
        try:
            await asyncio.wait_for(self._wake.wait(), pause_s(self._hands))
        except asyncio.TimeoutError:
            return

    def stop(self) -> None:
        """No more heartbeats."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
