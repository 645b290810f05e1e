// Joining a list that is on the page with its newest first page.

/**
 * Puts a fresh first page in front of the rows that follow it. Rows of the old list that should be on the fresh page and
 * are not have gone. If the two do not meet, too much happened in between: only the fresh page is kept.
 */
export function mergeHead<T extends { id: string }>(
  old: T[],
  fresh: T[],
  hasMore: boolean,
): { rows: T[]; isHeadOnly: boolean } {
  const last = fresh.at(-1);
  if (!hasMore || !last) return { rows: fresh, isHeadOnly: true };
  const meets = old.findIndex((row) => row.id === last.id);
  if (meets < 0) return { rows: fresh, isHeadOnly: true };
  const known = new Set(fresh.map((row) => row.id));
  const tail = old.slice(meets + 1).filter((row) => !known.has(row.id));
  return { rows: [...fresh, ...tail], isHeadOnly: tail.length === 0 };
}
