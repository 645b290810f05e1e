// What differs between two texts, two lists, two envelopes.

import type { Envelope, EnvelopeMemory } from "../api/types.ts";

export type DiffLine = { kind: "same" | "added" | "removed"; text: string };

/** Cells of the table that is worth filling; beyond it everything counts as replaced. */
const CELLS_MAX = 4_000_000;

/** The shortest story from one list of lines to another. */
export function diffLines(before: string[], after: string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++;
  const same = (text: string): DiffLine => ({ kind: "same", text });
  const middle = diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end));
  return [...before.slice(0, start).map(same), ...middle, ...before.slice(before.length - end).map(same)];
}

function diffMiddle(before: string[], after: string[]): DiffLine[] {
  const removed = before.map((text): DiffLine => ({ kind: "removed", text }));
  const added = after.map((text): DiffLine => ({ kind: "added", text }));
  if (before.length * after.length > CELLS_MAX || !before.length || !after.length) return [...removed, ...added];
  return walk(before, after, commonLengths(before, after));
}

/** For each pair of places, how many lines the rests have in common. */
function commonLengths(before: string[], after: string[]): Uint32Array {
  const width = after.length + 1;
  const table = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const longer = Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0);
      table[i * width + j] = before[i] === after[j] ? (table[(i + 1) * width + j + 1] ?? 0) + 1 : longer;
    }
  }
  return table;
}

function walk(before: string[], after: string[], table: Uint32Array): DiffLine[] {
  const width = after.length + 1;
  const lines: DiffLine[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i], after[j]];
    if (old !== undefined && old === fresh) {
      lines.push({ kind: "same", text: old });
      i++;
      j++;
    } else if (
      old !== undefined &&
      (fresh === undefined || (table[(i + 1) * width + j] ?? 0) >= (table[i * width + j + 1] ?? 0))
    ) {
      lines.push({ kind: "removed", text: old });
      i++;
    } else {
      lines.push({ kind: "added", text: fresh ?? "" });
      j++;
    }
  }
  return lines;
}

export type Fold = DiffLine | { kind: "folded"; count: number };

/** Long stretches without a difference, folded. */
export function fold(lines: DiffLine[], around = 3): Fold[] {
  const near = new Set<number>();
  lines.forEach((line, index) => {
    if (line.kind === "same") return;
    for (let at = index - around; at <= index + around; at++) near.add(at);
  });
  const folded: Fold[] = [];
  let hidden = 0;
  const close = () => {
    if (hidden) folded.push({ kind: "folded", count: hidden });
    hidden = 0;
  };
  lines.forEach((line, index) => {
    if (!near.has(index)) return void hidden++;
    close();
    folded.push(line);
  });
  close();
  return folded;
}

export type Change = {
  kind: "added" | "removed" | "changed";
  what: string;
  before: string | null;
  after: string | null;
};

/** What changed between two lists of named things. */
export function diffNamed(before: Map<string, string>, after: Map<string, string>, what: string): Change[] {
  const changes: Change[] = [];
  for (const [name, value] of after) {
    const old = before.get(name);
    if (old === undefined) changes.push({ kind: "added", what: `${what} ${name}`, before: null, after: value });
    else if (old !== value) changes.push({ kind: "changed", what: `${what} ${name}`, before: old, after: value });
  }
  for (const [name, value] of before) {
    if (!after.has(name)) changes.push({ kind: "removed", what: `${what} ${name}`, before: value, after: null });
  }
  return changes;
}

function memorySaid(memory: EnvelopeMemory): string {
  const tokens = memory.tokens === undefined ? "" : `, ${memory.tokens} tokens`;
  return `version ${memory.version}, ${memory.detail}${tokens}`;
}

function named<T>(items: T[] | undefined, name: (item: T) => string, said: (item: T) => string): Map<string, string> {
  return new Map((items ?? []).map((item) => [name(item), said(item)]));
}

function counting(items: string[] | undefined): Map<string, string> {
  return new Map((items ?? []).map((item) => [item, ""]));
}

/** What one hop added, dropped or changed against another. */
export function diffEnvelopes(before: Envelope, after: Envelope): Change[] {
  const [old, fresh] = [before.task, after.task];
  const json = (value: unknown) => JSON.stringify(value);
  return [
    ...diffNamed(new Map([["", old.summary]]), new Map([["", fresh.summary]]), "summary"),
    ...diffNamed(
      named(
        before.constraints,
        (c) => c.name,
        (c) => json(c.value),
      ),
      named(
        after.constraints,
        (c) => c.name,
        (c) => json(c.value),
      ),
      "constraint",
    ),
    ...diffNamed(
      named(
        before.waived,
        (w) => w.name,
        (w) => w.reason,
      ),
      named(
        after.waived,
        (w) => w.name,
        (w) => w.reason,
      ),
      "waiver",
    ),
    ...diffNamed(
      named(before.memories, (m) => m.id, memorySaid),
      named(after.memories, (m) => m.id, memorySaid),
      "memory",
    ),
    ...diffNamed(
      named(
        before.completeness.gaps,
        (g) => g.ref,
        (g) => g.reason,
      ),
      named(
        after.completeness.gaps,
        (g) => g.ref,
        (g) => g.reason,
      ),
      "gap",
    ),
    ...diffNamed(counting(old.state?.progress), counting(fresh.state?.progress), "progress"),
    ...diffNamed(
      named(
        old.state?.decisions,
        (d) => d.what,
        (d) => d.why ?? "",
      ),
      named(
        fresh.state?.decisions,
        (d) => d.what,
        (d) => d.why ?? "",
      ),
      "decision",
    ),
    ...diffNamed(counting(old.state?.remaining), counting(fresh.state?.remaining), "remaining"),
    ...diffNamed(
      named(
        old.state?.open_questions,
        (q) => q.question,
        (q) => q.answer ?? "open",
      ),
      named(
        fresh.state?.open_questions,
        (q) => q.question,
        (q) => q.answer ?? "open",
      ),
      "question",
    ),
    ...diffNamed(
      named(
        before.history,
        (h) => `${h.agent}: ${h.action}`,
        (h) => h.why ?? "",
      ),
      named(
        after.history,
        (h) => `${h.agent}: ${h.action}`,
        (h) => h.why ?? "",
      ),
      "history",
    ),
  ];
}
