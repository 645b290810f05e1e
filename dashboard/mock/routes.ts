// The routes of the stand-in.

import type { Delivery, Envelope, Json, LineageNode, Memory } from "../src/api/types.ts";
import { healthOf } from "./health.ts";
import { type Body, Problem, type World, found } from "./world.ts";

export type Asked = { world: World; params: string[]; query: URLSearchParams; body: Body; actor: string };
type Handler = (asked: Asked) => unknown;
type Route = [method: string, path: RegExp, handler: Handler, status?: number];

const PAGE_ROWS = 50;

function page<T>(rows: T[], query: URLSearchParams, name: string): { [name: string]: unknown } {
  const start = Number(query.get("cursor") ?? 0);
  const limit = Number(query.get("limit") ?? PAGE_ROWS);
  if (!(limit >= 1 && limit <= 1000))
    throw new Problem(400, "invalid-parameter", "limit: expected a number from 1 to 1000");
  const end = start + limit;
  return { [name]: rows.slice(start, end), next_cursor: end < rows.length ? String(end) : null };
}

function param(asked: Asked, index = 0): string {
  return decodeURIComponent(asked.params[index] ?? "");
}

const text = (value: Json | undefined) => (typeof value === "string" ? value : null);

function render(envelope: Envelope, format: string): string {
  if (format === "json")
    return JSON.stringify(
      { intent: envelope.task.intent, summary: envelope.task.summary, memories: envelope.memories },
      null,
      2,
    );
  const lines = [`# Task for ${envelope.target}`, "", `Intent: ${envelope.task.intent}`, "", envelope.task.summary, ""];
  if (envelope.constraints?.length)
    lines.push(
      "## Constraints",
      ...envelope.constraints.map((one) => `- ${one.name}: ${JSON.stringify(one.value)}`),
      "",
    );
  if (envelope.waived?.length)
    lines.push("## Waived", ...envelope.waived.map((one) => `- ${one.name}: ${one.reason}`), "");
  if (envelope.task.state?.progress?.length)
    lines.push("## Progress", ...envelope.task.state.progress.map((one) => `- ${one}`), "");
  lines.push(
    "## Memories",
    ...envelope.memories.flatMap((one) => [
      `### ${one.id} (${one.detail})`,
      "~~~~",
      ...(one.text ?? "(fetch it)").split("\n"),
      "~~~~",
    ]),
    "",
  );
  if (envelope.completeness.gaps?.length)
    lines.push("## Gaps", ...envelope.completeness.gaps.map((gap) => `- ${gap.ref}: ${gap.reason}`));
  return format === "xml" ? `<task>\n${lines.join("\n")}\n</task>` : lines.join("\n");
}

function node(envelope: Envelope): LineageNode {
  const { completeness } = envelope;
  return {
    id: envelope.id,
    digest: envelope.digest,
    parents: envelope.parents,
    hop: envelope.hop,
    from: envelope.from,
    target: envelope.target,
    created_at: envelope.created_at,
    task_summary: envelope.task.summary,
    memory_refs: envelope.memories.map((one) => one.id),
    constraints: envelope.constraints ?? [],
    waived: envelope.waived ?? [],
    token_count: envelope.assembly.tokens,
    max_tokens: envelope.assembly.max_tokens,
    completeness: completeness.requested ? completeness.included / completeness.requested : 1,
    gaps: completeness.gaps ?? [],
    trimmed_count: envelope.trimmed?.count ?? 0,
  };
}

const ofRoot = (world: World, root: string) => [...world.deliveries.values()].filter((one) => one.root === root);

function lineage({ world, ...asked }: Asked) {
  const envelopes = world.lineage(decodeURIComponent(asked.params[0] ?? ""));
  const root = found(envelopes[0], "envelope");
  return {
    root: root.root,
    intent: root.task.intent,
    envelopes: envelopes.map(node),
    deliveries: ofRoot(world, root.root),
  };
}

function explain(asked: Asked) {
  const envelope = asked.world.envelope(param(asked));
  const memories = envelope.memories.map((one) => ({
    id: one.id,
    source: one.source,
    claim: 1,
    relevance: one.relevance,
    recency: 0.5,
    priority: 0.5,
    levels: [{ detail: "full", tokens: one.tokens, value: 1 }],
    chosen: one.detail,
    rule: one.detail === "full" ? "worth its tokens" : "the budget was spent on stronger claims",
  }));
  return { memories, degraded: [] };
}

