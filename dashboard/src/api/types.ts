// The documents of the public API that this page reads.

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export type DeliveryState = "pending" | "leased" | "accepted" | "done" | "rejected" | "cancelled" | "parked";

export type Attempt = {
  agent: string;
  outcome: string;
  reason: string | null;
  holder: string | null;
  since: string | null;
  at: string;
};

export type ParkedEntry = { at: string; cause: string; reason: string | null; by: string | null };

export type Ending = {
  at: string;
  by: string | null;
  reason: string | null;
  question: string | null;
  action: string | null;
  why: string | null;
  result_digest: string | null;
  next: string | null;
  by_hand: boolean;
};

export type Delivery = {
  id: string;
  envelope_id: string;
  root: string;
  state: DeliveryState;
  agent: string;
  target: string;
  sender: string | null;
  priority: string;
  order_key: string | null;
  sent_at: string;
  updated_at: string;
  visible_at: string | null;
  accepted_at: string | null;
  ended_at: string | null;
  attempt: number;
  attempts: Attempt[];
  attempts_ended: number;
  fallbacks: string[];
  completeness: number | null;
  overdue: boolean;
  expires_at: string | null;
  deadline: string | null;
  lease: { until: string; since: string; holder: string | null } | null;
  progress: { at: string; note: string | null; percent: number | null }[];
  checkpoint: Json;
  parked: ParkedEntry[];
  ending: Ending | null;
  result: Json;
  publication_id: string | null;
  pipeline: string | null;
  refused: Json;
};

export type Page<Name extends string, T> = Record<Name, T[]> & { next_cursor: string | null };

export type Gap = { ref: string; reason: string };
export type Constraint = { name: string; value: Json; scope?: string; set_by?: string; since?: string };
export type Waiver = { name: string; value?: Json; reason: string; by?: string; at_hop?: number };
export type TrimmedItem = { id: string; from: string; to: string; reason: string };
export type Trimmed = { items: TrimmedItem[]; count: number };

export type EnvelopeMemory = {
  id: string;
  version: number;
  detail: string;
  title?: string | null;
  text?: string | null;
  priority?: string;
  source?: string;
  relevance?: number;
  tokens?: number;
  created_at?: string;
};

export type Envelope = {
  protocol: string;
  id: string;
  digest: string;
  parents: { id: string; digest: string }[];
  root: string;
  hop: number;
  max_hops: number;
  workspace: string;
  from: string;
  target: string;
  subject?: string | null;
  created_at: string;
  expires_at?: string | null;
  priority?: string;
  task: {
    intent: string;
    intent_source?: string;
    summary: string;
    state?: {
      progress?: string[];
      decisions?: { what: string; why?: string | null; by?: string | null }[];
      remaining?: string[];
      open_questions?: { question: string; answer?: string | null }[];
    };
  };
  memories: EnvelopeMemory[];
  history?: {
    agent: string;
    action: string;
    why?: string | null;
    memory_id?: string | null;
    hop?: number;
    at?: string;
  }[];
  constraints?: Constraint[];
  waived?: Waiver[];
  expected_output?: { format?: string | null; length?: string | null; criteria?: string[]; schema?: Json } | null;
  assembly: { strategy?: string; max_tokens: number; tokenizer?: string; format?: string; tokens: number };
  completeness: { requested: number; included: number; gaps?: Gap[] };
  trimmed?: Partial<Trimmed>;
  redactions?: { in: string; kind: string }[];
};

export type LineageNode = {
  id: string;
  digest: string;
  parents: { id: string; digest: string }[];
  hop: number;
  from: string;
  target: string;
  created_at: string;
  task_summary: string;
  memory_refs: string[];
  constraints: Constraint[];
  waived: Waiver[];
  token_count: number;
  max_tokens: number;
  completeness: number;
  gaps: Gap[];
  trimmed_count: number;
};

export type Lineage = { root: string; intent: string; envelopes: LineageNode[]; deliveries?: Delivery[] };
export type Verification = {
  intact: boolean;
  summary: string;
  envelopes: number;
  findings: { id: string; damage: boolean; detail: string }[];
};

export type Explanation = {
  memories: {
    id: string;
    source: string;
    claim: number;
    relevance: number;
    recency: number;
    priority: number;
    levels: { detail: string; tokens: number; value: number }[];
    chosen: string | null;
    rule: string;
  }[];
  degraded: string[];
};

export type Memory = {
  id: string;
  version: number;
  content: string;
  title: string | null;
  summary: string | null;
  kind: string;
  tags: string[];
  priority: string;
  pinned: boolean;
  author: string | null;
  thread: string | null;
  subject: string | null;
  occurred_at: string | null;
  metadata: { [name: string]: Json };
  created_at: string | null;
  updated_at: string | null;
  expires_at: string | null;
};

export type Found = { memory: Memory; score: number; parts: { name: string; value: number; adds: number }[] };
export type Search = { hits: Found[]; degraded: string[] };

