"""What is asked again, what is not, and that it is the same request then."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from memory_spine import CircuitOpenError, RateLimitError, SpineError, UnavailableError, _effects

MEMORY = {
    "id": "ms-1", "version": 1, "content": "x", "kind": "note", "tags": [], "priority": "normal", "pinned": False, "metadata": {},
}  # fmt: skip


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_effects, "BACKOFF_FIRST_S", 0.001)


def problem(status: int, name: str, **headers: str) -> Any:
    """A response can be read once: each attempt gets its own."""
    return lambda: httpx.Response(
        status, json={"type": f"/errors/{name}", "detail": f"about {name}", "status": status}, headers=headers
    )


def script(answers: Iterator[Any], seen: list[httpx.Request]) -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        outcome = next(answers)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome()

    return httpx.MockTransport(answer)


def attempts(make: Callable[..., Any], *answers: Any) -> tuple[list[httpx.Request], Any]:
    """Stores a memory against these answers: the requests that were made, and what came of it."""
    seen: list[httpx.Request] = []
    spine = make("http://spine.test", transport=script(iter(answers), seen))
    try:
        return seen, spine.store("x")
    except SpineError as error:
        return seen, error


def stored() -> httpx.Response:
    return httpx.Response(201, json=MEMORY)


@pytest.mark.parametrize(
    "passing",
    [
        httpx.ConnectError("refused"),
        httpx.ConnectTimeout("slow"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("closed"),
        problem(429, "overloaded", **{"Retry-After": "0"}),
        problem(502, "bad-gateway"),
        problem(503, "unavailable", **{"Retry-After": "0"}),
        problem(503, "outcome-unknown"),
        lambda: httpx.Response(504, text="gateway timeout"),
    ],
)
def test_what_passes_is_asked_again_with_the_same_key(make: Any, passing: Any) -> None:
    seen, memory = attempts(make, passing, passing, stored)
    assert memory.id == "ms-1"
    assert len(seen) == 3
    assert len({request.headers["Idempotency-Key"] for request in seen}) == 1
    assert len({request.content for request in seen}) == 1


@pytest.mark.parametrize(
    ("final", "error"),
    [
        (httpx.ReadTimeout("slow"), UnavailableError),
        (problem(503, "circuit-open", **{"Retry-After": "1"}), CircuitOpenError),
        (problem(429, "rate-limited", **{"Retry-After": "3600"}), RateLimitError),
        (problem(429, "quota-exceeded"), RateLimitError),
        (problem(422, "invalid-body"), SpineError),
        (lambda: httpx.Response(500, text="oops"), SpineError),
    ],
)
def test_what_does_not_pass_is_told_at_once(make: Any, final: Any, error: type[SpineError]) -> None:
    seen, raised = attempts(make, final)
    assert (len(seen), type(raised)) == (1, error)


def test_patience_ends(make: Any) -> None:
    seen, raised = attempts(make, *[httpx.ConnectError("refused")] * 9)
    assert len(seen) == _effects.ATTEMPTS_MAX
    assert isinstance(raised, UnavailableError)
    assert "http://spine.test" in raised.detail
    assert "check that the server runs" in raised.detail


def test_keys_differ_between_calls_and_can_be_given(make: Any) -> None:
    seen: list[httpx.Request] = []
    spine = make("http://spine.test", transport=script(iter([stored] * 3), seen))
    spine.store("x")
    spine.store("x")
    spine.store("x", idempotency_key="mine")
    keys = [request.headers["Idempotency-Key"] for request in seen]
    assert len(set(keys)) == 3
    assert keys[2] == "mine"


def test_headers_say_who_asks(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[httpx.Request] = []
    monkeypatch.setenv("MEMORY_SPINE_WORKSPACE", "acme")
    for given in ({}, {"agent": "ada"}, {"api_key": "msk_1"}, {"api_key": "msk_1", "agent": "ada", "workspace": "other"}):
        make("http://spine.test", transport=script(iter([stored]), seen), **given).store("x")
    said = [tuple(request.headers.get(name) for name in HEADERS) for request in seen]
    assert said == [
        ("acme", "anonymous", None),
        ("acme", "ada", None),
        ("acme", None, "Bearer msk_1"),
        ("other", "ada", "Bearer msk_1"),
    ]


def test_a_key_is_not_shown(make: Any) -> None:
    assert "msk_1" not in repr(make("http://spine.test", api_key="msk_1"))


HEADERS = ("Memory-Spine-Workspace", "Memory-Spine-Agent", "Authorization")


def test_a_long_poll_is_given_its_time(make: Any) -> None:
    seen: list[httpx.Request] = []
    spine = make(
        "http://spine.test", timeout=7, transport=script(iter([lambda: httpx.Response(200, json={"deliveries": []})]), seen)
    )
    assert list(spine.receive("writer", wait=0)) == []
    assert seen[0].extensions["timeout"]["read"] == 7
    assert json.loads(seen[0].content)["wait_s"] <= 0
