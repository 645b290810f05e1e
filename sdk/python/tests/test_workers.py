"""Workers: concurrency, failures, and a clean stop on SIGTERM."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from memory_spine import AsyncMemorySpine, LocalServer, MemorySpine

BLOCKING = """
import sys, time
from memory_spine import MemorySpine

spine = MemorySpine(sys.argv[1], workspace=sys.argv[2])

@spine.agent("writer", concurrency=2)
def work(handoff):
    print("began\\n", end="", flush=True)
    time.sleep(2)
    return "finished " + handoff.summary

work.run()
print("stopped", flush=True)
"""

AWAITED = """
import asyncio, sys
from memory_spine import AsyncMemorySpine

async def main():
    async with AsyncMemorySpine(sys.argv[1], workspace=sys.argv[2]) as spine:
        @spine.agent("writer", concurrency=2)
        async def work(handoff):
            print("began", flush=True)
            await asyncio.sleep(2)
            return "finished " + handoff.summary

        await spine.run_agents()
        print("stopped", flush=True)

asyncio.run(main())
"""


def started(program: str, spine: MemorySpine) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    command = [sys.executable, "-c", program, spine.identity.endpoint, spine.identity.workspace]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


@pytest.mark.parametrize("program", [BLOCKING, AWAITED], ids=["sync", "async"])
def test_sigterm_lets_a_worker_finish_what_it_began(memory_spine: MemorySpine, program: str) -> None:
    """Two threads once printed "beganbegan": print writes the end of a line apart from the line."""
    tickets = [memory_spine.send_handoff("writer", f"part {number}") for number in range(3)]
    worker = started(program, memory_spine)
    assert worker.stdout is not None
    assert [worker.stdout.readline() for _ in range(2)] == ["began\n"] * 2
    worker.send_signal(signal.SIGTERM)
    rest, errors = worker.communicate(timeout=30)
    assert (worker.returncode, rest) == (0, "stopped\n"), errors
    states = [ticket.refresh() for ticket in tickets]
    assert sorted(ticket.state for ticket in states) == ["done", "done", "pending"]
    results = {ticket.document["result"] for ticket in states if ticket.state == "done"}
    assert results <= {f"finished part {number}" for number in range(3)}
    waiting = next(ticket for ticket in states if ticket.state == "pending")
    assert waiting.document["attempts_ended"] == 0


def test_a_worker_works_in_parallel_and_survives_failures(memory_spine: MemorySpine) -> None:
    both = threading.Barrier(2, timeout=20)

    @memory_spine.agent("writer", concurrency=2)
    def work(handoff: Any) -> Any:
        if "fail" in handoff.summary:
            raise RuntimeError("no luck")
        both.wait()
        return handoff.summary.upper()

    assert work.name == "writer"
    failing = memory_spine.send_handoff("writer", "fail", policy={"attempts": 1})
    work.start()
    tickets = [memory_spine.send_handoff("writer", text) for text in ("a", "b")]
    assert sorted(ticket.wait("done", timeout=20).result for ticket in tickets) == ["A", "B"]
    work.stop()
    assert failing.refresh().document["attempts"][0]["reason"] == "RuntimeError: no luck"


SEEMS_TO_WORK = {
    "sync": """
import sys
from memory_spine import MemorySpine

spine = MemorySpine(sys.argv[1], workspace=sys.argv[2])
spine.agent("not a name")(lambda handoff: None)
spine.agent("writer")(lambda handoff: None)
spine.run_agents()
""",
    "async": """
import asyncio, sys
from memory_spine import AsyncMemorySpine

async def main():
    async with AsyncMemorySpine(sys.argv[1], workspace=sys.argv[2]) as spine:
        async def work(handoff): ...
        spine.agent("not a name")(work)
        spine.agent("writer")(work)
        await spine.run_agents()

asyncio.run(main())
""",
}


@pytest.mark.parametrize("program", SEEMS_TO_WORK.values(), ids=SEEMS_TO_WORK)
def test_a_worker_that_cannot_take_work_ends_with_the_reason(memory_spine: MemorySpine, program: str) -> None:
    """Its thread or task ended with an error that does not pass, and the process waited for a signal for ever, taking no work."""
    worker = started(program, memory_spine)
    _, errors = worker.communicate(timeout=30)
    assert worker.returncode == 1
    assert "not a name takes no more work" in errors
    assert "SpineError" in errors


def test_an_awaited_worker_does_the_same(memory_spine_server: LocalServer, memory_spine_workspace: str) -> None:
    async def scenario() -> Any:
        async with AsyncMemorySpine(memory_spine_server.endpoint, workspace=memory_spine_workspace) as spine:

            @spine.agent("writer", concurrency=2)
            async def work(handoff: Any) -> Any:
                return handoff.summary.upper()

            await work.start()
            tickets = [await spine.send_handoff("writer", text) for text in ("a", "b")]
            acks = [await ticket.wait("done", timeout=20) for ticket in tickets]
            await work.stop()
            return [ack.result for ack in acks]

    assert asyncio.run(scenario()) == ["A", "B"]
