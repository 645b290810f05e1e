"""Version 1: the flat form that older agents read, made from version 2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ._values import Document, Json
from .errors import VersionError

SUPPORTED = ("1", "2")


def checked_versions(versions: Sequence[str]) -> Sequence[str]:
    """The versions, if all of them can be written."""
    unknown = [version for version in versions if version not in SUPPORTED]
    if unknown:
        problem = {"type": "/errors/version-unsupported", "supported": list(SUPPORTED)}
        raise VersionError(f"envelopes cannot be written in version {unknown[0]!r}: give some of {SUPPORTED}", problem)
    return versions


def in_versions(envelope: Document, versions: Sequence[str]) -> Mapping[str, Document]:
    """The envelope in each of these versions, oldest first."""
    return {version: flat(envelope) if version == "1" else envelope for version in sorted(set(versions))}


def flat(envelope: Document) -> Document:
    """Version 2 as an older agent reads it."""
    return {
        "version": 1,
        **{name: envelope[name] for name in ("id", "from", "target", "created_at")},
        "task_summary": _task_summary(envelope["task"]),
        "constraints": _constraints(envelope.get("constraints", [])),
        "memory_refs": [memory["id"] for memory in envelope.get("memories", [])],
        "history": [_step(entry) for entry in envelope.get("history", [])],
    }


def _task_summary(task: Document) -> str:
    intent, summary = task["intent"], task["summary"]
    return str(intent) if intent == summary else f"{intent}\n\n{summary}"


def _constraints(constraints: Sequence[Document]) -> dict[str, Json]:
    """A receiver's own constraint is at least as tight as the lineage's of the same name: it comes last."""
    ordered = sorted(constraints, key=lambda one: one.get("scope") == "hop")
    return {one["name"]: one["value"] for one in ordered}


def _step(entry: Document) -> Document:
    return {"agent": entry["agent"], "action": entry["action"], "memory_id": entry.get("memory_id")}
