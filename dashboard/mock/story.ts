// A night's worth of work for the default workspace: a payment integration, a release that goes wrong, dead letters.

import type { Delivery } from "../src/api/types.ts";
import { HOSTILE } from "./hostile.ts";
import type { World } from "./world.ts";

const MINUTE = 60_000;

const NOTES: [string, string, string[]][] = [
  [
    "Rate limit of the payment gateway",
    "The gateway takes at most 100 requests a second per merchant. Above that it answers 429 with Retry-After. Bursts of 20 are tolerated.",
    ["api", "payments"],
  ],
  [
    "Idempotency of charges",
    "Every charge needs an Idempotency-Key; the gateway keeps it for 24 hours. A repeated key with another amount answers 409.",
    ["api", "payments"],
  ],
  [
    "Decision: no card numbers in our store",
    "Only tokens are stored. The compliance team signed this off on the 3rd; card numbers never leave the browser.",
    ["decision", "compliance"],
  ],
  [
    "Webhook signatures",
    "Signed with HMAC-SHA256 over timestamp and body. Reject anything older than five minutes.",
    ["api", "security"],
  ],
  [
    "Staging credentials moved",
    "Staging uses the vault path payments/staging since last week; the old path is empty.",
    ["ops"],
  ],
  [
    "Refund flow",
    "Refunds are asynchronous: create, then wait for the webhook refund.settled. Partial refunds need the line item ids.",
    ["payments"],
  ],
  [
    "Error budget for May",
    "SLO 99.9 %, 21 minutes left this month. Releases need an approval below 10 minutes.",
    ["ops", "slo"],
  ],
  [
    "Customer asked for SEPA",
    "Subject user:123 wants SEPA direct debit next to cards, in time for the June billing run.",
    ["request"],
  ],
];

function work(
  world: World,
  { agent, id }: Delivery,
  result: { [name: string]: string | number | boolean },
  action: string,
) {
  const taken = world.lease(agent, `${agent}-7f9c`, id);
  if (!taken) return null;
  world.accept(taken.delivery);
  return world.end(taken.delivery, "done", "done", { action, why: "as asked" }, result);
}

function memories(world: World): void {
  for (const [title, content, tags] of NOTES)
    world.store(
      { title, content, tags, thread: "payments", kind: "note", pinned: title.startsWith("Decision") },
      "researcher",
    );
  world.update("ms-1", {
    content: `${NOTES[0]?.[1]}\nSince 1 May: 150 requests a second for merchants with a signed agreement.`,
  });
  world.store(
    {
      title: "A page that was scraped",
      content: HOSTILE.slice(0, 6).join("\n"),
      tags: ["untrusted"],
      kind: "document",
    },
    "crawler",
  );
  world.store(
    { title: "invoice\u202Efdp.exe", content: HOSTILE.slice(120, 126).join("\n"), tags: ["untrusted"] },
    "crawler",
  );
  for (let i = 0; i < 400; i++)
    world.store(
      {
        content: `Run ${1000 + i}: ${["build passed", "tests passed", "deploy to staging", "smoke test"][i % 4]} in ${20 + ((i * 7) % 90)} s`,
        kind: "log",
        thread: `run-${1000 + i}`,
      },
      "ci",
    );
}

/** Fan-out to three reviewers, joined again. */
function fanOut(world: World): void {
  const intent =
    "Integrate the payment gateway so that customers can pay by card and by SEPA, before the June billing run.";
  const first = world.assemble(
    {
      target_agent: "researcher",
      task_summary: "Find out what the gateway asks of us: limits, signatures, refunds.",
      intent,
      constraints: { language: "python", "no card numbers": true, deadline: "2026-05-28" },
      memory_refs: ["ms-1", "ms-2"],
    },
    "analyst",
  );
  work(world, world.send(first, {}), { findings: 6 }, "gathered the gateway's documentation");
  const second = world.assemble(
    {
      parent: first.id,
      target_agent: "code-generator",
      task_summary: "Write the client from the findings in ms-1 to ms-4. Keep to the limits.",
      memory_refs: ["ms-1", "ms-2", "ms-3", "ms-4", "ms-9999"],
      state: {
        progress: ["documentation read"],
        decisions: [{ what: "one client for cards and SEPA", why: "the flows share tokens", by: "researcher" }],
        remaining: ["client", "review", "release"],
      },
      execution_history: [
        { agent: "researcher", action: "gathered API docs", why: "the wiki is stale", memory_id: "ms-1", hop: 1 },
      ],
      max_tokens: 600,
    },
    "researcher",
  );
  work(world, world.send(second, { fallbacks: ["code-generator-eu"] }), { files: 7, tests: 31 }, "wrote the client");
  const reviews = ["security-reviewer", "api-reviewer", "cost-reviewer"].map((target, index) => {
    const one = world.assemble(
      {
        parent: second.id,
        target_agent: target,
        task_summary:
          [
            "Look for secrets, replay and signature mistakes.",
            "Compare every call with the gateway's documentation.",
            "Estimate calls per billing run and what they cost.",
          ][index] ?? "",
        memory_refs: ["ms-1", "ms-4"],
        ...(index === 2 ? { waive: { deadline: "cost estimates may come after the release" } } : {}),
      },
      "code-generator",
    );
    const sent = world.send(one, {});
    if (index < 2) work(world, sent, { approved: index === 0, remarks: index }, "reviewed");
    return one;
  });
  const join = world.assemble(
    {
      parents: reviews.map((one) => one.id),
      target_agent: "release-manager",
      task_summary: "Weigh the three reviews and release, or send it back with reasons.",
      memory_refs: ["ms-7"],
      state: {
        progress: ["two of three reviews are in"],
        open_questions: [{ question: "Is 21 minutes of error budget enough?", answer: null }],
      },
    },
    "code-generator",
  );
  const taken = world.lease("release-manager", "release-manager-2", world.send(join, {}).id);
  if (taken)
    world.change(world.accept(taken.delivery), "progress", {
      progress: [{ at: world.now(), note: "two reviews read", percent: 60 }],
    });
}

