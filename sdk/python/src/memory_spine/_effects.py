"""What an operation asks of the world, and what it gets back.

An operation is a generator: it yields effects (a request, a pause), is sent what came of each, and returns its result. It does no
input or output itself, so that one and the same operation serves the blocking and the asynchronous client.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

from ._values import Json, encoded
from .errors import SpineError, UnavailableError, error_of_problem

T = TypeVar("T")

ATTEMPTS_MAX = 4
BACKOFF_FIRST_S = 0.1
BACKOFF_S_MAX = 5.0
RETRY_AFTER_S_MAX = 30.0
"""A server that asks for more patience than this gets none: the caller is told instead."""

_DOTS = {".": "%2E", "..": "%2E%2E"}
_PASSING = {429, 502, 503, 504}
_FINAL_TYPES = {"circuit-open", "quota-exceeded"}


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request, without what every request of a client has."""

    method: str
    path: str
    query: Mapping[str, Json] = field(default_factory=dict[str, Json])
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    wait_s: float = 0.0
    acts_as: str | None = None
    attempts_max: int = ATTEMPTS_MAX

    def with_header(self, name: str, value: str | None) -> Request:
        """The same request with one more header, if there is a value for it."""
        return self if value is None else replace(self, headers={**self.headers, name: value})


@dataclass(frozen=True, slots=True)
class Pause:
    """Some time in which nothing is done."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server said."""

    status: int
    headers: Mapping[str, str]
    document: Json
    text: str


@dataclass(frozen=True, slots=True)
class Unreachable:
    """Why there is no answer."""

    reason: str
    timed_out: bool = False


Effect: TypeAlias = Request | Pause
Operation: TypeAlias = Generator[Effect, Any, T]


def at(*parts: str) -> str:
    """The address of something under ``/v1``. No part can lead elsewhere."""
    return "/".join(("/v1", *(_DOTS.get(part) or quote(part, safe=":@+") for part in parts)))


def get(path: str, query: Mapping[str, Json] | None = None, *, wait_s: float = 0.0) -> Request:
    """A question."""
    return Request("GET", path, query=query or {}, wait_s=wait_s)


def write(method: str, path: str, body: Json = None, *, key: str | None = None, wait_s: float = 0.0) -> Request:
    """A change. The key makes it safe to send again."""
    headers = {"Idempotency-Key": key or f"py-{uuid.uuid4().hex}"}
    content = None if body is None else encoded(body)
    return Request(method, path, body=content, headers=headers, wait_s=wait_s)


def post(path: str, body: Json, *, key: str | None = None, wait_s: float = 0.0) -> Request:
    """A change that is posted."""
    return write("POST", path, body, key=key, wait_s=wait_s)


def inquire(path: str, body: Json, *, wait_s: float = 0.0) -> Request:
    """A question that is too long for an address."""
    return Request("POST", path, body=encoded(body), wait_s=wait_s)


def acting_as(agent: str, request: Request) -> Request:
    """The same request in the name of this agent."""
    return replace(request, acts_as=agent)


def call(request: Request) -> Operation[Answer]:
    """Asks until there is an answer, as long as asking again is safe and may help."""
    attempt = 1
    while True:
        outcome: Answer | Unreachable = yield request
        if isinstance(outcome, Answer) and outcome.status < 400:
            return outcome
        pause_s = pause_before_retry(outcome, attempt, request)
        if pause_s is None:
            raise error_of(outcome)
        yield Pause(pause_s)
        attempt += 1


def ask(request: Request) -> Operation[Json]:
    """The document of the answer."""
    answer = yield from call(request)
    return answer.document


def pause_before_retry(outcome: Answer | Unreachable, attempt: int, request: Request) -> float | None:
    """How long to wait before asking again; None is not to."""
    if attempt >= request.attempts_max:
        return None
    backoff_s = random.uniform(0, min(BACKOFF_S_MAX, BACKOFF_FIRST_S * 2**attempt))
    if isinstance(outcome, Unreachable):
        return None if outcome.timed_out else backoff_s
    if outcome.status not in _PASSING or error_of(outcome).type in _FINAL_TYPES:
        return None
    asked_s = _retry_after_s(outcome)
    if asked_s is None:
        return backoff_s
    return None if asked_s > RETRY_AFTER_S_MAX else asked_s + backoff_s


def _retry_after_s(answer: Answer) -> float | None:
    try:
        return max(0.0, float(answer.headers.get("retry-after", "")))
    except ValueError:
        return None


def error_of(outcome: Answer | Unreachable) -> SpineError:
    """The error that an outcome is."""
    if isinstance(outcome, Unreachable):
        return UnavailableError(outcome.reason)
    if isinstance(outcome.document, Mapping):
        return error_of_problem({"status": outcome.status, **outcome.document})
    title = f"HTTP status {outcome.status}"
    return error_of_problem({"status": outcome.status, "title": title, "detail": outcome.text[:500] or title})