function matches(
  memory: Memory,
  query: { kinds: string[]; tags: string[]; thread: string | null; subject: string | null; pinned: boolean },
): boolean {
  return (
    (!query.kinds.length || query.kinds.includes(memory.kind)) &&
    query.tags.every((tag) => memory.tags.includes(tag)) &&
    (!query.thread || memory.thread === query.thread) &&
    (!query.subject || memory.subject === query.subject) &&
    (!query.pinned || memory.pinned)
  );
}

const newest = (world: World) =>
  [...world.memories.values()]
    .map((all) => all.at(-1))
    .filter((one) => one !== undefined)
    .reverse();

function list({ world, query }: Asked) {
  const filter = {
    kinds: query.getAll("kinds"),
    tags: query.getAll("tags"),
    thread: query.get("thread"),
    subject: query.get("subject"),
    pinned: query.get("pinned") === "true",
  };
  return {
    ...page(
      newest(world).filter((one) => matches(one, filter)),
      query,
      "memories",
    ),
    missing: [],
  };
}

function search({ world, body }: Asked) {
  const words = String(body["query"] ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean);
  const filter = {
    kinds: (body["kinds"] ?? []) as string[],
    tags: (body["tags"] ?? []) as string[],
    thread: text(body["thread"]),
    subject: text(body["subject"]),
    pinned: body["pinned"] === true,
  };
  const scored = newest(world)
    .filter((one) => matches(one, filter))
    .map((memory) => {
      const all = `${memory.title ?? ""} ${memory.content}`.toLowerCase();
      const hits = words.filter((word) => all.includes(word)).length / Math.max(1, words.length);
      const parts = [
        { name: "words", value: hits * 8, adds: hits * 0.62 },
        { name: "meaning", value: hits * 0.7, adds: hits * 0.28 },
        { name: "recency", value: 0.6, adds: hits ? 0.04 : 0 },
      ];
      return { memory, score: parts.reduce((sum, part) => sum + part.adds, 0), parts: body["explain"] ? parts : [] };
    });
  const hits = scored
    .filter((one) => one.score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, Number(body["limit"] ?? 10));
  return { hits, degraded: [] };
}

function deliveries({ world, query }: Asked) {
  const wanted = (one: Delivery) =>
    (!query.get("state") || one.state === query.get("state")) &&
    (!query.get("agent") || one.agent === query.get("agent")) &&
    (!query.get("root") || one.root === query.get("root")) &&
    (!query.get("envelope_id") || one.envelope_id === query.get("envelope_id")) &&
    (!query.get("since") || one.sent_at >= (query.get("since") ?? ""));
  const rows = [...world.deliveries.values()].filter(wanted).sort((a, b) => (a.sent_at < b.sent_at ? 1 : -1));
  return page(query.get("order") === "oldest" ? rows.reverse() : rows, query, "deliveries");
}

type ParkedFilter = { target?: string | null; reason?: string | null; since?: string | null; until?: string | null };

function parked(world: World, filter: ParkedFilter): Delivery[] {
  const fits = (one: Delivery) => {
    const last = one.parked.at(-1);
    return (
      one.state === "parked" &&
      (!filter.target || one.target === filter.target) &&
      (!filter.reason ||
        one.parked.some((entry) => `${entry.cause} ${entry.reason ?? ""}`.includes(filter.reason ?? ""))) &&
      (!filter.since || (last?.at ?? "") >= filter.since) &&
      (!filter.until || (last?.at ?? "") < filter.until)
    );
  };
  return [...world.deliveries.values()]
    .filter(fits)
    .sort((a, b) => ((a.parked.at(-1)?.at ?? "") < (b.parked.at(-1)?.at ?? "") ? 1 : -1));
}

function waiting(asked: Asked): Delivery {
  const delivery = asked.world.delivery(param(asked));
  if (delivery.state !== "parked")
    throw new Problem(409, "not-parked", "the delivery is not parked any more: somebody else was first");
  return delivery;
}

function requeue(world: World, delivery: Delivery, target: string | null): Delivery {
  const to = target ?? delivery.target;
  world.agent(to);
  return world.change(delivery, "requeued", {
    state: "pending",
    target: to,
    agent: to,
    attempts: [],
    attempts_ended: 0,
  });
}

