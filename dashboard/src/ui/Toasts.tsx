// What was just done, told for a moment.

import { signal } from "@preact/signals";

import { inertText } from "../pure/inert.ts";

type Toast = { id: number; text: string; bad: boolean };

const SHOWN_MS = 6_000;
const toasts = signal<Toast[]>([]);
let next = 1;

export function toast(text: string, bad = false): void {
  const id = next++;
  toasts.value = [...toasts.value.slice(-3), { id, text, bad }];
  setTimeout(() => {
    toasts.value = toasts.value.filter((one) => one.id !== id);
  }, SHOWN_MS);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((one) => (
        <div key={one.id} class={one.bad ? "toast bad" : "toast"}>
          {one.bad ? "■ " : "✓ "}
          {inertText(one.text)}
        </div>
      ))}
    </div>
  );
}
