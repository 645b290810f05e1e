// Figures for the stand-in: made up, but of one piece, and the same at every start.

import type { Health, HealthWindow, Series, WindowName } from "../src/api/types.ts";
import { THRESHOLDS, judgeCompleteness, judgeFailures } from "../src/pure/figures.ts";
import type { World } from "./world.ts";

/** A wave with noise, by place alone. */
function noise(index: number, seed: number): number {
  const x = Math.sin(index * 12.9898 + seed * 78.233) * 43758.5453;
  return x - Math.floor(x);
}

function column(points: number, make: (index: number) => number | null): (number | null)[] {
  return Array.from({ length: points }, (_, index) => make(index));
}

function series(points: number, step: number, nowMs: number, isTroubled: boolean): Series {
  const last = Math.floor(nowMs / 1000 / step) * step;
  const from = last - (points - 1) * step;
  const trouble = (index: number) =>
    isTroubled ? Math.max(0, 1 - Math.abs(index - points * 0.86) / (points * 0.1)) : 0;
  const rate = step === 60 ? 14 : 190;
  const handoffs = column(points, (i) => Math.round(rate * (0.7 + 0.5 * noise(i, 1)) * (1 + 0.3 * Math.sin(i / 7))));
  const p50 = column(points, (i) => 0.035 + 0.02 * noise(i, 2) + 0.4 * trouble(i));
  const times = (values: (number | null)[], by: number, seed: number) =>
    values.map((value, i) => (value === null ? null : value * (by + by * 0.4 * noise(i, seed))));
  const failed = column(points, (i) => (noise(i, 9) < trouble(i) * 0.7 ? Math.ceil(trouble(i) * 3) : 0));
  const complete = column(points, (i) => Math.min(1, 0.985 + 0.015 * noise(i, 4) - 0.13 * trouble(i)));
  return {
    from: new Date(from * 1000).toISOString(),
    step_s: step,
    handoffs,
    accepted: handoffs,
    done: times(handoffs, 0.95, 5).map((v) => Math.round(v ?? 0)),
    failed,
    parked: failed,
    retries: failed.map((v) => (v ?? 0) * 3),
    completeness: complete,
    failure_rate: failed.map((v, i) => (v ?? 0) / Math.max(1, handoffs[i] ?? 1)),
    latency_accepted_p50_s: p50,
    latency_accepted_p95_s: times(p50, 4, 6),
    latency_accepted_p99_s: times(p50, 7, 7),
    latency_done_p50_s: times(p50, 60, 6),
    latency_done_p95_s: times(p50, 140, 7),
    hop_depth_mean: column(points, (i) => 2 + noise(i, 3)),
    hop_depth_max: column(points, (i) => 4 + Math.round(2 * noise(i, 8))),
    token_utilisation_p50: column(points, (i) => 0.6 + 0.1 * noise(i, 5)),
    queue_depth: column(points, (i) => Math.round(3 * noise(i, 5) + 40 * trouble(i))),
  };
}

function window(name: WindowName, nowMs: number, share: number, isTroubled: boolean): HealthWindow {
  const seconds = { "5m": 300, "1h": 3600, "24h": 86400 }[name];
  const scale = share * { "5m": 70, "1h": 842, "24h": 18_730 }[name];
  const n = Math.round(scale);
  const bad = isTroubled ? { "5m": 0.045, "1h": 0.012, "24h": 0.0021 }[name] : 0;
  const latency = (p50: number) => ({
    count: n,
    p50,
    p95: p50 * (isTroubled ? 9 : 4),
    p99: p50 * (isTroubled ? 16 : 7),
    max: p50 * 22,
  });
  const requested = n * 5;
  const included = Math.round(requested * (isTroubled ? { "5m": 0.91, "1h": 0.963, "24h": 0.991 }[name] : 0.995));
  const hops = [0.42, 0.27, 0.16, 0.09, 0.045, 0.015];
  const used = [0.01, 0.02, 0.03, 0.06, 0.1, 0.14, 0.2, 0.19, 0.15, 0.1];
  return {
    from: new Date(nowMs - seconds * 1000).toISOString(),
    until: new Date(nowMs).toISOString(),
    latency_accepted_s: n ? latency(0.041) : null,
    latency_done_s: n ? latency(2.6) : null,
    completeness: {
      value: n ? included / requested : null,
      requested,
      included,
      handoffs_partial: Math.round((requested - included) / 2),
    },
    failure_rate: { value: n ? bad : null, failed: Math.round(bad * n), ended: n },
    hop_depth: {
      limit: 10,
      max: 6,
      mean: 2.1,
      at_limit: 0,
      counts: hops.map((part, index) => ({ hop: index + 1, count: Math.round(part * n) })),
    },
    token_utilisation: {
      mean: 0.66,
      p50: 0.68,
      p95: 0.96,
      counts: used.map((part, index) => ({ upto: (index + 1) / 10, count: Math.round(part * n) })),
    },
    counts: {
      handoffs: n,
      accepted: n,
      done: Math.round(n * 0.95),
      retries: Math.round(bad * n * 4),
      redeliveries: Math.round(bad * n),
      parked: Math.round(bad * n),
      rejected: Math.round(n * 0.006),
      cancelled: 0,
    },
  };
}

