"""What the server answers, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ._values import Document, Json, moment

__all__ = [
    "Ack",
    "Deleted",
    "Erasure",
    "Finding",
    "Found",
    "Gap",
    "Lineage",
    "Memories",
    "Memory",
    "Missing",
    "Parked",
    "Recovery",
    "Review",
    "Trimmed",
    "Verification",
]


@dataclass(frozen=True, slots=True)
class Memory:
    """A text that agents share. Example: ``spine.store("The gateway takes 100 requests a second.").id``."""

    id: str
    version: int
    content: str
    title: str | None = None
    summary: str | None = None
    kind: str = "note"
    tags: Sequence[str] = ()
    priority: str = "normal"
    pinned: bool = False
    author: str | None = None
    thread: str | None = None
    subject: str | None = None
    occurred_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any], hash=False)
    created_at: datetime | None = None
    updated_at: datetime | None = None
    expires_at: datetime | None = None
    duplicate: bool = False
    """Whether storing it found the same content: then nothing new was stored."""
    packed_version: int | None = None
    """The version that the handoff carries, if a handoff was asked for it."""

    @property
    def changed(self) -> bool:
        """Whether this is another version than the one packed."""
        return self.packed_version is not None and self.packed_version != self.version

    @classmethod
    def read(cls, document: Document, packed_version: int | None = None) -> Memory:
        """From the server's document."""
        return cls(
            id=document["id"],
            version=document["version"],
            content=document["content"],
            title=document.get("title"),
            summary=document.get("summary"),
            kind=document["kind"],
            tags=tuple(document["tags"]),
            priority=document["priority"],
            pinned=document["pinned"],
            author=document.get("author"),
            thread=document.get("thread"),
            subject=document.get("subject"),
            occurred_at=moment(document.get("occurred_at")),
            metadata=document["metadata"],
            created_at=moment(document.get("created_at")),
            updated_at=moment(document.get("updated_at")),
            expires_at=moment(document.get("expires_at")),
            duplicate=document.get("duplicate", False),
            packed_version=document.get("packed_version", packed_version),
        )


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that a search found. Example: ``spine.search("rate limit")[0].memory.content``."""

    memory: Memory
    score: float
    parts: Sequence[Document] = ()

    @classmethod
    def read(cls, document: Document) -> Found:
        """From the server's document."""
        return cls(Memory.read(document["memory"]), document["score"], tuple(document["parts"]))


@dataclass(frozen=True, slots=True)
class Missing:
    """An id that leads to no memory. Example: ``spine.get_many(["ms-9"]).missing[0].reason``."""

    id: str
    reason: str


class Memories(list[Memory]):
    """Memories by their ids, and the ids that led to none. Example: ``spine.get_many(["ms-1", "ms-9"]).missing``."""

    def __init__(self, memories: Sequence[Memory], missing: Sequence[Missing] = ()) -> None:
        super().__init__(memories)
        self.missing = tuple(missing)


@dataclass(frozen=True, slots=True)
class Deleted:
    """The mark that a memory left. Example: ``spine.delete("ms-1").reason`` is ``"deleted"``."""

    id: str
    version: int
    reason: str
    deleted_at: datetime | None


@dataclass(frozen=True, slots=True)
class Gap:
    """An explicit reference that is not there. Example: ``for gap in handoff.gaps: print(gap.ref, gap.reason)``."""

    ref: str
    reason: str

    @classmethod
    def read_all(cls, documents: Sequence[Document]) -> tuple[Gap, ...]:
        """From the server's documents."""
        return tuple(cls(gap["ref"], gap["reason"]) for gap in documents)


@dataclass(frozen=True, slots=True)
class Trimmed:
    """What lost detail for the budget. Example: ``handoff.trimmed.count``."""

    count: int = 0
    items: Sequence[Document] = ()


@dataclass(frozen=True, slots=True)
class Recovery:
    """What could be had of what a handoff lacks. Example: ``handoff.recover().memories``."""

    memories: Sequence[Memory]
    gaps: Sequence[Gap]
    completeness: float


@dataclass(frozen=True, slots=True)
class Ack:
    """How a handoff stands. Example: ``spine.deliver_handoff(handoff, wait_for="done").result``."""

    id: str
    state: str
    agent: str
    result: Json = None
    attempt: int = 0
    completeness: float = 1.0
    overdue: bool = False
    next: str | None = None
    """The envelope that the work went on in."""
    document: Document = field(default_factory=dict[str, Any], repr=False, hash=False)

    @classmethod
    def read(cls, document: Document) -> Ack:
        """From a delivery's document."""
        return cls(
            id=document["id"],
            state=document["state"],
            agent=document["agent"],
            result=document.get("result"),
            attempt=document["attempt"],
            completeness=document["completeness"],
            overdue=document["overdue"],
            next=(document.get("ending") or {}).get("next"),
            document=document,
        )


@dataclass(frozen=True, slots=True)
class Parked:
    """A delivery that waits for a person. Example: ``for parked in spine.parked(): print(parked.id, parked.reasons)``."""

    id: str
    envelope_id: str
    agent: str
    target: str
    causes: Sequence[str]
    reasons: Sequence[str]
    document: Document = field(repr=False, hash=False)

    @classmethod
    def read(cls, document: Document) -> Parked:
        """From a delivery's document."""
        entries = document["parked"]
        return cls(
            id=document["id"],
            envelope_id=document["envelope_id"],
            agent=document["agent"],
            target=document["target"],
            causes=tuple(entry["cause"] for entry in entries),
            reasons=tuple(entry["reason"] for entry in entries),
            document=document,
        )


@dataclass(frozen=True, slots=True)
class Review:
    """What became of many parked deliveries. Example: ``spine.requeue_many(target="tester", dry_run=True).ids``."""

    ids: Sequence[str]
    missed: Sequence[Json]
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Lineage:
    """One task. Example: ``[envelope["task_summary"] for envelope in spine.lineage(handoff).envelopes]``."""

    root: str
    intent: str
    envelopes: Sequence[Document]
    deliveries: Sequence[Document]


@dataclass(frozen=True, slots=True)
class Finding:
    """What is to be told about one envelope. Example: ``finding.detail``."""

    id: str
    damage: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a lineage is what it was. Example: ``assert spine.verify(handoff).intact``."""

    intact: bool
    summary: str
    envelopes: int
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class Erasure:
    """What was erased, or would be. Example: ``spine.erase(subject="user:123", reason="asked to", dry_run=True)``."""

    dry_run: bool
    memories: int
    """Of which every version is gone."""
    envelopes: int
    """Whose texts are gone; they verify as they did, less the erased parts."""
    lineages: int
    """Tasks of which only skeletons are left."""
    deliveries: int
    """Whose result, notes and checkpoint are gone."""
    document: Document = field(repr=False, hash=False)

    @classmethod
    def read(cls, document: Document) -> Erasure:
        """From the server's document."""
        return cls(
            dry_run=document["dry_run"],
            memories=document["memories"],
            envelopes=document["envelopes"],
            lineages=document["lineages"],
            deliveries=document["deliveries"],
            document=document,
        )
