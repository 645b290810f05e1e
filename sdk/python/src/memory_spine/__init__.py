"""Memory Spine: one durable memory for a team of AI agents, and a reliable way to hand work to each other.

Example::

    from memory_spine import MemorySpine

    spine = MemorySpine.local()
    note = spine.store("The gateway takes at most 100 requests a second.")
    handoff = spine.agent_handoff("code-generator", f"Write the client; keep to {note.id}.")
    print(handoff.render())
"""

from ._async_objects import AsyncChannel, AsyncDelivery, AsyncHandoff, AsyncPublication, AsyncTicket
from ._context import CURRENT, carry, current_delivery
from ._handoffs import HandoffOptions
from ._memories import Filters
from ._messages import Messages
from ._objects import Channel, Delivery, Handoff, Publication, Ticket
from .aio import AsyncHandoffClient, AsyncMemorySpine
from .client import HandoffClient, MemorySpine
from .errors import (
    AuthenticationError,
    BudgetError,
    CircuitOpenError,
    ConflictError,
    ConstraintError,
    HandoffError,
    HandoffTimeoutError,
    HopLimitError,
    LeaseLostError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RejectedError,
    ResultInvalidError,
    SpineError,
    UnavailableError,
    VersionError,
)
from .local import LocalServer
from .models import (
    Ack,
    Deleted,
    Erasure,
    Finding,
    Found,
    Gap,
    Lineage,
    Memories,
    Memory,
    Missing,
    Parked,
    Recovery,
    Review,
    Trimmed,
    Verification,
)
from .worker import AsyncWorker, Worker

__version__ = "0.1.0"

__all__ = [
    "CURRENT",
    "Ack",
    "AsyncChannel",
    "AsyncDelivery",
    "AsyncHandoff",
    "AsyncHandoffClient",
    "AsyncMemorySpine",
    "AsyncPublication",
    "AsyncTicket",
    "AsyncWorker",
    "AuthenticationError",
    "BudgetError",
    "Channel",
    "CircuitOpenError",
    "ConflictError",
    "ConstraintError",
    "Deleted",
    "Delivery",
    "Erasure",
    "Filters",
    "Finding",
    "Found",
    "Gap",
    "Handoff",
    "HandoffClient",
    "HandoffError",
    "HandoffOptions",
    "HandoffTimeoutError",
    "HopLimitError",
    "LeaseLostError",
    "Lineage",
    "LocalServer",
    "Memories",
    "Memory",
    "MemorySpine",
    "Messages",
    "Missing",
    "NotFoundError",
    "Parked",
    "PermissionDeniedError",
    "Publication",
    "RateLimitError",
    "Recovery",
    "RejectedError",
    "ResultInvalidError",
    "Review",
    "SpineError",
    "Ticket",
    "Trimmed",
    "UnavailableError",
    "Verification",
    "VersionError",
    "Worker",
    "carry",
    "current_delivery",
]