function many(asked: Asked, act: (delivery: Delivery) => void) {
  const { body, world } = asked;
  if (!text(body["reason"])) throw new Problem(422, "invalid-body", "reason: expected a text");
  const rows = parked(world, (body["filter"] ?? {}) as ParkedFilter).slice(0, Number(body["max"] ?? 1000));
  if (!body["dry_run"]) rows.forEach(act);
  return { ids: rows.map((one) => one.id), missed: [], dry_run: body["dry_run"] === true };
}

function resend(asked: Asked) {
  const { world, body, actor } = asked;
  const old = waiting(asked);
  const { send, ...handoff } = body;
  const envelope = world.assemble({ ...handoff, parent: old.envelope_id }, actor);
  const delivery = world.send(envelope, (send ?? {}) as Body);
  world.end(old, "cancelled", "resent", { by: actor, reason: "replaced", next: envelope.id });
  return { replaced: old.id, delivery, handoff: { id: envelope.id, envelope } };
}

function handoff(asked: Asked) {
  const { send, ...rest } = asked.body;
  const envelope = asked.world.assemble(rest, asked.actor);
  const delivery = envelope.target === "broadcast" ? null : asked.world.send(envelope, (send ?? {}) as Body);
  return { handoff: { id: envelope.id, hop: envelope.hop, completeness: 1, envelope }, delivery };
}

function receive(asked: Asked) {
  const name = param(asked);
  const taken = Array.from({ length: Number(asked.body["max"] ?? 1) }, () =>
    asked.world.lease(name, text(asked.body["holder"])),
  ).filter((one) => one !== null);
  return {
    deliveries: taken.map((one) => ({
      ...one,
      envelope: asked.world.envelope(one.delivery.envelope_id),
      envelope_version: "2",
      rendered: null,
    })),
  };
}

function ack(asked: Asked) {
  const { world, body } = asked;
  const delivery = world.held(param(asked), body["lease"]);
  world.accept(delivery);
  const next = body["next"] as Body | undefined;
  const made = next ? world.assemble({ ...next, parent: delivery.envelope_id, send: undefined }, delivery.agent) : null;
  world.end(
    delivery,
    "done",
    "done",
    { action: text(body["action"]), why: text(body["why"]), next: made?.id ?? null },
    body["result"] ?? null,
  );
  return { delivery, next: made ? world.send(made, (next?.["send"] ?? {}) as Body) : null };
}

function alert(asked: Asked) {
  return found(
    asked.world.alerts.find((one) => one.id === param(asked)),
    "alert",
  );
}

function acknowledge(asked: Asked) {
  const one = alert(asked);
  one.acknowledged ??= { at: asked.world.now(), by: text(asked.body["by"]), note: text(asked.body["note"]) };
  asked.world.tell("alert.acknowledged", {}, { alert: one.id });
  return one;
}

function silence(asked: Asked) {
  const one = alert(asked);
  const seconds = Number(asked.body["for_s"] ?? 0);
  one.silenced = seconds
    ? {
        until: new Date(asked.world.clock() + seconds * 1000).toISOString(),
        by: text(asked.body["by"]),
        reason: text(asked.body["reason"]),
      }
    : null;
  asked.world.tell("alert.silenced", {}, { alert: one.id });
  return one;
}

function setBreaker(asked: Asked) {
  const agent = found(asked.world.agents.get(param(asked)), "agent");
  const isOpen = asked.body["state"] === "open";
  agent.breaker = {
    state: isOpen ? "open" : "closed",
    failures: 0,
    opened_at: isOpen ? asked.world.now() : null,
    retry_at: null,
    forced: isOpen,
  };
  asked.world.tell(isOpen ? "breaker.forced_open" : "breaker.reset", {}, { agent: agent.name });
  return asked.world.counted(agent.name);
}

function setPaused(asked: Asked, paused: boolean) {
  const agent = asked.world.agent(param(asked));
  agent.paused = paused;
  asked.world.tell(paused ? "agent.paused" : "agent.resumed", {}, { agent: agent.name });
  return asked.world.counted(agent.name);
}

function setAgent(asked: Asked) {
  const agent = asked.world.agent(param(asked));
  Object.assign(agent, asked.body);
  asked.world.tell("agent.registered", {}, { agent: agent.name });
  return asked.world.counted(agent.name);
}

