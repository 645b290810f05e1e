"""Every problem of the server, and the error it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memory_spine
from memory_spine.errors import error_of_problem

TABLE = """
circuit-open 503 CircuitOpenError
lease-lost 409 LeaseLostError
cancelled 409 LeaseLostError
already-over 409 ConflictError
not-parked 409 ConflictError
idempotency-conflict 409 ConflictError
contended 409 ConflictError
envelope-exists 409 ConflictError
version-conflict 412 ConflictError
result-invalid 422 ResultInvalidError
broadcast-target 422 HandoffError
no-receivers 422 HandoffError
hop-limit 422 HopLimitError
hop-limit-missing 422 HopLimitError
budget 422 BudgetError
budget-twice 422 BudgetError
constraint-changed 422 ConstraintError
constraint-conflict 422 ConstraintError
constraint-dropped 422 ConstraintError
waiver-unknown 422 ConstraintError
waiver-dropped 422 ConstraintError
intent-changed 422 ConstraintError
version-unsupported 422 VersionError
not-found 404 NotFoundError
route-unknown 404 NotFoundError
gone 410 NotFoundError
pruned 410 NotFoundError
unauthenticated 401 AuthenticationError
forbidden 403 PermissionDeniedError
origin-refused 403 PermissionDeniedError
host-refused 421 PermissionDeniedError
rate-limited 429 RateLimitError
overloaded 429 RateLimitError
quota-exceeded 429 RateLimitError
unavailable 503 UnavailableError
outcome-unknown 503 UnavailableError
disk-full 507 UnavailableError
invalid-body 422 SpineError
invalid-parameter 400 SpineError
malformed-json 400 SpineError
unsupported-media-type 415 SpineError
too-large 413 SpineError
request-timeout 408 SpineError
method-not-allowed 405 SpineError
sender-unknown 422 SpineError
secret-in-core 422 SpineError
tokenizer-unknown 422 SpineError
envelope-invalid 422 SpineError
envelope-altered 422 SpineError
lineages-differ 422 SpineError
workspace-differs 422 SpineError
subject-differs 422 SpineError
hop-wrong 422 SpineError
parent-unknown 422 SpineError
parent-replaced 422 SpineError
dropped 422 SpineError
store-damaged 500 SpineError
internal 500 SpineError
"""
ROWS = [line.split() for line in TABLE.strip().splitlines()]


@pytest.mark.parametrize(("name", "status", "error"), ROWS)
def test_each_problem_is_one_error(name: str, status: str, error: str) -> None:
    raised = error_of_problem({"type": f"/errors/{name}", "title": "T", "detail": "do this", "status": int(status), "x": 1})
    assert type(raised).__name__ == error
    assert (raised.type, raised.title, raised.status) == (name, "T", int(status))
    assert raised.detail.startswith("do this")
    assert raised.problem["x"] == 1


def test_the_table_names_every_problem_there_is() -> None:
    pages = Path(__file__).parents[3] / "docs" / "errors"
    documented = {page.stem for page in pages.glob("*.md")} - {"README", "index"}
    assert documented - {name for name, _, _ in ROWS} == set()


def test_the_tree_is_as_it_is_written() -> None:
    spec = """
    SpineError ▸ HandoffError ▸ (CircuitOpenError, HandoffTimeoutError, RejectedError, LeaseLostError), BudgetError, HopLimitError,
    ConstraintError, ResultInvalidError, ConflictError, NotFoundError, AuthenticationError, PermissionDeniedError, RateLimitError,
    UnavailableError, VersionError
    """
    root, rest = spec.split("▸", 1)
    handoff, below = rest.split("▸", 1)
    inner, outer = below.split(")", 1)
    errors = {name: getattr(memory_spine, name) for name in re.findall(r"\w+", spec)}
    assert all(errors[name].__base__ is memory_spine.SpineError for name in re.findall(r"\w+", outer + handoff))
    assert all(errors[name].__bases__[0] is memory_spine.HandoffError for name in re.findall(r"\w+", inner))
    assert issubclass(memory_spine.HandoffTimeoutError, TimeoutError)
    assert root.strip() == "SpineError"


def test_a_server_that_is_older_says_so() -> None:
    raised = error_of_problem({"type": "/errors/route-unknown", "detail": "nothing at GET /v1/health", "status": 404})
    assert "older" in raised.detail
