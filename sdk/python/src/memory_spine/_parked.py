"""Operations of whoever reviews what could not be delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._effects import Operation, ask, at, get, post
from ._handoffs import HandoffOptions, envelope_id, handoff_body
from ._records import ClientRecord, HandoffRecord, TicketRecord
from ._values import Json, Moment, given, written
from .models import Ack, Parked, Review

if TYPE_CHECKING:
    from typing_extensions import Unpack

PAGE_ROWS = 200


def park_envelope(
    client: ClientRecord, envelope: HandoffRecord | str, reason: str, *, idempotency_key: str | None = None
) -> Operation[list[Parked]]:
    """Parks what is open of an envelope, for a person.

    Example: ``spine.park_envelope(handoff, "the customer must agree first")``
    """
    body = {"envelope_id": envelope_id(envelope), "reason": reason}
    document = yield from ask(post("/v1/parked", body, key=idempotency_key))
    return [Parked.read(delivery) for delivery in document["deliveries"]]


def parked(
    client: ClientRecord,
    target: str | None = None,
    reason: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
) -> Operation[list[Parked]]:
    """What waits for a person.

    Example: ``for parked in spine.parked(target="tester"): print(parked.id, parked.reasons)``
    """
    found: list[Parked] = []
    cursor: str | None = None
    while True:
        filters = _filter(target, reason, since, until)
        document = yield from ask(get("/v1/parked", given(limit=PAGE_ROWS, cursor=cursor, **filters)))
        found += [Parked.read(delivery) for delivery in document["deliveries"]]
        cursor = document["next_cursor"]
        if cursor is None:
            return found


def requeue(
    client: ClientRecord,
    id: str,
    target: str | None = None,
    *,
    reason: str | None = None,
    idempotency_key: str | None = None,
) -> Operation[Ack]:
    """Sends a parked delivery again, to the same or another agent.

    Example: ``spine.requeue(parked.id, target="senior-generator")``
    """
    body = given(target=target, reason=reason)
    document = yield from ask(post(at("parked", id, "requeue"), body, key=idempotency_key))
    return Ack.read(document)


def resend(
    client: ClientRecord,
    id: str,
    target_agent: str,
    task_summary: str,
    *,
    idempotency_key: str | None = None,
    **options: Unpack[HandoffOptions],
) -> Operation[TicketRecord]:
    """Sends a corrected handoff in the place of a parked one, as its child.

    Example: ``spine.resend(parked.id, "tester", "Test the client; skip the sandbox.")``
    """
    body = handoff_body(target_agent, task_summary, options)
    if options.get("order_key") is not None:
        body["send"] = {"order_key": options["order_key"]}
    document = yield from ask(post(at("parked", id, "resend"), body, key=idempotency_key))
    return TicketRecord.read(client, document["delivery"])


def resolve(
    client: ClientRecord, id: str, result: Json, by: str | None = None, *, idempotency_key: str | None = None
) -> Operation[Ack]:
    """Ends a parked delivery with a result that a person gives.

    Example: ``spine.resolve(parked.id, {"approved": True}, by="ada")``
    """
    body = {"result": result, **given(by=by)}
    document = yield from ask(post(at("parked", id, "resolve"), body, key=idempotency_key))
    return Ack.read(document)


def discard(client: ClientRecord, id: str, reason: str, *, idempotency_key: str | None = None) -> Operation[Ack]:
    """Ends a parked delivery without a result.

    Example: ``spine.discard(parked.id, "no longer wanted")``
    """
    document = yield from ask(post(at("parked", id, "discard"), {"reason": reason}, key=idempotency_key))
    return Ack.read(document)


def requeue_many(
    client: ClientRecord,
    target: str | None = None,
    reason: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    *,
    to: str | None = None,
    why: str = "sent again by filter",
    max_count: int | None = None,
    rate_per_s: float | None = None,
    dry_run: bool = False,
    idempotency_key: str | None = None,
) -> Operation[Review]:
    """Sends parked deliveries again, by filter.

    Example: ``spine.requeue_many(target="tester", rate_per_s=5, dry_run=True).ids``
    """
    body = given(
        filter=_filter(target, reason, since, until),
        max=max_count,
        dry_run=dry_run,
        reason=why,
        target=to,
        rate_per_s=rate_per_s,
    )
    document = yield from ask(post("/v1/parked/requeue", body, key=idempotency_key))
    return Review(tuple(document["ids"]), tuple(document["missed"]), document["dry_run"])


def discard_many(
    client: ClientRecord,
    why: str,
    target: str | None = None,
    reason: str | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    *,
    max_count: int | None = None,
    dry_run: bool = False,
    idempotency_key: str | None = None,
) -> Operation[Review]:
    """Ends parked deliveries without results, by filter.

    Example: ``spine.discard_many("the project has ended", target="tester")``
    """
    body = given(filter=_filter(target, reason, since, until), max=max_count, dry_run=dry_run, reason=why)
    document = yield from ask(post("/v1/parked/discard", body, key=idempotency_key))
    return Review(tuple(document["ids"]), tuple(document["missed"]), document["dry_run"])


def _filter(target: str | None, reason: str | None, since: Moment | None, until: Moment | None) -> dict[str, Json]:
    return given(
        target=target,
        reason=reason,
        since=None if since is None else written(since),
        until=None if until is None else written(until),
    )
