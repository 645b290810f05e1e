// Who looks: the key, the workspace and a name. Kept for this tab only, gone when it closes.

import { signal } from "@preact/signals";

export type Session = { key: string; workspace: string; name: string };

const STORED = "memory-spine-session";
const NOBODY: Session = { key: "", workspace: "default", name: "" };

function restored(): Session {
  try {
    return { ...NOBODY, ...(JSON.parse(sessionStorage.getItem(STORED) ?? "{}") as Partial<Session>) };
  } catch {
    return NOBODY;
  }
}

export const session = signal<Session>(restored());
/** Whether the server asked for a key, or did not take the one we have, with its words. */
export const refused = signal<string | null>(null);

/** Takes on another identity. */
export function enter(next: Session): void {
  session.value = next;
  refused.value = null;
  sessionStorage.setItem(STORED, JSON.stringify(next));
}

/** The name under which a person acts: a key may know its own. */
export function actor(): string | null {
  return session.value.name || (session.value.key ? null : "operator");
}

/** What every request carries. */
export function headers(): Record<string, string> {
  const { key, workspace } = session.value;
  const name = actor();
  return {
    ...(key ? { Authorization: `Bearer ${key}` } : {}),
    ...(workspace ? { "Memory-Spine-Workspace": workspace } : {}),
    ...(name ? { "Memory-Spine-Agent": name } : {}),
  };
}
