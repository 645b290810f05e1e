// A chart over time that can be pointed at. What is pointed at is told in words below it.

import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";

import { isolated } from "../pure/figures.ts";
import { clock } from "../pure/time.ts";
import { isDark } from "./theme.ts";

export type Line = { label: string; values: (number | null)[]; tone: "a" | "b" | "c" | "bad" | "warn"; fill?: boolean };
export type Mark = { at: number; label: string };

export type ChartProps = {
  title: string;
  times: number[];
  lines: Line[];
  say: (value: number | null) => string;
  marks?: Mark[];
  min?: number;
  max?: number;
};

const HEIGHT_PX = 132;
const CURSORS = uPlot.sync("time");

function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

function markPlugin(marks: Mark[]): uPlot.Plugin {
  return {
    hooks: {
      draw: (chart) => {
        const { ctx, bbox } = chart;
        ctx.save();
        ctx.strokeStyle = color("warn");
        ctx.setLineDash([5, 4]);
        for (const mark of marks) {
          const y = chart.valToPos(mark.at, "y", true);
          if (y < bbox.top || y > bbox.top + bbox.height) continue;
          ctx.beginPath();
          ctx.moveTo(bbox.left, y);
          ctx.lineTo(bbox.left + bbox.width, y);
          ctx.stroke();
        }
        ctx.restore();
      },
    },
  };
}

function options(props: ChartProps, width: number, point: (index: number | null) => void): uPlot.Options {
  const axis = {
    stroke: color("dim"),
    grid: { stroke: color("line"), width: 1 },
    ticks: { show: false },
    font: "11px system-ui",
  };
  const pinned = (low: number, high: number): [number, number] => {
    const [min, max] = [props.min ?? low, props.max ?? high];
    return max > min ? [min, max] : [min, min + 1];
  };
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    cursor: { y: false, sync: { key: CURSORS.key }, points: { size: 6 }, drag: { x: false, y: false } },
    scales: { x: { time: true }, y: { range: (_, low, high) => pinned(low ?? 0, (high ?? 1) * 1.08) } },
    axes: [
      { ...axis, values: (_, ticks) => ticks.map(clock), size: 26, space: 64 },
      { ...axis, values: (_, ticks) => ticks.map(props.say), size: 58, space: 28 },
    ],
    series: [
      {},
      ...props.lines.map((line): uPlot.Series => {
        const stroke = color(`chart-${line.tone}`);
        return {
          label: line.label,
          stroke,
          width: 1.6,
          // A minute of work between quiet ones has no line to be seen by.
          points: { show: true, size: 5, fill: stroke, filter: (chart, index) => isolated(chart.data[index] ?? []) },
          spanGaps: false,
          ...(line.fill ? { fill: `${stroke}22` } : {}),
        };
      }),
    ],
    plugins: [markPlugin(props.marks ?? [])],
    hooks: { setCursor: [(chart) => point(chart.cursor.idx ?? null)] },
  };
}

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const shape = `${props.lines.map((line) => line.label).join()}|${isDark.value}|${JSON.stringify(props.marks ?? [])}`;
  const data = [props.times, ...props.lines.map((line) => line.values)] as uPlot.AlignedData;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const made = new uPlot(options(props, Math.max(200, element.clientWidth), setPointed), data, element);
    chart.current = made;
    const observer = new ResizeObserver(() =>
      made.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT_PX }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [shape]);
  useEffect(() => chart.current?.setData(data), [props.times, props.lines]);
  const last = props.times.length - 1;
  const index = pointed ?? last;
  const at = props.times[index];
  return (
    <figure class="chart">
      <figcaption>
        <strong>{props.title}</strong>
        <span class="dim">{at === undefined ? "" : pointed === null ? "newest" : clock(at)}</span>
      </figcaption>
      <div
        ref={box}
        class="plot"
        role="img"
        aria-label={`${props.title}: ${props.lines.map((line) => `${line.label} ${props.say(line.values[last] ?? null)}`).join(", ")}`}
      />
      <div class="legend">
        {props.lines.map((line) => (
          <span key={line.label}>
            <i class={`swatch ${line.tone}`} />
            {line.label} <b>{props.say(line.values[index] ?? null)}</b>
          </span>
        ))}
        {(props.marks ?? []).map((mark) => (
          <span key={mark.label} class="dim">
            <i class="swatch dashed" />
            {mark.label}
          </span>
        ))}
      </div>
    </figure>
  );
}
