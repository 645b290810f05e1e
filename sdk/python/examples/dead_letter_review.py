"""Dead letters: what nobody accepts is parked for a person, who sends it to somebody else."""

from memory_spine import HandoffClient, HandoffError, MemorySpine

spine = MemorySpine.local(agent="analyst")
handoff = spine.agent_handoff("code-generator", "Write the client.")
try:
    HandoffClient(spine, max_retries=2, timeout=0.5).send_handoff(handoff, "code-generator")
except HandoffError as error:
    print("not accepted:", error.detail)
for parked in spine.parked(target="code-generator"):
    print("parked:", parked.reasons[-1])
    spine.requeue(parked.id, target="senior-generator")
for delivery in spine.receive("senior-generator", wait=60):
    with delivery as received:
        print("in the end:", received.summary, "by", delivery.agent)
spine.close()
