"""Channels, publications and joins, against a real server."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import one

from memory_spine import HandoffError

RECEIVERS = ["code-generator", "test-writer"]


def test_a_publication_goes_to_each_receiver(spine: Any) -> None:
    handoff = spine.agent_handoff("broadcast", "Read the findings.")
    publication = spine.get_channel("news").publish(handoff, receivers=RECEIVERS)
    assert publication.status == dict.fromkeys(RECEIVERS, "pending")
    for name in RECEIVERS:
        one(spine, name).ack(f"read by {name}")
    settled = publication.wait(5)
    assert (settled.settled, settled.status) == (True, dict.fromkeys(RECEIVERS, "done"))
    assert publication.results() == {name: f"read by {name}" for name in RECEIVERS}


def test_subscribers_get_what_names_nobody(spine: Any) -> None:
    channel = spine.get_channel("news")
    with pytest.raises(HandoffError) as nobody:
        channel.publish(spine.agent_handoff("broadcast", "Anybody?"))
    assert nobody.value.type == "no-receivers"
    channel.subscribe("doc-writer")
    channel.subscribe("other")
    channel.unsubscribe("other")
    assert channel.subscribers() == ["doc-writer"]
    assert list(channel.publish(spine.agent_handoff("broadcast", "Read.")).status) == ["doc-writer"]


def test_a_join_follows_from_all(spine: Any) -> None:
    handoff = spine.agent_handoff("broadcast", "Do your part.", intent="Build it.")
    join = {"target_agent": "reviewer", "task_summary": "Review all.", "timeout": 60}
    publication = spine.get_channel("work").publish(handoff, receivers=RECEIVERS, join=join)
    for name in RECEIVERS:
        one(spine, name).ack(name)
    review = one(spine, "reviewer")
    assert review.handoff.intent == "Build it."
    assert publication.refresh().joined is not None
    review.ack()


def test_only_at_least_once_is_offered(spine: Any) -> None:
    handoff = spine.agent_handoff("broadcast", "Read.")
    with pytest.raises(ValueError, match="exactly-once"):
        spine.get_channel("news").publish(handoff, receivers=RECEIVERS, delivery="exactly-once")


def test_a_pipeline_names_the_successor(spine: Any) -> None:
    spine.set_pipeline("release", [{"agent": "writer", "next": [{"to": "tester"}]}, {"agent": "tester"}])
    spine.send_handoff("writer", "Write it.", intent="Build it.", pipeline="release")
    one(spine, "writer").ack("written")
    assert one(spine, "tester").handoff.intent == "Build it."
