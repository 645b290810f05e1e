// The figures over time.

import { useMemo } from "preact/hooks";

import type { Series, Thresholds } from "../../api/types.ts";
import { count, percent } from "../../pure/figures.ts";
import { duration } from "../../pure/time.ts";
import { Chart, type Line } from "../../ui/Chart.tsx";

export function Charts({ series, thresholds }: { series: Series; thresholds: Thresholds }) {
  const shown = useMemo(() => chartsOf(series), [series]);
  const low = Math.min(0.9, ...series.completeness.filter((value) => value !== null));
  return (
    <div class="charts">
      <Chart title="Latency to accepted" times={shown.times} lines={shown.latency} say={duration} min={0} />
      <Chart
        title="Completeness"
        times={shown.times}
        lines={shown.completeness}
        say={percent}
        min={Math.max(0, low - 0.02)}
        max={1.002}
        marks={[
          {
            at: thresholds.completeness.investigate,
            label: `investigate below ${percent(thresholds.completeness.investigate)}`,
          },
        ]}
      />
      <Chart
        title="Failure rate"
        times={shown.times}
        lines={shown.failures}
        say={percent}
        min={0}
        marks={[{ at: thresholds.failure_rate.alert, label: `alert above ${percent(thresholds.failure_rate.alert)}` }]}
      />
      <Chart
        title={`Handoffs and queue, per ${series.step_s === 60 ? "minute" : `${series.step_s / 60} min`}`}
        times={shown.times}
        lines={shown.flow}
        say={(value) => count(value === null ? null : Math.round(value))}
        min={0}
      />
    </div>
  );
}

function chartsOf(series: Series) {
  const from = Date.parse(series.from) / 1000;
  const line = (label: string, values: (number | null)[], tone: Line["tone"], fill = false): Line => ({
    label,
    values,
    tone,
    fill,
  });
  return {
    times: series.handoffs.map((_, index) => from + index * series.step_s),
    latency: [
      line("p50", series.latency_accepted_p50_s, "a"),
      line("p95", series.latency_accepted_p95_s, "b"),
      line("p99", series.latency_accepted_p99_s, "c"),
    ],
    completeness: [line("completeness", series.completeness, "a", true)],
    failures: [line("failure rate", series.failure_rate, "bad", true)],
    flow: [line("handoffs", series.handoffs, "a", true), line("waiting", series.queue_depth, "b")],
  };
}
