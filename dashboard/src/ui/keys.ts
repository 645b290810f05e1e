// The keyboard: g and a letter for a page, / to search, ? for help.

import { signal } from "@preact/signals";

import { go } from "./route.ts";
import { turnTheme } from "./theme.ts";

export const helpShown = signal(false);

export const PAGES = [
  { page: "overview", label: "Overview", key: "o" },
  { page: "lineage", label: "Lineage", key: "l" },
  { page: "parked", label: "Dead letters", key: "d" },
  { page: "agents", label: "Agents", key: "a" },
  { page: "memories", label: "Memories", key: "m" },
  { page: "channels", label: "Channels", key: "c" },
] as const;

export const SHORTCUTS: [string, string][] = [
  ...PAGES.map(({ key, label }): [string, string] => [`g ${key}`, label]),
  ["/", "search or filter"],
  ["j k ↓ ↑", "walk a list"],
  ["Enter", "open"],
  ["Esc", "close, or back to the list"],
  ["t", "light, dark, as the system"],
  ["?", "this help"],
];

const LEADER_MS = 1_200;
let leaderAt = 0;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement
  );
}

function focusSearch(event: KeyboardEvent): void {
  const field = document.querySelector<HTMLElement>("[data-search]");
  if (!field) return;
  event.preventDefault();
  field.focus();
}

function back(): void {
  const close = document.querySelector<HTMLElement>("[data-back]");
  close?.click();
  document.querySelector<HTMLElement>(".rows")?.focus();
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape") {
    if (isTyping(event.target)) (event.target as HTMLElement).blur();
    else back();
    return;
  }
  if (isTyping(event.target)) return;
  if (Date.now() - leaderAt < LEADER_MS) {
    leaderAt = 0;
    const page = PAGES.find(({ key }) => key === event.key);
    if (page) go(page.page);
    return;
  }
  if (event.key === "g") leaderAt = Date.now();
  else if (event.key === "/") focusSearch(event);
  else if (event.key === "?") helpShown.value = true;
  else if (event.key === "t") turnTheme();
}

export function startKeys(): void {
  addEventListener("keydown", onKey);
}
