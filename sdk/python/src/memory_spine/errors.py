"""Everything that can go wrong, by what a caller can do about it.

Each error has the ``type``, ``title``, ``detail`` and ``status`` of the server's problem document, and the whole document as
``problem``. ``detail`` says what to do.

Example::

    try:
        spine.deliver_handoff(handoff)
    except CircuitOpenError as error:
        print(error.detail, "again in", error.retry_after, "s")
    except HandoffError as error:
        print(error.type, error.detail)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = [
    "AuthenticationError",
    "BudgetError",
    "CircuitOpenError",
    "ConflictError",
    "ConstraintError",
    "HandoffError",
    "HandoffTimeoutError",
    "HopLimitError",
    "LeaseLostError",
    "NotFoundError",
    "PermissionDeniedError",
    "RateLimitError",
    "RejectedError",
    "ResultInvalidError",
    "SpineError",
    "UnavailableError",
    "VersionError",
    "error_of_problem",
]


class SpineError(Exception):
    """Whatever went wrong. Example: ``except SpineError as error: print(error.detail)``."""

    def __init__(self, detail: str, problem: Mapping[str, Any] | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.problem: Mapping[str, Any] = problem or {}

    @property
    def type(self) -> str:
        """The stable name of the problem, such as ``lease-lost``; empty where the server did not speak."""
        return str(self.problem.get("type", "")).rsplit("/", 1)[-1]

    @property
    def title(self) -> str:
        """What went wrong, in general."""
        return str(self.problem.get("title", "")) or type(self).__name__

    @property
    def status(self) -> int | None:
        """The HTTP status, if there was an answer."""
        status = self.problem.get("status")
        return status if isinstance(status, int) else None

    @property
    def retry_after(self) -> float | None:
        """After how many seconds to try again, if the server said."""
        seconds = self.problem.get("retry_after_s")
        return float(seconds) if isinstance(seconds, (int, float)) else None


class HandoffError(SpineError):
    """A handoff was not made, or ended otherwise than well. ``delivery`` is its document, if there is one.

    Example: ``except HandoffError as error: print(error.detail, error.delivery)``
    """

    @property
    def delivery(self) -> Mapping[str, Any] | None:
        """The delivery as it stood."""
        found = self.problem.get("delivery")
        return found if isinstance(found, Mapping) else None


class CircuitOpenError(HandoffError):
    """Nobody took work for the target lately. Example: wait ``error.retry_after`` seconds, or name a fallback."""


class HandoffTimeoutError(HandoffError, TimeoutError):
    """The waiting is over, the delivery is not: asking again waits on. Example: ``except TimeoutError``."""


class RejectedError(HandoffError):
    """The receiver refused the work. Example: answer ``error.question`` in a new handoff."""

    @property
    def question(self) -> str | None:
        """What the receiver asks back."""
        return ((self.delivery or {}).get("ending") or {}).get("question")


class LeaseLostError(HandoffError):
    """The work was given to somebody else, or was cancelled: stop working on it. Example: ``except LeaseLostError: return``."""


class BudgetError(SpineError):
    """What is never cut does not fit. Example: raise ``max_tokens`` to ``error.problem["needed_tokens"]``."""


class HopLimitError(SpineError):
    """The chain has reached its hop limit. Example: ``error.problem["agents"]`` shows whether it goes round."""


class ConstraintError(SpineError):
    """A constraint would be loosened or dropped. Example: ``waive={"style": "the user agreed"}``."""


class ResultInvalidError(SpineError):
    """The result does not fit the expected schema; the lease stays. Example: correct it and ``delivery.ack()`` again."""


class ConflictError(SpineError):
    """Others were first, or the key was used before. Example: read it again, then decide."""


class NotFoundError(SpineError):
    """There is no such thing here, or no longer. Example: check the id and the workspace."""


class AuthenticationError(SpineError):
    """No valid key. Example: ``MemorySpine(api_key="msk_…")``."""


class PermissionDeniedError(SpineError):
    """The key does not allow this. Example: use a key that may write."""


class RateLimitError(SpineError):
    """Too much at once. Example: wait ``error.retry_after`` seconds."""


class UnavailableError(SpineError):
    """The server cannot be reached or used now. Example: check the endpoint; repeat with the same ``idempotency_key``."""


class VersionError(SpineError):
    """Server and caller share no version of the envelope. Example: ``accept_versions=("2",)``."""


_BY_TYPE: dict[str, type[SpineError]] = {
    "circuit-open": CircuitOpenError,
    "lease-lost": LeaseLostError,
    "cancelled": LeaseLostError,
    "no-receivers": HandoffError,
    "broadcast-target": HandoffError,
    "budget": BudgetError,
    "budget-twice": BudgetError,
    "hop-limit": HopLimitError,
    "hop-limit-missing": HopLimitError,
    "constraint-changed": ConstraintError,
    "constraint-conflict": ConstraintError,
    "constraint-dropped": ConstraintError,
    "waiver-unknown": ConstraintError,
    "waiver-dropped": ConstraintError,
    "intent-changed": ConstraintError,
    "result-invalid": ResultInvalidError,
    "version-unsupported": VersionError,
    "host-refused": PermissionDeniedError,
}

_BY_STATUS: dict[int, type[SpineError]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    410: NotFoundError,
    412: ConflictError,
    429: RateLimitError,
    502: UnavailableError,
    503: UnavailableError,
    504: UnavailableError,
    507: UnavailableError,
}

_OLDER_SERVER = "this server has no such route; it may be older than this package: update it"


def error_of_problem(problem: Mapping[str, Any]) -> SpineError:
    """The error that stands for a problem document.

    Example: ``error_of_problem({"type": "/errors/lease-lost", "status": 409})`` is a ``LeaseLostError``.
    """
    name = str(problem.get("type", "")).rsplit("/", 1)[-1]
    kind = _BY_TYPE.get(name) or _BY_STATUS.get(problem.get("status", 0), SpineError)
    detail = str(problem.get("detail") or problem.get("title") or f"HTTP status {problem.get('status')}")
    if name == "route-unknown":
        detail = f"{detail}: {_OLDER_SERVER}"
    return kind(detail, problem)
