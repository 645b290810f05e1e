// A small stand-in for the server, in memory: enough of its rules that the page can be worked with and tested.

import { createHash, randomBytes } from "node:crypto";

import type {
  Agent,
  Alert,
  Channel,
  Constraint,
  Delivery,
  Envelope,
  Gap,
  Json,
  Memory,
  Pipeline,
  Publication,
  SpineEvent,
  Waiver,
} from "../src/api/types.ts";

export type Body = { [name: string]: Json | undefined };

/** What cannot be done, as the server says it. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fields: Body = {},
  ) {
    super(message);
  }
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

function ulid(ms: number): string {
  let time = "";
  for (let rest = ms, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) time = ALPHABET[rest % 32] + time;
  return time + Array.from(randomBytes(16), (byte) => ALPHABET[byte % 32]).join("");
}

const iso = (ms: number) => new Date(ms).toISOString();
const digest = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
const tokens = (text: string) => Math.ceil(text.length / 4);
const strings = (value: Json | undefined) =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
const text = (value: Json | undefined) => (typeof value === "string" ? value : null);

export function found<T>(value: T | undefined, what: string): T {
  if (value === undefined)
    throw new Problem(404, "not-found", `there is no ${what} here: give the id of one of this workspace`);
  return value;
}

function namedList(value: Json | undefined, short: string): Body[] {
  if (Array.isArray(value)) return value as Body[];
  return Object.entries((value ?? {}) as Body).map(([name, inner]) => ({ name, [short]: inner }));
}

export class World {
  readonly memories = new Map<string, Memory[]>();
  readonly envelopes = new Map<string, Envelope>();
  readonly deliveries = new Map<string, Delivery>();
  readonly leases = new Map<string, string>();
  readonly policies = new Map<string, number>();
  readonly agents = new Map<string, Agent>();
  readonly channels = new Map<string, Channel>();
  readonly pipelines = new Map<string, Pipeline>();
  readonly publications = new Map<string, Omit<Publication, "deliveries"> & { ids: string[] }>();
  readonly alerts: Alert[] = [];
  readonly events: SpineEvent[] = [];
  readonly listeners = new Set<(event: SpineEvent) => void>();
  /** Moves the clock, for a story that is told from its past. */
  clock: () => number = Date.now;

  constructor(readonly name: string) {}

  now(): string {
    return iso(this.clock());
  }

  tell(
    kind: string,
    about: { memory?: string; envelope?: string; delivery?: string; actor?: string | null } = {},
    data: { [name: string]: Json } = {},
  ): void {
    const event: SpineEvent = {
      change: this.events.length + 1,
      at: this.now(),
      kind,
      actor: about.actor ?? null,
      memory: about.memory ?? null,
      envelope: about.envelope ?? null,
      delivery: about.delivery ?? null,
      data,
    };
    this.events.push(event);
    for (const listener of this.listeners) listener(event);
  }

  // Memories.

  store(body: Body, author: string | null): Memory {
    const id = `ms-${this.memories.size + 1}`;
    const memory: Memory = {
      id,
      version: 1,
      content: String(body["content"] ?? ""),
      title: text(body["title"]),
      summary: text(body["summary"]),
      kind: text(body["kind"]) ?? "note",
      tags: strings(body["tags"]),
      priority: text(body["priority"]) ?? "normal",
      pinned: body["pinned"] === true,
      author: text(body["author"]) ?? author,
      thread: text(body["thread"]),
      subject: text(body["subject"]),
      occurred_at: text(body["occurred_at"]),
      metadata: (body["metadata"] ?? {}) as Memory["metadata"],
      created_at: this.now(),
      updated_at: this.now(),
      expires_at: null,
    };
    this.memories.set(id, [memory]);
    this.tell("memory.stored", { memory: id });
    return memory;
  }

  memory(id: string): Memory {
    return found(this.memories.get(id)?.at(-1), `memory ${id}`);
  }

  update(id: string, body: Body): Memory {
    const old = this.memory(id);
    const content = text(body["content"]) ?? old.content;
    const next = { ...old, ...(body as Partial<Memory>), content, version: old.version + 1, updated_at: this.now() };
    this.memories.get(id)?.push(next);
    this.tell("memory.updated", { memory: id });
    return next;
  }

  pin(id: string, pinned: boolean): Memory {
    const memory = this.memory(id);
    memory.pinned = pinned;
    this.tell(pinned ? "memory.pinned" : "memory.unpinned", { memory: id });
    return memory;
  }

  // Envelopes.

  assemble(body: Body, from: string): Envelope {
    const parents = [text(body["parent"]), ...strings(body["parents"])]
      .filter((id) => id !== null)
      .map((id) => this.envelope(id));
    const first = parents[0];
    const waived = this.waived(parents, namedList(body["waive"], "reason"), from);
    const ms = this.clock();
    const id = `env_${ulid(ms)}`;
    const { memories, gaps, trimmed } = this.gather(body, parents);
    const summary = String(body["task_summary"] ?? "");
    const envelope: Envelope = {
      protocol: "2.0",
      id,
      digest: "",
      parents: parents.map((one) => ({ id: one.id, digest: one.digest })),
      root: first?.root ?? id,
      hop: Math.max(0, ...parents.map((one) => one.hop)) + 1,
      max_hops: first?.max_hops ?? 10,
      workspace: this.name,
      from,
      target: String(body["target_agent"]),
      subject: text(body["subject"]) ?? first?.subject ?? null,
      created_at: iso(ms),
      expires_at: null,
      priority: text(body["priority"]) ?? "normal",
      task: {
        intent: first?.task.intent ?? text(body["intent"]) ?? summary,
        intent_source: first || body["intent"] ? "given" : "summary",
        summary,
        state: this.state(body, first),
      },
      memories,
      history: [...(first?.history ?? []), ...((body["execution_history"] ?? []) as never[])],
      constraints: this.constraints(parents, namedList(body["constraints"], "value"), waived, from, id),
      waived,
      expected_output: (body["expected_output"] ?? null) as never,
      assembly: {
        strategy: "priority",
        max_tokens: Number(body["max_tokens"] ?? 4000),
        tokenizer: "o200k_base",
        format: "markdown",
        tokens: 180 + tokens(summary) + memories.reduce((sum, one) => sum + (one.tokens ?? 0), 0),
      },
      completeness: {
        requested: strings(body["memory_refs"]).length,
        included: strings(body["memory_refs"]).length - gaps.length,
        gaps,
      },
      trimmed: { items: trimmed, count: trimmed.length },
      redactions: [],
    };
    if (envelope.hop > envelope.max_hops)
      throw new Problem(
        422,
        "hop-limit",
        `the chain has reached its limit of ${envelope.max_hops} hops: waive it with a reason, or end the task`,
      );
    envelope.digest = digest(JSON.stringify(envelope));
    this.envelopes.set(id, envelope);
    this.agent(from);
    if (envelope.target !== "broadcast") this.agent(envelope.target);
    this.tell("envelope.made", { envelope: id, actor: from });
    return envelope;
  }

  private gather(body: Body, parents: Envelope[]) {
    const asked = strings(body["memory_refs"]);
    const inherited = parents.flatMap((one) => one.memories.map((memory) => memory.id));
    const pinned = [...this.memories.values()]
      .map((all) => all.at(-1))
      .filter((one) => one?.pinned)
      .map((one) => one?.id ?? "");
    const gaps: Gap[] = asked.filter((id) => !this.memories.has(id)).map((ref) => ({ ref, reason: "unknown" }));
    const ids = [...new Set([...pinned, ...asked, ...inherited])].filter((id) => this.memories.has(id)).slice(0, 60);
    const budget = Number(body["max_tokens"] ?? 4000);
    let spent = 200;
    const trimmed: { id: string; from: string; to: string; reason: string }[] = [];
    const memories = ids.map((id) => {
      const memory = this.memory(id);
      const cost = tokens(memory.content);
      const fits = spent + cost < budget;
      if (fits) spent += cost;
      else trimmed.push({ id, from: "full", to: "ref", reason: "budget" });
      const source = memory.pinned ? "pinned" : asked.includes(id) ? "requested" : "inherited";
      return {
        id,
        version: memory.version,
        detail: fits ? "full" : "ref",
        title: memory.title,
        ...(fits ? { text: memory.content } : {}),
        priority: memory.priority,
        source,
        relevance: 0.4 + ((id.length * 37) % 50) / 100,
        tokens: fits ? cost : 8,
        created_at: memory.created_at ?? "",
      };
    });
    return { memories, gaps, trimmed };
  }

  private waived(parents: Envelope[], asked: Body[], from: string): Waiver[] {
    const known = parents.flatMap((one) => one.constraints ?? []);
    const hop = Math.max(0, ...parents.map((one) => one.hop)) + 1;
    const fresh = asked.map((one) => ({
      name: String(one["name"]),
      value: known.find((c) => c.name === one["name"])?.value ?? null,
      reason: String(one["reason"]),
      by: from,
      at_hop: hop,
    }));
    return [...parents.flatMap((one) => one.waived ?? []), ...fresh];
  }

  private constraints(parents: Envelope[], asked: Body[], waived: Waiver[], from: string, id: string): Constraint[] {
    const kept = new Map(parents.flatMap((one) => one.constraints ?? []).map((one) => [one.name, one]));
    for (const one of waived) kept.delete(one.name);
    for (const one of asked)
      kept.set(String(one["name"]), {
        name: String(one["name"]),
        value: one["value"] ?? null,
        scope: "lineage",
        set_by: from,
        since: id,
      });
    return [...kept.values()];
  }

  private state(body: Body, parent: Envelope | undefined): NonNullable<Envelope["task"]["state"]> {
    const own = (body["state"] ?? {}) as NonNullable<Envelope["task"]["state"]>;
    const old = parent?.task.state;
    return {
      progress: [...(old?.progress ?? []), ...(own.progress ?? [])],
      decisions: [...(old?.decisions ?? []), ...(own.decisions ?? [])],
      remaining: own.remaining ?? old?.remaining ?? [],
      open_questions: [...(old?.open_questions ?? []), ...(own.open_questions ?? [])],
    };
  }

  envelope(id: string): Envelope {
    return found(this.envelopes.get(id), `envelope ${id}`);
  }

  lineage(id: string): Envelope[] {
    const { root } = this.envelope(id);
    return [...this.envelopes.values()].filter((one) => one.root === root);
  }

  // Deliveries.

  agent(name: string): Agent {
    const known = this.agents.get(name);
    if (known) return known;
    const agent: Agent = {
      name,
      description: null,
      max_tokens: null,
      policy: null,
      fallbacks: [],
      webhook: null,
      paused: false,
      breaker: { state: "closed", failures: 0, opened_at: null, retry_at: null, forced: false },
      queue: { pending: 0, leased: 0, accepted: 0, parked: 0, oldest_pending_at: null },
    };
    this.agents.set(name, agent);
    this.tell("agent.registered", {}, { agent: name });
    return agent;
  }

  /** The agent with its queue counted now. */
  counted(name: string): Agent {
    const agent = found(this.agents.get(name), `agent ${name}`);
    const own = [...this.deliveries.values()].filter((one) => one.agent === name);
    const inState = (state: string) => own.filter((one) => one.state === state);
    const waiting = inState("pending")
      .map((one) => one.sent_at)
      .sort();
    return {
      ...agent,
      queue: {
        pending: waiting.length,
        leased: inState("leased").length,
        accepted: inState("accepted").length,
        parked: inState("parked").length,
        oldest_pending_at: waiting[0] ?? null,
      },
    };
  }

  send(envelope: Envelope, options: Body, more: Partial<Delivery> = {}): Delivery {
    const target = text(options["to"]) ?? envelope.target;
    this.agent(target);
    const id = `dlv_${ulid(this.clock())}`;
    const requested = envelope.completeness.requested;
    const delivery: Delivery = {
      id,
      envelope_id: envelope.id,
      root: envelope.root,
      state: "pending",
      agent: target,
      target,
      sender: envelope.from,
      priority: envelope.priority ?? "normal",
      order_key: text(options["order_key"]),
      sent_at: this.now(),
      updated_at: this.now(),
      visible_at: this.now(),
      accepted_at: null,
      ended_at: null,
      attempt: 0,
      attempts: [],
      attempts_ended: 0,
      fallbacks: strings(options["fallbacks"]),
      completeness: requested ? envelope.completeness.included / requested : 1,
      overdue: false,
      expires_at: null,
      deadline: null,
      lease: null,
      progress: [],
      checkpoint: null,
      parked: [],
      ending: null,
      result: null,
      publication_id: null,
      pipeline: null,
      refused: null,
      ...more,
    };
    this.deliveries.set(id, delivery);
    this.policies.set(id, Number((options["policy"] as Body | undefined)?.["attempts"] ?? 3));
    this.change(delivery, "sent", {});
    return delivery;
  }

  delivery(id: string): Delivery {
    return found(this.deliveries.get(id), `delivery ${id}`);
  }

  change(delivery: Delivery, kind: string, fields: Partial<Delivery>): Delivery {
    Object.assign(delivery, fields, { updated_at: this.now() });
    this.tell(`delivery.${kind}`, { delivery: delivery.id, envelope: delivery.envelope_id }, { agent: delivery.agent });
    return delivery;
  }

  lease(name: string, holder: string | null, only: string | null = null): { delivery: Delivery; lease: string } | null {
    if (this.agents.get(name)?.paused) return null;
    const next = [...this.deliveries.values()].find(
      (one) => one.agent === name && one.state === "pending" && (!only || one.id === only),
    );
    if (!next) return null;
    const token = `lse_${ulid(this.clock())}`;
    this.leases.set(next.id, token);
    this.change(next, "leased", {
      state: "leased",
      attempt: next.attempt + 1,
      lease: { until: iso(this.clock() + 60_000), since: this.now(), holder },
    });
    return { delivery: next, lease: token };
  }

  held(id: string, token: Json | undefined): Delivery {
    const delivery = this.delivery(id);
    if (this.leases.get(id) !== token)
      throw new Problem(409, "lease-lost", "another lease holds this delivery: stop, and receive again");
    return delivery;
  }

  accept(delivery: Delivery): Delivery {
    if (delivery.state === "accepted") return delivery;
    const agent = this.agent(delivery.agent);
    agent.breaker = { ...agent.breaker, state: "closed", failures: 0, opened_at: null, retry_at: null, forced: false };
    return this.change(delivery, "accepted", { state: "accepted", accepted_at: delivery.accepted_at ?? this.now() });
  }

  end(
    delivery: Delivery,
    state: "done" | "rejected" | "cancelled",
    kind: string,
    ending: Partial<NonNullable<Delivery["ending"]>>,
    result: Json = null,
  ): Delivery {
    const whole = {
      at: this.now(),
      by: delivery.agent,
      reason: null,
      question: null,
      action: null,
      why: null,
      result_digest: result === null ? null : digest(JSON.stringify(result)),
      next: null,
      by_hand: false,
      ...ending,
    };
    return this.change(delivery, kind, { state, ended_at: this.now(), ending: whole, result, lease: null });
  }

  fail(delivery: Delivery, outcome: string, reason: string | null): Delivery {
    const attempts = [
      ...delivery.attempts,
      {
        agent: delivery.agent,
        outcome,
        reason,
        holder: delivery.lease?.holder ?? null,
        since: delivery.lease?.since ?? delivery.updated_at,
        at: this.now(),
      },
    ];
    const isLast = attempts.length >= (this.policies.get(delivery.id) ?? 3);
    this.change(delivery, outcome, { state: "pending", attempts, attempts_ended: attempts.length, lease: null });
    if (!isLast) return delivery;
    this.park(
      delivery,
      outcome === "not_taken" ? "nobody_took_it" : "attempts_exhausted",
      `no attempts left after ${attempts.length}, the last with ${delivery.agent}`,
      null,
    );
    this.alarm(delivery);
    return delivery;
  }

  park(delivery: Delivery, cause: string, reason: string, by: string | null): Delivery {
    return this.change(delivery, "parked", {
      state: "parked",
      lease: null,
      parked: [...delivery.parked, { at: this.now(), cause, reason, by }],
    });
  }

  /** One failure is an info, counted while it is open. */
  alarm(delivery: Delivery): void {
    const known = this.alerts.find(
      (one) => one.kind === "handoff_failed" && one.state === "open",
    );
    if (known) {
      known.count++;
      known.last_at = this.now();
      known.deliveries.unshift(delivery.id);
    } else {
      this.open({
        kind: "handoff_failed",
        severity: "info",
        title: "A handoff ran out of attempts",
        detail: `A handoff to ${delivery.agent} ran out of attempts and waits for a person.`,
        deliveries: [delivery.id],
      });
    }
    this.tell("alert.opened", {}, { target: delivery.target });
  }

  open(fields: Partial<Alert>): Alert {
    const alert: Alert = {
      id: `alr_${ulid(this.clock())}`,
      kind: "test",
      severity: "info",
      state: "open",
      target: null,
      title: "",
      detail: "",
      count: 1,
      opened_at: this.now(),
      last_at: this.now(),
      resolved_at: null,
      acknowledged: null,
      silenced: null,
      deliveries: [],
      sent: [{ webhook: "ops", at: this.now(), ok: true, status: 200, error: null }],
      ...fields,
    };
    this.alerts.unshift(alert);
    return alert;
  }

  publish(channel: string, envelope: Envelope, options: Body, by: string): Publication {
    const id = `pub_${ulid(this.clock())}`;
    const asked = strings(options["receivers"]);
    const receivers = asked.length ? asked : (this.channels.get(channel)?.subscribers ?? []);
    if (receivers.length === 0)
      throw new Problem(422, "no-receivers", "the channel has no subscribers: name receivers, or subscribe an agent");
    const ids = receivers.map((to) => this.send(envelope, { to }, { publication_id: id }).id);
    const join = options["join"] as Body | undefined;
    const target = text((join?.["handoff"] as Body | undefined)?.["target_agent"]);
    this.publications.set(id, {
      id,
      channel,
      envelope_id: envelope.id,
      root: envelope.root,
      by,
      at: this.now(),
      settled: false,
      ids,
      join: join
        ? { need: Number(join["need"] ?? receivers.length), until: iso(this.clock() + 600_000), target, made: null }
        : null,
    });
    this.tell("publication.made", { envelope: envelope.id });
    return this.publication(id);
  }

  publication(id: string): Publication {
    const { ids, ...rest } = found(this.publications.get(id), `publication ${id}`);
    const deliveries = ids.map((one) => this.delivery(one));
    return {
      ...rest,
      deliveries,
      settled: deliveries.every((one) => !["pending", "leased", "accepted"].includes(one.state)),
    };
  }
}
