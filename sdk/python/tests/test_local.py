"""A private server ends with the process that started it, however that ends; given data stay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from memory_spine import LocalServer, MemorySpine, UnavailableError

KILLED = """
import os, signal
from memory_spine import MemorySpine
print(MemorySpine.local().identity.endpoint, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_server_ends_with_a_process_that_is_killed() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    process = subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True, env=environment)
    # The server has the same pipe: its end is when the last of them has gone.
    printed, _ = process.communicate(timeout=60)
    with pytest.raises(httpx.ConnectError):
        httpx.get(printed.strip() + "/healthz")


def test_given_data_are_there_again(tmp_path: Path) -> None:
    with MemorySpine.local(tmp_path) as spine:
        spine.store("It stays.")
    with MemorySpine.local(tmp_path) as spine:
        assert spine.get("ms-1").content == "It stays."


def test_a_server_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="did not start"):
        LocalServer.start(tmp_path, binary="/bin/false")