export type Breaker = {
  state: "closed" | "open" | "half_open";
  failures: number;
  opened_at: string | null;
  retry_at: string | null;
  forced: boolean;
};
export type Queue = {
  pending: number;
  leased: number;
  accepted: number;
  parked: number;
  oldest_pending_at: string | null;
};

export type Agent = {
  name: string;
  description: string | null;
  max_tokens: number | null;
  policy: { [name: string]: Json } | null;
  fallbacks: string[];
  webhook: { url: string; accept_versions: string[] | null } | null;
  paused: boolean;
  breaker: Breaker;
  queue: Queue;
};

export type Channel = { name: string; subscribers: string[] };

export type Publication = {
  id: string;
  channel: string;
  envelope_id: string;
  root: string;
  by: string | null;
  at: string;
  deliveries: Delivery[];
  settled: boolean;
  join: {
    need: number | null;
    until: string | null;
    target: string | null;
    made: { at: string; envelope_id: string; delivery_id: string; done: boolean | number } | null;
  } | null;
};

export type Pipeline = {
  name: string;
  steps: { agent: string; summary?: string | null; next?: { to: string; when?: Json }[] }[];
};

export type SpineEvent = {
  change: number;
  at: string | null;
  kind: string;
  actor: string | null;
  memory: string | null;
  envelope: string | null;
  delivery: string | null;
  data: { [name: string]: Json };
};

export type Verdict = "healthy" | "degraded" | "critical";
export type WindowName = "5m" | "1h" | "24h";
export type Latency = { count: number; p50: number; p95: number; p99: number; max: number };

export type HealthWindow = {
  from: string;
  until: string;
  latency_accepted_s: Latency | null;
  latency_done_s: Latency | null;
  completeness: { value: number | null; requested: number; included: number; handoffs_partial: number };
  failure_rate: { value: number | null; failed: number; ended: number };
  hop_depth: {
    limit: number;
    max: number | null;
    mean: number | null;
    at_limit: number;
    counts: { hop: number; count: number }[];
  };
  token_utilisation: {
    mean: number | null;
    p50: number | null;
    p95: number | null;
    counts: { upto: number; count: number }[];
  };
  counts: {
    handoffs: number;
    accepted: number;
    done: number;
    retries: number;
    redeliveries: number;
    parked: number;
    rejected: number;
    cancelled: number;
  };
};

export type Thresholds = {
  completeness: { investigate: number; alert: number };
  failure_rate: { investigate: number; alert: number };
  latency_accepted_p95_s: { investigate: number | null; alert: number | null };
  hop_depth: { limit: number };
  token_utilisation: { low: number; full: number };
};

type Column = (number | null)[];

export type Series = {
  from: string;
  step_s: number;
  handoffs: Column;
  accepted: Column;
  done: Column;
  failed: Column;
  parked: Column;
  retries: Column;
  completeness: Column;
  failure_rate: Column;
  latency_accepted_p50_s: Column;
  latency_accepted_p95_s: Column;
  latency_accepted_p99_s: Column;
  latency_done_p50_s: Column;
  latency_done_p95_s: Column;
  hop_depth_mean: Column;
  hop_depth_max: Column;
  token_utilisation_p50: Column;
  queue_depth: Column;
};

export type Reason = {
  severity: "degraded" | "critical";
  figure: string;
  target: string | null;
  window: string | null;
  value: number | null;
  threshold: number | null;
  text: string;
};

export type TargetHealth = {
  agent: string;
  windows: Record<WindowName, HealthWindow>;
  queue: Queue & { oldest_pending_s: number | null };
  paused: boolean;
  breaker: Breaker;
};

export type Health = {
  at: string;
  workspace: string;
  target: string | null;
  since: string | null;
  verdict: Verdict;
  reasons: Reason[];
  thresholds: Thresholds;
  windows: Record<WindowName, HealthWindow>;
  queue: Queue & { oldest_pending_s: number | null };
  targets: TargetHealth[];
  targets_left_off: number;
  series: { "1h": Series; "24h": Series };
};

export type Alert = {
  id: string;
  kind: string;
  severity: "info" | "warning" | "critical";
  state: "open" | "resolved";
  target: string | null;
  title: string;
  detail: string;
  count: number;
  opened_at: string;
  last_at: string;
  resolved_at: string | null;
  acknowledged: { at: string; by: string | null; note: string | null } | null;
  silenced: { until: string; by: string | null; reason: string | null } | null;
  deliveries: string[];
  sent: Sent[];
};

export type Sent = {
  webhook: string;
  at?: string;
  ok: boolean;
  status: number | null;
  error: string | null;
  took_s?: number;
};

export type Filter = { target?: string; reason?: string; since?: string; until?: string };
export type ManyAnswer = { ids: string[]; missed: string[]; dry_run: boolean };
