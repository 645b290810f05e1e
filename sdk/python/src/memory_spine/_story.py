"""Operations that tell what happened, and how the server is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from ._effects import Operation, ask, at, get, post, write
from ._handoffs import envelope_id
from ._records import ClientRecord, HandoffRecord
from ._values import NO_REASON, Document, given
from .models import Erasure, Finding, Lineage, Verification

PAGE_ROWS = 200


def lineage(client: ClientRecord, handoff: HandoffRecord | str) -> Operation[Lineage]:
    """The whole task that a handoff belongs to, oldest envelope first.

    Example: ``spine.lineage(handoff).intent``
    """
    document = yield from ask(get(at("envelopes", envelope_id(handoff), "lineage")))
    return Lineage(document["root"], document["intent"], tuple(document["envelopes"]), tuple(document.get("deliveries", ())))


def verify(client: ClientRecord, handoff: HandoffRecord | str) -> Operation[Verification]:
    """Whether the task's envelopes are what they were.

    Example: ``assert spine.verify(handoff).intact``
    """
    document = yield from ask(get(at("envelopes", envelope_id(handoff), "verify")))
    findings = tuple(Finding(one["id"], one["damage"], one["detail"]) for one in document["findings"])
    return Verification(document["intact"], document["summary"], document["envelopes"], findings)


def health(client: ClientRecord, target: str | None = None) -> Operation[Document]:
    """The figures of the workspace: latency, completeness, failures, hops, use of the budget. The charts can be of one target.

    Example: ``spine.health()["verdict"]``
    """
    document: Document = yield from ask(get("/v1/health", given(target=target)))
    return document


def alerts(client: ClientRecord, state: Literal["open", "resolved", "all"] = "open") -> Operation[Sequence[Document]]:
    """What needs somebody's attention, the newest first.

    Example: ``for alert in spine.alerts(): print(alert["severity"], alert["title"])``
    """
    found: list[Document] = []
    cursor: str | None = None
    while True:
        document = yield from ask(get("/v1/alerts", given(state=state, limit=PAGE_ROWS, cursor=cursor)))
        found += document["alerts"]
        cursor = document.get("next_cursor")
        if cursor is None:
            return tuple(found)


def erase(
    client: ClientRecord,
    subject: str | None = None,
    memory: str | None = None,
    reason: str | None = None,
    dry_run: bool = False,
    *,
    idempotency_key: str | None = None,
) -> Operation[Erasure]:
    """Erases the texts of one subject, or of one memory, everywhere: memories, envelopes, results. Lineages stay verifiable.

    Example: ``spine.erase(subject="user:123", reason="asked to", dry_run=True)``
    """
    body = given(subject=subject, memory=memory, reason=reason or NO_REASON, dry_run=dry_run or None)
    document = yield from ask(post("/v1/erasures", body, key=idempotency_key))
    return Erasure.read(document)


def register_agent(
    client: ClientRecord, /, name: str, *, idempotency_key: str | None = None, **options: Any
) -> Operation[Document]:
    """Sets the options of an agent, all of them each time: ``description``, ``max_tokens``, ``policy``, ``fallbacks``, ``webhook``.

    Example: ``spine.register_agent("code-generator", max_tokens=8000, policy={"lease_s": 120})``
    """
    document: Document = yield from ask(write("PUT", at("agents", name), options, key=idempotency_key))
    return document


def agents(client: ClientRecord) -> Operation[Sequence[Document]]:
    """Every agent that is registered, that work waits for, or that was sent something today: its options, its breaker, its queue.

    Example: ``[agent["name"] for agent in spine.agents()]``
    """
    document = yield from ask(get("/v1/agents"))
    return tuple(document["agents"])
