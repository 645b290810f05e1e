"""The delivery that is being handled here and now: what is handed on has it as parent by itself."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar, final

if TYPE_CHECKING:
    from ._records import DeliveryRecord

P = ParamSpec("P")
T = TypeVar("T")

_handled: contextvars.ContextVar[DeliveryRecord | None] = contextvars.ContextVar("memory_spine_delivery", default=None)


@final
class Current:
    """The type of ``CURRENT``."""

    def __repr__(self) -> str:
        return "CURRENT"


CURRENT: Final = Current()
"""The envelope of the delivery that is being handled; none outside of one. Example: ``parent=CURRENT``, the default."""


def current_delivery() -> Any:
    """The delivery that is being handled in this thread or task: a ``Delivery``, an ``AsyncDelivery``, or None.

    Example::

        @spine.agent("code-generator")
        def work(handoff):
            current_delivery().progress("half way", percent=50)
    """
    return _handled.get()


def handle(delivery: DeliveryRecord | None) -> DeliveryRecord | None:
    """Makes a delivery the one being handled; gives the one before."""
    before = _handled.get()
    _handled.set(delivery)
    return before


def carry(function: Callable[P, T]) -> Callable[P, T]:
    """The function, run where the delivery of this moment is the current one, in whatever thread it is called.

    ``asyncio`` tasks and ``asyncio.to_thread`` need nothing; a plain thread starts with an empty context.

    Example::

        with delivery as handoff:
            pool.submit(carry(research), handoff)
    """
    context = contextvars.copy_context()

    def carried(*args: P.args, **kwargs: P.kwargs) -> T:
        return context.copy().run(function, *args, **kwargs)

    return carried
