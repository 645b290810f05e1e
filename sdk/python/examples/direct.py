"""Direct: the sender waits until the receiver has accepted the work, then until it is done."""

from memory_spine import Handoff, MemorySpine

spine = MemorySpine.local(agent="analyst")
note = spine.store("The gateway takes at most 100 requests a second.", title="Rate limit")


@spine.agent("code-generator")
def generate(handoff: Handoff) -> dict[str, str]:
    return {"code": "# retries, in " + handoff.constraints["language"]}


generate.start()
handoff = spine.agent_handoff(
    "code-generator",
    f"Write the retry logic; keep to {note.id}.",
    intent="Integrate the payment gateway.",
    constraints={"language": "python"},
)
print("tokens:", handoff.token_count, "memories:", handoff.memory_refs)
print("accepted by:", spine.deliver_handoff(handoff, timeout=15).agent)
print("result:", spine.deliver_handoff(handoff, timeout=60, wait_for="done").result)
generate.stop()
spine.close()
