"""The API's documentation: written from the docstrings, and its examples name what there is."""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import memory_spine
from memory_spine import testing

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE))
import write_api  # noqa: E402

NAMED: dict[str, list[type]] = {
    "spine": [memory_spine.MemorySpine, memory_spine.AsyncMemorySpine],
    "handoff": [memory_spine.Handoff],
    "ticket": [memory_spine.Ticket],
    "delivery": [memory_spine.Delivery],
    "channel": [memory_spine.Channel],
    "publication": [memory_spine.Publication],
    "parked": [memory_spine.Parked],
    "messages": [memory_spine.Messages],
    "gap": [memory_spine.Gap],
    "finding": [memory_spine.Finding],
    "server": [memory_spine.LocalServer],
    "work": [memory_spine.Worker],
    "memory": [memory_spine.Memory],
    "clock": [testing.Clock],
    "error": [kind for kind in vars(memory_spine.errors).values() if inspect.isclass(kind)],
}
"""What the variables of the examples stand for."""


def documented() -> Iterator[tuple[str, str]]:
    """Every docstring of the public surface, with whose it is."""
    for module in (memory_spine, testing):
        yield module.__name__, module.__doc__ or ""
        for name in module.__all__:
            value = getattr(module, name)
            yield name, inspect.getdoc(value) or ""
            if inspect.isclass(value):
                yield from ((f"{name}.{own}", inspect.getdoc(part) or "") for own, part in write_api.members(value))


def examples() -> list[tuple[str, str]]:
    found = []
    for owner, doc in documented():
        block = re.search(r"Example::\n\n((?:    .*\n?|\n)+)", doc)
        code = textwrap.dedent(block[1]) if block else None
        inline = re.search(r"Example: ``(.+?)``", doc)
        code = code or (inline[1] if inline else None)
        if code is not None:
            found.append((owner, code))
    return found


def parsed(code: str) -> ast.Module:
    """An example may be the head of a statement, and may leave out what is the reader's."""
    code = code.replace("model=…, max_tokens=…", "model='', max_tokens=1")
    if code.startswith("except "):
        code = f"try: ...\n{code}" if code.rstrip().endswith(("return", "…)", ")")) else f"try: ...\n{code}: ..."
    if code.startswith("."):
        code = f"chain{code}"
    if re.match(r"\w+=", code):
        code = f"dict({code})"
    return ast.parse(code)


def unknown(tree: ast.Module) -> list[str]:
    """Attributes of the examples' variables that do not exist."""
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)]
    return [f"{n.value.id}.{n.attr}" for n in named if n.value.id in NAMED and not has(NAMED[n.value.id], n.attr)]  # type: ignore[attr-defined]


def has(kinds: list[type], name: str) -> bool:
    fields: set[str] = set()
    for kind in kinds:
        fields |= set(dir(kind)) | set(getattr(kind, "__dataclass_fields__", ()))
    return name in fields | {"system", "detail", "problem"}


@pytest.mark.parametrize(("owner", "code"), examples(), ids=lambda value: value if "\n" not in value and len(value) < 40 else "")
def test_an_example_names_what_there_is(owner: str, code: str) -> None:
    assert unknown(parsed(code)) == []


def test_a_name_that_does_not_exist_is_found() -> None:
    assert unknown(parsed("spine.sendas_handoff('tester').wait(); handoff.render()")) == ["spine.sendas_handoff"]


def test_there_are_examples() -> None:
    assert len(examples()) > 120


def test_the_page_is_what_the_docstrings_say() -> None:
    assert (HERE / "API.md").read_text(encoding="utf-8") == write_api.page(), "run `python write_api.py`"
