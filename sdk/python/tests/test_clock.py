"""Time that the test lets pass, with both clients; nobody here waits for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from blocked import Blocked, Loop

from memory_spine import (
    AsyncMemorySpine,
    CircuitOpenError,
    LocalServer,
    MemorySpine,
    NotFoundError,
    SpineError,
)
from memory_spine._values import moment
from memory_spine.testing import AsyncClock, Clock

HOUR = timedelta(hours=1)


@pytest.fixture
def other(make: Callable[..., Any], memory_spine_endpoint: str, memory_spine_workspace: str) -> Any:
    """Another process, as it were: it knows nothing of what the first one holds."""
    return make(memory_spine_endpoint, workspace=memory_spine_workspace)


def at_once(spine: Any, agent: str, **options: Any) -> list[Any]:
    return list(spine.receive(agent, wait=0, **options))


def test_the_clock_says_what_passed(clock: Any) -> None:
    before = clock.now()
    assert abs(before - datetime.now(timezone.utc)) < timedelta(minutes=1)
    after = clock.advance(HOUR)
    assert HOUR <= after - before < HOUR + timedelta(minutes=1)
    assert clock.advance(0.5) <= clock.now()


def test_a_lease_of_an_hour_runs_out(spine: Any, other: Any, clock: Any) -> None:
    ticket = spine.send_handoff("coder", "Write it.")
    [taken] = at_once(other, "coder", lease=3600)
    taken.accept()
    clock.advance(HOUR - timedelta(minutes=1))
    assert at_once(spine, "coder") == []
    clock.advance(timedelta(minutes=2))
    [again] = at_once(spine, "coder")
    assert (again.id, again.attempt) == (ticket.id, 2)
    with pytest.raises(SpineError) as late:
        taken.ack("too late")
    assert late.value.type == "lease-lost"
    again.ack("written")


def test_what_falls_due_on_the_way_happens_at_its_moment(spine: Any, other: Any, clock: Any) -> None:
    """One move over a day: the lease ends after a minute, and not at the end of the day."""
    ticket = spine.send_handoff("coder", "Write it.")
    begun = clock.now()
    at_once(other, "coder", lease=60)
    clock.advance(timedelta(days=1))
    [delivery] = spine.lineage(ticket.handoff_id).deliveries
    ended = moment(delivery["attempts"][0]["at"])
    assert ended is not None
    assert timedelta(seconds=60) <= ended - begun < timedelta(seconds=75)


def breaker(spine: Any, name: str) -> str:
    return str(next(agent["breaker"]["state"] for agent in spine.agents() if agent["name"] == name))


def test_a_breaker_opens_and_lets_a_probe_through(spine: Any, other: Any, clock: Any) -> None:
    spine.register_agent("asleep", policy={"attempts": 1})
    for _ in range(3):
        spine.send_handoff("asleep", "Wake up.")
        [_taken] = at_once(other, "asleep", lease=600)
        clock.advance(605)
    assert breaker(spine, "asleep") == "open"
    with pytest.raises(CircuitOpenError):
        spine.deliver_handoff(spine.agent_handoff("asleep", "Wake up."), timeout=5)
    waiting = spine.send_handoff("asleep", "When you can.")
    assert at_once(spine, "asleep") == []
    clock.advance(timedelta(minutes=2))
    [probe] = at_once(spine, "asleep")
    assert (probe.id, breaker(spine, "asleep")) == (waiting.id, "half_open")
    probe.accept()
    assert breaker(spine, "asleep") == "closed"
    clock.advance(1)
    assert "breaker_open" not in [alert["kind"] for alert in spine.alerts()]


def test_a_memory_expires(spine: Any, clock: Any) -> None:
    memory = spine.store("The code of today is 4711.", ttl=HOUR)
    assert spine.get(memory.id).content == "The code of today is 4711."
    clock.advance(HOUR)
    with pytest.raises(NotFoundError):
        spine.get(memory.id)
    assert list(spine.search("code of today")) == []


def test_a_join_is_made_when_its_time_is_up(spine: Any, clock: Any) -> None:
    handoff = spine.agent_handoff("broadcast", "Do your part.", intent="Build it.")
    join = {"target_agent": "reviewer", "task_summary": "Review what there is.", "timeout": HOUR}
    spine.get_channel("work").publish(handoff, receivers=["writer", "tester"], join=join)
    [part] = at_once(spine, "writer")
    part.ack("written")
    assert at_once(spine, "reviewer") == []
    clock.advance(HOUR)
    [review] = at_once(spine, "reviewer")
    assert review.handoff.intent == "Build it."


def test_work_is_parked_after_its_deadline(spine: Any, clock: Any) -> None:
    late = spine.send_handoff("nobody", "Write it.", expires_at=clock.now() + HOUR)
    clock.advance(HOUR - timedelta(minutes=1))
    assert spine.parked() == []
    clock.advance(timedelta(minutes=2))
    [parked] = spine.parked()
    assert (parked.id, parked.causes) == (late.id, ("expired",))


def test_the_clock_does_not_go_back(clock: Any) -> None:
    for seconds in (-1, 1e10):
        with pytest.raises(SpineError) as refused:
            clock.advance(seconds)
        assert refused.value.type == "invalid-body"


def test_another_server_has_no_clock_to_move(make: Callable[..., Any], kind: str, memory_spine_server: LocalServer) -> None:
    spine = make(memory_spine_server.endpoint)
    clock = Blocked(AsyncClock(spine.blocked_target), spine.blocked_loop) if kind == "async" else Clock(spine)
    with pytest.raises(SpineError) as refused:
        clock.advance(1)
    assert refused.value.type == "route-unknown"


def test_the_fixture_moves_the_time_of_its_client(memory_spine: MemorySpine, memory_spine_clock: Clock) -> None:
    memory = memory_spine.store("Soon gone.", ttl=60)
    memory_spine_clock.advance(60)
    with pytest.raises(NotFoundError):
        memory_spine.get(memory.id)


def test_the_awaited_fixture_does_the_same(async_memory_spine: AsyncMemorySpine, async_memory_spine_clock: AsyncClock) -> None:
    async def story() -> None:
        async with async_memory_spine as spine:
            memory = await spine.store("Soon gone.", ttl=60)
            await async_memory_spine_clock.advance(60)
            with pytest.raises(NotFoundError):
                await spine.get(memory.id)

    loop = Loop()
    loop.run(story())
    loop.close()
