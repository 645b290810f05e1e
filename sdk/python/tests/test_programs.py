"""The three programs of the contract, word for word but for the port, against a real server."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import one

from memory_spine import (
    CircuitOpenError,
    HandoffClient,
    HandoffError,
    HandoffTimeoutError,
    LocalServer,
    MemorySpine,
    UnavailableError,
    _effects,
    _sending,
)

ENDPOINT = "http://127.0.0.1:8788"

DIRECT = """
from memory_spine import MemorySpine
spine = MemorySpine(endpoint="http://127.0.0.1:8788")
handoff = spine.agent_handoff(
    target_agent="code-generator",
    include_recent=20,
    include_pins=True,
    task_summary="Implement the retry logic for the payment gateway "
                 "based on the analysis in memories ms-4821 through ms-4825. "
                 "Use exponential backoff with jitter. Max 3 retries.",
    constraints={"language": "python", "max_tokens": 4000, "security": "no plaintext credentials",
                 "style": "follow existing patterns in src/payments/"},
    execution_history=[
        {"agent": "researcher", "action": "gathered API docs", "memory_id": "ms-4821"},
        {"agent": "analyst", "action": "identified failure modes", "memory_id": "ms-4824"},
        {"agent": "analyst", "action": "recommended retry strategy", "memory_id": "ms-4825"},
    ],
)
print(handoff.envelope_version)   # "2"
print(handoff.token_count)        # at most 4000
print(handoff.memory_refs)        # ["ms-4821", "ms-4822", ... "ms-4825", …]
"""

BROADCAST = """
handoff_envelope = spine.agent_handoff(target_agent="broadcast", include_recent=15,
    task_summary="Research complete on OAuth 2.1 migration. Findings stored in ms-7100 through ms-7108.",
    constraints={"deadline": "2026-01-30T00:00:00Z"})   # long past: flagged as overdue, still delivered
channel = spine.get_channel("oauth-migration")
channel.publish(envelope=handoff_envelope, receivers=["code-generator", "test-writer", "doc-writer"], delivery="at-least-once")
"""

CLIENT = """
client = HandoffClient(spine, max_retries=3, timeout=15)
ack = client.send_handoff(envelope, "code-generator")
"""
MEMORIES = 7_108


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    """At a free port, which the programs are told in place of the one they name; with the memories they name."""
    server = LocalServer.start()
    with MemorySpine(server.endpoint) as spine:
        for start in range(1, MEMORIES + 1, 500):
            numbers = range(start, min(start + 500, MEMORIES + 1))
            spine.store_many([{"content": f"Finding {number}.", "title": f"Finding {number}"} for number in numbers])
    yield server
    server.stop()


def program(text: str, server: LocalServer) -> str:
    return text.replace(ENDPOINT, server.endpoint)


def test_direct(server: LocalServer) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    ran = subprocess.run([sys.executable, "-c", program(DIRECT, server)], capture_output=True, text=True, env=environment)
    assert ran.returncode == 0, ran.stderr
    version, tokens, refs = ran.stdout.splitlines()
    assert version == "2"
    assert 0 < int(tokens) <= 4000
    assert {f"ms-{number}" for number in range(4821, 4826)} <= set(eval(refs))


def test_broadcast(server: LocalServer) -> None:
    with MemorySpine(server.endpoint) as spine:
        exec(BROADCAST, {"spine": spine})
        for name in ("code-generator", "test-writer", "doc-writer"):
            delivery = one(spine, name)
            assert delivery.overdue
            assert {f"ms-{number}" for number in range(7100, 7109)} <= set(delivery.handoff.memory_refs)
            delivery.ack()


def test_client(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with MemorySpine(server.endpoint) as spine:
        names = {"spine": spine, "HandoffClient": HandoffClient, "envelope": spine.agent_handoff("code-generator", "Write it.")}
        receiver = threading.Thread(target=lambda: one(MemorySpine(server.endpoint), "code-generator").ack("written"))
        receiver.start()
        exec(CLIENT, names)
        receiver.join()
        assert names["ack"].state in ("accepted", "done")  # type: ignore[attr-defined]
        with pytest.raises(TimeoutError) as late:
            spine.deliver_handoff(envelope=spine.agent_handoff("nobody", "Write it."), target="nobody", timeout=0.2)
        assert isinstance(late.value, HandoffTimeoutError)


def test_client_when_the_circuit_opens(server: LocalServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three handoffs in a row that nobody takes open the circuit; the next one is refused at once, with the time to try again."""
    monkeypatch.setattr(_sending, "RETRY_FIRST_S", 0.01)
    with MemorySpine(server.endpoint, workspace="circuits") as spine:
        policy = {"attempts": 1, "take_s": 0.1}
        spine.register_agent("asleep", policy=policy)
        client = HandoffClient(spine, max_retries=2, timeout=0.5)
        for _ in range(3):
            with pytest.raises(HandoffError, match="parked"):
                client.send_handoff(spine.agent_handoff("asleep", "Wake up."), "asleep")
        with pytest.raises(CircuitOpenError) as circuit:
            client.send_handoff(spine.agent_handoff("asleep", "Wake up."), "asleep")
        assert circuit.value.retry_after is not None
        assert len(spine.parked(target="asleep")) == 3


def test_client_without_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_effects, "BACKOFF_FIRST_S", 0.001)
    monkeypatch.setattr(_sending, "RETRY_FIRST_S", 0.001)
    with (
        MemorySpine("http://127.0.0.1:9") as spine,
        pytest.raises(UnavailableError, match="the envelope is not parked"),
    ):
        HandoffClient(spine, max_retries=3, timeout=15).send_handoff("env_1", "code-generator")
