"""A kit to test your own agents with: a private server for each test run, scripted chains, faults.

The fixtures come with the package: ``memory_spine`` and ``async_memory_spine`` are clients of a private server, each in a
workspace of its own.

Example::

    from memory_spine.testing import chain

    def test_my_pipeline(memory_spine):
        chain(memory_spine).agent("writer", write).then("tester", test).run("Write a client, and test it.")
"""

from .chain import Chain, ChainBroken, Step, chain
from .faults import delay, drop_receiver, vanish

__all__ = ["Chain", "ChainBroken", "Step", "chain", "delay", "drop_receiver", "vanish"]
