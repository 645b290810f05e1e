"""Health, alerts and erasure, against a real server."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import one, until

from memory_spine import NotFoundError, SpineError


def fail(spine: Any, target: str) -> str:
    ticket = spine.send_handoff(target, "Write it.", policy={"attempts": 1})
    one(spine, target).nack("no luck")
    return str(ticket.id)


def test_health_is_told_in_figures(spine: Any) -> None:
    assert spine.health()["verdict"] == "healthy"
    ticket = spine.send_handoff("writer", "Write it, see ms-404.")
    one(spine, "writer").ack("written")
    ticket.wait("done", timeout=5)
    figures = spine.health("writer")
    assert (figures["workspace"], figures["target"]) == (spine.identity.workspace, "writer")
    assert figures["windows"]["5m"]["completeness"]["value"] == 0.0
    assert figures["windows"]["5m"]["failure_rate"]["failed"] == 0
    assert [target["agent"] for target in figures["targets"]] == ["writer"]


def test_a_failed_handoff_is_an_alert(spine: Any) -> None:
    assert spine.alerts() == ()
    failed = fail(spine, "writer")
    [alert] = until(spine, spine.alerts)
    assert (alert["kind"], alert["severity"], alert["state"]) == ("handoff_failed", "info", "open")
    assert alert["deliveries"] == [failed]
    assert spine.alerts("resolved") == ()
    assert [found["id"] for found in spine.alerts("all")] == [alert["id"]]


def test_a_subject_is_erased_everywhere_and_lineages_verify(spine: Any) -> None:
    spine.store("Ada lives in London.", subject="user:1")
    spine.store("Bob lives in Paris.", subject="user:2")
    handoff = spine.agent_handoff("writer", "Write to them.", subject="user:1", memory_refs=["ms-1"])
    assert "London" in handoff.render()
    would = spine.erase(subject="user:1", dry_run=True)
    assert (would.dry_run, would.memories) == (True, 1)
    assert spine.get("ms-1").content == "Ada lives in London."
    erased = spine.erase(subject="user:1", reason="asked to be forgotten")
    assert (erased.dry_run, erased.memories, erased.document["reason"]) == (False, 1, "asked to be forgotten")
    assert erased.envelopes + erased.lineages > 0
    with pytest.raises(NotFoundError):
        spine.get("ms-1")
    assert spine.verify(handoff).intact
    assert spine.get("ms-2").content == "Bob lives in Paris."


def test_a_memory_is_erased_without_a_reason_given(spine: Any) -> None:
    spine.store("It was a secret.")
    assert spine.erase(memory="ms-1").document["reason"] == "no reason given"
    assert spine.search("secret") == []
    with pytest.raises(SpineError):
        spine.erase()
