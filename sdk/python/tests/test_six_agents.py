"""Six agents in six processes, and the telephone game does not happen.

The third reads version 1 only, the fourth hands on without saying from what, the fifth is killed in the middle of its work and
another process takes its place.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from memory_spine import MemorySpine

INTENT = "Integrate the payment gateway; never log a card number.\nAnd: keep the old API."
CONSTRAINTS = {"language": "python", "security": "no plaintext credentials", "deadline": "2027-01-30T00:00:00Z"}
AGENTS = ["one", "two", "three", "four", "five", "six"]

AGENT = """
import json, sys, time
from memory_spine import MemorySpine

endpoint, workspace, name, following, mode = sys.argv[1:]
spine = MemorySpine(endpoint, workspace=workspace)
versions = ("1",) if mode == "version-1" else ("2",)
for delivery in spine.receive(name, wait=60, accept_versions=versions, lease=2):
    with delivery as handoff:
        print("began", flush=True)
        if mode == "dies":
            time.sleep(600)
        history = [{"agent": name, "action": f"{name} did its part"}]
        if following == "-":
            print(json.dumps({"envelope": handoff.envelope, "attempt": delivery.attempt}), flush=True)
        elif mode == "explicit":
            handoff.next(following, f"Go on, {following}.", execution_history=history).send()
        else:
            spine.send_handoff(following, f"Go on, {following}.", execution_history=history)
        delivery.ack(f"{name} is done", action=f"{name} did its part")
"""


def agent(spine: MemorySpine, name: str, mode: str) -> subprocess.Popen[str]:
    index = AGENTS.index(name)
    following = AGENTS[index + 1] if index + 1 < len(AGENTS) else "-"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    command = [sys.executable, "-c", AGENT, spine.identity.endpoint, spine.identity.workspace, name, following, mode]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def finished(process: subprocess.Popen[str]) -> list[str]:
    output, _ = process.communicate(timeout=90)
    assert process.returncode == 0
    return output.splitlines()


def test_nothing_is_lost_over_six_processes(memory_spine: MemorySpine) -> None:
    memory_spine.store("The gateway answers 503 when it is busy.")
    modes = {
        "one": "explicit",
        "two": "explicit",
        "three": "version-1",
        "four": "without-parent",
        "five": "dies",
        "six": "explicit",
    }
    processes = {name: agent(memory_spine, name, mode) for name, mode in modes.items()}
    first = memory_spine.send_handoff("one", "Begin, see ms-1.", intent=INTENT, constraints=CONSTRAINTS)
    for name in AGENTS[:4]:
        finished(processes[name])
    dying = processes["five"]
    assert dying.stdout is not None
    assert dying.stdout.readline() == "began\n"
    dying.send_signal(signal.SIGKILL)
    dying.communicate()
    finished(agent(memory_spine, "five", "explicit"))
    last: dict[str, Any] = json.loads(finished(processes["six"])[-1])
    envelope = last["envelope"]
    assert envelope["task"]["intent"] == INTENT
    assert {one["name"]: one["value"] for one in envelope["constraints"]} == CONSTRAINTS
    steps = [entry["agent"] for entry in envelope["history"] if entry["action"].endswith("did its part")]
    assert list(dict.fromkeys(steps)) == AGENTS[:5]
    assert (envelope["hop"], envelope["root"]) == (6, first.handoff_id)
    assert "ms-1" in [memory["id"] for memory in envelope["memories"]]
    assert memory_spine.verify(first.handoff_id).intact
    states = [delivery["state"] for delivery in memory_spine.lineage(first.handoff_id).deliveries]
    assert states == ["done"] * 6
