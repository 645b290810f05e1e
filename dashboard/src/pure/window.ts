// Which rows of a long list have to exist, and where the keyboard goes in it.

/** Rows beyond the edges, so that scrolling shows no gap. */
const MARGIN = 8;

export type Visible = { first: number; last: number; top: number; height: number };

/** The rows to draw, from first to before last. */
export function visible(count: number, rowHeight: number, scrollTop: number, viewport: number): Visible {
  const height = count * rowHeight;
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / rowHeight)) - MARGIN);
  const last = Math.min(count, Math.ceil((scrollTop + viewport) / rowHeight) + MARGIN);
  return { first, last: Math.max(first, last), top: first * rowHeight, height };
}

/** Where a key leads in a list; null if it is not a key of lists. */
export function moved(key: string, at: number, count: number, page: number): number | null {
  const clamp = (index: number) => Math.max(0, Math.min(count - 1, index));
  switch (key) {
    case "ArrowDown":
    case "j":
      return clamp(at + 1);
    case "ArrowUp":
    case "k":
      return clamp(at - 1);
    case "PageDown":
      return clamp(at + page);
    case "PageUp":
      return clamp(at - page);
    case "Home":
      return clamp(0);
    case "End":
      return clamp(count - 1);
    default:
      return null;
  }
}

/** How far to scroll so that a row is seen. */
export function scrollFor(index: number, rowHeight: number, scrollTop: number, viewport: number): number {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  if (top + rowHeight > scrollTop + viewport) return top + rowHeight - viewport;
  return scrollTop;
}

/** Whether the end is near enough to ask for the next page. */
export function wantsMore(last: number, count: number): boolean {
  return last >= count - MARGIN * 2;
}
