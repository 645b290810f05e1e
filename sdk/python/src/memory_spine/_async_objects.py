"""Handoffs, tickets, deliveries, channels and publications of the client that is awaited."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from . import _channels, _deliveries, _handoffs, _sending
from ._context import handle
from ._methods import awaited, awaited_as
from ._records import ChannelRecord, DeliveryRecord, HandoffRecord, PublicationRecord, TicketRecord, bind

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["AsyncChannel", "AsyncDelivery", "AsyncHandoff", "AsyncPublication", "AsyncTicket"]


def as_handoff(record: HandoffRecord) -> AsyncHandoff:
    """The handoff with its methods."""
    return bind(AsyncHandoff, record)


def as_ticket(record: TicketRecord) -> AsyncTicket:
    """The ticket with its methods."""
    return bind(AsyncTicket, record)


def as_publication(record: PublicationRecord) -> AsyncPublication:
    """The publication with its methods."""
    return bind(AsyncPublication, record)


class AsyncHandoff(HandoffRecord):
    """An envelope: what one agent hands to the next.

    Example::

        handoff = await spine.agent_handoff("code-generator", "Write the client as in ms-1.")
        print(handoff.token_count, handoff.memory_refs, await handoff.render())
    """

    __slots__ = ()

    render = awaited(_handoffs.render)
    messages = awaited(_handoffs.messages)
    fetch = awaited(_handoffs.fetch)
    recover = awaited(_handoffs.recover)
    next = awaited_as(as_handoff, _handoffs.next_handoff)
    send = awaited_as(as_ticket, _sending.send)

    @staticmethod
    async def join(
        handoffs: Sequence[AsyncHandoff],
        target_agent: str,
        task_summary: str,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[_handoffs.HandoffOptions],
    ) -> AsyncHandoff:
        """One handoff that follows from several of the same task.

        Example: ``joined = await AsyncHandoff.join([written, tested], "reviewer", "Review both.")``
        """
        if not handoffs:
            raise ValueError("a join follows from at least one handoff: give those that it joins")
        spine = handoffs[0].owner
        joined = _handoffs.join_handoffs(spine, handoffs, target_agent, task_summary, idempotency_key=idempotency_key, **options)
        return as_handoff(await spine.run(joined))


class AsyncTicket(TicketRecord):
    """A handoff on its way.

    Example::

        ticket = await spine.send_handoff("tester", "Test the client.")
        ack = await ticket.wait("done", timeout=600)
    """

    __slots__ = ()

    wait = awaited(_sending.wait)
    refresh = awaited_as(as_ticket, _sending.refresh)
    cancel = awaited(_sending.cancel)


class AsyncDelivery(DeliveryRecord):
    """Work in the hands of this process. Its lease is kept alive in the background.

    Example::

        async for delivery in spine.listen("code-generator"):
            async with delivery as handoff:            # accepted; done at the end, given back on an exception
                await delivery.ack(await generate(await handoff.messages()))
    """

    __slots__ = ()

    accept = awaited(_deliveries.accept)
    ack = awaited(_deliveries.ack)
    nack = awaited(_deliveries.nack)
    reject = awaited(_deliveries.reject)
    extend = awaited(_deliveries.extend)
    progress = awaited(_deliveries.progress)

    @property
    def handoff(self) -> AsyncHandoff:
        """What was handed over."""
        return as_handoff(self.received)

    async def __aenter__(self) -> AsyncHandoff:
        await self.accept()
        self.handled_before.append(handle(self))
        return self.handoff

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        handle(self.handled_before.pop())
        await self.owner.run(_deliveries.settle(self, error))


class AsyncChannel(ChannelRecord):
    """A named place to publish to several receivers.

    Example: ``await spine.get_channel("oauth-migration").publish(handoff, receivers=["code-generator", "doc-writer"])``
    """

    __slots__ = ()

    subscribe = awaited(_channels.subscribe)
    unsubscribe = awaited(_channels.unsubscribe)
    subscribers = awaited(_channels.subscribers)
    publish = awaited_as(as_publication, _channels.publish)


class AsyncPublication(PublicationRecord):
    """An envelope on its way to several receivers.

    Example::

        publication = await channel.publish(handoff)
        print((await publication.wait(60)).status)
    """

    __slots__ = ()

    refresh = awaited_as(as_publication, _channels.refresh)
    wait = awaited_as(as_publication, _channels.wait)
    results = awaited(_channels.results)
