"""Operations on memories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from ._effects import Operation, Request, ask, at, get, inquire, post, write
from ._records import ClientRecord
from ._values import Document, Duration, Moment, given, moment, seconds, written
from .models import Deleted, Found, Memories, Memory, Missing

if TYPE_CHECKING:
    from typing_extensions import Unpack

PAGE_ROWS_MAX = 1_000
MEMORIES_PER_REQUEST_MAX = 500


class Filters(TypedDict, total=False):
    """Which memories. Every part that is given must hold.

    Example: ``spine.recent(5, thread="run-17", pinned=True)``
    """

    thread: str
    subject: str
    kinds: Sequence[str]
    tags: Sequence[str]
    author: str
    about_from: Moment
    about_before: Moment
    pinned: bool


def store(
    client: ClientRecord,
    content: str,
    *,
    title: str | None = None,
    summary: str | None = None,
    kind: str = "note",
    tags: Sequence[str] = (),
    priority: str = "normal",
    pinned: bool = False,
    author: str | None = None,
    thread: str | None = None,
    subject: str | None = None,
    occurred_at: Moment | None = None,
    metadata: Mapping[str, Any] | None = None,
    ttl: Duration | None = None,
    idempotency_key: str | None = None,
) -> Operation[Memory]:
    """Stores a memory. What is there already is not stored twice.

    Example: ``spine.store("Retry 502 and 503 only.", tags=["api"], pinned=True)``
    """
    body = given(
        content=content,
        title=title,
        summary=summary,
        kind=kind,
        tags=list(tags),
        priority=priority,
        pinned=pinned,
        author=author,
        thread=thread,
        subject=subject,
        occurred_at=occurred_at,
        metadata=metadata,
        ttl=ttl,
    )
    document = yield from ask(post("/v1/memories", _sendable(body), key=idempotency_key))
    return Memory.read(document)


def store_many(
    client: ClientRecord, memories: Iterable[Mapping[str, Any]], *, idempotency_key: str | None = None
) -> Operation[list[Memory]]:
    """Stores memories, all or none, each given as the arguments of ``store``.

    Example: ``spine.store_many([{"content": "first"}, {"content": "second", "pinned": True}])``
    """
    bodies = [_sendable(memory) for memory in memories]
    if not bodies:
        return []
    document = yield from ask(post("/v1/memories", {"memories": bodies}, key=idempotency_key))
    return [Memory.read(memory) for memory in document["memories"]]


def get_one(client: ClientRecord, id: str, *, version: int | None = None) -> Operation[Memory]:
    """The memory in its newest version, or in this one.

    Example: ``spine.get("ms-1", version=1).content``
    """
    document = yield from ask(get(at("memories", id), given(version=version)))
    return Memory.read(document)


def get_many(client: ClientRecord, ids: Sequence[str]) -> Operation[Memories]:
    """The memories with these ids, in this order; ``.missing`` names those that are not there.

    Example: ``spine.get_many(["ms-1", "ms-2"])``
    """
    found: list[Memory] = []
    missing: list[Missing] = []
    for start in range(0, len(ids), MEMORIES_PER_REQUEST_MAX):
        part = list(ids[start : start + MEMORIES_PER_REQUEST_MAX])
        document = yield from ask(get("/v1/memories", {"ids": part}))
        found += [Memory.read(memory) for memory in document["memories"]]
        missing += [Missing(gone["id"], gone["reason"]) for gone in document["missing"]]
    return Memories(found, missing)


def update(
    client: ClientRecord,
    /,
    id: str,
    *,
    if_version: int | None = None,
    idempotency_key: str | None = None,
    **changes: Any,
) -> Operation[Memory]:
    """Changes a memory: makes a new version. What is not named stays, None empties.

    Example: ``spine.update("ms-1", content="At most 200 a second.", title=None)``
    """
    request = write("PATCH", at("memories", id), _sendable(changes), key=idempotency_key)
    document = yield from ask(_if_version(request, if_version))
    return Memory.read(document)


def delete(
    client: ClientRecord,
    id: str,
    *,
    purge: bool = False,
    if_version: int | None = None,
    idempotency_key: str | None = None,
) -> Operation[Deleted]:
    """Deletes a memory; ``purge`` erases every version of it. A mark stays, so that a reference to it is a known gap.

    Example: ``spine.delete("ms-1")``
    """
    path = at("memories", id) + ("?purge=true" if purge else "")
    document = yield from ask(_if_version(write("DELETE", path, key=idempotency_key), if_version))
    return Deleted(document["id"], document["version"], document["reason"], moment(document.get("deleted_at")))


def pin(client: ClientRecord, id: str, *, idempotency_key: str | None = None) -> Operation[Memory]:
    """Pins a memory: it travels with every handoff.

    Example: ``spine.pin("ms-1")``
    """
    document = yield from ask(write("PUT", at("memories", id, "pin"), key=idempotency_key))
    return Memory.read(document)


def unpin(client: ClientRecord, id: str, *, idempotency_key: str | None = None) -> Operation[Memory]:
    """Unpins a memory.

    Example: ``spine.unpin("ms-1")``
    """
    document = yield from ask(write("DELETE", at("memories", id, "pin"), key=idempotency_key))
    return Memory.read(document)


def search(
    client: ClientRecord, query: str, *, limit: int = 10, explain: bool = False, **filters: Unpack[Filters]
) -> Operation[list[Found]]:
    """Finds memories by words and by meaning, best first.

    Example: ``spine.search("how often to retry", limit=5, tags=["api"])``
    """
    body = {"query": query, "limit": limit, "explain": explain, **filters}
    document = yield from ask(inquire("/v1/memories/search", body))
    return [Found.read(found) for found in document["hits"]]


def recent(client: ClientRecord, limit: int = 20, **filters: Unpack[Filters]) -> Operation[list[Memory]]:
    """The memories last stored, newest first.

    Example: ``spine.recent(5, thread="run-17")``
    """
    found: list[Memory] = []
    cursor: str | None = None
    while len(found) < limit:
        rows = min(limit - len(found), PAGE_ROWS_MAX)
        document = yield from ask(get("/v1/memories", given(limit=rows, cursor=cursor, **_query(filters))))
        found += [Memory.read(memory) for memory in document["memories"]]
        cursor = document["next_cursor"]
        if cursor is None:
            break
    return found


def _query(filters: Filters) -> dict[str, Any]:
    moments = ("about_from", "about_before")
    return {name: written(value) if name in moments else value for name, value in dict[str, Any](filters).items()}


def _sendable(memory: Mapping[str, Any]) -> Document:
    ttl = memory.get("ttl")
    return {**memory, "ttl": seconds(ttl)} if ttl is not None else memory


def _if_version(request: Request, version: int | None) -> Request:
    return request.with_header("If-Match", None if version is None else f'"{version}"')
