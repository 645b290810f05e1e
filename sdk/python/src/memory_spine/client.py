"""The client that blocks."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import httpx

from . import _channels, _deliveries, _handoffs, _memories, _parked, _sending, _story, _transport
from ._beats import BlockingBeats
from ._effects import Operation, Pause, Request
from ._identity import Identity
from ._leases import Hands
from ._methods import blocking, blocking_as
from ._objects import Channel, Delivery, Handoff, as_handoff, as_ticket
from ._records import ClientRecord, DeliveryRecord, HandoffRecord, bind
from ._rounds import LISTEN_WAIT_S, Rounds, never
from ._values import Duration, seconds
from .local import LocalServer
from .models import Ack
from .worker import Worker

T = TypeVar("T")

__all__ = ["HandoffClient", "MemorySpine"]


class MemorySpine(ClientRecord):
    """The client that blocks; safe to share between threads.

    What is not given comes from ``MEMORY_SPINE_ENDPOINT``, ``_API_KEY``, ``_WORKSPACE`` and ``_AGENT``.
    ``transport`` replaces the network in tests.

    Example::

        with MemorySpine(agent="researcher") as spine:
            note = spine.store("The gateway takes 100 requests a second.")
            spine.send_handoff("code-generator", f"Write the client, see {note.id}.")
    """

    def __init__(
        self,
        endpoint: str | None = None,
        api_key: str | None = None,
        workspace: str | None = None,
        agent: str | None = None,
        timeout: Duration = 30,
        *,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(Identity.given(endpoint, api_key, workspace, agent))
        self._timeout_s = seconds(timeout)
        self._http = httpx.Client(limits=_transport.LIMITS, transport=transport)
        self._beats = BlockingBeats(self.hands, self.run)
        self._server: LocalServer | None = None
        self._is_borrowing = False
        self._workers: list[Worker] = []

    @classmethod
    def local(cls, data: str | Path | None = None, *, agent: str | None = None, workspace: str | None = None) -> MemorySpine:
        """A client of a private server, which keeps its data in the folder given or in one that goes away.

        Example: ``spine = MemorySpine.local()``
        """
        server = LocalServer.start(data)
        spine = cls(server.endpoint, workspace=workspace, agent=agent)
        spine._server = server
        return spine

    store = blocking(_memories.store)
    store_many = blocking(_memories.store_many)
    get = blocking(_memories.get_one)
    get_many = blocking(_memories.get_many)
    update = blocking(_memories.update)
    delete = blocking(_memories.delete)
    pin = blocking(_memories.pin)
    unpin = blocking(_memories.unpin)
    search = blocking(_memories.search)
    recent = blocking(_memories.recent)

    agent_handoff = blocking_as(as_handoff, _handoffs.agent_handoff)
    send_handoff = blocking_as(as_ticket, _sending.send_handoff)
    deliver_handoff = blocking(_sending.deliver_handoff)

    park_envelope = blocking(_parked.park_envelope)
    parked = blocking(_parked.parked)
    requeue = blocking(_parked.requeue)
    requeue_many = blocking(_parked.requeue_many)
    resend = blocking_as(as_ticket, _parked.resend)
    resolve = blocking(_parked.resolve)
    discard = blocking(_parked.discard)
    discard_many = blocking(_parked.discard_many)

    lineage = blocking(_story.lineage)
    verify = blocking(_story.verify)
    health = blocking(_story.health)
    alerts = blocking(_story.alerts)
    erase = blocking(_story.erase)
    agents = blocking(_story.agents)
    register_agent = blocking(_story.register_agent)
    set_pipeline = blocking(_channels.set_pipeline)

    def get_channel(self, name: str) -> Channel:
        """A channel; it exists as soon as it is used.

        Example: ``spine.get_channel("oauth-migration").subscribe("doc-writer")``
        """
        return Channel(self, name)

    def receive(
        self,
        agent: str,
        max_messages: int = 1,
        wait: Duration = 30,
        accept_versions: Sequence[str] = ("2",),
        *,
        lease: Duration | None = None,
        completeness_min: float | None = None,
    ) -> Iterator[Delivery]:
        """Takes work: at most ``max_messages``, and ends when ``wait`` has passed.

        Leases of what was taken and not yet looked at are kept alive; what is never looked at is given back.

        Example: ``for delivery in spine.receive("code-generator", max_messages=10, wait=5): ...``
        """
        rounds = Rounds(max_messages, seconds(wait), time.monotonic)
        while rounds.goes_on():
            batch = self.run(
                _deliveries.receive_batch(self, agent, rounds.left, rounds.wait_s(), accept_versions, lease, completeness_min)
            )
            rounds.count(len(batch))
            yield from self._hand_out(batch)

    def listen(
        self,
        agent: str,
        accept_versions: Sequence[str] = ("2",),
        *,
        lease: Duration | None = None,
        completeness_min: float | None = None,
        stop: Callable[[], bool] = never,
    ) -> Iterator[Delivery]:
        """Takes work, one at a time, without end, also over a restart of the server; until ``stop`` says so.

        Example: ``for delivery in spine.listen("code-generator"): ...``
        """
        while not stop():
            batch = self.run(_deliveries.receive_patiently(self, agent, 1, LISTEN_WAIT_S, accept_versions, lease, completeness_min))
            yield from self._hand_out(batch)

    def _hand_out(self, batch: Sequence[DeliveryRecord]) -> Iterator[Delivery]:
        if batch:
            self._beats.start()
        waiting = deque(batch)
        try:
            while waiting:
                yield bind(Delivery, waiting.popleft())
        finally:
            self.run(_deliveries.give_back(waiting))

    def agent(
        self, name: str, concurrency: int = 1, *, lease: Duration | None = None
    ) -> Callable[[Callable[[Handoff], Any]], Worker]:
        """Makes a function a worker: what it returns is the result, an exception gives the work back.

        Example::

            @spine.agent("code-generator", concurrency=4)
            def work(handoff):
                return {"code": generate(handoff.render())}

            spine.run_agents()          # until SIGTERM or Ctrl-C; then finishes what it has begun
        """

        def decorate(function: Callable[[Handoff], Any]) -> Worker:
            worker = Worker(self, name, function, concurrency, lease)
            self._workers.append(worker)
            return worker

        return decorate

    def run_agents(self) -> None:
        """Runs every worker of this client until SIGTERM or Ctrl-C.

        Example: ``spine.run_agents()``
        """
        Worker.run_all(self._workers)

    def with_workspace(self, workspace: str) -> MemorySpine:
        """The same client in another workspace; connections are shared, and stay open when this one is closed.

        Example: ``spine.with_workspace("acme").store("Only acme sees this.")``
        """
        other = object.__new__(MemorySpine)
        other.identity, other.hands = replace(self.identity, workspace=workspace), Hands()
        other._timeout_s, other._http, other._server, other._workers = self._timeout_s, self._http, None, []
        other._is_borrowing, other._beats = True, BlockingBeats(other.hands, other.run)
        return other

    def run(self, operation: Operation[T]) -> T:
        """Runs an operation to its end."""
        outcome: Any = None
        try:
            while True:
                outcome = self._perform(operation.send(outcome))
        except StopIteration as end:
            result: T = end.value
            return result

    def _perform(self, effect: Request | Pause) -> Any:
        if isinstance(effect, Pause):
            return time.sleep(effect.seconds)
        try:
            response = self._http.request(**_transport.arguments(self.identity, effect, self._timeout_s))
            return _transport.answer(response)
        except httpx.HTTPError as error:
            return _transport.unreachable(error, self.identity)

    def close(self) -> None:
        """Closes the connections; ends a server that was started for this client.

        Example: ``spine.close()``, or use the client in a ``with``.
        """
        self._beats.stop()
        if not self._is_borrowing:
            self._http.close()
        if self._server is not None:
            self._server.stop()

    def __enter__(self) -> MemorySpine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class HandoffClient:
    """Sends handoffs directly and tries several times; what nobody accepts is parked for a person.

    Example: ``ack = HandoffClient(spine, max_retries=3, timeout=15).send_handoff(handoff, "code-generator")``
    """

    def __init__(self, spine: MemorySpine, max_retries: int = 3, timeout: Duration = 15) -> None:
        self._spine = spine
        self._max_retries = max(1, max_retries)
        self._timeout_s = seconds(timeout)

    def send_handoff(self, envelope: HandoffRecord | str, target_agent: str) -> Ack:
        """Raises ``CircuitOpenError`` at once, ``HandoffError`` when it is parked, ``UnavailableError`` when nothing was sent.

        Example: ``client.send_handoff(handoff, "code-generator").state``
        """
        operation = _sending.send_with_retries(self._spine, envelope, target_agent, self._max_retries, self._timeout_s)
        return self._spine.run(operation)
