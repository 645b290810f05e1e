"""Receiving, against a real server: leases, endings, parents."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from blocked import Blocked
from conftest import one, pause, until

from memory_spine import (
    AsyncMemorySpine,
    LeaseLostError,
    MemorySpine,
    ResultInvalidError,
    UnavailableError,
    _effects,
    carry,
    current_delivery,
)

SHORT = {"policy": {"lease_s": 1, "backoff_first_s": 0}}


def test_a_receive_is_finite(spine: Any) -> None:
    assert list(spine.receive("writer", wait=0)) == []
    for number in range(3):
        spine.send_handoff("writer", f"Write part {number}.")
    taken = []
    for delivery in spine.receive("writer", max_messages=2, wait=20):
        with delivery as handoff:
            taken.append(handoff.summary)
    assert taken == ["Write part 0.", "Write part 1."]


def test_with_completes_what_goes_well(spine: Any) -> None:
    ticket = spine.send_handoff("writer", "Write it.")
    delivery = one(spine, "writer")
    with delivery as handoff:
        assert handoff.summary == "Write it."
        assert ticket.refresh().state == "accepted"
        delivery.progress("half way", percent=50, checkpoint={"files": 1})
        delivery.ack({"files": 2})
    assert ticket.wait("done", timeout=5).result == {"files": 2}


def test_with_gives_back_what_goes_wrong(spine: Any) -> None:
    ticket = spine.send_handoff("writer", "Write it.", **SHORT)
    delivery = one(spine, "writer")
    with pytest.raises(ZeroDivisionError), delivery:  # noqa: PT012
        delivery.progress("began", checkpoint={"at": 7})
        1 / 0  # noqa: B018
    again = one(spine, "writer")
    assert (again.attempt, again.checkpoint) == (2, {"at": 7})
    with again:
        pass
    done = ticket.wait("done", timeout=5)
    assert done.document["attempts"][0]["reason"] == "ZeroDivisionError: division by zero"


def test_long_work_is_kept_alive_and_so_is_what_was_not_looked_at(spine: Any) -> None:
    tickets = [spine.send_handoff("writer", f"Write part {number}.", policy={"lease_s": 3}) for number in range(2)]
    for delivery in spine.receive("writer", max_messages=2, wait=20):
        with delivery:
            pause(spine, 4)
        assert delivery.attempt == 1
    assert [ticket.wait("done", timeout=5).attempt for ticket in tickets] == [1, 1]


def test_what_is_not_looked_at_is_given_back(spine: Any) -> None:
    for number in range(2):
        spine.send_handoff("writer", f"Write part {number}.", **SHORT)
    for delivery in spine.receive("writer", max_messages=2, wait=20):
        with delivery:
            pass
        break
    assert one(spine, "writer").attempt == 2


def test_a_lost_lease_is_told(spine: Any, make: Any) -> None:
    spine.send_handoff("writer", "Write it.", **SHORT)
    delivery = one(spine, "writer")
    delivery.lease.over = True  # As a process that was stopped: no heartbeats.
    other = make(spine.identity.endpoint, workspace=spine.identity.workspace)
    again = one(other, "writer")
    assert (again.id, again.attempt) == (delivery.id, 2)
    with pytest.raises(LeaseLostError):
        delivery.ack("late")
    assert delivery.lost
    again.ack("in time")


def test_the_receiver_learns_of_a_cancellation(spine: Any) -> None:
    ticket = spine.send_handoff("writer", "Write it.", **SHORT)
    delivery = one(spine, "writer")
    with delivery:
        ticket.cancel("not wanted any more")
        until(spine, lambda: delivery.cancelled)
    assert ticket.refresh().state == "cancelled"


def test_a_result_that_does_not_fit_can_be_corrected(spine: Any) -> None:
    schema = {"type": "object", "required": ["files"]}
    ticket = spine.send_handoff("writer", "Write it.", expected_output={"schema": schema})
    delivery = one(spine, "writer")
    with delivery:
        with pytest.raises(ResultInvalidError) as invalid:
            delivery.ack({"file": 1})
        assert invalid.value.problem["problems"]
        delivery.ack({"files": 1})
    assert ticket.wait("done", timeout=5).result == {"files": 1}


def test_finished_work_that_comes_again_is_not_done_again(spine: Any) -> None:
    """The acknowledgement got lost: the work must not be handed out again by this process, only acknowledged again."""
    ticket = spine.send_handoff("writer", "Write it.", **SHORT)
    delivery = one(spine, "writer")
    delivery.lease.over = True
    hands = (spine.blocked_target if isinstance(spine, Blocked) else spine).hands
    hands.finish(delivery.id, {"result": "written"})
    assert list(spine.receive("writer", wait=3)) == []
    assert ticket.wait("done", timeout=5).result == "written"


class Interrupted:
    """A transport whose acknowledgements do not get through, until it is mended."""

    def __init__(self, kind: str) -> None:
        self.broken = True
        self.transport: Any = self._awaited() if kind == "async" else self._blocking()

    def refuse(self, request: httpx.Request) -> None:
        if self.broken and request.url.path.endswith("/ack"):
            raise httpx.ConnectError("interrupted")

    def _blocking(self) -> httpx.BaseTransport:
        outer = self

        class Transport(httpx.HTTPTransport):
            def handle_request(self, request: httpx.Request) -> httpx.Response:
                outer.refuse(request)
                return super().handle_request(request)

        return Transport()

    def _awaited(self) -> httpx.AsyncBaseTransport:
        outer = self

        class Transport(httpx.AsyncHTTPTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                outer.refuse(request)
                return await super().handle_async_request(request)

        return Transport()


def test_finished_work_is_not_given_back_when_its_acknowledgement_fails(
    spine: Any, make: Any, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The work was done, the server could not be told, and the end of ``with`` gave the work back with that error: on the last
    attempt it was parked, though it was done. Now it waits to be acknowledged again."""
    monkeypatch.setattr(_effects, "BACKOFF_FIRST_S", 0.001)
    ticket = spine.send_handoff("writer", "Write it.", policy={"lease_s": 1, "backoff_first_s": 0, "attempts": 2})
    line = Interrupted(kind)
    worker = make(spine.identity.endpoint, workspace=spine.identity.workspace, transport=line.transport)
    delivery = one(worker, "writer")
    with pytest.raises(UnavailableError), delivery:
        delivery.ack("written")
    line.broken = False
    assert list(worker.receive("writer", wait=3)) == []
    done = ticket.wait("done", timeout=5)
    assert (done.result, done.attempt) == ("written", 2)
    assert done.document["attempts"][0].get("reason") != "interrupted"


