// A whole handoff between two agents, each behind the official TypeScript client of MCP.
//
//   handoff.js http URL              a server that runs
//   handoff.js stdio PROGRAM DATA    nobody has started one

import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const INTENT = "Build me a client for the payment gateway — mit Umlauten: äöü.";
const [way, place, data] = process.argv.slice(2);

function transport(agent) {
  if (way === "http") {
    return new StreamableHTTPClientTransport(new URL(`${place}/mcp?agent=${agent}`));
  }
  const args = ["--data", data, "mcp", "--agent", agent];
  // Its server does not outlive the test for long.
  return new StdioClientTransport({ command: place, args, env: { MEMORY_SPINE_IDLE_EXIT_S: "5" } });
}

async function connect(agent) {
  const client = new Client({ name: "handoff", version: "1" });
  await client.connect(transport(agent));
  return client;
}

async function call(client, name, args, options) {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  assert.ok(!result.isError, JSON.stringify(result));
  return result.structuredContent;
}

const lead = await connect("lead-ts");
const coder = await connect("coder-ts");
const tools = (await lead.listTools()).tools.map((tool) => tool.name);
for (const name of ["memory_store", "handoff_send", "handoff_receive"]) assert.ok(tools.includes(name), name);

// A call that is called off takes nothing.
const calledOff = new AbortController();
const idle = call(coder, "handoff_receive", { wait_s: 40 }, { signal: calledOff.signal });
await coder.listTools();
calledOff.abort("no longer wanted");
await assert.rejects(idle, /no longer wanted/);

const note = await call(lead, "memory_store", { content: "The gateway takes 100 requests a second." });
const sent = await call(lead, "handoff_send", {
  target_agent: "coder-ts",
  task_summary: `Write the client; keep to ${note.id}.`,
  intent: INTENT,
  constraints: { language: "rust" },
});
const delivery_id = sent.delivery.delivery_id;

const taken = await call(coder, "handoff_receive", { wait_s: 20 });
assert.equal(taken.delivery_id, delivery_id, JSON.stringify(taken));
for (const part of [INTENT, "100 requests a second", "rust"]) assert.ok(taken.text.includes(part), taken.text);
await call(coder, "handoff_progress", { delivery_id, note: "half of it", percent: 50 });
const done = await call(coder, "handoff_complete", {
  delivery_id,
  result: { lines: 120 },
  action: "wrote the client",
  next: { target_agent: "tester-ts", task_summary: "Test the client." },
});
assert.equal(done.state, "done");

const status = JSON.stringify(await call(lead, "handoff_status", { delivery_id, wait_s: 20 }));
assert.ok(status.includes("120") && status.includes("done"), status);
await lead.close();
await coder.close();

const tester = await connect("tester-ts");
const next = await call(tester, "handoff_receive", { wait_s: 20 });
for (const part of [INTENT, "rust", "wrote the client"]) assert.ok(next.text.includes(part), next.text);
await tester.close();
console.log(`${way}: done`);
