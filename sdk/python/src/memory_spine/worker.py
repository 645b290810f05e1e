"""Workers: functions that do the work of an agent until they are told to stop."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import signal
import threading
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from ._values import Duration
from .errors import SpineError

if TYPE_CHECKING:
    from ._async_objects import AsyncDelivery, AsyncHandoff
    from ._objects import Delivery, Handoff
    from .aio import AsyncMemorySpine
    from .client import MemorySpine

__all__ = ["AsyncWorker", "Worker"]

log = logging.getLogger("memory_spine")
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Worker:
    """A function that does the work of an agent in threads. Made by ``@spine.agent``; calling it calls the function.

    Example::

        @spine.agent("code-generator", concurrency=4)
        def work(handoff): ...

        work.run()      # until SIGTERM
    """

    def __init__(
        self,
        spine: MemorySpine,
        name: str,
        function: Callable[[Handoff], Any],
        concurrency: int = 1,
        lease: Duration | None = None,
    ) -> None:
        self.name, self.function, self.concurrency = name, function, concurrency
        self._spine, self._lease = spine, lease
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._on_failure: Callable[[], object] = self._stopping.set
        self._failure: BaseException | None = None

    def __call__(self, handoff: Handoff) -> Any:
        """The function itself."""
        return self.function(handoff)

    def start(self) -> None:
        """Begins, in threads of its own.

        Example: ``work.start(); ...; work.stop()``
        """
        self._stopping.clear()
        for number in range(self.concurrency):
            run = contextvars.copy_context().run
            thread = threading.Thread(target=run, args=(self._work,), name=f"{self.name}-{number}", daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        """Takes no more work, finishes what it has begun, and returns then. Raises what kept it from taking work, if anything did.

        Example: ``work.stop()``
        """
        self._stopping.set()
        while self._threads:
            self._threads.pop().join()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def run(self) -> None:
        """Works until SIGTERM or Ctrl-C, then finishes what it has begun; a second signal ends it at once.

        Example: ``work.run()``
        """
        Worker.run_all([self])

    @staticmethod
    def run_all(workers: Sequence[Worker]) -> None:
        """Runs several workers until SIGTERM or Ctrl-C.

        Example: ``Worker.run_all([write, test])``
        """
        told = threading.Event()
        with _signals(told.set):
            for worker in workers:
                worker._on_failure = told.set
                worker.start()
            told.wait()
        for worker in workers:
            worker._stopping.set()
        for worker in workers:
            worker.stop()

    def _work(self) -> None:
        """An error that does not pass, such as a key that is not valid, must not leave a worker that only seems to work."""
        try:
            for delivery in self._spine.listen(self.name, lease=self._lease, stop=self._stopping.is_set):
                self._handle(delivery)
        except BaseException as error:
            log.error("%s takes no more work: %s", self.name, error)
            self._failure = error
            self._on_failure()

    def _handle(self, delivery: Delivery) -> None:
        try:
            with delivery as handoff:
                result = self.function(handoff)
                if not delivery.lease.over:
                    delivery.ack(result)
        except SpineError as error:
            log.warning("%s: %s did not end well: %s", self.name, delivery.id, error)
        except Exception:
            log.exception("%s: %s failed and was given back", self.name, delivery.id)


class AsyncWorker:
    """The same, as tasks of an event loop.

    Example::

        @spine.agent("code-generator", concurrency=4)
        async def work(handoff): ...

        await work.run()      # until SIGTERM
    """

    def __init__(
        self,
        spine: AsyncMemorySpine,
        name: str,
        function: Callable[[AsyncHandoff], Awaitable[Any]],
        concurrency: int = 1,
        lease: Duration | None = None,
    ) -> None:
        self.name, self.function, self.concurrency = name, function, concurrency
        self._spine, self._lease = spine, lease
        self._stopping = False
        self._tasks: list[asyncio.Task[None]] = []
        self._on_failure: Callable[[], object] = lambda: None

    async def __call__(self, handoff: AsyncHandoff) -> Any:
        """The function itself."""
        return await self.function(handoff)

    async def start(self) -> None:
        """Begins, in tasks of its own.

        Example: ``await work.start(); ...; await work.stop()``
        """
        self._stopping = False
        self._tasks += [asyncio.create_task(self._work()) for _ in range(self.concurrency)]

    async def stop(self) -> None:
        """Takes no more work, finishes what it has begun, and returns then. Raises what kept it from taking work, if anything did.

        Example: ``await work.stop()``
        """
        self._stopping = True
        tasks, self._tasks = self._tasks, []
        await asyncio.gather(*tasks)

    async def run(self) -> None:
        """Works until SIGTERM or Ctrl-C, then finishes what it has begun; a second signal ends it at once.

        Example: ``await work.run()``
        """
        await AsyncWorker.run_all([self])

    @staticmethod
    async def run_all(workers: Sequence[AsyncWorker]) -> None:
        """Runs several workers until SIGTERM or Ctrl-C.

        Example: ``await AsyncWorker.run_all([write, test])``
        """
        told, loop = asyncio.Event(), asyncio.get_running_loop()
        with _signals(lambda: loop.call_soon_threadsafe(told.set)):
            for worker in workers:
                worker._on_failure = told.set
                await worker.start()
            await told.wait()
        await asyncio.gather(*(worker.stop() for worker in workers))

    async def _work(self) -> None:
        """An error that does not pass, such as a key that is not valid, must not leave a worker that only seems to work."""
        try:
            async for delivery in self._spine.listen(self.name, lease=self._lease, stop=lambda: self._stopping):
                await self._handle(delivery)
        except BaseException as error:
            log.error("%s takes no more work: %s", self.name, error)
            self._on_failure()
            raise

    async def _handle(self, delivery: AsyncDelivery) -> None:
        try:
            async with delivery as handoff:
                result = await self.function(handoff)
                if not delivery.lease.over:
                    await delivery.ack(result)
        except SpineError as error:
            log.warning("%s: %s did not end well: %s", self.name, delivery.id, error)
        except Exception:
            log.exception("%s: %s failed and was given back", self.name, delivery.id)


@contextmanager
def _signals(stop: Callable[[], object]) -> Generator[None, None, None]:
    """Signals say to stop, as long as this lasts. Only the main thread can take them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def told(number: int, frame: FrameType | None) -> None:
        stop()

    before = {number: signal.signal(number, told) for number in STOP_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
