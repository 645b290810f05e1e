"""A kit to test your own agents with: a private server for each test run, scripted chains, faults, a clock.

The fixtures come with the package: ``memory_spine`` and ``async_memory_spine`` are clients of a private server, each in a
workspace of its own. A test that also takes ``memory_spine_clock`` (or ``async_memory_spine_clock``) has a server to itself, and
moves its time.

Example::

    from memory_spine.testing import chain

    def test_my_pipeline(memory_spine):
        chain(memory_spine).agent("writer", write).then("tester", test).run("Write a client, and test it.")
"""

from .chain import Chain, ChainBroken, Step, chain
from .clock import AsyncClock, Clock
from .faults import delay, drop_receiver, vanish

__all__ = ["AsyncClock", "Chain", "ChainBroken", "Clock", "Step", "chain", "delay", "drop_receiver", "vanish"]
