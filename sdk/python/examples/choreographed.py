"""Choreographed: each receiver hands on to the next. Intent, constraints and history go along by themselves."""

from memory_spine import Handoff, MemorySpine

spine = MemorySpine.local(agent="analyst")


@spine.agent("writer")
def write(handoff: Handoff) -> str:
    # No parent is named: what is handed on inside a delivery follows from it.
    spine.send_handoff("tester", "Test the client.", execution_history=[{"agent": "writer", "action": "wrote the client"}])
    return "written"


write.start()
spine.send_handoff("writer", "Write the client.", intent="Integrate the gateway.", constraints={"language": "python"})
for delivery in spine.receive("tester", wait=60):
    with delivery as handoff:
        print("hop:", handoff.hop)
        print("intent:", handoff.intent)
        print("constraints:", handoff.constraints)
        print("history:", [(step["agent"], step["action"]) for step in handoff.history])
write.stop()
spine.close()
