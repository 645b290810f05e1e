"""The clock of a server that was started for tests: time passes when the test says so."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import Any

from .._effects import Operation, ask, get, post
from .._methods import awaited, blocking
from .._values import Document, Duration, moment, seconds
from ..aio import AsyncMemorySpine
from ..client import MemorySpine

PATH = "/v1/test/clock"
ADVANCE_S_MAX = 60
"""How long the server may take to do what has become due."""


def advance(clock: Any, duration: Duration) -> Operation[datetime]:
    """Lets time pass, in seconds or as a ``timedelta``; gives the server's time then.

    What falls due on the way is done at its moment, as if you had waited: leases run out, work is tried again, breakers let a probe
    through, memories expire, joins are made, alerts open and resolve. Heartbeats go by the machine's time: a lease that is to
    outlive the move must be as long.

    Example: ``clock.advance(timedelta(hours=1))``
    """
    request = post(PATH, {"advance_s": seconds(duration)}, wait_s=ADVANCE_S_MAX)
    # Sent again, it would move the clock again.
    document = yield from ask(replace(request, attempts_max=1))
    return _told(document)


def now(clock: Any) -> Operation[datetime]:
    """The server's time.

    Example: ``spine.send_handoff("coder", "Write it.", expires_at=clock.now() + timedelta(hours=1))``
    """
    return _told((yield from ask(get(PATH))))


def _told(document: Document) -> datetime:
    return moment(document["now"]) or datetime.max.replace(tzinfo=timezone.utc)


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a server of ``LocalServer.start(test_clock=True)``; the fixture ``memory_spine_clock`` is one.

    Example::

        def test_a_lost_worker(memory_spine, memory_spine_clock):
            memory_spine.send_handoff("coder", "Write it.")
            drop_receiver(lease=3600)(memory_spine, "coder")
            memory_spine_clock.advance(3700)
            assert [delivery.attempt for delivery in memory_spine.receive("coder", wait=0)] == [2]
    """

    owner: MemorySpine = field(repr=False)

    advance = blocking(advance)
    now = blocking(now)


@dataclass(frozen=True, slots=True)
class AsyncClock:
    """``Clock`` with ``await``; the fixture ``async_memory_spine_clock`` is one.

    Example: ``await AsyncClock(spine).advance(3600)``
    """

    owner: AsyncMemorySpine = field(repr=False)

    advance = awaited(advance)
    now = awaited(now)
