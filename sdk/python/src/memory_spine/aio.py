"""The client that is awaited."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import httpx

from . import _channels, _deliveries, _handoffs, _memories, _parked, _sending, _story, _transport
from ._async_objects import AsyncChannel, AsyncDelivery, AsyncHandoff, as_handoff, as_ticket
from ._beats import AwaitedBeats
from ._effects import Operation, Pause, Request
from ._identity import Identity
from ._leases import Hands
from ._methods import awaited, awaited_as
from ._records import ClientRecord, DeliveryRecord, HandoffRecord, bind
from ._rounds import LISTEN_WAIT_S, Rounds, never
from ._values import Duration, seconds
from .local import LocalServer
from .models import Ack
from .worker import AsyncWorker

T = TypeVar("T")

__all__ = ["AsyncHandoffClient", "AsyncMemorySpine"]


class AsyncMemorySpine(ClientRecord):
    """The client that is awaited, within one event loop.

    What is not given comes from ``MEMORY_SPINE_ENDPOINT``, ``_API_KEY``, ``_WORKSPACE`` and ``_AGENT``.
    ``transport`` replaces the network in tests.

    Example::

        async with AsyncMemorySpine(agent="researcher") as spine:
            note = await spine.store("The gateway takes 100 requests a second.")
            await spine.send_handoff("code-generator", f"Write the client, see {note.id}.")
    """

    def __init__(
        self,
        endpoint: str | None = None,
        api_key: str | None = None,
        workspace: str | None = None,
        agent: str | None = None,
        timeout: Duration = 30,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(Identity.given(endpoint, api_key, workspace, agent))
        self._timeout_s = seconds(timeout)
        self._http = httpx.AsyncClient(limits=_transport.LIMITS, transport=transport)
        self._beats = AwaitedBeats(self.hands, self.run)
        self._server: LocalServer | None = None
        self._is_borrowing = False
        self._workers: list[AsyncWorker] = []

    @classmethod
    def local(cls, data: str | Path | None = None, *, agent: str | None = None, workspace: str | None = None) -> AsyncMemorySpine:
        """A client of a private server, which keeps its data in the folder given or in one that goes away.

        Example: ``spine = AsyncMemorySpine.local()``
        """
        server = LocalServer.start(data)
        spine = cls(server.endpoint, workspace=workspace, agent=agent)
        spine._server = server
        return spine

    store = awaited(_memories.store)
    store_many = awaited(_memories.store_many)
    get = awaited(_memories.get_one)
    get_many = awaited(_memories.get_many)
    update = awaited(_memories.update)
    delete = awaited(_memories.delete)
    pin = awaited(_memories.pin)
    unpin = awaited(_memories.unpin)
    search = awaited(_memories.search)
    recent = awaited(_memories.recent)

    agent_handoff = awaited_as(as_handoff, _handoffs.agent_handoff)
    send_handoff = awaited_as(as_ticket, _sending.send_handoff)
    deliver_handoff = awaited(_sending.deliver_handoff)

    park_envelope = awaited(_parked.park_envelope)
    parked = awaited(_parked.parked)
    requeue = awaited(_parked.requeue)
    requeue_many = awaited(_parked.requeue_many)
    resend = awaited_as(as_ticket, _parked.resend)
    resolve = awaited(_parked.resolve)
    discard = awaited(_parked.discard)
    discard_many = awaited(_parked.discard_many)

    lineage = awaited(_story.lineage)
    verify = awaited(_story.verify)
    health = awaited(_story.health)
    alerts = awaited(_story.alerts)
    erase = awaited(_story.erase)
    agents = awaited(_story.agents)
    register_agent = awaited(_story.register_agent)
    set_pipeline = awaited(_channels.set_pipeline)

    def get_channel(self, name: str) -> AsyncChannel:
        """A channel; it exists as soon as it is used.

        Example: ``await spine.get_channel("oauth-migration").subscribe("doc-writer")``
        """
        return AsyncChannel(self, name)

    async def receive(
        self,
        agent: str,
        max_messages: int = 1,
        wait: Duration = 30,
        accept_versions: Sequence[str] = ("2",),
        *,
        lease: Duration | None = None,
        completeness_min: float | None = None,
    ) -> AsyncIterator[AsyncDelivery]:
        """Takes work: at most ``max_messages``, and ends when ``wait`` has passed.

        Leases of what was taken and not yet looked at are kept alive; what is never looked at is given back.

        Example: ``async for delivery in spine.receive("code-generator", max_messages=10, wait=5): ...``
        """
        rounds = Rounds(max_messages, seconds(wait), time.monotonic)
        while rounds.goes_on():
            batch = await self.run(
                _deliveries.receive_batch(self, agent, rounds.left, rounds.wait_s(), accept_versions, lease, completeness_min)
            )
            rounds.count(len(batch))
            async with aclosing(self._hand_out(batch)) as deliveries:
                async for delivery in deliveries:
                    yield delivery

    async def listen(
        self,
        agent: str,
        accept_versions: Sequence[str] = ("2",),
        *,
        lease: Duration | None = None,
        completeness_min: float | None = None,
        stop: Callable[[], bool] = never,
    ) -> AsyncIterator[AsyncDelivery]:
        """Takes work, one at a time, without end, also over a restart of the server; until ``stop`` says so.

        Example: ``async for delivery in spine.listen("code-generator"): ...``
        """
        while not stop():
            batch = await self.run(
                _deliveries.receive_patiently(self, agent, 1, LISTEN_WAIT_S, accept_versions, lease, completeness_min)
            )
            async with aclosing(self._hand_out(batch)) as deliveries:
                async for delivery in deliveries:
                    yield delivery

    async def _hand_out(self, batch: Sequence[DeliveryRecord]) -> AsyncGenerator[AsyncDelivery, None]:
        if batch:
            self._beats.start()
        waiting = deque(batch)
        try:
            while waiting:
                yield bind(AsyncDelivery, waiting.popleft())
        finally:
            await self.run(_deliveries.give_back(waiting))

    def agent(
        self, name: str, concurrency: int = 1, *, lease: Duration | None = None
    ) -> Callable[[Callable[[AsyncHandoff], Awaitable[Any]]], AsyncWorker]:
        """Makes a function a worker: what it returns is the result, an exception gives the work back.

        Example::

            @spine.agent("code-generator", concurrency=4)
            async def work(handoff):
                return {"code": await generate(await handoff.render())}

            await spine.run_agents()          # until SIGTERM or Ctrl-C; then finishes what it has begun
        """

        def decorate(function: Callable[[AsyncHandoff], Awaitable[Any]]) -> AsyncWorker:
            worker = AsyncWorker(self, name, function, concurrency, lease)
            self._workers.append(worker)
            return worker

        return decorate

    async def run_agents(self) -> None:
        """Runs every worker of this client until SIGTERM or Ctrl-C.

        Example: ``await spine.run_agents()``
        """
        await AsyncWorker.run_all(self._workers)

    def with_workspace(self, workspace: str) -> AsyncMemorySpine:
        """The same client in another workspace; connections are shared, and stay open when this one is closed.

        Example: ``await spine.with_workspace("acme").store("Only acme sees this.")``
        """
        other = object.__new__(AsyncMemorySpine)
        other.identity, other.hands = replace(self.identity, workspace=workspace), Hands()
        other._timeout_s, other._http, other._server, other._workers = self._timeout_s, self._http, None, []
        other._is_borrowing, other._beats = True, AwaitedBeats(other.hands, other.run)
        return other

    async def run(self, operation: Operation[T]) -> T:
        """Runs an operation to its end."""
        outcome: Any = None
        try:
            while True:
                outcome = await self._perform(operation.send(outcome))
        except StopIteration as end:
            result: T = end.value
            return result

    async def _perform(self, effect: Request | Pause) -> Any:
        if isinstance(effect, Pause):
            return await asyncio.sleep(effect.seconds)
        try:
            response = await self._http.request(**_transport.arguments(self.identity, effect, self._timeout_s))
            return _transport.answer(response)
        except httpx.HTTPError as error:
            return _transport.unreachable(error, self.identity)

    async def close(self) -> None:
        """Closes the connections; ends a server that was started for this client.

        Example: ``await spine.close()``, or use the client in an ``async with``.
        """
        self._beats.stop()
        if not self._is_borrowing:
            await self._http.aclose()
        if self._server is not None:
            self._server.stop()

    async def __aenter__(self) -> AsyncMemorySpine:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class AsyncHandoffClient:
    """Sends handoffs directly and tries several times; what nobody accepts is parked for a person.

    Example: ``ack = await AsyncHandoffClient(spine).send_handoff(handoff, "code-generator")``
    """

    def __init__(self, spine: AsyncMemorySpine, max_retries: int = 3, timeout: Duration = 15) -> None:
        self._spine = spine
        self._max_retries = max(1, max_retries)
        self._timeout_s = seconds(timeout)

    async def send_handoff(self, envelope: HandoffRecord | str, target_agent: str) -> Ack:
        """Raises ``CircuitOpenError`` at once, ``HandoffError`` when it is parked, ``UnavailableError`` when nothing was sent.

        Example: ``ack = await client.send_handoff(handoff, "code-generator")``
        """
        operation = _sending.send_with_retries(self._spine, envelope, target_agent, self._max_retries, self._timeout_s)
        return await self._spine.run(operation)
