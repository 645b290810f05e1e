"""Operations of the sender: sending, waiting, calling off."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from ._effects import Operation, Pause, ask, at, get, post
from ._flat import checked_versions
from ._handoffs import HandoffOptions, envelope_id, following, handoff_body
from ._parked import park_envelope
from ._records import ClientRecord, HandoffRecord, TicketRecord
from ._values import Document, Duration, Json, encoded, given, seconds
from .errors import HandoffError, HandoffTimeoutError, RejectedError, UnavailableError
from .models import Ack

if TYPE_CHECKING:
    from typing_extensions import Unpack

WAIT_S_MAX = 60.0
"""One request waits no longer than this; a longer wait is several."""
RETRY_FIRST_S = 1.0
RETRY_S_MAX = 30.0

Until: TypeAlias = Literal["accepted", "done"]


def send(
    handoff: HandoffRecord,
    to: str | None = None,
    fallbacks: Sequence[str] = (),
    *,
    policy: Mapping[str, Json] | None = None,
    pipeline: str | None = None,
    priority: str | None = None,
    idempotency_key: str | None = None,
) -> Operation[TicketRecord]:
    """Sends the handoff and returns at once.

    Example: ``ticket = handoff.send(fallbacks=["senior-generator"])``
    """
    options = _send_options(to, fallbacks, policy, pipeline, priority, handoff.order_key)
    body = {"envelope_id": handoff.id, **options}
    document = yield from ask(post("/v1/deliveries", body, key=idempotency_key))
    return TicketRecord.read(handoff.owner, document)


def send_handoff(
    client: ClientRecord,
    target_agent: str,
    task_summary: str,
    *,
    fallbacks: Sequence[str] = (),
    policy: Mapping[str, Json] | None = None,
    pipeline: str | None = None,
    idempotency_key: str | None = None,
    **options: Unpack[HandoffOptions],
) -> Operation[TicketRecord]:
    """Assembles and sends in one request; takes what ``agent_handoff`` takes.

    Example: ``spine.send_handoff("tester", "Test the client.").wait("done").result``
    """
    checked_versions(options.get("emit") or ())
    body = handoff_body(target_agent, task_summary, options)
    body["send"] = _send_options(None, fallbacks, policy, pipeline, None, options.get("order_key"))
    document = yield from ask(following(client, post("/v1/handoffs", body, key=idempotency_key)))
    return TicketRecord.read(client, document["delivery"])


def _send_options(
    to: str | None,
    fallbacks: Sequence[str],
    policy: Mapping[str, Json] | None,
    pipeline: str | None,
    priority: str | None,
    order_key: str | None,
) -> dict[str, Json]:
    return given(
        to=to,
        fallbacks=list(fallbacks) or None,
        policy=policy,
        pipeline=pipeline,
        priority=priority,
        order_key=order_key,
    )


def deliver_handoff(
    client: ClientRecord,
    envelope: HandoffRecord | str,
    target: str | None = None,
    timeout: Duration = 15,
    wait_for: Until = "accepted",
    fallbacks: Sequence[str] = (),
    *,
    idempotency_key: str | None = None,
) -> Operation[Ack]:
    """Sends a handoff and waits until it is accepted, or done. The same call again goes on waiting for the same delivery.

    Raises ``HandoffTimeoutError`` (a ``TimeoutError``) when the time is up, ``CircuitOpenError``, ``RejectedError``, or
    ``HandoffError`` for what was cancelled or parked.

    Example: ``spine.deliver_handoff(handoff, timeout=60, wait_for="done").result``
    """
    body = given(envelope_id=envelope_id(envelope), to=target, fallbacks=list(fallbacks) or None)
    key = idempotency_key or _same_delivery_key(client, body)
    left_s = seconds(timeout)
    first_s = min(left_s, WAIT_S_MAX)
    waiting = {**body, "wait": {"until": wait_for, "timeout_s": first_s}}
    document = yield from ask(post("/v1/deliveries", waiting, key=key, wait_s=first_s))
    document = yield from _waited(document, wait_for, left_s - first_s)
    return acknowledged(document, wait_for)


def _same_delivery_key(client: ClientRecord, body: Document) -> str:
    """So that asking again finds the delivery of the first time, also from another process."""
    said = encoded([client.identity.speaker(), body])
    return f"py-direct-{hashlib.sha256(said).hexdigest()[:40]}"


def wait(ticket: TicketRecord, until: Until = "accepted", timeout: Duration = 15) -> Operation[Ack]:
    """Waits until the handoff is accepted, or done; raises as ``deliver_handoff`` does.

    Example: ``ticket.wait("done", timeout=timedelta(hours=2)).result``
    """
    left_s = seconds(timeout)
    first_s = min(left_s, WAIT_S_MAX)
    document = yield from _attached(ticket.id, until, first_s)
    document = yield from _waited(document, until, left_s - first_s)
    return acknowledged(document, until)


def refresh(ticket: TicketRecord) -> Operation[TicketRecord]:
    """The ticket as it stands now.

    Example: ``ticket.refresh().state``
    """
    document = yield from ask(get(at("deliveries", ticket.id)))
    return TicketRecord.read(ticket.owner, document)


def cancel(ticket: TicketRecord, reason: str, *, lineage: bool = False, idempotency_key: str | None = None) -> Operation[None]:
    """Calls the handoff off; with ``lineage`` everything that is open of the task.

    Example: ``ticket.cancel("the user changed their mind")``
    """
    body = {"reason": reason, **({"lineage": True} if lineage else {})}
    yield from ask(post(at("deliveries", ticket.id, "cancel"), body, key=idempotency_key))


def _waited(document: Document, until: Until, left_s: float) -> Operation[Document]:
    """Waits on, one bounded request after the other."""
    while left_s > 0 and not _is_met(document["state"], until):
        part_s = min(left_s, WAIT_S_MAX)
        document = yield from _attached(document["id"], until, part_s)
        left_s -= part_s
    return document


def _attached(id: str, until: Until, wait_s: float) -> Operation[Document]:
    document: Document = yield from ask(get(at("deliveries", id), {"wait_until": until, "wait_s": wait_s}, wait_s=wait_s))
    return document


def _is_met(state: str, until: Until) -> bool:
    return state not in ("pending", "leased") and not (state == "accepted" and until == "done")


def acknowledged(document: Document, until: Until) -> Ack:
    """What was waited for, or the error that the delivery ended in."""
    state, id = document["state"], document["id"]
    if state == "done" or (state == "accepted" and until == "accepted"):
        return Ack.read(document)
    if state == "rejected":
        raise RejectedError(_said(document, "was rejected"), _problem("rejected", document))
    if state == "cancelled":
        raise HandoffError(_said(document, "was cancelled"), _problem("cancelled", document))
    if state == "parked":
        raise HandoffError(f"{_said(document, 'is parked')}; a person decides", _problem("parked", document))
    said = f"{id} to {document['agent']} is {state}: the waiting is over, the delivery is not; ask again to wait on"
    raise HandoffTimeoutError(said, _problem("timeout", document))


def _said(document: Document, what: str) -> str:
    ending = document.get("ending") or {}
    parked = document.get("parked") or [{}]
    reason = ending.get("reason") or parked[-1].get("reason")
    return f"{document['id']} to {document['agent']} {what}" + (f": {reason}" if reason else "")


def _problem(name: str, document: Document) -> Document:
    return {"type": f"/errors/{name}", "title": f"The handoff ended: {name}", "delivery": document}


def send_with_retries(
    client: ClientRecord, envelope: HandoffRecord | str, target_agent: str, max_retries: int, timeout_s: float
) -> Operation[Ack]:
    """Tries to get a handoff accepted, then parks it for a person.

    Each try waits for the same delivery. A circuit that is open, and a delivery that has ended, are told at once.
    """
    failure: HandoffTimeoutError | UnavailableError | None = None
    for attempt in range(max_retries):
        if attempt:
            yield Pause(random.uniform(0, min(RETRY_S_MAX, RETRY_FIRST_S * 2 ** (attempt - 1))))
        try:
            return (yield from deliver_handoff(client, envelope, target_agent, timeout_s))
        except (HandoffTimeoutError, UnavailableError) as error:
            failure = error
    if isinstance(failure, UnavailableError):
        raise _not_parked(failure, max_retries) from failure
    reason = f"nobody accepted it for {target_agent} in {max_retries} tries of {timeout_s:g} s"
    try:
        yield from park_envelope(client, envelope, reason)
    except UnavailableError as error:
        raise _not_parked(error, max_retries) from error
    raise HandoffError(f"{envelope_id(envelope)} is parked: {reason}", failure.problem if failure else None) from failure


def _not_parked(failure: UnavailableError, tries: int) -> UnavailableError:
    said = f"{failure.detail}; tried {tries} times; the envelope is not parked: keep it and send it again"
    return UnavailableError(said, failure.problem)
