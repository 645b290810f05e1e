// The five figures, each with what it should be.

import type { ComponentChildren } from "preact";

import type { HealthWindow, Latency, Queue, Thresholds, Verdict } from "../../api/types.ts";
import { type Computed, count, counted, judgeCompleteness, judgeFailures, judgeTokens, percent } from "../../pure/figures.ts";
import { duration } from "../../pure/time.ts";
import { Bars } from "../../ui/Bars.tsx";
import { VerdictBadge } from "../../ui/Status.tsx";
import { Age } from "../../ui/Time.tsx";

type CardProps = {
  title: string;
  value: string;
  verdict?: Verdict | null;
  should: string;
  children?: ComponentChildren;
};

function Card({ title, value, verdict = null, should, children }: CardProps) {
  return (
    <article class={`card ${verdict ?? ""}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        {verdict && <VerdictBadge verdict={verdict} />}
      </header>
      <div class="figure">{value}</div>
      {children}
      <footer class="dim">{should}</footer>
    </article>
  );
}

function judgeLatency(latency: Latency | null, limits: Thresholds["latency_accepted_p95_s"]): Verdict | null {
  if (!latency || limits.investigate === null) return null;
  if (limits.alert !== null && latency.p95 > limits.alert) return "critical";
  return latency.p95 > limits.investigate ? "degraded" : "healthy";
}

function latencyShould(limits: Thresholds["latency_accepted_p95_s"]): string {
  if (limits.investigate === null) return "p95 from handoff to accepted; no threshold is set";
  return `p95 from handoff to accepted; investigate above ${duration(limits.investigate)}${limits.alert === null ? "" : `, alert above ${duration(limits.alert)}`}`;
}

function LatencyCard({
  accepted,
  done,
  limits,
}: {
  accepted: Latency | null;
  done: Latency | null;
  limits: Thresholds["latency_accepted_p95_s"];
}) {
  const row = (name: string, latency: Latency | null) => (
    <tr>
      <th scope="row">{name}</th>
      {(["p50", "p95", "p99"] as const).map((key) => (
        <td key={key}>{duration(latency?.[key])}</td>
      ))}
    </tr>
  );
  return (
    <Card
      title="Latency"
      value={duration(accepted?.p95)}
      verdict={judgeLatency(accepted, limits)}
      should={latencyShould(limits)}
    >
      <table class="mini">
        <thead>
          <tr>
            <td />
            {["p50", "p95", "p99"].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {row("accepted", accepted)}
          {row("done", done)}
        </tbody>
      </table>
    </Card>
  );
}

function completenessShould({ investigate, alert }: Thresholds["completeness"]): string {
  return `healthy from ${percent(investigate)}; alert below ${percent(alert)}`;
}

function failuresShould({ investigate, alert }: Thresholds["failure_rate"]): string {
  return `healthy below ${percent(investigate)}; alert above ${percent(alert)}`;
}

function HopCard({ hops }: { hops: HealthWindow["hop_depth"] }) {
  const verdict: Verdict | null = hops.max === null ? null : hops.at_limit > 0 ? "critical" : "healthy";
  const most = Math.max(hops.limit, hops.max ?? 0);
  const found = new Map(hops.counts.map((entry) => [entry.hop, entry.count]));
  const bars = Array.from({ length: Math.min(most, 30) }, (_, index) => ({
    label: `hop ${index + 1}`,
    count: found.get(index + 1) ?? 0,
    ...(index + 1 >= hops.limit ? { tone: "bad" as const } : {}),
  }));
  return (
    <Card
      title="Hop depth"
      value={hops.mean === null ? "–" : hops.mean.toFixed(1)}
      verdict={verdict}
      should={`mean; deepest ${hops.max ?? "–"} of ${hops.limit}; alert at the limit`}
    >
      <Bars bars={bars} label="Handoffs by hop" />
    </Card>
  );
}

function TokenCard({
  tokens,
  limits,
}: {
  tokens: HealthWindow["token_utilisation"];
  limits: Thresholds["token_utilisation"];
}) {
  const verdict = judgeTokens(tokens, limits);
  const bars = tokens.counts.map(({ upto, count: n }) => ({
    label: `up to ${Math.round(upto * 100)} % of the budget`,
    count: n,
  }));
  return (
    <Card
      title="Token use"
      value={percent(tokens.p50)}
      verdict={verdict}
      should={`median share of the budget; p95 ${percent(tokens.p95)}; investigate always low or always full`}
    >
      <Bars bars={bars} label="Handoffs by share of the budget" />
    </Card>
  );
}

function Counts({ window, queue }: { window: HealthWindow; queue: Queue }) {
  const { counts } = window;
  const shown: [string, number][] = [
    ["handoffs", counts.handoffs],
    ["accepted", counts.accepted],
    ["done", counts.done],
    ["retries", counts.retries],
    ["redeliveries", counts.redeliveries],
    ["rejected", counts.rejected],
    ["parked", counts.parked],
    ["cancelled", counts.cancelled],
  ];
  return (
    <div class="counts" aria-label="Counts">
      {shown.map(([name, n]) => (
        <span key={name}>
          <b>{count(n)}</b> {name}
        </span>
      ))}
      <span class="grow" />
      <span>
        <b>{count(queue.pending)}</b> waiting now
      </span>
      <span>
        oldest{" "}
        <b>
          <Age since={queue.oldest_pending_at} />
        </b>
      </span>
      <span>
        <b>{count(queue.parked)}</b> dead letters
      </span>
    </div>
  );
}

export function Figures({ window, thresholds, queue }: { window: HealthWindow; thresholds: Thresholds; queue: Queue }) {
  const { completeness, failure_rate: failures } = window;
  return (
    <>
      <div class="cards">
        <LatencyCard
          accepted={window.latency_accepted_s}
          done={window.latency_done_s}
          limits={thresholds.latency_accepted_p95_s}
        />
        <Card
          title="Completeness"
          value={percent(completeness.value)}
          verdict={judgeCompleteness(completeness.value, thresholds.completeness)}
          should={completenessShould(thresholds.completeness)}
        >
          <p>
            {count(completeness.included)} of {count(completeness.requested)} references travelled;{" "}
            {counted(completeness.handoffs_partial, "handoff")} with gaps
          </p>
        </Card>
        <Card
          title="Failure rate"
          value={percent(failures.value)}
          verdict={judgeFailures(failures.value, thresholds.failure_rate)}
          should={failuresShould(thresholds.failure_rate)}
        >
          <p>
            {count(failures.failed)} of {counted(failures.ended, "handoff")} ran out of attempts
          </p>
        </Card>
        <HopCard hops={window.hop_depth} />
        <TokenCard tokens={window.token_utilisation} limits={thresholds.token_utilisation} />
      </div>
      <Counts window={window} queue={queue} />
    </>
  );
}

/** The same cards from deliveries alone; what cannot be known from them says so. */
export function ComputedFigures({ computed, thresholds }: { computed: Computed; thresholds: Thresholds }) {
  return (
    <div class="cards">
      <LatencyCard
        accepted={computed.latency_accepted_s}
        done={computed.latency_done_s}
        limits={thresholds.latency_accepted_p95_s}
      />
      <Card
        title="Completeness"
        value={percent(computed.completeness)}
        verdict={judgeCompleteness(computed.completeness, thresholds.completeness)}
        should={completenessShould(thresholds.completeness)}
      >
        <p>mean over {counted(computed.deliveries, "delivery", "deliveries")}</p>
      </Card>
      <Card
        title="Failure rate"
        value={percent(computed.failure_rate)}
        verdict={judgeFailures(computed.failure_rate, thresholds.failure_rate)}
        should={failuresShould(thresholds.failure_rate)}
      >
        <p>
          {count(computed.failed)} of {counted(computed.ended, "handoff")} ran out of attempts
        </p>
      </Card>
      <Card title="Hop depth" value="not known" should="only health figures tell it" />
      <Card title="Token use" value="not known" should="only health figures tell it" />
    </div>
  );
}
