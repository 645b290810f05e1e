"""What waits for a person, and the client that parks; against a real server."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from conftest import one

from memory_spine import CircuitOpenError, ConflictError, HandoffError, UnavailableError, _effects, _sending


def park(spine: Any, target: str = "writer", summary: str = "Write it.") -> Any:
    ticket = spine.send_handoff(target, summary, intent="Build it.")
    [parked] = spine.park_envelope(ticket.handoff_id, "a person first")
    return parked


def test_parked_work_can_be_sent_again(spine: Any) -> None:
    parked = park(spine)
    assert (parked.target, parked.reasons, parked.causes) == ("writer", ("a person first",), ("asked",))
    assert [found.id for found in spine.parked(target="writer")] == [parked.id]
    assert spine.parked(target="nobody") == []
    assert spine.requeue(parked.id, target="other").state == "pending"
    one(spine, "other").ack()
    with pytest.raises(ConflictError) as late:
        spine.requeue(parked.id)
    assert late.value.type == "not-parked"


def test_parked_work_can_be_corrected_resolved_and_discarded(spine: Any) -> None:
    ticket = spine.resend(park(spine).id, "writer", "Write it, shorter.")
    delivery = one(spine, "writer")
    assert (delivery.id, delivery.handoff.intent, delivery.handoff.hop) == (ticket.id, "Build it.", 2)
    delivery.ack()
    assert spine.resolve(park(spine).id, {"approved": True}, by="ada").result == {"approved": True}
    assert spine.discard(park(spine).id, "no longer wanted").state in ("cancelled", "rejected", "discarded")
    assert spine.parked() == []


def test_many_are_reviewed_by_filter(spine: Any) -> None:
    ids = {park(spine, summary=f"Write part {number}.").id for number in range(3)}
    assert set(spine.requeue_many(target="writer", dry_run=True).ids) == ids
    assert len(spine.parked()) == 3
    assert set(spine.discard_many("the project has ended", target="writer").ids) == ids
    assert spine.parked() == []


def test_what_nobody_accepts_is_parked_after_the_retries(spine: Any, handoff_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sending, "RETRY_FIRST_S", 0.01)
    handoff = spine.agent_handoff("nobody", "Write it.")
    with pytest.raises(HandoffError, match="is parked"):
        handoff_client(spine, max_retries=2, timeout=0.3).send_handoff(handoff, "nobody")
    [parked] = spine.parked(target="nobody")
    assert "in 2 tries of 0.3 s" in parked.reasons[-1]


def test_an_open_circuit_is_told_at_once(spine: Any, handoff_client: Any) -> None:
    request = _effects.write("PUT", "/v1/agents/nobody/breaker", {"state": "open"})
    spine.run(_effects.ask(request))
    handoff = spine.agent_handoff("nobody", "Write it.")
    with pytest.raises(CircuitOpenError) as circuit:
        handoff_client(spine).send_handoff(handoff, "nobody")
    assert circuit.value.retry_after is None or circuit.value.retry_after > 0


def test_a_server_that_is_away_is_said_and_nothing_is_parked(
    make: Any, handoff_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_effects, "BACKOFF_FIRST_S", 0.001)
    monkeypatch.setattr(_sending, "RETRY_FIRST_S", 0.001)
    seen: list[httpx.Request] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        raise httpx.ConnectError("refused")

    spine = make("http://spine.test", transport=httpx.MockTransport(refuse))
    with pytest.raises(UnavailableError, match="the envelope is not parked"):
        handoff_client(spine, max_retries=2).send_handoff("env_1", "writer")
    assert len(seen) == 2 * _effects.ATTEMPTS_MAX
    assert len({request.headers["Idempotency-Key"] for request in seen}) == 1
