// The difference between two hops: what was added, dropped, changed; and line by line in the text.

import { useMemo, useState } from "preact/hooks";

import { asked, at, getText } from "../../api/client.ts";
import type { Envelope, Lineage, LineageNode } from "../../api/types.ts";
import { useLoad } from "../../live/load.ts";
import { diffEnvelopes } from "../../pure/diff.ts";
import { inertText, oneLine } from "../../pure/inert.ts";
import { DiffView } from "../../ui/DiffView.tsx";
import { Line } from "../../ui/Inert.tsx";
import { Empty, Loading, Trouble } from "../../ui/Notice.tsx";
import { useEnvelope } from "../shared/EnvelopeView.tsx";

function Choice({
  label,
  nodes,
  value,
  choose,
}: {
  label: string;
  nodes: LineageNode[];
  value: string;
  choose: (id: string) => void;
}) {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {nodes.map((node) => (
          <option key={node.id} value={node.id}>
            {inertText(oneLine(`hop ${node.hop}: ${node.from} → ${node.target} (${node.id.slice(-6)})`, 80))}
          </option>
        ))}
      </select>
    </label>
  );
}

const GLYPHS = { added: "+", removed: "−", changed: "~" } as const;

function Changes({ before, after }: { before: Envelope; after: Envelope }) {
  const changes = useMemo(() => diffEnvelopes(before, after), [before, after]);
  if (changes.length === 0) return <Empty title="The two say the same." />;
  return (
    <ul class="changes" aria-label="Changes">
      {changes.map((change, index) => (
        <li key={index} class={change.kind}>
          <span class="glyph" title={change.kind}>
            {GLYPHS[change.kind]}
          </span>{" "}
          <b>{change.kind}</b> <Line text={change.what} length={200} />
          {change.before && (
            <span class="old">
              {" "}
              <Line text={change.before} length={300} />
            </span>
          )}
          {change.before && change.after && " → "}
          {change.after && (
            <span class="new">
              {" "}
              <Line text={change.after} length={300} />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

function Texts({ a, b }: { a: string; b: string }) {
  const load = (id: string) => (signal: AbortSignal) =>
    getText(asked(at`/v1/envelopes/${id}/render`, { format: "markdown" }), signal);
  const [before, after] = [useLoad(`text ${a}`, load(a)), useLoad(`text ${b}`, load(b))];
  const error = before.error ?? after.error;
  if (error) return <Trouble error={error} what="the rendering" />;
  if (before.value === null || after.value === null) return <Loading what="both texts" />;
  return <DiffView before={before.value} after={after.value} />;
}

export function Compare({ lineage, first }: { lineage: Lineage; first: string }) {
  const parent = lineage.envelopes.find((one) => one.id === first)?.parents[0]?.id;
  const [a, setA] = useState(parent ?? lineage.root);
  const [b, setB] = useState(first);
  const [before, after] = [useEnvelope(a), useEnvelope(b)];
  const error = before.error ?? after.error;
  return (
    <section class="panel" aria-label="Compare">
      <header class="bar">
        <h2>Difference</h2>
        <Choice label="from" nodes={lineage.envelopes} value={a} choose={setA} />
        <Choice label="to" nodes={lineage.envelopes} value={b} choose={setB} />
      </header>
      {error && <Trouble error={error} what="the envelopes" />}
      {before.value && after.value ? (
        <Changes before={before.value} after={after.value} />
      ) : (
        !error && <Loading what="both envelopes" />
      )}
      <details>
        <summary>Line by line, as the receivers read it</summary>
        <Texts a={a} b={b} />
      </details>
    </section>
  );
}
