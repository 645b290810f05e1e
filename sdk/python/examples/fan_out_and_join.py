"""Fan-out and join: several work in parallel; when all are done, one handoff with all of them as parents goes on."""

from memory_spine import Handoff, MemorySpine

spine = MemorySpine.local(agent="lead")


def work(handoff: Handoff) -> str:
    return f"{handoff.summary} Done."


workers = [spine.agent(name)(work) for name in ("code-generator", "test-writer")]
for worker in workers:
    worker.start()
task = spine.agent_handoff("broadcast", "Do your part.", intent="Integrate the payment gateway.")
spine.get_channel("gateway").publish(
    task,
    receivers=["code-generator", "test-writer"],
    join={"target_agent": "reviewer", "task_summary": "Review both.", "timeout": 60},
)
for delivery in spine.receive("reviewer", wait=60):
    with delivery as handoff:
        print("intent:", handoff.intent)
        print("parents:", len(handoff.envelope["parents"]), "hop:", handoff.hop)
for worker in workers:
    worker.stop()
spine.close()