const windows = (nowMs: number, share: number, isTroubled: boolean) => ({
  "5m": window("5m", nowMs, share, isTroubled),
  "1h": window("1h", nowMs, share, isTroubled),
  "24h": window("24h", nowMs, share, isTroubled),
});

export function healthOf(world: World): Health {
  const nowMs = world.clock();
  const agents = [...world.agents.keys()].sort().map((name) => world.counted(name));
  const open = agents.filter((agent) => agent.breaker.state === "open");
  const isTroubled =
    open.length > 0 || world.alerts.some((alert) => alert.state === "open" && alert.severity === "critical");
  const queued = agents.map((agent) => agent.queue);
  const total = (name: "pending" | "leased" | "accepted" | "parked") =>
    queued.reduce((sum, queue) => sum + queue[name], 0);
  const oldest =
    queued
      .map((queue) => queue.oldest_pending_at)
      .filter((at) => at !== null)
      .sort()[0] ?? null;
  const age = (at: string | null) => (at ? (nowMs - Date.parse(at)) / 1000 : null);
  const all = windows(nowMs, 1, isTroubled);
  const reasons: Health["reasons"] = open.map((agent) => ({
    severity: "critical",
    figure: "breaker",
    target: agent.name,
    window: null,
    value: null,
    threshold: null,
    text: `The breaker of ${agent.name} is open: direct handoffs to it fail at once.`,
  }));
  if (judgeFailures(all["5m"].failure_rate.value, THRESHOLDS.failure_rate) === "critical")
    reasons.push({
      severity: "critical",
      figure: "failure_rate",
      target: null,
      window: "5m",
      value: 0.045,
      threshold: 0.02,
      text: "4.5 % of handoffs ran out of attempts in the last 5 minutes (alert above 2 %).",
    });
  if (judgeCompleteness(all["5m"].completeness.value, THRESHOLDS.completeness) === "degraded")
    reasons.push({
      severity: "degraded",
      figure: "completeness",
      target: null,
      window: "5m",
      value: 0.91,
      threshold: 0.95,
      text: "Completeness was 91 % over the last 5 minutes (healthy: 95 % or more).",
    });
  return {
    at: world.now(),
    workspace: world.name,
    target: null,
    since: new Date(nowMs - 86_400_000 * 3).toISOString(),
    verdict: reasons.some((one) => one.severity === "critical") ? "critical" : reasons.length ? "degraded" : "healthy",
    reasons,
    thresholds: THRESHOLDS,
    windows: all,
    queue: {
      pending: total("pending"),
      leased: total("leased"),
      accepted: total("accepted"),
      parked: total("parked"),
      oldest_pending_at: oldest,
      oldest_pending_s: age(oldest),
    },
    targets: agents.map((agent) => ({
      agent: agent.name,
      windows: windows(nowMs, 1 / Math.max(1, agents.length), agent.breaker.state === "open"),
      queue: { ...agent.queue, oldest_pending_s: age(agent.queue.oldest_pending_at) },
      paused: agent.paused,
      breaker: agent.breaker,
    })),
    targets_left_off: 0,
    series: { "1h": series(60, 60, nowMs, isTroubled), "24h": series(96, 900, nowMs, isTroubled) },
  };
}
