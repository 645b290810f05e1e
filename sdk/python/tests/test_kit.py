"""The kit that users test their own chains with."""

from __future__ import annotations

from typing import Any

import pytest

from memory_spine import MemorySpine
from memory_spine.testing import ChainBroken, chain, delay, drop_receiver, vanish


def write(handoff: Any) -> str:
    return "Test what was written."


def test_a_chain_keeps_what_it_began_with(memory_spine: MemorySpine) -> None:
    memory_spine.store("The gateway takes at most 100 requests a second.")
    pipeline = chain(memory_spine).agent("writer", write).then("tester", write).then("reviewer", lambda handoff: {"ok": True})
    pipeline.needs("at most 100 requests a second")
    steps = pipeline.run("Write the client, see ms-1.", constraints={"language": "python", "max_tokens": 3000})
    assert [step.agent for step in steps] == ["writer", "tester", "reviewer"]
    assert steps[-1].result == {"ok": True}
    assert steps[-1].handoff.hop == 3


def test_a_script_may_hand_on_by_itself(memory_spine: MemorySpine) -> None:
    def hand_on(handoff: Any) -> str:
        history = [{"agent": "writer", "action": "wrote it"}]
        handoff.next("tester", "Test it my way.", execution_history=history).send()
        return "written"

    steps = chain(memory_spine).agent("writer", hand_on).then("tester", write).run("Write the client.")
    assert steps[1].handoff.summary == "Test it my way."


def test_a_chain_that_starts_a_new_task_is_found_out(memory_spine: MemorySpine) -> None:
    def forgets(handoff: Any) -> str:
        memory_spine.send_handoff("tester", "Test something.", new_task=True)
        return "written"

    broken = chain(memory_spine).agent("writer", forgets).then("tester", write)
    with pytest.raises(ChainBroken) as found:
        broken.run("Write the client.")
    assert "the intent did not reach tester" in str(found.value)
    assert "-Write the client." in str(found.value)
    assert "+Test something." in str(found.value)


def test_a_fact_that_got_lost_is_named(memory_spine: MemorySpine) -> None:
    with pytest.raises(ChainBroken, match="was not given"):
        chain(memory_spine).agent("writer", write).needs("42 is the answer").run("Write the client.")


def test_faults_can_be_made(memory_spine: MemorySpine) -> None:
    memory_spine.store("It will vanish.")
    dropped, late = drop_receiver(), delay(0.1)

    def both(spine: MemorySpine, agent: str) -> None:
        dropped(spine, agent)
        vanish("ms-1")(spine, agent)

    def look_again(handoff: Any) -> str:
        recovery = handoff.recover()
        assert [gap.ref for gap in recovery.gaps] == ["ms-1"]
        return "Go on without."

    pipeline = chain(memory_spine).agent("writer", look_again, fault=both).then("tester", write, fault=late)
    steps = pipeline.run("Write the client, see ms-1.", strategy="lazy", include_recent=0)
    assert [step.attempt for step in steps] == [2, 1]
