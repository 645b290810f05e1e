"""Writes API.md from the docstrings: every public name, with its signature and its example.

python write_api.py
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import memory_spine
from memory_spine import testing

PAGE = Path(__file__).parent / "API.md"
GROUPS = {
    "Clients": ["MemorySpine", "HandoffClient", "Worker", "LocalServer"],
    "What clients give": ["Handoff", "Ticket", "Delivery", "Channel", "Publication", "Messages"],
}
HEAD = """# The Python API

Written from the docstrings by `python write_api.py`; a test fails when it is not. `AsyncMemorySpine`, `AsyncHandoffClient`,
`AsyncWorker`, `AsyncHandoff`, `AsyncTicket`, `AsyncDelivery`, `AsyncChannel`, `AsyncPublication` and `AsyncClock` have the same
names as what is here, with `await`, `async for` and `async with`.
"""


def page() -> str:
    """The whole page."""
    grouped = {name for names in GROUPS.values() for name in names}
    rest = [name for name in memory_spine.__all__ if name not in grouped and not name.startswith("Async")]
    errors = [name for name in rest if name.endswith("Error")]
    values = [name for name in rest if name not in errors]
    groups = {**GROUPS, "Values and functions": values, "Errors": errors}
    parts = [HEAD]
    for title, names in groups.items():
        parts += [f"## {title}\n", *(entry(name, getattr(memory_spine, name)) for name in names)]
    parts += [
        "## memory_spine.testing\n",
        *(entry(name, getattr(testing, name)) for name in testing.__all__ if not name.startswith("Async")),
    ]
    return "\n".join(parts)


def entry(name: str, value: Any) -> str:
    """One name, with what it has."""
    parts = [f"### {name}\n", *signature(name, value), text(value)]
    if inspect.isclass(value):
        parts += [f"#### {name}.{own}\n\n" + "\n".join([*signature(own, part), text(part)]) for own, part in members(value)]
    return "\n".join(parts)


def members(kind: type) -> list[tuple[str, Any]]:
    """The documented methods and properties of a class, its own and those of our classes that it builds on."""
    found = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("memory_spine"):
            found.update({name: part for name, part in vars(base).items() if is_shown(name, part)})
    return sorted(found.items())


def is_shown(name: str, part: Any) -> bool:
    """Whether a member is for users: reading a document is the package's own business."""
    documented = isinstance(part, (property, classmethod, staticmethod)) or inspect.isfunction(part)
    return documented and not name.startswith("_") and name not in ("read", "read_all", "owner", "is_of", "run")


def signature(name: str, value: Any) -> list[str]:
    """How it is called; nothing for what is not."""
    function = getattr(value, "__func__", value)
    if not inspect.isfunction(function):
        return []
    written = ", ".join(parameters(function))
    return [f"```python\n{name}({written})\n```\n"]


def parameters(function: Any) -> list[str]:
    """The parameters with their defaults; the types are in the package."""
    shown = [one for one in inspect.signature(function).parameters.values() if one.name not in _SELF]
    written = [written_parameter(one) for one in shown]
    first_named = next((index for index, one in enumerate(shown) if one.kind is one.KEYWORD_ONLY), None)
    if first_named is not None and not any(one.kind is one.VAR_POSITIONAL for one in shown):
        written.insert(first_named, "*")
    return written


def written_parameter(parameter: inspect.Parameter) -> str:
    """One parameter; a function as default by its name, since its address is another each time."""
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    if parameter.default is parameter.empty:
        return f"{stars}{parameter.name}"
    default = parameter.default
    return f"{parameter.name}={default.__name__ if inspect.isfunction(default) else repr(default)}"


_SELF = {"self", "cls", "client", "handoff", "delivery", "ticket", "channel", "publication", "clock"}


def text(value: Any) -> str:
    """The docstring, as Markdown."""
    doc = inspect.getdoc(value) or ""
    doc = doc.replace("``", "`")
    described, mark, example = doc.partition("Example::\n")
    if not mark:
        return described + "\n"
    return f"{described}```python\n{inspect.cleandoc(chr(10) + example)}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
