"""From an operation to a method: one for the client that blocks, one for the client that is awaited.

Signature and documentation are the operation's own; its first argument is what the method is called on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from ._effects import Operation

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Method(Protocol[P, T_co]):
    """A function in a class."""

    def __get__(self, instance: object, owner: type | None = None) -> Callable[P, T_co]:
        """The method of an instance."""
        ...


def blocking(operation: Callable[Concatenate[Any, P], Operation[T]]) -> Method[P, T]:
    """The method that runs an operation to its end."""

    @wraps(operation)
    def method(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:
        result: T = self.owner.run(operation(self, *args, **kwargs))
        return result

    return cast("Method[P, T]", method)


def blocking_as(make: Callable[[R], T], operation: Callable[Concatenate[Any, P], Operation[R]]) -> Method[P, T]:
    """The same, for a record that gets methods of its own."""

    @wraps(operation)
    def method(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:
        return make(self.owner.run(operation(self, *args, **kwargs)))

    return cast("Method[P, T]", method)


def awaited(operation: Callable[Concatenate[Any, P], Operation[T]]) -> Method[P, Awaitable[T]]:
    """The method that is awaited."""

    @wraps(operation)
    async def method(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:
        result: T = await self.owner.run(operation(self, *args, **kwargs))
        return result

    return cast("Method[P, Awaitable[T]]", method)


def awaited_as(make: Callable[[R], T], operation: Callable[Concatenate[Any, P], Operation[R]]) -> Method[P, Awaitable[T]]:
    """The same, for a record that gets methods of its own."""

    @wraps(operation)
    async def method(self: Any, *args: P.args, **kwargs: P.kwargs) -> T:
        return make(await self.owner.run(operation(self, *args, **kwargs)))

    return cast("Method[P, Awaitable[T]]", method)
