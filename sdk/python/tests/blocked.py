"""The awaited client driven as if it blocked, so that one suite tests both."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from typing import Any

from memory_spine import AsyncChannel, AsyncDelivery, AsyncHandoff, AsyncMemorySpine, AsyncPublication, AsyncTicket, AsyncWorker

OBJECTS = (AsyncMemorySpine, AsyncHandoff, AsyncTicket, AsyncDelivery, AsyncChannel, AsyncPublication, AsyncWorker)


class Loop:
    """One event loop; what is run in it sees the context that the run before left, as in one task."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.context = contextvars.copy_context()

    def run(self, awaitable: Any) -> Any:
        async def awaited() -> Any:
            try:
                return await awaitable
            finally:
                self.context = contextvars.copy_context()

        return self.loop.run_until_complete(self.context.run(self.loop.create_task, awaited()))

    def close(self) -> None:
        self.loop.run_until_complete(asyncio.sleep(0))
        self.loop.close()


class Blocked:
    """An object of the awaited client; what is awaitable is awaited at once."""

    def __init__(self, target: Any, loop: Loop) -> None:
        self.__dict__.update(blocked_target=target, blocked_loop=loop)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.blocked_target, name)
        return self._call(value) if callable(value) and not isinstance(value, OBJECTS) else self._shown(value)

    def _call(self, function: Any) -> Any:
        def called(*args: Any, **kwargs: Any) -> Any:
            plain = [unblocked(arg) for arg in args]
            named = {name: unblocked(value) for name, value in kwargs.items()}
            return self._shown(function(*plain, **named))

        return called

    def _shown(self, value: Any) -> Any:
        if inspect.isasyncgen(value):
            return self._iterate(value)
        if inspect.isawaitable(value):
            value = self.blocked_loop.run(value)
        return Blocked(value, self.blocked_loop) if isinstance(value, OBJECTS) else value

    def _iterate(self, generator: Any) -> Any:
        try:
            while True:
                try:
                    yield self._shown(self.blocked_loop.run(generator.__anext__()))
                except StopAsyncIteration:
                    return
        finally:
            self.blocked_loop.run(generator.aclose())

    def __enter__(self) -> Any:
        return self._shown(self.blocked_target.__aenter__())

    def __exit__(self, *error: Any) -> Any:
        return self.blocked_loop.run(self.blocked_target.__aexit__(*error))

    def sleep(self, seconds: float) -> None:
        """Lets the loop run: heartbeats are its tasks."""
        self.blocked_loop.run(asyncio.sleep(seconds))


def unblocked(value: Any) -> Any:
    if isinstance(value, list):
        return [unblocked(item) for item in value]
    return value.blocked_target if isinstance(value, Blocked) else value
