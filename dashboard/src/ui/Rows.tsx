// A list of any length: only what is seen exists, and the keyboard walks it.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { moved, scrollFor, visible, wantsMore } from "../pure/window.ts";

export type RowsProps<T> = {
  label: string;
  rows: T[];
  id: (row: T) => string;
  row: (row: T) => ComponentChildren;
  selected?: string | null;
  open: (row: T) => void;
  more?: () => void;
  rowHeight?: number;
  class?: string;
};

const ROW_PX = 46;

export function Rows<T>({
  label,
  rows,
  id,
  row,
  selected = null,
  open,
  more,
  rowHeight = ROW_PX,
  class: kind = "",
}: RowsProps<T>) {
  const box = useRef<HTMLDivElement>(null);
  const [scroll, setScroll] = useState(0);
  const [viewport, setViewport] = useState(600);
  const [cursor, setCursor] = useState<string | null>(null);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setViewport(element.clientHeight);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  const seen = visible(rows.length, rowHeight, scroll, viewport);
  useEffect(() => {
    if (more && rows.length > 0 && wantsMore(seen.last, rows.length)) more();
  }, [seen.last, rows.length, more]);
  const here = cursor ?? selected;
  const at = rows.findIndex((one) => id(one) === here);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== box.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const current = rows[at];
    if (event.key === "Enter" && current) return void open(current);
    const page = Math.max(1, Math.floor(viewport / rowHeight) - 1);
    const next = moved(event.key, at, rows.length, page);
    const target = next === null ? undefined : rows[next];
    if (next === null || !target) return;
    event.preventDefault();
    setCursor(id(target));
    if (box.current) box.current.scrollTop = scrollFor(next, rowHeight, box.current.scrollTop, viewport);
  };
  const onClick = (one: T) => {
    setCursor(id(one));
    open(one);
  };
  return (
    <div
      ref={box}
      class={`rows ${kind}`}
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={at >= 0 ? `row-${here}` : undefined}
      onKeyDown={onKeyDown}
      onScroll={(event) => setScroll(event.currentTarget.scrollTop)}
      data-total={rows.length}
    >
      <div class="rows-all" style={{ height: `${seen.height}px` }}>
        <div class="rows-seen" style={{ transform: `translateY(${seen.top}px)` }}>
          {rows.slice(seen.first, seen.last).map((one, index) => (
            <div
              key={id(one)}
              id={`row-${id(one)}`}
              role="option"
              aria-selected={id(one) === selected}
              aria-posinset={seen.first + index + 1}
              aria-setsize={rows.length}
              class={`row${id(one) === selected ? " selected" : ""}${id(one) === here ? " here" : ""}`}
              style={{ height: `${rowHeight}px` }}
              onClick={() => onClick(one)}
            >
              {row(one)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}