def test_a_client_of_another_workspace_leaves_the_connections_open(spine: Any) -> None:
    other = spine.with_workspace(f"{spine.identity.workspace}-other")
    other.store("Only there.")
    other.close()
    assert spine.store("Only here.").id == "ms-1"


def test_pools_and_executors_carry_the_parent(memory_spine: MemorySpine) -> None:
    memory_spine.send_handoff("writer", "Write it.", intent="Build it.")

    def hand_on(number: int) -> Any:
        return memory_spine.agent_handoff("tester", f"Test part {number}.")

    with one(memory_spine, "writer"), ThreadPoolExecutor(3) as pool:
        made = list(pool.map(carry(hand_on), range(6)))
    assert [(handoff.intent, handoff.hop, handoff.sender) for handoff in made] == [("Build it.", 2, "writer")] * 6


def test_an_awaited_agent_hands_on_from_threads_and_callbacks(
    async_memory_spine: AsyncMemorySpine, memory_spine: MemorySpine
) -> None:
    async def scenario() -> list[Any]:
        async with async_memory_spine as spine:
            await spine.send_handoff("writer", "Write it.", intent="Build it.")
            async for delivery in spine.receive("writer", wait=20):
                async with delivery:
                    loop = asyncio.get_running_loop()
                    in_thread = await asyncio.to_thread(memory_spine.agent_handoff, "tester", "Test it in a thread.")
                    in_pool = await loop.run_in_executor(None, carry(memory_spine.agent_handoff), "tester", "Test it in a pool.")
                    called: asyncio.Future[Any] = loop.create_future()
                    loop.call_soon(lambda done=called: done.set_result(current_delivery()))
                    assert await called is delivery
                    return [in_thread, in_pool]
        raise AssertionError("nothing came")

    handoffs = asyncio.run(scenario())
    assert [(handoff.intent, handoff.hop) for handoff in handoffs] == [("Build it.", 2)] * 2


