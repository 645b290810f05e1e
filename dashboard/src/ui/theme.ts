// Light or dark: as the system has it, or as was chosen.

import { computed, effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const STORED = "memory-spine-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
system.addEventListener("change", (event) => {
  systemDark.value = event.matches;
});

function restored(): Theme {
  const stored = localStorage.getItem(STORED);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export const theme = signal<Theme>(restored());
export const isDark = computed(() => (theme.value === "system" ? systemDark.value : theme.value === "dark"));

/** Keeps the page in the theme. */
export function startTheme(): void {
  effect(() => {
    document.documentElement.dataset["theme"] = isDark.value ? "dark" : "light";
    localStorage.setItem(STORED, theme.value);
  });
}

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" };

export function turnTheme(): void {
  theme.value = NEXT[theme.value];
}
