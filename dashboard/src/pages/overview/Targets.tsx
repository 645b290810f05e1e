// The same figures by target.

import type { Health, WindowName } from "../../api/types.ts";
import { count, judgeCompleteness, judgeFailures, percent } from "../../pure/figures.ts";
import { duration } from "../../pure/time.ts";
import { Word } from "../../ui/Inert.tsx";
import { linkTo } from "../../ui/route.ts";
import { BreakerBadge } from "../../ui/Status.tsx";
import { Age } from "../../ui/Time.tsx";

const TONES = { critical: "is-bad", degraded: "is-warn", healthy: "" } as const;
const GLYPHS = { critical: "■ ", degraded: "▲ ", healthy: "" } as const;

export function Targets({ health, name }: { health: Health; name: WindowName }) {
  if (health.targets.length === 0) return null;
  return (
    <section class="panel" aria-label="By target">
      <header>
        <h2>By target</h2>
        <span class="dim">last {name}</span>
        {health.targets_left_off > 0 && <span class="dim">{health.targets_left_off} more not shown</span>}
      </header>
      <div class="scroll">
        <table class="grid">
          <thead>
            <tr>
              <th>agent</th>
              <th>breaker</th>
              <th class="num">handoffs</th>
              <th class="num">accepted p50</th>
              <th class="num">p95</th>
              <th class="num">p99</th>
              <th class="num">done p95</th>
              <th class="num">completeness</th>
              <th class="num">failures</th>
              <th class="num">waiting</th>
              <th class="num">oldest</th>
            </tr>
          </thead>
          <tbody>
            {health.targets.map((target) => (
              <TargetRow key={target.agent} target={target} name={name} health={health} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function TargetRow({ target, name, health }: { target: Health["targets"][number]; name: WindowName; health: Health }) {
  const window = target.windows[name];
  const complete = judgeCompleteness(window.completeness.value, health.thresholds.completeness) ?? "healthy";
  const failing = judgeFailures(window.failure_rate.value, health.thresholds.failure_rate) ?? "healthy";
  return (
    <tr>
      <td>
        <a href={linkTo("agents", target.agent)}>
          <Word text={target.agent} />
        </a>
        {target.paused && <span class="dim"> paused</span>}
      </td>
      <td>
        <BreakerBadge breaker={target.breaker} />
      </td>
      <td class="num">{count(window.counts.handoffs)}</td>
      <td class="num">{duration(window.latency_accepted_s?.p50)}</td>
      <td class="num">{duration(window.latency_accepted_s?.p95)}</td>
      <td class="num">{duration(window.latency_accepted_s?.p99)}</td>
      <td class="num">{duration(window.latency_done_s?.p95)}</td>
      <td class={`num ${TONES[complete]}`}>
        {GLYPHS[complete]}
        {percent(window.completeness.value)}
      </td>
      <td class={`num ${TONES[failing]}`}>
        {GLYPHS[failing]}
        {percent(window.failure_rate.value)}
      </td>
      <td class="num">{count(target.queue.pending)}</td>
      <td class="num">
        <Age since={target.queue.oldest_pending_at} />
      </td>
    </tr>
  );
}