def test_completing_and_handing_on_is_one_step(spine: Any) -> None:
    spine.send_handoff("writer", "Write it.", intent="Build it.", constraints={"language": "python"})
    one(spine, "writer").ack("written", action="wrote it", next={"target_agent": "tester", "task_summary": "Test it."})
    handoff = one(spine, "tester").handoff
    assert (handoff.intent, handoff.hop, handoff.constraints) == ("Build it.", 2, {"language": "python"})


def test_what_is_handed_on_inside_a_delivery_follows_from_it(spine: Any) -> None:
    spine.send_handoff("writer", "Write it.", intent="Build it.", constraints={"language": "python"})
    delivery = one(spine, "writer")
    with delivery as handoff:
        inside = spine.agent_handoff("tester", "Test it.")
        apart = spine.agent_handoff("tester", "Something else.", new_task=True)
    outside = spine.agent_handoff("tester", "Test it alone.")
    assert (inside.intent, inside.hop, inside.constraints, inside.sender) == ("Build it.", 2, {"language": "python"}, "writer")
    assert inside.envelope["parents"][0]["id"] == handoff.id
    assert (apart.hop, apart.constraints) == (1, {})
    assert (outside.hop, outside.sender) == (1, "anonymous")


def test_threads_carry_the_parent(memory_spine: MemorySpine) -> None:
    memory_spine.send_handoff("writer", "Write it.", intent="Build it.")
    made: list[Any] = []
    with one(memory_spine, "writer"):
        hand_on = carry(lambda: made.append(memory_spine.agent_handoff("tester", "Test it.")))
        thread = threading.Thread(target=hand_on)
        thread.start()
        thread.join()
    assert (made[0].intent, made[0].hop) == ("Build it.", 2)


def test_tasks_carry_the_parent(async_memory_spine: AsyncMemorySpine) -> None:
    async def scenario() -> list[Any]:
        async with async_memory_spine as spine:
            for name in ("writer", "painter"):
                await spine.send_handoff(name, "Do it.", intent=f"For the {name}.")
            return await asyncio.gather(*(work(spine, name) for name in ("writer", "painter")))

    async def work(spine: AsyncMemorySpine, name: str) -> Any:
        async for delivery in spine.receive(name, wait=20):
            async with delivery:
                assert current_delivery() is delivery
                await asyncio.sleep(0.05)
                return await asyncio.create_task(hand_on(spine))

    async def hand_on(spine: AsyncMemorySpine) -> Any:
        return await spine.agent_handoff("tester", "Test it.")

    handoffs = asyncio.run(scenario())
    assert [(handoff.intent, handoff.hop, handoff.sender) for handoff in handoffs] == [
        ("For the writer.", 2, "writer"),
        ("For the painter.", 2, "painter"),
    ]


def test_version_1_is_flat_and_what_comes_back_is_attached(spine: Any) -> None:
    spine.send_handoff("legacy", "Write it.", intent="Build it.", constraints={"language": "python"})
    delivery = one(spine, "legacy", accept_versions=("1",))
    with delivery as handoff:
        assert (handoff.envelope_version, handoff.envelope["version"]) == ("1", 1)
        assert handoff.summary.startswith("Build it.")
        assert handoff.constraints == {"language": "python"}
        onward = spine.agent_handoff("tester", "Test it.")
    assert (onward.intent, onward.constraints, onward.hop) == ("Build it.", {"language": "python"}, 2)


def test_overdue_work_is_flagged_and_delivered(spine: Any) -> None:
    spine.send_handoff("writer", "Write it.", constraints={"deadline": "2026-01-30T00:00:00Z"})
    delivery = one(spine, "writer")
    assert delivery.overdue
    assert delivery.handoff.overdue
    delivery.ack()
