"""The public names: those of the contract, the same in both clients, each with an example."""

from __future__ import annotations

import inspect

import pytest

import memory_spine
from memory_spine import errors, models, testing

PAIRS = [
    (memory_spine.MemorySpine, memory_spine.AsyncMemorySpine),
    (memory_spine.Handoff, memory_spine.AsyncHandoff),
    (memory_spine.Ticket, memory_spine.AsyncTicket),
    (memory_spine.Delivery, memory_spine.AsyncDelivery),
    (memory_spine.Channel, memory_spine.AsyncChannel),
    (memory_spine.Publication, memory_spine.AsyncPublication),
    (memory_spine.HandoffClient, memory_spine.AsyncHandoffClient),
    (memory_spine.Worker, memory_spine.AsyncWorker),
    (testing.Clock, testing.AsyncClock),
]

CONTRACT = {
    "MemorySpine": "with_workspace store store_many get get_many update delete pin unpin search recent agent_handoff send_handoff "
    "deliver_handoff get_channel receive listen agent park_envelope parked requeue resend resolve discard erase lineage verify "
    "health alerts local",
    "Handoff": "id envelope_version token_count memory_refs hop completeness gaps trimmed render fetch recover next "
    "join send messages",
    "Ticket": "id state wait cancel",
    "Ack": "state result agent",
    "Channel": "subscribe publish",
    "Publication": "status wait results",
    "Delivery": "accept ack nack reject extend progress attempt overdue cancelled checkpoint",
    "HandoffClient": "send_handoff",
}


def names(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize(("kind", "wanted"), CONTRACT.items())
def test_the_names_of_the_contract_are_there(kind: str, wanted: str) -> None:
    assert set(wanted.split()) <= names(getattr(memory_spine, kind))


@pytest.mark.parametrize(("blocking", "awaited"), PAIRS, ids=lambda kind: kind.__name__)
def test_both_clients_have_the_same_surface(blocking: type, awaited: type) -> None:
    assert names(blocking) == names(awaited)
    for name in names(blocking):
        one, other = getattr(blocking, name), getattr(awaited, name)
        if inspect.isfunction(one) and name not in ("agent", "run"):
            parameters = [str(parameter).replace("Async", "") for parameter in inspect.signature(other).parameters.values()]
            assert [str(parameter) for parameter in inspect.signature(one).parameters.values()] == parameters, name


def test_every_public_name_has_an_example() -> None:
    lacking = []
    for name in memory_spine.__all__:
        value = getattr(memory_spine, name)
        if inspect.isfunction(value) or inspect.isclass(value):
            lacking += [name] if "xample" not in (value.__doc__ or "") else []
    for blocking, awaited in PAIRS:
        for kind in (blocking, awaited):
            functions = [getattr(kind, name) for name in vars(kind) if not name.startswith("_") and name != "run"]
            lacking += [f.__qualname__ for f in functions if inspect.isfunction(f) and "xample" not in (f.__doc__ or "")]
    assert lacking == []


def test_modules_say_what_they_export() -> None:
    for module in (errors, models, testing):
        assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize(
    ("name", "defaults"),
    [
        ("store", {"kind": "note", "tags": (), "priority": "normal", "pinned": False}),
        ("search", {"limit": 10, "explain": False}),
        ("agent_handoff", {"include_recent": 20, "include_pins": True, "strategy": "priority", "new_task": False}),
        ("deliver_handoff", {"target": None, "timeout": 15, "wait_for": "accepted", "fallbacks": ()}),
        ("receive", {"max_messages": 1, "wait": 30, "accept_versions": ("2",)}),
    ],
)
def test_defaults_are_those_of_the_contract(name: str, defaults: dict[str, object]) -> None:
    parameters = inspect.signature(getattr(memory_spine.MemorySpine, name)).parameters
    assert {key: parameters[key].default for key in defaults} == defaults


def test_every_write_takes_an_idempotency_key() -> None:
    writes = (
        "store store_many update delete pin unpin agent_handoff send_handoff deliver_handoff park_envelope requeue resend resolve "
        "discard erase requeue_many discard_many register_agent set_pipeline"
    )
    parts = {
        memory_spine.MemorySpine: writes,
        memory_spine.Handoff: "next join send",
        memory_spine.Ticket: "cancel",
        memory_spine.Delivery: "accept ack nack reject extend progress",
        memory_spine.Channel: "subscribe unsubscribe publish",
    }
    for kind, names_of_writes in parts.items():
        for name in names_of_writes.split():
            assert "idempotency_key" in inspect.signature(getattr(kind, name)).parameters, name
