"""Every example, and the README's, run as they are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
EXPECTED = {
    "direct": ["accepted by: code-generator", "result: {'code': '# retries, in python'}"],
    "broadcast": ["'doc-writer': 'done'", "code-generator → code-generator has read"],
    "choreographed": ["hop: 2", "intent: Integrate the gateway.", "constraints: {'language': 'python'}", "'wrote the client'"],
    "lazy_loading": ["at most 200 requests", "another version than the one packed: True"],
    "degraded_context": ["completeness: 0.33", "recovered: ['Retry after", "('ms-3', 'not_found')"],
    "dead_letter_review": ["not accepted:", "parked: nobody accepted it", "by senior-generator"],
    "fan_out_and_join": ["intent: Integrate the payment gateway.", "parents: "],
}


def run(*command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(HERE / "src"), "PYTHONIOENCODING": "utf-8"}
    ran = subprocess.run([sys.executable, *command], capture_output=True, text=True, timeout=120, env=environment)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("example", sorted(path.stem for path in (HERE / "examples").glob("*.py")))
def test_an_example_runs_as_it_is(example: str) -> None:
    printed = run(str(HERE / "examples" / f"{example}.py"))
    for text in EXPECTED[example]:
        assert text in printed, printed


def test_the_readme_runs_as_it_is() -> None:
    program = re.search(r"```python\n(.*?)```", (HERE / "README.md").read_text(), re.DOTALL)
    assert program is not None
    assert "# Handoff from researcher to code-generator" in run("-c", program[1])