const REASONS = [
  "connection refused by the tool server",
  "model endpoint answered 529: overloaded",
  "result did not fit the schema: /total is missing",
  "worker was killed while at work",
  "context of 12 204 tokens does not fit 8 192",
];

function failures(world: World, minutesAgo: (minutes: number) => void): void {
  for (let i = 0; i < 46; i++) {
    minutesAgo(52 - i);
    const envelope = world.assemble(
      {
        target_agent: i % 3 ? "invoice-writer" : "translator",
        task_summary: `Write invoice ${4100 + i} for the May run.`,
        memory_refs: i % 5 ? ["ms-6"] : ["ms-6", "ms-7777"],
      },
      "billing",
    );
    const delivery = world.send(envelope, {});
    const reason = REASONS[i % REASONS.length] ?? "";
    for (let attempt = 0; attempt < 3; attempt++) {
      const taken = i % 4 ? world.lease(delivery.agent, `${delivery.agent}-${attempt}`, delivery.id) : null;
      world.fail(delivery, taken ? (attempt === 1 ? "lease_expired" : "nacked") : "not_taken", taken ? reason : null);
    }
  }
}

function traffic(world: World, minutesAgo: (minutes: number) => void): void {
  const ways: [string, string][] = [
    ["planner", "researcher"],
    ["researcher", "code-generator"],
    ["code-generator", "api-reviewer"],
    ["support", "triage"],
    ["triage", "researcher"],
  ];
  for (let i = 0; i < 240; i++) {
    minutesAgo(58 - i * 0.24);
    const [from, to] = ways[i % ways.length] ?? ["planner", "researcher"];
    const sent = world.send(
      world.assemble(
        {
          target_agent: to,
          task_summary: `Ticket ${2200 + i}: ${["find the cause", "answer the customer", "write a test"][i % 3]}.`,
          memory_refs: ["ms-5"],
        },
        from,
      ),
      {},
    );
    if (i % 23 === 7) {
      const taken = world.lease(to, `${to}-1`, sent.id);
      if (taken)
        world.end(taken.delivery, "rejected", "rejected", {
          reason: "not mine",
          question: "Is this for the billing team?",
        });
    } else if (i < 228) {
      minutesAgo(58 - i * 0.24 - 0.02);
      work(world, sent, { ok: true }, "handled");
    }
  }
}

function alerts(world: World, minutesAgo: (minutes: number) => void): void {
  minutesAgo(9);
  const agent = world.agent("invoice-writer");
  agent.breaker = {
    state: "open",
    failures: 3,
    opened_at: world.now(),
    retry_at: new Date(Date.now() + 42_000).toISOString(),
    forced: false,
  };
  Object.assign(agent, {
    description: "Writes invoices from billing runs.",
    max_tokens: 8000,
    fallbacks: ["invoice-writer-eu"],
    policy: { attempts: 3, lease_s: 60 },
  });
  world.open({
    kind: "breaker_open",
    severity: "critical",
    target: "invoice-writer",
    title: "The breaker of invoice-writer opened",
    detail:
      "3 handoffs in a row ran out of attempts because nobody took or held them. Direct handoffs fail at once; 12 wait.",
  });
  world.open({
    kind: "failures_in_a_row",
    severity: "warning",
    target: "translator",
    title: "Handoffs to translator fail one after another",
    detail: "The last one: model endpoint answered 529: overloaded.",
    count: 4,
  });
  minutesAgo(190);
  world.open({
    kind: "completeness_low",
    severity: "critical",
    title: "Handoffs lack what they were asked to carry",
    detail: "72 % over 5 minutes; ms-7777 is gone and 11 handoffs asked for it.",
    state: "resolved",
    resolved_at: new Date(Date.now() - 171 * MINUTE).toISOString(),
    sent: [{ webhook: "ops", at: world.now(), ok: false, status: 502, error: "bad gateway" }],
  });
}

/** Fills a world. */
export function tell(world: World): void {
  const minutesAgo = (minutes: number) => {
    const at = Date.now() - minutes * MINUTE;
    world.clock = () => at;
  };
  minutesAgo(70);
  memories(world);
  for (const name of ["planner", "support", "triage"]) world.agent(name);
  traffic(world, minutesAgo);
  failures(world, minutesAgo);
  minutesAgo(6);
  fanOut(world);
  for (const agent of ["deploy-eu", "deploy-us", "deploy-ap"])
    world.channels.set("releases", {
      name: "releases",
      subscribers: [...(world.channels.get("releases")?.subscribers ?? []), agent],
    });
  world.channels.set("incidents", { name: "incidents", subscribers: ["support", "triage"] });
  world.pipelines.set("billing", {
    name: "billing",
    steps: [
      { agent: "billing", next: [{ to: "invoice-writer" }] },
      { agent: "invoice-writer", next: [{ to: "translator", when: { at: "/language", equals: "en", not: true } }] },
      { agent: "translator" },
    ],
  });
  minutesAgo(3);
  const published = world.publish(
    "releases",
    world.assemble(
      { target_agent: "broadcast", task_summary: "Roll out 2.14.0 region by region.", memory_refs: ["ms-5"] },
      "release-manager",
    ),
    { join: { need: 2, handoff: { target_agent: "release-manager" } } },
    "release-manager",
  );
  const first = published.deliveries[0];
  if (first) work(world, first, { version: "2.14.0" }, "rolled out");
  alerts(world, minutesAgo);
  world.clock = Date.now;
}
