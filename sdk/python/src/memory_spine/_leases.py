"""The leases that this process holds, and what it has finished.

All of this is per process: a receiver that runs in several processes, or starts anew, must itself not mind doing the same work
twice, or look the delivery's id up where it keeps its results.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import OrderedDict
from dataclasses import dataclass, field

from ._values import Document, Json, moment

FINISHED_MAX = 1_000
BEATS_PER_LEASE = 3
RETRIES_PER_LEASE = 12
LEASE_S_DEFAULT = 60.0


class Lease:
    """One delivery in the hands of this process."""

    __slots__ = ("__weakref__", "agent", "beat_at", "cancelled", "delivery_id", "lease_s", "lost", "over", "token")

    def __init__(self, document: Document, token: str, now: float) -> None:
        self.delivery_id: str = document["id"]
        self.agent: str = document["agent"]
        self.cancelled = False
        self.lost = False
        self.over = False
        self.take(document, token, now)

    def take(self, document: Document, token: str, now: float) -> None:
        """A new lease on the same delivery."""
        self.token = token
        self.lease_s = lease_seconds(document)
        self.lost = False
        self.renewed(now)

    def renewed(self, now: float) -> None:
        """The server has heard of us."""
        self.beat_at = now + self.lease_s / BEATS_PER_LEASE

    def unheard(self, now: float) -> None:
        """The server could not be reached: soon again."""
        self.beat_at = now + self.lease_s / RETRIES_PER_LEASE

    @property
    def is_held(self) -> bool:
        """Whether there is anything to keep alive."""
        return not (self.over or self.lost or self.cancelled)


def lease_seconds(document: Document) -> float:
    """How long the lease of a delivery lives."""
    lease = document.get("lease") or {}
    since, until = moment(lease.get("since")), moment(lease.get("until"))
    if since is None or until is None:
        return LEASE_S_DEFAULT
    return max(1.0, (until - since).total_seconds())


@dataclass(slots=True)
class Hands:
    """What this process holds. A delivery that nobody refers to any more is not kept alive."""

    _held: weakref.WeakValueDictionary[str, Lease] = field(default_factory=weakref.WeakValueDictionary[str, Lease])
    _finished: OrderedDict[str, Json] = field(default_factory=OrderedDict[str, Json])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, document: Document, token: str) -> Lease | None:
        """A lease on what is new here; None if it is already being worked on, and goes on under the new lease."""
        now = time.monotonic()
        with self._lock:
            held = self._held.get(document["id"])
            if held is not None and not held.over:
                held.take(document, token, now)
                return None
            lease = Lease(document, token, now)
            self._held[lease.delivery_id] = lease
            return lease

    def finish(self, delivery_id: str, acknowledgement: Json) -> None:
        """The work is done; the acknowledgement may get lost on its way."""
        with self._lock:
            self._finished[delivery_id] = acknowledgement
            while len(self._finished) > FINISHED_MAX:
                self._finished.popitem(last=False)

    def forget(self, delivery_id: str) -> None:
        """The server knows."""
        with self._lock:
            self._finished.pop(delivery_id, None)

    def finished(self, delivery_id: str) -> Json:
        """The acknowledgement of work that was done here before and comes again."""
        with self._lock:
            return self._finished.get(delivery_id)

    def due(self, now: float) -> list[Lease]:
        """The leases whose heartbeat is due."""
        return [lease for lease in self.held() if lease.beat_at <= now]

    def next_beat_at(self) -> float | None:
        """When the next heartbeat is due."""
        return min((lease.beat_at for lease in self.held()), default=None)

    def held(self) -> list[Lease]:
        """The leases to keep alive."""
        with self._lock:
            return [lease for lease in self._held.values() if lease.is_held]
