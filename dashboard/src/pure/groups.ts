// Dead letters by what they have in common.

import type { Delivery } from "../api/types.ts";

export type Group = { target: string; cause: string; reason: string; count: number };

/** Figures in a reason differ from case to case; the rest is what they have in common. */
function pattern(reason: string): string {
  return reason.replace(/\b(env|dlv)_\w+/g, "$1_…").replace(/\d[\d\s.,]*\d|\d/g, "#");
}

/** Why it is a dead letter. That attempts ran out is its cause; what the last one ran into is what a person looks for. */
export function reasonOf({ parked, attempts }: Pick<Delivery, "parked" | "attempts">): string | null {
  const last = parked.at(-1);
  const ranInto = last?.cause === "attempts_exhausted" ? attempts.at(-1)?.reason : null;
  return ranInto ?? last?.reason ?? null;
}

/** Groups, the largest first. */
export function groupParked(deliveries: Delivery[]): Group[] {
  const groups = new Map<string, Group>();
  for (const delivery of deliveries) {
    const last = delivery.parked.at(-1);
    const [cause, reason] = [last?.cause ?? "parked", pattern(reasonOf(delivery) ?? "")];
    const key = JSON.stringify([delivery.target, cause, reason]);
    const group = groups.get(key) ?? { target: delivery.target, cause, reason, count: 0 };
    group.count++;
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}
