"""The parts of handoffs, tickets, deliveries, channels and publications that are the same in both clients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from ._identity import Identity
from ._leases import Hands, Lease
from ._values import Document, Json
from .models import Gap, Trimmed

R = TypeVar("R")


@dataclass(slots=True, eq=False)
class ClientRecord:
    """What both clients have."""

    identity: Identity
    hands: Hands = field(default_factory=Hands, repr=False)

    @property
    def owner(self) -> ClientRecord:
        """The client itself."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class HandoffRecord:
    """An envelope, and the figures of it."""

    owner: Any = field(repr=False)
    id: str
    envelope_version: str
    hop: int
    token_count: int
    memory_refs: list[str]
    completeness: float
    gaps: Sequence[Gap]
    trimmed: Trimmed
    envelope: Document = field(repr=False)
    degraded: Sequence[str] = ()
    """What the search had to do without when this was assembled; empty when whole."""
    delivery_id: str | None = None
    """The delivery it came in; None for one that was made here."""
    order_key: str | None = None
    overdue: bool = False
    """Whether a deadline among its constraints has passed; the work is wanted all the same."""
    emitted: Mapping[str, Document] = field(default_factory=dict[str, Any], repr=False)
    """The envelope in each version that ``emit`` asked for, by version."""

    @property
    def intent(self) -> str:
        """The user's request, word for word."""
        return str(_task(self.envelope).get("intent", self.summary))

    @property
    def summary(self) -> str:
        """What the receiver is to do now."""
        return str(_task(self.envelope).get("summary", self.envelope.get("task_summary", "")))

    @property
    def constraints(self) -> dict[str, Json]:
        """What the receiver must keep to, by name."""
        constraints = self.envelope.get("constraints", {})
        if isinstance(constraints, Mapping):
            return dict(constraints)
        return {constraint["name"]: constraint["value"] for constraint in constraints}

    @property
    def history(self) -> list[Document]:
        """What was done before, oldest first."""
        return list(self.envelope.get("history", []))

    @property
    def expected_output(self) -> Document | None:
        """What is to be given back."""
        return self.envelope.get("expected_output")

    @property
    def sender(self) -> str:
        """Who hands this over."""
        return str(self.envelope["from"])

    @property
    def target(self) -> str:
        """For whom it is."""
        return str(self.envelope["target"])

    @property
    def root(self) -> str:
        """The first envelope of the task."""
        return str(self.envelope.get("root", self.id))

    @property
    def digest(self) -> str | None:
        """What proves that it was not altered; None in version 1."""
        return self.envelope.get("digest")


def _task(envelope: Document) -> Document:
    task: Document = envelope.get("task", {})
    return task


@dataclass(frozen=True, slots=True, eq=False)
class TicketRecord:
    """A handoff on its way. ``state`` is as of when the ticket was made or refreshed."""

    owner: Any = field(repr=False)
    id: str
    state: str
    agent: str
    document: Document = field(repr=False)
    handoff_id: str = ""

    @classmethod
    def read(cls, owner: Any, document: Document) -> TicketRecord:
        """From a delivery's document."""
        return TicketRecord(
            owner=owner,
            id=document["id"],
            state=document["state"],
            agent=document["agent"],
            document=document,
            handoff_id=document["envelope_id"],
        )


@dataclass(frozen=True, slots=True, eq=False)
class DeliveryRecord:
    """Work in the hands of this process."""

    owner: Any = field(repr=False)
    id: str
    agent: str
    attempt: int
    overdue: bool
    checkpoint: Json
    envelope_version: str
    rendered: str | None
    document: Document = field(repr=False)
    received: HandoffRecord = field(repr=False)
    lease: Lease = field(repr=False)
    handled_before: list[DeliveryRecord | None] = field(default_factory=list["DeliveryRecord | None"], repr=False)

    @property
    def cancelled(self) -> bool:
        """Whether the sender has called it off; known at the next heartbeat."""
        return self.lease.cancelled

    @property
    def lost(self) -> bool:
        """Whether the work was given to somebody else."""
        return self.lease.lost

    def is_of(self, identity: Identity) -> bool:
        """Whether it came from where this client asks."""
        own: Identity = self.owner.identity
        return (own.endpoint, own.workspace) == (identity.endpoint, identity.workspace)


@dataclass(frozen=True, slots=True, eq=False)
class ChannelRecord:
    """A named place to publish to several receivers."""

    owner: Any = field(repr=False)
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class PublicationRecord:
    """An envelope on its way to several receivers, as of when it was last read."""

    owner: Any = field(repr=False)
    id: str
    channel: str
    envelope_id: str
    settled: bool
    document: Document = field(repr=False)

    @classmethod
    def read(cls, owner: Any, document: Document) -> PublicationRecord:
        """From the server's document."""
        return PublicationRecord(
            owner=owner,
            id=document["id"],
            channel=document["channel"],
            envelope_id=document["envelope_id"],
            settled=document["settled"],
            document=document,
        )

    @property
    def deliveries(self) -> list[Document]:
        """One for each receiver."""
        return list(self.document["deliveries"])

    @property
    def status(self) -> dict[str, str]:
        """The state of each delivery, by its receiver."""
        return {delivery["target"]: delivery["state"] for delivery in self.deliveries}

    @property
    def joined(self) -> Document | None:
        """What the join made, once it has."""
        return (self.document.get("join") or {}).get("made")


def bind(kind: type[R], record: Any) -> R:
    """The record as one client's own kind, with the methods of that client."""
    return kind(**{item.name: getattr(record, item.name) for item in fields(record)})
