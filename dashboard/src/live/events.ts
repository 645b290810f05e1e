// What happens on the server, as it happens. By fetch, not EventSource: that one cannot send a key.

import { effect, signal, untracked } from "@preact/signals";

import { headers, refused, session } from "../api/session.ts";
import type { SpineEvent } from "../api/types.ts";
import { SseParser } from "../pure/sse.ts";

export type Link = "connecting" | "live" | "lost" | "missing";

/** How the line to the server is. */
export const link = signal<Link>("connecting");

type Listener = (event: SpineEvent) => void;
const listeners = new Set<Listener>();

const WAIT_FIRST_MS = 1_000;
const WAIT_MAX_MS = 15_000;
/** The server says every 15 s that it lives; a line that is silent for longer is dead. */
const SILENCE_MAX_MS = 45_000;

/** Calls back for each event until told to stop. */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

type Read = { lastId: string };

async function read(state: Read, signal: AbortSignal): Promise<void> {
  const resume: Record<string, string> = state.lastId ? { "Last-Event-ID": state.lastId } : {};
  const response = await fetch("/v1/events", {
    headers: { ...headers(), ...resume, Accept: "text/event-stream" },
    signal,
    credentials: "omit",
  });
  if (response.status === 401) refused.value = refused.value ?? "This server has keys: enter one.";
  if (response.status === 404) link.value = "missing";
  if (!response.ok || !response.body) throw new Error(`events: ${response.status}`);
  link.value = "live";
  await consume(response.body, state, signal);
}

async function consume(body: ReadableStream<Uint8Array>, state: Read, signal: AbortSignal): Promise<void> {
  const reader = body.getReader();
  const parser = new SseParser();
  const decoder = new TextDecoder();
  while (!signal.aborted) {
    const part = await withinSilence(reader);
    if (part.done) return;
    for (const message of parser.feed(decoder.decode(part.value, { stream: true }))) {
      if (message.id) state.lastId = message.id;
      tell(message.data);
    }
  }
}

async function withinSilence(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      void reader.cancel();
      reject(new Error("silence"));
    }, SILENCE_MAX_MS);
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } finally {
    clearTimeout(timer);
  }
}

function tell(data: string): void {
  try {
    const event = JSON.parse(data) as SpineEvent;
    for (const listener of listeners) listener(event);
  } catch {
    // A message of a newer server that this page cannot read is no reason to stop listening.
  }
}

async function follow(signal: AbortSignal): Promise<void> {
  const state: Read = { lastId: "" };
  let wait = WAIT_FIRST_MS;
  while (!signal.aborted) {
    try {
      await read(state, signal);
      wait = WAIT_FIRST_MS;
    } catch {
      wait = Math.min(wait * 2, WAIT_MAX_MS);
    }
    if (signal.aborted) return;
    if (link.value !== "missing") link.value = "lost";
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/** Follows the events of whoever is looking; starts anew when that changes. */
export function startEvents(): void {
  let running: AbortController | null = null;
  effect(() => {
    void session.value;
    untracked(() => {
      running?.abort();
      running = new AbortController();
      link.value = "connecting";
      void follow(running.signal);
    });
  });
}
