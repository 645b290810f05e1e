"""A whole handoff between two agents, each behind the official Python client of MCP.

    handoff.py http URL              a server that runs
    handoff.py stdio PROGRAM DATA    nobody has started one
"""

import asyncio
import sys

from mcp import Client, StdioServerParameters

# The revision without sessions, the ones with, and whatever the client finds by itself.
MODES = ["2026-07-28", "legacy", "auto"]
INTENT = "Build me a client for the payment gateway — mit Umlauten: äöü."


def connect(arguments, agent, mode):
    match arguments:
        case ["http", url]:
            return Client(f"{url}/mcp?agent={agent}", mode=mode)
        case ["stdio", program, data]:
            command = ["--data", data, "mcp", "--agent", agent]
            # Its server does not outlive the test for long.
            environment = {"MEMORY_SPINE_IDLE_EXIT_S": "5"}
            server = StdioServerParameters(command=program, args=command, env=environment)
            return Client(server, mode=mode)
        case _:
            sys.exit(__doc__)


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return result.structured_content


async def refused(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    return result.content[0].text


async def send(lead, coder_name):
    note = await call(lead, "memory_store", content="The gateway takes 100 requests a second.")
    sent = await call(
        lead,
        "handoff_send",
        target_agent=coder_name,
        task_summary=f"Write the client; keep to {note['id']}.",
        intent=INTENT,
        constraints={"language": "rust"},
    )
    assert sent["completeness"] == 1, sent
    return sent["delivery"]["delivery_id"]


async def work(coder, delivery, tester_name):
    taken = await call(coder, "handoff_receive", wait_s=20)
    assert taken["delivery_id"] == delivery, taken
    for part in (INTENT, "100 requests a second", "rust"):
        assert part in taken["text"], (part, taken["text"])
    await call(coder, "handoff_progress", delivery_id=delivery, note="half of it", percent=50)
    done = await call(
        coder,
        "handoff_complete",
        delivery_id=delivery,
        result={"lines": 120},
        action="wrote the client",
        next={"target_agent": tester_name, "task_summary": "Test the client."},
    )
    assert done["state"] == "done" and done["next"], done


async def handoff(arguments, mode):
    lead_name, coder_name, tester_name = (f"{name}-{mode}" for name in ("lead", "coder", "tester"))
    async with connect(arguments, lead_name, mode) as lead, connect(arguments, coder_name, mode) as coder:
        tools = {tool.name for tool in (await lead.list_tools()).tools}
        assert {"memory_store", "handoff_send", "handoff_receive"} <= tools, tools
        # The receiver waits before there is anything.
        waiting = asyncio.create_task(coder.call_tool("handoff_receive", {"wait_s": 0.5}))
        assert (await waiting).structured_content["received"] is False
        delivery = await send(lead, coder_name)
        await work(coder, delivery, tester_name)
        status = await call(lead, "handoff_status", delivery_id=delivery, wait_s=20)
        assert "120" in str(status) and "done" in str(status), status
        said = await refused(coder, "handoff_complete", delivery_id=delivery.replace("dlv_0", "dlv_1"), result=1)
        assert "does not exist" in said, said
    async with connect(arguments, tester_name, mode) as tester:
        taken = await call(tester, "handoff_receive", wait_s=20)
        for part in (INTENT, "rust", "wrote the client"):
            assert part in taken["text"], (part, taken["text"])
        print(f"{arguments[0]} {mode}: {tester.protocol_version}, done")


async def main():
    for mode in MODES:
        await asyncio.wait_for(handoff(sys.argv[1:], mode), timeout=120)


asyncio.run(main())
