"""A chain of scripted agents, and what must survive it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from .._objects import Delivery, Handoff
from .._values import Document, Duration, Json
from ..client import MemorySpine
from .faults import Fault

Script: TypeAlias = Callable[[Handoff], Any]
WAIT_S = 60


class ChainBroken(AssertionError):
    """Something got lost on the way. Its text shows what, as a difference. Example: ``with pytest.raises(ChainBroken): ...``."""


@dataclass(frozen=True, slots=True)
class Step:
    """One agent of a chain, and what it saw. Example: ``chain.run("…")[-1].handoff.history``."""

    agent: str
    handoff: Handoff
    rendered: str
    result: Json
    attempt: int


@dataclass(slots=True)
class Chain:
    """Agents one after the other, each with a script. Made by ``chain(spine)``; see there."""

    spine: MemorySpine
    _steps: list[tuple[str, Script, Fault | None]] = field(default_factory=list[tuple[str, Script, "Fault | None"]])
    _facts: list[str] = field(default_factory=list[str])

    def agent(self, name: str, script: Script, *, fault: Fault | None = None) -> Chain:
        """The first agent; its script gets the handoff and gives back the result.

        Example: ``chain(spine).agent("writer", lambda handoff: "written")``
        """
        self._steps.append((name, script, fault))
        return self

    def then(self, name: str, script: Script, *, fault: Fault | None = None) -> Chain:
        """The next agent. A script that hands on to it by itself may; else the chain hands on the result as the summary.

        Example: ``.then("tester", lambda handoff: "tested")``
        """
        return self.agent(name, script, fault=fault)

    def needs(self, *facts: str) -> Chain:
        """Texts that every agent must find in what it is given.

        Example: ``.needs("at most 100 requests a second")``
        """
        self._facts += facts
        return self

    def run(self, intent: str, *, constraints: Mapping[str, Json] | None = None, **options: Any) -> list[Step]:
        """Drives the chain from this request on, and checks each handoff on its way.

        Example: ``steps = chain(spine).agent("a", write).run("Write a client.", constraints={"language": "python"})``
        """
        if not self._steps:
            raise ValueError("a chain has at least one agent: add one with .agent(name, script)")
        first = self._steps[0][0]
        self.spine.send_handoff(first, intent, intent=intent, constraints=constraints, **options)
        done: list[Step] = []
        for index, (name, script, fault) in enumerate(self._steps):
            if fault is not None:
                fault(self.spine, name)
            following = self._steps[index + 1][0] if index + 1 < len(self._steps) else None
            step = self._play(name, script, following)
            check(step, intent, constraints or {}, self._facts, done)
            done.append(step)
        return done

    def _play(self, name: str, script: Script, following: str | None, wait: Duration = WAIT_S) -> Step:
        for delivery in self.spine.receive(name, wait=wait):
            with delivery as handoff:
                rendered = handoff.render("markdown")
                result = script(handoff)
                self._hand_on(delivery, handoff, result, following)
            return Step(name, handoff, rendered, result, delivery.attempt)
        raise ChainBroken(f"nothing came to {name} within {wait} s: the agent before it did not hand on")

    def _hand_on(self, delivery: Delivery, handoff: Handoff, result: Json, following: str | None) -> None:
        """In the name of the agent, with what it did as a step of the history."""
        action = _summary(result)
        if following is None or self._went_on(handoff, following):
            delivery.ack(result, action=action)
            return
        history = [{"agent": delivery.agent, "action": action}]
        next = {"target_agent": following, "task_summary": action, "execution_history": history}
        delivery.ack(result, action=action, next=next)

    def _went_on(self, handoff: Handoff, following: str) -> bool:
        """Whether the script has handed on by itself."""
        envelopes = self.spine.lineage(handoff).envelopes
        parents = [(one["target"], [parent["id"] for parent in one["parents"]]) for one in envelopes]
        return any(target == following and handoff.id in ids for target, ids in parents)


def chain(spine: MemorySpine) -> Chain:
    """A chain of scripted agents on this server.

    Drives them through a whole pipeline, and raises ``ChainBroken`` with a readable difference when intent, constraints, history
    or a needed fact does not reach one of them.

    Example::

        steps = chain(spine).agent("writer", write).then("tester", test).needs("100 requests").run("Write a client.")
        assert steps[-1].result == "tested"
    """
    return Chain(spine)


def check(step: Step, intent: str, constraints: Mapping[str, Json], facts: Sequence[str], before: Sequence[Step]) -> None:
    """Raises ``ChainBroken`` if something did not reach this step."""
    handoff = step.handoff
    _same(step, "intent", intent, handoff.intent)
    wanted = {name: value for name, value in constraints.items() if name != "max_tokens"}
    _same(step, "constraints", wanted, {name: handoff.constraints.get(name) for name in wanted})
    _same(step, "history", [_name(one.agent) for one in before], _agents_in(handoff.history, before))
    found = step.rendered + json.dumps(handoff.envelope, ensure_ascii=False)
    missing = [fact for fact in facts if fact not in found]
    if missing:
        raise ChainBroken(f"{step.agent} was not given {_shown(missing)}; it read:\n{step.rendered}")


def _agents_in(history: Sequence[Document], before: Sequence[Step]) -> list[str]:
    """Those of the agents before, in order, that the history names."""
    named = {entry["agent"] for entry in history}
    return [_name(step.agent) for step in before if step.agent in named]


def _name(agent: str) -> str:
    return f"{agent} is in the history"


def _same(step: Step, what: str, wanted: Json, found: Json) -> None:
    if wanted == found:
        return
    lines = difflib.unified_diff(
        _shown(wanted).splitlines(), _shown(found).splitlines(), "as it began", f"as {step.agent} got it", lineterm=""
    )
    raise ChainBroken(f"the {what} did not reach {step.agent} as it began:\n" + "\n".join(lines))


def _shown(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)


def _summary(result: Json) -> str:
    return result if isinstance(result, str) and result else f"Go on with: {json.dumps(result, default=str)}"
