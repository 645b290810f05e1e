"""What the SDK costs over raw httpx, as a ratio in one run: the same requests, by the SDK and by hand, in turns.

Two figures: how long a caller waits, which is mostly the server's time, and what of it the caller's own thread computes, which says
the same however fast or busy the server is.

MEMORY_SPINE_BINARY=target/release/memory-spine python bench/overhead.py [rounds]
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import httpx

from memory_spine import MemorySpine

Took = tuple[float, float]
"""Elapsed and computed, in seconds."""
OPERATIONS = ("store", "agent_handoff", "receive", "ack")
HEADERS = {"Memory-Spine-Workspace": "default", "Memory-Spine-Agent": "bench", "Content-Type": "application/json"}


class Raw:
    """The same requests by hand."""

    def __init__(self, endpoint: str) -> None:
        self.http = httpx.Client(base_url=endpoint, headers=HEADERS)
        self.count = 0

    def post(self, path: str, body: Any) -> Any:
        """Posts JSON, reads JSON."""
        self.count += 1
        content = json.dumps(body, ensure_ascii=False).encode()
        response = self.http.post(path, content=content, headers={"Idempotency-Key": f"raw-{self.count}"})
        response.raise_for_status()
        return response.json()


def timed(work: Callable[[], Any]) -> tuple[Took, Any]:
    """How long it took, and what came of it."""
    started, computing = time.perf_counter(), time.thread_time()
    result = work()
    return (time.perf_counter() - started, time.thread_time() - computing), result


def measure(rounds: int) -> dict[str, tuple[list[Took], list[Took]]]:
    """Times of each operation, by the SDK and by hand."""
    times: dict[str, tuple[list[Took], list[Took]]] = {name: ([], []) for name in OPERATIONS}
    with MemorySpine.local(agent="bench") as spine:
        raw = Raw(spine.identity.endpoint)
        for number in range(rounds):
            by_sdk(spine, number, {name: pair[0] for name, pair in times.items()})
            by_hand(raw, number, {name: pair[1] for name, pair in times.items()})
    return times


def by_sdk(spine: MemorySpine, number: int, times: dict[str, list[Took]]) -> None:
    """One handoff, whole."""
    took, memory = timed(lambda: spine.store(f"A finding of the SDK, number {number}."))
    times["store"].append(took)
    took, handoff = timed(lambda: spine.agent_handoff("sdk", f"Go on with {memory.id}.", include_recent=0))
    times["agent_handoff"].append(took)
    handoff.send()
    took, delivery = timed(lambda: next(spine.receive("sdk", wait=5)))
    times["receive"].append(took)
    times["ack"].append(timed(lambda: delivery.ack("done"))[0])


def by_hand(raw: Raw, number: int, times: dict[str, list[Took]]) -> None:
    """The same, without the SDK."""
    took, memory = timed(lambda: raw.post("/v1/memories", {"content": f"A finding by hand, number {number}."}))
    times["store"].append(took)
    body = {"target_agent": "raw", "task_summary": f"Go on with {memory['id']}.", "include_recent": 0}
    took, handoff = timed(lambda: raw.post("/v1/envelopes", body))
    times["agent_handoff"].append(took)
    raw.post("/v1/deliveries", {"envelope_id": handoff["id"]})
    took, received = timed(lambda: raw.post("/v1/agents/raw/receive", {"max": 1, "wait_s": 5}))
    times["receive"].append(took)
    [entry] = received["deliveries"]
    path, body = f"/v1/deliveries/{entry['delivery']['id']}/ack", {"lease": entry["lease"], "result": "done"}
    times["ack"].append(timed(lambda: raw.post(path, body))[0])


def main() -> None:
    """Prints the medians and their ratio."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    measured = measure(rounds)
    for figure, title in enumerate(("elapsed", "computed by the caller")):
        print(f"{title}: medians of {rounds} rounds, in ms")
        for name, (sdk, raw) in measured.items():
            ours, theirs = (statistics.median(took[figure] for took in side) * 1e3 for side in (sdk, raw))
            print(f"{name:14} SDK {ours:7.2f}   httpx {theirs:7.2f}   ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
