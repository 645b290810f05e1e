// Times as a person says them, exact for whoever points at them.

import { signal } from "@preact/signals";

import { duration, exact, relative } from "../pure/time.ts";

/** Ticks, so that "3 s ago" does not lie. */
export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, 1000);

export function Ago({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="dim">–</span>;
  return (
    <time dateTime={at} title={exact(at)}>
      {relative(at, now.value)}
    </time>
  );
}

/** How old something is, without the word. */
export function Age({ since }: { since: string | null | undefined }) {
  if (!since) return <span class="dim">–</span>;
  return (
    <time dateTime={since} title={exact(since)}>
      {duration(Math.max(0, (now.value - Date.parse(since)) / 1000))}
    </time>
  );
}
