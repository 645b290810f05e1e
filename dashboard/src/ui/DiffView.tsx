// Two texts, line by line.

import { useMemo } from "preact/hooks";

import { diffLines, fold } from "../pure/diff.ts";
import { Line } from "./Inert.tsx";

const SIGNS = { same: " ", added: "+", removed: "−" } as const;

export function DiffView({ before, after }: { before: string; after: string }) {
  const lines = useMemo(() => fold(diffLines(before.split("\n"), after.split("\n"))), [before, after]);
  return (
    <div class="diff mono" aria-label="Line by line">
      {lines.map((line, index) =>
        line.kind === "folded" ? (
          <div key={index} class="folded">
            ⋯ {line.count} lines without a difference
          </div>
        ) : (
          <div key={index} class={line.kind}>
            <span class="sign">{SIGNS[line.kind]}</span>
            <Line text={line.text} length={1000} />
          </div>
        ),
      )}
    </div>
  );
}
