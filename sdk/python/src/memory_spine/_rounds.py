"""How often a finite receive asks."""

from __future__ import annotations

from collections.abc import Callable

WAIT_S_MAX = 60.0
LISTEN_WAIT_S = 2.0
"""One question of an endless receive: short, so that a worker that is told to stop does so soon and loses nothing."""


class Rounds:
    """Counts what was received, and the time. The first question is always asked."""

    def __init__(self, max_messages: int, wait_s: float, clock: Callable[[], float]) -> None:
        self.left = max_messages
        self._clock = clock
        self._end = clock() + wait_s
        self._asked = False

    def goes_on(self) -> bool:
        """Whether to ask (again)."""
        return self.left > 0 and (not self._asked or self._clock() < self._end)

    def wait_s(self) -> float:
        """How long the next question may wait."""
        self._asked = True
        return min(WAIT_S_MAX, max(0.0, self._end - self._clock()))

    def count(self, received: int) -> None:
        """So many came."""
        self.left -= received


def never() -> bool:
    """When an endless receive stops by itself."""
    return False
