"""Degraded context: what is missing is flagged, looked up again, and the work goes on."""

from memory_spine import MemorySpine

spine = MemorySpine.local(agent="researcher")
known = spine.store("The gateway answers 503 when it is busy.")
spine.send_handoff("code-generator", f"Write the client, see {known.id}, ms-2 and ms-3.")
spine.store("Retry after the time in Retry-After.")
for delivery in spine.receive("code-generator", wait=60):
    with delivery as handoff:
        print("completeness:", round(handoff.completeness, 2), "gaps:", [gap.ref for gap in handoff.gaps])
        recovery = handoff.recover()
        print("recovered:", [memory.content for memory in recovery.memories])
        print("still missing:", [(gap.ref, gap.reason) for gap in recovery.gaps])
spine.close()
