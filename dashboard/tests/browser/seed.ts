// The same story as the stand-in's, told to a real server over its API: a payment integration, a release, dead letters.

import { HOSTILE } from "../../mock/hostile.ts";
import { type Api, api, deadLetter, handOver, take } from "./page.ts";

const NOTES = [
  { title: "Rate limit of the payment gateway", content: "The gateway takes at most 100 requests a second per merchant. Above that it answers 429 with Retry-After.", tags: ["api", "payments"] },
  { title: "Idempotency of charges", content: "Every charge needs an Idempotency-Key; the gateway keeps it for 24 hours.", tags: ["api", "payments"] },
  { title: "Decision: no card numbers in our store", content: "Only tokens are stored. Card numbers never leave the browser.", tags: ["decision"], pinned: true },
  { title: "Webhook signatures", content: "Signed with HMAC-SHA256 over timestamp and body. Reject anything older than five minutes.", tags: ["api", "security"] },
  { title: "Staging credentials moved", content: "Staging uses the vault path payments/staging since last week.", tags: ["ops"] },
  { title: "Refund flow", content: "Refunds are asynchronous: create, then wait for the webhook refund.settled.", tags: ["payments"] },
  { title: "Error budget for May", content: "SLO 99.9 %, 21 minutes left this month.", tags: ["ops", "slo"] },
  { title: "Customer asked for SEPA", content: "SEPA direct debit next to cards, in time for the June billing run.", tags: ["request"] },
  { title: "A page that was scraped", content: HOSTILE.slice(0, 8).join("\n"), tags: ["untrusted"] },
];

/** Takes the next delivery of an agent, finishes it, and hands on in the same step if told to. */
async function work(spine: Api, agent: string, result: unknown, action: string, next?: { [name: string]: unknown }): Promise<void> {
  const held = await take(spine, agent);
  await spine.post(`/v1/deliveries/${held.id}/ack`, { lease: held.lease, result, action, ...(next ? { next } : {}) }, agent);
}

async function chain(spine: Api): Promise<void> {
  const constraints = { language: "python", security: "no plaintext credentials" };
  await handOver(spine, "researcher", "Find the gateway's limits, see ms-1, ms-4 and ms-404.", { intent: "Integrate the payment gateway.", constraints }, "analyst");
  await work(spine, "researcher", { findings: 2 }, "read the documentation", { target_agent: "code-generator", task_summary: "Write the client; keep to ms-1 and ms-2." });
  await work(spine, "code-generator", { files: 3 }, "wrote the client", { target_agent: "release-manager", task_summary: "Release the client to staging.", waive: { language: "the release scripts are in shell" } });
}

async function release(spine: Api): Promise<void> {
  for (const name of ["deploy-eu", "deploy-us"]) await spine.put(`/v1/channels/releases/subscribers/${name}`);
  const made = await spine.post("/v1/envelopes", { target_agent: "broadcast", task_summary: "Roll out version 7." }, "release-manager");
  await spine.post("/v1/channels/releases/publish", { envelope_id: made.id, join: { handoff: { target_agent: "auditor", task_summary: "Weigh both." } } }, "release-manager");
  await work(spine, "deploy-eu", { deployed: true }, "rolled out");
}

async function trouble(spine: Api): Promise<void> {
  const reason = "model endpoint answered 529: overloaded";
  for (let number = 1; number <= 3; number++) await deadLetter(spine, "translator", `Translate page ${number}.`, reason);
  for (let number = 1; number <= 4; number++) {
    const sent = await handOver(spine, "invoice-writer", `Write invoice ${number}.`, {}, "billing");
    await spine.post("/v1/parked", { envelope_id: sent.envelope, reason: "the billing run was wrong" }, "ada");
  }
  await handOver(spine, "invoice-writer", "Write invoice 5.", {}, "billing");
  await spine.put("/v1/agents/invoice-writer", { description: "Writes invoices from billing runs.", max_tokens: 8000, fallbacks: ["invoice-writer-eu"], policy: { attempts: 3 } });
  await spine.put("/v1/agents/invoice-writer/breaker", { state: "open" });
}

/** Fills the default workspace. */
export async function tell(): Promise<void> {
  const spine = await api("default");
  await spine.post("/v1/memories", { memories: NOTES }, "researcher");
  await spine.patch("/v1/memories/ms-1", { content: "The gateway takes at most 150 requests a second per merchant since May." });
  await chain(spine);
  await release(spine);
  await trouble(spine);
}
