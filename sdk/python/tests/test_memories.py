"""Memories against a real server."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from memory_spine import ConflictError, NotFoundError, SpineError


def test_a_memory_has_versions(spine: Any) -> None:
    about = datetime(2026, 1, 15, 9, 30, tzinfo=timezone.utc)
    stored = spine.store(
        "At most 100 a second.", title="Rate", tags=["api"], occurred_at=about, metadata={"n": 1}, ttl=timedelta(days=1)
    )
    assert (stored.id, stored.version, stored.title, stored.tags, stored.occurred_at) == ("ms-1", 1, "Rate", ("api",), about)
    assert stored.metadata == {"n": 1}
    assert stored.expires_at is not None
    changed = spine.update(stored.id, content="At most 200 a second.", title=None)
    assert (changed.version, changed.content, changed.title) == (2, "At most 200 a second.", None)
    assert spine.get("ms-1", version=1).content == "At most 100 a second."
    assert spine.get("ms-1").content == "At most 200 a second."


def test_the_same_content_is_stored_once(spine: Any) -> None:
    first, second = spine.store("the same"), spine.store("the same")
    assert (first.id, first.duplicate, second.id, second.duplicate) == ("ms-1", False, "ms-1", True)


def test_many_are_stored_and_read_at_once(spine: Any) -> None:
    assert spine.store_many([]) == []
    stored = spine.store_many([{"content": f"note {n}", "ttl": timedelta(hours=1)} for n in range(3)])
    assert [memory.id for memory in stored] == ["ms-1", "ms-2", "ms-3"]
    found = spine.get_many(["ms-3", "ms-9", "ms-1"])
    assert [memory.content for memory in found] == ["note 2", "note 0"]
    assert [(gone.id, gone.reason) for gone in found.missing] == [("ms-9", "not_found")]
    assert [memory.id for memory in spine.recent(2)] == ["ms-3", "ms-2"]


def test_search_and_recent_take_filters(spine: Any) -> None:
    spine.store("retry with exponential backoff", tags=["api"], thread="run-1")
    spine.store("retry never", tags=["other"], kind="decision")
    assert [found.memory.id for found in spine.search("retry", tags=["api"])] == ["ms-1"]
    assert spine.search("retry", limit=1, explain=True)[0].parts
    assert [memory.id for memory in spine.recent(kinds=["decision"])] == ["ms-2"]
    assert [memory.id for memory in spine.recent(thread="run-1", about_from=datetime(2020, 1, 1, tzinfo=timezone.utc))] in (
        [],
        ["ms-1"],
    )


def test_pins_and_deletes(spine: Any) -> None:
    spine.store("keep")
    assert spine.pin("ms-1").pinned
    assert not spine.unpin("ms-1").pinned
    assert spine.delete("ms-1").reason == "deleted"
    with pytest.raises(NotFoundError) as gone:
        spine.get("ms-1")
    assert gone.value.type == "gone"
    spine.store("secret")
    assert spine.delete("ms-2", purge=True).reason == "purged"


def test_a_key_makes_a_repeated_write_one(spine: Any) -> None:
    first = spine.store("one", idempotency_key="k1")
    assert spine.store("one", idempotency_key="k1").id == first.id
    with pytest.raises(ConflictError) as conflict:
        spine.store("another", idempotency_key="k1")
    assert conflict.value.type == "idempotency-conflict"


def test_a_version_can_be_asked_for(spine: Any) -> None:
    spine.store("one")
    spine.update("ms-1", content="two")
    with pytest.raises(ConflictError):
        spine.update("ms-1", content="three", if_version=1)


def test_workspaces_are_apart_and_share_connections(spine: Any) -> None:
    spine.store("ours")
    other = spine.with_workspace("another-one")
    with pytest.raises(NotFoundError):
        other.get("ms-77")
    assert other.identity.workspace == "another-one"


def test_errors_say_what_to_do(spine: Any) -> None:
    with pytest.raises(SpineError) as refused:
        spine.store("")
    assert refused.value.problem["pointer"] == "/content"
    assert refused.value.status == 422
    assert refused.value.title
