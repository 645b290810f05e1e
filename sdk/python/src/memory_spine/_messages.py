"""A rendering as chat messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]

_MEMORIES_HEADING = "## Memories"
_NO_MEMORIES = "There are no memories with this task."


class Messages(list[Message]):
    """Chat messages; ``system`` holds the rules where an API takes them beside the messages.

    Example::

        messages = handoff.messages("anthropic")
        client.messages.create(model=…, max_tokens=…, system=messages.system, messages=messages)
    """

    def __init__(self, messages: Iterable[Message], system: str | None = None) -> None:
        super().__init__(messages)
        self.system = system


def as_messages(markdown: str, style: str) -> Messages:
    """Rules in one place, texts from elsewhere in another."""
    rules, data = split_at_memories(markdown)
    user: Message = {"role": "user", "content": data or _NO_MEMORIES}
    if style == "openai":
        return Messages([{"role": "system", "content": rules}, user])
    if style == "anthropic":
        return Messages([user], system=rules)
    raise ValueError(f"{style!r} is no style of messages: give 'openai' or 'anthropic'")


def split_at_memories(markdown: str) -> tuple[str, str]:
    """What comes before the memories, and the rest. A heading inside a fence is somebody's text."""
    lines = markdown.splitlines(keepends=True)
    fence = ""
    for index, line in enumerate(lines):
        ticks = line[: len(line) - len(line.lstrip("`"))]
        if fence:
            fence = "" if line.strip() == fence else fence
        elif len(ticks) >= 3:
            fence = ticks
        elif line.rstrip() == _MEMORIES_HEADING:
            return "".join(lines[:index]), "".join(lines[index:])
    return markdown, ""
