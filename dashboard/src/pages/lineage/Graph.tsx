// The lineage as a graph: columns are hops, lines are parents.

import { useEffect, useRef } from "preact/hooks";

import type { Delivery, Lineage, LineageNode } from "../../api/types.ts";
import { percent } from "../../pure/figures.ts";
import { type Layout, layout } from "../../pure/layout.ts";
import { Line, Word } from "../../ui/Inert.tsx";
import { StateBadge } from "../../ui/Status.tsx";

const NODE = { width: 212, height: 104, gapX: 56, gapY: 16 };

function position(placed: { column: number; row: number } | undefined): { left: number; top: number } {
  const { column, row } = placed ?? { column: 0, row: 0 };
  return { left: column * (NODE.width + NODE.gapX), top: row * (NODE.height + NODE.gapY) };
}

function Edges({ graph, width, height }: { graph: Layout; width: number; height: number }) {
  return (
    <svg class="edges" width={width} height={height} aria-hidden="true">
      {graph.edges.map(({ from, to }) => {
        const [start, end] = [position(graph.placed.get(from)), position(graph.placed.get(to))];
        const [x1, y1] = [start.left + NODE.width, start.top + NODE.height / 2];
        const [x2, y2] = [end.left, end.top + NODE.height / 2];
        const bend = (x2 - x1) / 2;
        return <path key={`${from} ${to}`} d={`M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`} />;
      })}
    </svg>
  );
}

/** What to look at first: anything that is not done, then the newest. */
function shownState(deliveries: Delivery[]): Delivery | undefined {
  return (
    deliveries.find((one) => one.state === "parked") ?? deliveries.find((one) => one.state !== "done") ?? deliveries[0]
  );
}

function losses(node: LineageNode): string[] {
  const said = [];
  if (node.gaps.length) said.push(`▲ ${node.gaps.length} missing`);
  if (node.trimmed_count) said.push(`${node.trimmed_count} trimmed`);
  if (node.waived.length) said.push(`${node.waived.length} waived`);
  return said;
}

function Node({
  node,
  deliveries,
  selected,
  open,
}: {
  node: LineageNode;
  deliveries: Delivery[];
  selected: boolean;
  open: () => void;
}) {
  const delivery = shownState(deliveries);
  const lost = losses(node);
  return (
    <button
      class={`node${selected ? " selected" : ""}${delivery?.state === "parked" ? " bad" : ""}`}
      aria-pressed={selected}
      onClick={open}
      data-node={node.id}
    >
      <span class="node-head">
        <b>{node.hop}</b> <Word text={node.target} />
      </span>
      <span class="node-from dim">
        from <Word text={node.from} />
      </span>
      <Line text={node.task_summary} length={80} />
      <span class="node-foot">
        {delivery && <StateBadge state={delivery.state} />}
        {deliveries.length > 1 && <span class="dim">×{deliveries.length}</span>}
        {lost.length > 0 ? (
          <span class="dim" title={lost.join(", ")}>
            {lost.join(", ")}
          </span>
        ) : (
          <span class="dim">{percent(node.completeness)} complete</span>
        )}
      </span>
    </button>
  );
}

/** Keeps the chosen hop in sight, also on a narrow screen. */
function useInSight(selected: string) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.querySelector("[aria-pressed=true]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [selected]);
  return box;
}

export function Graph({ lineage, selected, open }: { lineage: Lineage; selected: string; open: (id: string) => void }) {
  const box = useInSight(selected);
  const graph = layout(
    lineage.envelopes.map((one) => ({ id: one.id, hop: one.hop, parents: one.parents.map((parent) => parent.id) })),
  );
  const width = graph.columns * (NODE.width + NODE.gapX) - NODE.gapX;
  const height = graph.rows * (NODE.height + NODE.gapY) - NODE.gapY;
  return (
    <div class="graph" ref={box} tabIndex={-1}>
      <div class="graph-all" style={{ width: `${width}px`, height: `${height}px` }}>
        <Edges graph={graph} width={width} height={height} />
        {lineage.envelopes.map((node) => {
          const { left, top } = position(graph.placed.get(node.id));
          const deliveries = lineage.deliveries?.filter((one) => one.envelope_id === node.id) ?? [];
          return (
            <div key={node.id} class="node-place" style={{ left: `${left}px`, top: `${top}px` }}>
              <Node node={node} deliveries={deliveries} selected={node.id === selected} open={() => open(node.id)} />
            </div>
          );
        })}
      </div>
    </div>
  );
}
