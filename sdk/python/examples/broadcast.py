"""Broadcast: one envelope for several receivers, each on its own."""

from memory_spine import Handoff, MemorySpine, current_delivery

RECEIVERS = ["code-generator", "test-writer", "doc-writer"]

spine = MemorySpine.local(agent="researcher")


def read(handoff: Handoff) -> str:
    delivery = current_delivery()
    return f"{delivery.agent if delivery else 'nobody'} has read: {handoff.summary}"


workers = [spine.agent(name)(read) for name in RECEIVERS]
for worker in workers:
    worker.start()
findings = spine.agent_handoff("broadcast", "Research on the OAuth 2.1 migration is complete.")
publication = spine.get_channel("oauth-migration").publish(findings, receivers=RECEIVERS)
publication = publication.wait(60)
print(publication.status)
for name, result in publication.results().items():
    print(name, "→", result)
for worker in workers:
    worker.stop()
spine.close()