function subscribe(asked: Asked, isIn: boolean) {
  const [name, agent] = [param(asked), param(asked, 1)];
  const channel = asked.world.channels.get(name) ?? { name, subscribers: [] };
  channel.subscribers = channel.subscribers.filter((one) => one !== agent).concat(isIn ? [agent] : []);
  asked.world.channels.set(name, channel);
  if (isIn) asked.world.agent(agent);
  asked.world.tell(isIn ? "channel.subscribed" : "channel.unsubscribed", {}, { channel: name, agent });
  return channel;
}

const ID = "([^/]+)";
const at = (path: string) => new RegExp(`^${path.replaceAll("{id}", ID)}$`);

export const ROUTES: Route[] = [
  ["GET", at("/v1/memories"), list],
  [
    "POST",
    at("/v1/memories"),
    ({ world, body, actor }) =>
      Array.isArray(body["memories"])
        ? { memories: body["memories"].map((one) => ({ ...world.store(one as Body, actor), duplicate: false })) }
        : { ...world.store(body, actor), duplicate: false },
    201,
  ],
  ["POST", at("/v1/memories/search"), search],
  ["GET", at("/v1/memories/{id}"), (asked) => asked.world.memory(param(asked))],
  ["PATCH", at("/v1/memories/{id}"), (asked) => asked.world.update(param(asked), asked.body)],
  [
    "GET",
    at("/v1/memories/{id}/versions"),
    (asked) => page(found(asked.world.memories.get(param(asked)), "memory"), asked.query, "memories"),
  ],
  ["PUT", at("/v1/memories/{id}/pin"), (asked) => asked.world.pin(param(asked), true)],
  ["DELETE", at("/v1/memories/{id}/pin"), (asked) => asked.world.pin(param(asked), false)],
  [
    "POST",
    at("/v1/envelopes"),
    ({ world, body, actor }) => {
      const envelope = world.assemble(body, actor);
      return { id: envelope.id, envelope };
    },
    201,
  ],
  ["GET", at("/v1/envelopes/{id}"), (asked) => asked.world.envelope(param(asked))],
  [
    "GET",
    at("/v1/envelopes/{id}/render"),
    (asked) => render(asked.world.envelope(param(asked)), asked.query.get("format") ?? "markdown"),
  ],
  ["GET", at("/v1/envelopes/{id}/lineage"), lineage],
  [
    "GET",
    at("/v1/envelopes/{id}/verify"),
    (asked) => ({ intact: true, summary: "intact", envelopes: asked.world.lineage(param(asked)).length, findings: [] }),
  ],
  [
    "GET",
    at("/v1/envelopes/{id}/trimmed"),
    (asked) => {
      const one = asked.world.envelope(param(asked));
      return { trimmed: one.trimmed, gaps: one.completeness.gaps };
    },
  ],
  ["GET", at("/v1/envelopes/{id}/explain"), explain],
  [
    "GET",
    at("/v1/envelopes/{id}/trace"),
    (asked) => {
      const { root } = asked.world.envelope(param(asked));
      const ids = new Set(ofRoot(asked.world, root).map((one) => one.id));
      return { root, events: asked.world.events.filter((event) => ids.has(event.delivery ?? "")) };
    },
  ],
  ["POST", at("/v1/handoffs"), handoff, 201],
  ["GET", at("/v1/deliveries"), deliveries],
  [
    "POST",
    at("/v1/deliveries"),
    ({ world, body }) => world.send(world.envelope(String(body["envelope_id"])), body),
    201,
  ],
  ["GET", at("/v1/deliveries/{id}"), (asked) => asked.world.delivery(param(asked))],
  [
    "POST",
    at("/v1/deliveries/{id}/accept"),
    (asked) => asked.world.accept(asked.world.held(param(asked), asked.body["lease"])),
  ],
  ["POST", at("/v1/deliveries/{id}/ack"), ack],
  [
    "POST",
    at("/v1/deliveries/{id}/nack"),
    (asked) =>
      asked.world.fail(asked.world.held(param(asked), asked.body["lease"]), "nacked", text(asked.body["reason"])),
  ],
  [
    "POST",
    at("/v1/deliveries/{id}/reject"),
    (asked) =>
      asked.world.end(asked.world.held(param(asked), asked.body["lease"]), "rejected", "rejected", {
        reason: text(asked.body["reason"]),
        question: text(asked.body["question"]),
      }),
  ],
  [
    "POST",
    at("/v1/deliveries/{id}/progress"),
    (asked) => {
      const one = asked.world.held(param(asked), asked.body["lease"]);
      return asked.world.change(one, "progress", {
        progress: [
          ...one.progress,
          {
            at: asked.world.now(),
            note: text(asked.body["note"]),
            percent: (asked.body["percent"] ?? null) as number | null,
          },
        ],
      });
    },
  ],
  ["POST", at("/v1/agents/{id}/receive"), receive],
  [
    "GET",
    at("/v1/agents"),
    ({ world }) => ({ agents: [...world.agents.keys()].sort().map((name) => world.counted(name)) }),
  ],
  ["GET", at("/v1/agents/{id}"), (asked) => asked.world.counted(param(asked))],
  ["PUT", at("/v1/agents/{id}"), setAgent],
  ["PUT", at("/v1/agents/{id}/breaker"), setBreaker],
  ["POST", at("/v1/agents/{id}/pause"), (asked) => setPaused(asked, true)],
  ["POST", at("/v1/agents/{id}/resume"), (asked) => setPaused(asked, false)],
  ["GET", at("/v1/channels"), ({ world }) => ({ channels: [...world.channels.values()] })],
  [
    "GET",
    at("/v1/channels/{id}"),
    (asked) => asked.world.channels.get(param(asked)) ?? { name: param(asked), subscribers: [] },
  ],
  ["PUT", at("/v1/channels/{id}/subscribers/{id}"), (asked) => subscribe(asked, true)],
  ["DELETE", at("/v1/channels/{id}/subscribers/{id}"), (asked) => subscribe(asked, false)],
  [
    "POST",
    at("/v1/channels/{id}/publish"),
    (asked) =>
      asked.world.publish(
        param(asked),
        asked.world.envelope(String(asked.body["envelope_id"])),
        asked.body,
        asked.actor,
      ),
    201,
  ],
  ["GET", at("/v1/publications/{id}"), (asked) => asked.world.publication(param(asked))],
  ["GET", at("/v1/pipelines"), ({ world }) => ({ pipelines: [...world.pipelines.values()] })],
  [
    "GET",
    at("/v1/parked"),
    ({ world, query }) =>
      page(
        parked(world, {
          target: query.get("target"),
          reason: query.get("reason"),
          since: query.get("since"),
          until: query.get("until"),
        }),
        query,
        "deliveries",
      ),
  ],
  [
    "POST",
    at("/v1/parked"),
    ({ world, body, actor }) => ({
      deliveries: [...world.deliveries.values()]
        .filter((one) => one.envelope_id === body["envelope_id"])
        .map((one) => world.park(one, "asked", String(body["reason"]), actor)),
    }),
  ],
  [
    "POST",
    at("/v1/parked/requeue"),
    (asked) => many(asked, (one) => requeue(asked.world, one, text(asked.body["target"]))),
  ],
  [
    "POST",
    at("/v1/parked/discard"),
    (asked) =>
      many(asked, (one) =>
        asked.world.end(one, "cancelled", "discarded", { by: asked.actor, reason: text(asked.body["reason"]) }),
      ),
  ],
  ["POST", at("/v1/parked/{id}/requeue"), (asked) => requeue(asked.world, waiting(asked), text(asked.body["target"]))],
  ["POST", at("/v1/parked/{id}/resend"), resend],
  [
    "POST",
    at("/v1/parked/{id}/resolve"),
    (asked) =>
      asked.world.end(
        waiting(asked),
        "done",
        "resolved",
        { by: text(asked.body["by"]) ?? asked.actor, by_hand: true },
        asked.body["result"] ?? null,
      ),
  ],
  [
    "POST",
    at("/v1/parked/{id}/discard"),
    (asked) =>
      asked.world.end(waiting(asked), "cancelled", "discarded", {
        by: asked.actor,
        reason: text(asked.body["reason"]),
      }),
  ],
  ["GET", at("/v1/health"), ({ world }) => healthOf(world)],
  [
    "GET",
    at("/v1/alerts"),
    ({ world, query }) => ({
      ...page(
        [...world.alerts].sort((a, b) => (a.state === b.state ? 0 : a.state === "open" ? -1 : 1)),
        query,
        "alerts",
      ),
      webhooks: 1,
    }),
  ],
  [
    "POST",
    at("/v1/alerts/test"),
    () => ({ sent: [{ webhook: "ops", ok: true, status: 200, error: null, took_s: 0.08 }] }),
  ],
  ["POST", at("/v1/alerts/{id}/ack"), acknowledge],
  ["POST", at("/v1/alerts/{id}/silence"), silence],
];
