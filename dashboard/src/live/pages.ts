// A long list that comes page by page: more at its end, and its head again when something happened.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";

import { ApiError, asked, get } from "../api/client.ts";
import { session } from "../api/session.ts";
import { mergeHead } from "../pure/paging.ts";
import { onEvent } from "./events.ts";
import { settling } from "./load.ts";

export type Paged<T> = {
  rows: T[];
  error: ApiError | null;
  loading: boolean;
  isWhole: boolean;
  more: () => void;
  reload: () => void;
};

const PAGE_ROWS = 200;

type Answer<T> = { next_cursor: string | null } & { [name: string]: T[] | string | null };
type State<T> = { key: string; rows: T[]; cursor: string | null; error: ApiError | null; loading: boolean };

/** Follows a list at an address whose answer has its rows under `name`. */
export function usePages<T extends { id: string }>(
  path: string,
  query: Record<string, string>,
  name: string,
  on: string[],
): Paged<T> {
  const key = `${session.value.workspace}\n${session.value.key}\n${asked(path, query)}`;
  const empty = (): State<T> => ({ key, rows: [], cursor: null, error: null, loading: true });
  const [state, setState] = useState<State<T>>(empty);
  const current = useRef(key);
  current.current = key;
  const busy = useRef(false);

  const load = useCallback(
    async (cursor: string | null, fold: (old: State<T>, rows: T[], next: string | null) => State<T>) => {
      try {
        const answer = await get<Answer<T>>(asked(path, { ...query, limit: PAGE_ROWS, cursor }));
        const rows = (answer[name] ?? []) as T[];
        if (current.current === key)
          setState((old) => ({ ...fold(old, rows, answer.next_cursor), key, error: null, loading: false }));
      } catch (error) {
        const shown = error instanceof ApiError ? error : new ApiError(-1, "unexpected", String(error));
        if (current.current === key) setState((old) => ({ ...old, key, error: shown, loading: false }));
      }
    },
    [key, name],
  );

  const reload = useCallback(() => {
    void load(null, (old, rows, next) => {
      if (old.key !== key) return { ...old, rows, cursor: next };
      const merged = mergeHead(old.rows, rows, next !== null);
      return { ...old, rows: merged.rows, cursor: merged.isHeadOnly ? next : old.cursor };
    });
  }, [load, key]);

  useEffect(() => {
    setState(empty());
    reload();
  }, [key]);
  const kinds = on.join(" ");
  useEffect(() => {
    const settled = settling(reload);
    const stop = onEvent((event) => kinds.split(" ").some((kind) => event.kind.startsWith(kind)) && settled.call());
    return () => {
      stop();
      settled.cancel();
    };
  }, [kinds, reload]);

  const isCurrent = state.key === key;
  const { cursor } = state;
  const more = useCallback(() => {
    if (!isCurrent || !cursor || busy.current) return;
    busy.current = true;
    void load(cursor, (old, rows, next) => {
      const known = new Set(old.rows.map((row) => row.id));
      return { ...old, rows: [...old.rows, ...rows.filter((row) => !known.has(row.id))], cursor: next };
    }).finally(() => {
      busy.current = false;
    });
  }, [isCurrent, cursor, load]);

  return useMemo(
    () => ({
      rows: isCurrent ? state.rows : [],
      error: isCurrent ? state.error : null,
      loading: !isCurrent || state.loading,
      isWhole: isCurrent && !state.loading && cursor === null,
      more,
      reload,
    }),
    [state, isCurrent, cursor, more, reload],
  );
}
