// States: always a shape and a word, colour only besides.

import type { Alert, Breaker, DeliveryState, Verdict } from "../api/types.ts";

type Tone = "good" | "warn" | "bad" | "quiet" | "busy";

export function Badge({ tone, glyph, children }: { tone: Tone; glyph: string; children: string }) {
  return (
    <span class={`badge ${tone}`}>
      <span class="glyph" aria-hidden="true">
        {glyph}
      </span>
      {children}
    </span>
  );
}

const VERDICTS: Record<Verdict, [Tone, string]> = {
  healthy: ["good", "✓"],
  degraded: ["warn", "▲"],
  critical: ["bad", "■"],
};

export function VerdictBadge({ verdict }: { verdict: Verdict }) {
  const [tone, glyph] = VERDICTS[verdict] ?? ["quiet", "?"];
  return (
    <Badge tone={tone} glyph={glyph}>
      {verdict}
    </Badge>
  );
}

const STATES: Record<DeliveryState, [Tone, string]> = {
  pending: ["quiet", "○"],
  leased: ["busy", "◔"],
  accepted: ["busy", "◑"],
  done: ["good", "✓"],
  rejected: ["warn", "↩"],
  cancelled: ["quiet", "×"],
  parked: ["bad", "■"],
};

export function StateBadge({ state }: { state: DeliveryState }) {
  const [tone, glyph] = STATES[state] ?? ["quiet", "?"];
  return (
    <Badge tone={tone} glyph={glyph}>
      {state}
    </Badge>
  );
}

export function BreakerBadge({ breaker }: { breaker: Breaker }) {
  if (breaker.state === "closed")
    return (
      <Badge tone="good" glyph="✓">
        breaker closed
      </Badge>
    );
  if (breaker.state === "half_open")
    return (
      <Badge tone="warn" glyph="▲">
        breaker probing
      </Badge>
    );
  return (
    <Badge tone="bad" glyph="■">
      {breaker.forced ? "breaker forced open" : "breaker open"}
    </Badge>
  );
}

const SEVERITIES: Record<Alert["severity"], [Tone, string]> = {
  info: ["quiet", "●"],
  warning: ["warn", "▲"],
  critical: ["bad", "■"],
};

export function SeverityBadge({ severity }: { severity: Alert["severity"] }) {
  const [tone, glyph] = SEVERITIES[severity] ?? ["quiet", "?"];
  return (
    <Badge tone={tone} glyph={glyph}>
      {severity}
    </Badge>
  );
}

const CAUSES: Record<string, string> = {
  attempts_exhausted: "ran out of attempts",
  nobody_took_it: "nobody took it",
  expired: "expired",
  hop_limit: "hop limit",
  join_failed: "join failed",
  asked: "parked by request",
};

/** Why something is parked, in words. */
export function causeSaid(cause: string): string {
  return CAUSES[cause] ?? cause.replaceAll("_", " ");
}
