"""Operations of the receiver: taking work, keeping it alive, giving it back."""

from __future__ import annotations

import logging
import os
import random
import socket
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ._effects import Operation, Pause, acting_as, ask, at, inquire, post
from ._handoffs import handed_on
from ._leases import Lease
from ._records import ClientRecord, DeliveryRecord, HandoffRecord
from ._values import NO_REASON, Document, Duration, Json, given, seconds
from .errors import LeaseLostError, ResultInvalidError, SpineError, UnavailableError
from .models import Ack, Gap, Trimmed

log = logging.getLogger("memory_spine")

RECEIVE_MAX = 100
REASON_CHARACTERS_MAX = 1_000
BEAT_S_MAX = 10.0
UNREACHABLE_PAUSE_S = 2.0


def receive_batch(
    client: ClientRecord,
    agent: str,
    max_messages: int,
    wait_s: float,
    accept_versions: Sequence[str],
    lease: Duration | None,
    completeness_min: float | None,
) -> Operation[list[DeliveryRecord]]:
    """Waits for work and takes it. What this process has finished before is acknowledged again and not handed out."""
    body = given(
        max=min(max_messages, RECEIVE_MAX),
        wait_s=wait_s,
        lease_s=None if lease is None else seconds(lease),
        holder=f"{socket.gethostname()}:{os.getpid()}",
        accept_versions=list(accept_versions),
        completeness_min=completeness_min,
    )
    request = acting_as(agent, inquire(at("agents", agent, "receive"), body, wait_s=wait_s))
    answer = yield from ask(request)
    taken: list[DeliveryRecord] = []
    for entry in answer["deliveries"]:
        delivery = yield from _taken(client, entry)
        if delivery is not None:
            taken.append(delivery)
    return taken


def receive_patiently(
    client: ClientRecord,
    agent: str,
    max_messages: int,
    wait_s: float,
    accept_versions: Sequence[str],
    lease: Duration | None,
    completeness_min: float | None,
) -> Operation[list[DeliveryRecord]]:
    """The same; a server that cannot be reached has no work for now."""
    try:
        return (yield from receive_batch(client, agent, max_messages, wait_s, accept_versions, lease, completeness_min))
    except UnavailableError as error:
        log.warning("%s waits for the server: %s", agent, error)
        yield Pause(random.uniform(0, UNREACHABLE_PAUSE_S))
        return []


def _taken(client: ClientRecord, entry: Document) -> Operation[DeliveryRecord | None]:
    document, token = entry["delivery"], entry["lease"]
    finished = client.hands.finished(document["id"])
    if finished is not None:
        yield from _acknowledge_again(_delivery(client, entry, Lease(document, token, time.monotonic())), finished)
        return None
    lease = client.hands.take(document, token)
    return None if lease is None else _delivery(client, entry, lease)


def _delivery(client: ClientRecord, entry: Document, lease: Lease) -> DeliveryRecord:
    document = entry["delivery"]
    return DeliveryRecord(
        owner=client,
        id=document["id"],
        agent=document["agent"],
        attempt=document["attempt"],
        overdue=document["overdue"],
        checkpoint=document.get("checkpoint"),
        envelope_version=entry["envelope_version"],
        rendered=entry.get("rendered"),
        document=document,
        received=_received(client, entry),
        lease=lease,
    )


def _received(client: ClientRecord, entry: Document) -> HandoffRecord:
    """A received envelope, in whichever version."""
    envelope, document = entry["envelope"], entry["delivery"]
    refs = envelope.get("memory_refs") or [memory["id"] for memory in envelope.get("memories", [])]
    trimmed = envelope.get("trimmed", {})
    return HandoffRecord(
        owner=client,
        id=document["envelope_id"],
        envelope_version=entry["envelope_version"],
        hop=envelope.get("hop", 0),
        token_count=envelope.get("assembly", {}).get("tokens", 0),
        memory_refs=refs,
        completeness=document["completeness"],
        gaps=Gap.read_all(envelope.get("completeness", {}).get("gaps", [])),
        trimmed=Trimmed(trimmed.get("count", 0), tuple(trimmed.get("items", ()))),
        envelope=envelope,
        delivery_id=document["id"],
        order_key=document.get("order_key"),
        overdue=document["overdue"],
    )


def accept(delivery: DeliveryRecord, *, idempotency_key: str | None = None) -> Operation[Ack]:
    """Takes the work: ends the sender's waiting. ``with delivery`` does it by itself.

    Example: ``delivery.accept()``
    """
    document = yield from _step(delivery, "accept", {}, idempotency_key)
    return Ack.read(document)


def ack(
    delivery: DeliveryRecord,
    result: Json = None,
    action: str | None = None,
    why: str | None = None,
    next: Mapping[str, Any] | None = None,
    *,
    idempotency_key: str | None = None,
) -> Operation[Ack]:
    """Ends the work with its result. ``next`` hands on in the same step, all or nothing: the arguments of ``agent_handoff``.

    Example: ``delivery.ack({"files": 3}, next={"target_agent": "tester", "task_summary": "Test the client."})``
    """
    body = given(result=result, action=action, why=why, next=None if next is None else _next_body(next))
    return (yield from _acknowledge(delivery, body, idempotency_key))


def _next_body(next: Mapping[str, Any]) -> dict[str, Json]:
    handoff, send = handed_on("next", next)
    return {**handoff, "send": send}


