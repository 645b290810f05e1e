// What a page shows: loaded, loaded again when something happened, never blanked meanwhile.

import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { ApiError } from "../api/client.ts";
import { session } from "../api/session.ts";
import { onEvent } from "./events.ts";

export type Loaded<T> = { value: T | null; error: ApiError | null; loading: boolean; reload: () => void };

/** Events come in bursts; one look after a burst is enough. */
const SETTLE_MS = 400;
/** However busy the server is, a page is at most so old. */
const SETTLE_MAX_MS = 2_000;

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(-1, "unexpected", String(error));
}

export type LoadOptions = {
  /** Look again when an event's kind begins with one of these. */
  on?: string[];
  /** Look again after this long in any case. */
  everyMs?: number;
};

/** Loads something, and again whenever `key` changes. A null loader shows nothing. */
export function useLoad<T>(
  key: string,
  loader: ((signal: AbortSignal) => Promise<T>) | null,
  options: LoadOptions = {},
): Loaded<T> {
  const [state, setState] = useState<{ key: string; value: T | null; error: ApiError | null; loading: boolean }>({
    key,
    value: null,
    error: null,
    loading: loader !== null,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(loader);
  latest.current = loader;
  const identity = `${session.value.workspace}\n${session.value.key}\n${key}\n${loader === null}`;
  useEffect(() => {
    const load = latest.current;
    const stop = new AbortController();
    setState((old) =>
      old.key === identity
        ? { ...old, loading: true }
        : { key: identity, value: null, error: null, loading: load !== null },
    );
    load?.(stop.signal).then(
      (value) => stop.signal.aborted || setState({ key: identity, value, error: null, loading: false }),
      (error: unknown) =>
        stop.signal.aborted || setState((old) => ({ ...old, error: asApiError(error), loading: false })),
    );
    return () => stop.abort();
  }, [identity, round]);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  useReloadOn(options, reload);
  const isCurrent = state.key === identity;
  return {
    value: isCurrent ? state.value : null,
    error: isCurrent ? state.error : null,
    loading: !isCurrent || state.loading,
    reload,
  };
}

function useReloadOn({ on, everyMs }: LoadOptions, reload: () => void): void {
  const kinds = (on ?? []).join(" ");
  useEffect(() => {
    if (!kinds) return;
    const settled = settling(reload);
    const stop = onEvent((event) => kinds.split(" ").some((kind) => event.kind.startsWith(kind)) && settled.call());
    return () => {
      stop();
      settled.cancel();
    };
  }, [kinds, reload]);
  useEffect(() => {
    if (!everyMs) return;
    const timer = setInterval(() => document.visibilityState === "visible" && reload(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, reload]);
}

/** Calls once a burst is over, or when it has lasted long enough. */
export function settling(call: () => void): { call: () => void; cancel: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let since = 0;
  const fire = () => {
    since = 0;
    call();
  };
  return {
    call() {
      const now = Date.now();
      since ||= now;
      clearTimeout(timer);
      timer = setTimeout(fire, Math.max(0, Math.min(SETTLE_MS, since + SETTLE_MAX_MS - now)));
    },
    cancel: () => clearTimeout(timer),
  };
}
