"""Lazy loading: only references travel; the receiver fetches what it needs, in its newest version."""

from memory_spine import MemorySpine

spine = MemorySpine.local(agent="researcher")
memory = spine.store("The gateway takes at most 100 requests a second.", title="Rate limit")
spine.send_handoff("code-generator", f"Write the client, see {memory.id}.", strategy="lazy")
spine.update(memory.id, content="The gateway takes at most 200 requests a second.")
for delivery in spine.receive("code-generator", wait=60):
    with delivery as handoff:
        fetched = handoff.fetch(memory.id)
        print(fetched.content)
        print("another version than the one packed:", fetched.changed)
spine.close()