def _acknowledge(delivery: DeliveryRecord, body: Json, key: str | None = None) -> Operation[Ack]:
    """Remembers that the work is done until the server knows: should the answer get lost, it is not done again."""
    hands = delivery.owner.hands
    hands.finish(delivery.id, body)
    try:
        document = yield from _step(delivery, "ack", body, key)
    except (LeaseLostError, ResultInvalidError):
        hands.forget(delivery.id)
        raise
    hands.forget(delivery.id)
    delivery.lease.over = True
    return Ack.read(document["delivery"])


def _acknowledge_again(delivery: DeliveryRecord, finished: Json) -> Operation[None]:
    """Should this fail as well, the rest of what was received is handed out all the same, and this comes once more."""
    try:
        yield from _acknowledge(delivery, finished)
    except SpineError as error:
        log.warning("%s is done and could not be acknowledged again: %s", delivery.id, error)


def nack(
    delivery: DeliveryRecord,
    reason: str,
    retry: bool = True,
    after: Duration | None = None,
    *,
    idempotency_key: str | None = None,
) -> Operation[Ack]:
    """Gives the work back: one attempt is spent; without ``retry`` it is parked.

    Example: ``delivery.nack("the sandbox is down", after=60)``
    """
    body = given(reason=_short(reason), retry=retry, after_s=None if after is None else seconds(after))
    document = yield from _step(delivery, "nack", body, idempotency_key)
    delivery.lease.over = True
    return Ack.read(document)


def reject(
    delivery: DeliveryRecord, reason: str, question: str | None = None, *, idempotency_key: str | None = None
) -> Operation[Ack]:
    """Refuses the work for good; the sender is told, and asked the question.

    Example: ``delivery.reject("unclear", question="Which of the two gateways?")``
    """
    body = given(reason=_short(reason), question=question)
    document = yield from _step(delivery, "reject", body, idempotency_key)
    delivery.lease.over = True
    return Ack.read(document)


def extend(delivery: DeliveryRecord, lease: Duration | None = None, *, idempotency_key: str | None = None) -> Operation[Ack]:
    """A heartbeat, with a longer lease if one is given. Heartbeats come by themselves.

    Example: ``delivery.extend(300)``
    """
    body = given(lease_s=None if lease is None else seconds(lease))
    document = yield from _step(delivery, "extend", body, idempotency_key)
    delivery.lease.take(document, delivery.lease.token, time.monotonic())
    return Ack.read(document)


def progress(
    delivery: DeliveryRecord,
    note: str | None = None,
    percent: float | None = None,
    checkpoint: Json = None,
    *,
    idempotency_key: str | None = None,
) -> Operation[Ack]:
    """Says how far the work is; a redelivery finds the last ``checkpoint`` in ``delivery.checkpoint``.

    Example: ``delivery.progress("parsed 40 files", percent=40, checkpoint={"files": 40})``
    """
    body = given(note=note, percent=percent, checkpoint=checkpoint)
    document = yield from _step(delivery, "progress", body, idempotency_key)
    return Ack.read(document)


def _step(delivery: DeliveryRecord, step: str, body: Document, key: str | None = None) -> Operation[Json]:
    return (yield from _lease_step(delivery.lease, step, body, key))


def _lease_step(
    lease: Lease, step: str, body: Document, key: str | None = None, attempts_max: int | None = None
) -> Operation[Json]:
    """One step of a delivery, under its lease. Whatever is answered, the lease knows."""
    request = post(at("deliveries", lease.delivery_id, step), {"lease": lease.token, **body}, key=key)
    request = acting_as(lease.agent, request)
    if attempts_max is not None:
        request = replace(request, attempts_max=attempts_max)
    try:
        return (yield from ask(request))
    except LeaseLostError as error:
        lease.cancelled = error.type == "cancelled"
        lease.lost = not lease.cancelled
        raise


def heartbeat(lease: Lease) -> Operation[None]:
    """Keeps a lease alive, and learns whether the work is still wanted."""
    try:
        yield from _lease_step(lease, "extend", {"lease_s": lease.lease_s}, attempts_max=1)
    except UnavailableError as error:
        log.warning("no heartbeat for %s: %s", lease.delivery_id, error)
        lease.unheard(time.monotonic())
    except SpineError as error:
        if lease.is_held:
            log.info("the lease on %s has ended: %s", lease.delivery_id, error)
        lease.lost = not lease.cancelled
    else:
        lease.renewed(time.monotonic())


def settle(delivery: DeliveryRecord, error: BaseException | None) -> Operation[None]:
    """The end of ``with delivery``: done if all went well, else given back with the error.

    Work that was finished, and whose acknowledgement did not get through, is not given back: when it comes again, it is
    acknowledged again.
    """
    if delivery.lease.over:
        return
    if error is None:
        yield from _complete(delivery)
        return
    try:
        if delivery.lease.is_held and delivery.owner.hands.finished(delivery.id) is None:
            yield from nack(delivery, describe(error))
        delivery.lease.over = True
    except SpineError as second:
        log.warning("%s could not be given back: %s", delivery.id, second)


def _complete(delivery: DeliveryRecord) -> Operation[None]:
    try:
        yield from ack(delivery)
    except LeaseLostError:
        # Who called it off does not wait for a result.
        if not delivery.cancelled:
            raise


def describe(error: BaseException) -> str:
    """An exception in one line."""
    said = str(error).strip()
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def give_back(deliveries: Iterable[DeliveryRecord]) -> Operation[None]:
    """Returns what was taken and not looked at."""
    for delivery in deliveries:
        yield from settle(delivery, RuntimeError("the receiver stopped before it looked at this"))


def _short(reason: str) -> str:
    return reason[:REASON_CHARACTERS_MAX] or NO_REASON
