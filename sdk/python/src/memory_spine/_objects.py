"""Handoffs, tickets, deliveries, channels and publications of the client that blocks."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from . import _channels, _deliveries, _handoffs, _sending
from ._context import handle
from ._methods import blocking, blocking_as
from ._records import ChannelRecord, DeliveryRecord, HandoffRecord, PublicationRecord, TicketRecord, bind

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Channel", "Delivery", "Handoff", "Publication", "Ticket"]


def as_handoff(record: HandoffRecord) -> Handoff:
    """The handoff with its methods."""
    return bind(Handoff, record)


def as_ticket(record: TicketRecord) -> Ticket:
    """The ticket with its methods."""
    return bind(Ticket, record)


def as_publication(record: PublicationRecord) -> Publication:
    """The publication with its methods."""
    return bind(Publication, record)


class Handoff(HandoffRecord):
    """An envelope: what one agent hands to the next.

    Example::

        handoff = spine.agent_handoff("code-generator", "Write the client as in ms-1.")
        print(handoff.token_count, handoff.memory_refs, handoff.render())
    """

    __slots__ = ()

    render = blocking(_handoffs.render)
    messages = blocking(_handoffs.messages)
    fetch = blocking(_handoffs.fetch)
    recover = blocking(_handoffs.recover)
    next = blocking_as(as_handoff, _handoffs.next_handoff)
    send = blocking_as(as_ticket, _sending.send)

    @staticmethod
    def join(
        handoffs: Sequence[Handoff],
        target_agent: str,
        task_summary: str,
        *,
        idempotency_key: str | None = None,
        **options: Unpack[_handoffs.HandoffOptions],
    ) -> Handoff:
        """One handoff that follows from several of the same task.

        Example: ``Handoff.join([written, tested], "reviewer", "Review both.").send()``
        """
        if not handoffs:
            raise ValueError("a join follows from at least one handoff: give those that it joins")
        spine = handoffs[0].owner
        joined = _handoffs.join_handoffs(spine, handoffs, target_agent, task_summary, idempotency_key=idempotency_key, **options)
        return as_handoff(spine.run(joined))


class Ticket(TicketRecord):
    """A handoff on its way.

    Example: ``spine.send_handoff("tester", "Test the client.").wait("done", timeout=600).result``
    """

    __slots__ = ()

    wait = blocking(_sending.wait)
    refresh = blocking_as(as_ticket, _sending.refresh)
    cancel = blocking(_sending.cancel)


class Delivery(DeliveryRecord):
    """Work in the hands of this process. Its lease is kept alive in the background.

    Example::

        for delivery in spine.listen("code-generator"):
            with delivery as handoff:                  # accepted; done at the end, given back on an exception
                delivery.ack(generate(handoff.messages()))
    """

    __slots__ = ()

    accept = blocking(_deliveries.accept)
    ack = blocking(_deliveries.ack)
    nack = blocking(_deliveries.nack)
    reject = blocking(_deliveries.reject)
    extend = blocking(_deliveries.extend)
    progress = blocking(_deliveries.progress)

    @property
    def handoff(self) -> Handoff:
        """What was handed over."""
        return as_handoff(self.received)

    def __enter__(self) -> Handoff:
        self.accept()
        self.handled_before.append(handle(self))
        return self.handoff

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        handle(self.handled_before.pop())
        self.owner.run(_deliveries.settle(self, error))


class Channel(ChannelRecord):
    """A named place to publish to several receivers.

    Example: ``spine.get_channel("oauth-migration").publish(handoff, receivers=["code-generator", "doc-writer"])``
    """

    __slots__ = ()

    subscribe = blocking(_channels.subscribe)
    unsubscribe = blocking(_channels.unsubscribe)
    subscribers = blocking(_channels.subscribers)
    publish = blocking_as(as_publication, _channels.publish)


class Publication(PublicationRecord):
    """An envelope on its way to several receivers.

    Example: ``channel.publish(handoff).wait(60).results()``
    """

    __slots__ = ()

    refresh = blocking_as(as_publication, _channels.refresh)
    wait = blocking_as(as_publication, _channels.wait)
    results = blocking(_channels.results)
