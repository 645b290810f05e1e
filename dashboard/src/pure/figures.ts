// Figures: how they are written, how they are judged, and what can be told from deliveries alone.

import type { Delivery, HealthWindow, Latency, Thresholds, Verdict } from "../api/types.ts";
import { between } from "./time.ts";

/** A share in percent, with as many places as matter near the thresholds. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  const value = share * 100;
  const places = value === 0 || value === 100 ? 0 : value < 10 || value > 99 ? 2 : 1;
  return `${value.toFixed(places)} %`;
}

/** A count, grouped so that it can be read. */
export function count(n: number | null | undefined): string {
  return n === null || n === undefined ? "–" : n.toLocaleString("en-US").replaceAll(",", "\u202f");
}

/** `1 handoff`, `2 handoffs`. */
export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** Fewer handoffs than this say nothing about how budgets are used; the server waits for as many. */
const TOKENS_JUDGED_MIN = 20;

/** What a use of token budgets means. */
export function judgeTokens(
  { p50, counts }: Pick<HealthWindow["token_utilisation"], "p50" | "counts">,
  limits: Thresholds["token_utilisation"],
): Verdict | null {
  const handoffs = counts.reduce((sum, one) => sum + one.count, 0);
  if (p50 === null || handoffs < TOKENS_JUDGED_MIN) return null;
  return p50 < limits.low || p50 >= limits.full ? "degraded" : "healthy";
}

/** Where figures stand alone, with nothing known before and after. */
export function isolated(values: ArrayLike<number | null | undefined>): number[] {
  const isKnown = (index: number) => typeof values[index] === "number";
  return Array.from(values, (_, index) => index).filter((i) => isKnown(i) && !isKnown(i - 1) && !isKnown(i + 1));
}

/** What a completeness means. */
export function judgeCompleteness(value: number | null, limits: Thresholds["completeness"]): Verdict | null {
  if (value === null) return null;
  if (value < limits.alert) return "critical";
  return value < limits.investigate ? "degraded" : "healthy";
}

/** What a failure rate means. */
export function judgeFailures(value: number | null, limits: Thresholds["failure_rate"]): Verdict | null {
  if (value === null) return null;
  if (value > limits.alert) return "critical";
  return value >= limits.investigate ? "degraded" : "healthy";
}

/** The thresholds of a server that sets none itself. */
export const THRESHOLDS: Thresholds = {
  completeness: { investigate: 0.95, alert: 0.8 },
  failure_rate: { investigate: 0.005, alert: 0.02 },
  latency_accepted_p95_s: { investigate: null, alert: null },
  hop_depth: { limit: 10 },
  token_utilisation: { low: 0.1, full: 0.98 },
};

/** The value below which this share lies, by nearest rank. */
export function quantile(sorted: number[], share: number): number | null {
  if (sorted.length === 0) return null;
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

function latencyOf(values: (number | null)[]): Latency | null {
  const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const at = (share: number) => quantile(sorted, share) ?? 0;
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}

/** What this page can work out by itself. */
export type Computed = {
  deliveries: number;
  latency_accepted_s: Latency | null;
  latency_done_s: Latency | null;
  completeness: number | null;
  failure_rate: number | null;
  failed: number;
  ended: number;
};

const RAN_OUT = new Set(["attempts_exhausted", "nobody_took_it"]);

function ranOut(delivery: Delivery): boolean {
  return delivery.state === "parked" && delivery.parked.some((entry) => RAN_OUT.has(entry.cause));
}

/** Figures of these deliveries; each completeness counts alike, since requests are not in the document. */
export function compute(deliveries: Delivery[]): Computed {
  const failed = deliveries.filter(ranOut).length;
  const ended = failed + deliveries.filter((one) => one.state === "done" || one.state === "rejected").length;
  const known = deliveries.map((one) => one.completeness).filter((value) => value !== null);
  const done = deliveries.filter((one) => one.state === "done");
  return {
    deliveries: deliveries.length,
    latency_accepted_s: latencyOf(deliveries.map((one) => between(one.sent_at, one.accepted_at))),
    latency_done_s: latencyOf(done.map((one) => between(one.sent_at, one.ended_at))),
    completeness: known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : null,
    failure_rate: ended ? failed / ended : null,
    failed,
    ended,
  };
}
