// Where the hops of a lineage stand: a column for each hop, an order in each column that crosses few lines.

export type GraphNode = { id: string; hop: number; parents: string[] };
export type Placed = { id: string; column: number; row: number };
export type Edge = { from: string; to: string };
export type Layout = { placed: Map<string, Placed>; edges: Edge[]; columns: number; rows: number };

const SWEEPS = 4;

/** Lays a lineage out. Parents that are not among the nodes are left out. */
export function layout(nodes: GraphNode[]): Layout {
  const known = new Set(nodes.map((node) => node.id));
  const edges = nodes.flatMap((node) =>
    node.parents.filter((id) => known.has(id)).map((from) => ({ from, to: node.id })),
  );
  const columns = byHop(nodes);
  const order = new Map<string, number>();
  columns.forEach((column) => column.forEach((id, index) => order.set(id, index)));
  const [above, below] = [neighbours(edges, "to", "from"), neighbours(edges, "from", "to")];
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const column of columns) settle(column, above, order);
    for (const column of [...columns].reverse()) settle(column, below, order);
  }
  return place(columns, edges);
}

function byHop(nodes: GraphNode[]): string[][] {
  const hops = [...new Set(nodes.map((node) => node.hop))].sort((a, b) => a - b);
  return hops.map((hop) => nodes.filter((node) => node.hop === hop).map((node) => node.id));
}

function neighbours(edges: Edge[], of: keyof Edge, to: keyof Edge): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const edge of edges) found.set(edge[of], [...(found.get(edge[of]) ?? []), edge[to]]);
  return found;
}

/** Each node goes to the middle of its neighbours. */
function settle(column: string[], beside: Map<string, string[]>, order: Map<string, number>): void {
  const middle = (id: string) => {
    const places = (beside.get(id) ?? []).map((other) => order.get(other) ?? 0);
    return places.length ? places.reduce((sum, place) => sum + place, 0) / places.length : (order.get(id) ?? 0);
  };
  const weights = new Map(column.map((id) => [id, middle(id)]));
  column.sort((a, b) => (weights.get(a) ?? 0) - (weights.get(b) ?? 0));
  column.forEach((id, index) => order.set(id, index));
}

function place(columns: string[][], edges: Edge[]): Layout {
  const rows = Math.max(0, ...columns.map((column) => column.length));
  const placed = new Map<string, Placed>();
  columns.forEach((column, index) => {
    // A short column stands in the middle of a tall neighbour.
    const top = (rows - column.length) / 2;
    column.forEach((id, row) => placed.set(id, { id, column: index, row: top + row }));
  });
  return { placed, edges, columns: columns.length, rows };
}
