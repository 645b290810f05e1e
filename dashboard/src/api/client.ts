// Requests to the public API, and what it says when it cannot.

import type { Json } from "./types.ts";
import { headers, refused } from "./session.ts";

/** What the server says about a request that was not granted. */
export class ApiError extends Error {
  override name = "ApiError";

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fields: { [name: string]: Json } = {},
  ) {
    super(message);
  }

  /** Whether this server does not have the route at all. */
  get isMissingRoute(): boolean {
    return (
      this.code === "route-unknown" || this.code === "method-not-allowed" || (this.status === 404 && this.code === "")
    );
  }

  /** Whether nobody answered. */
  get isUnreachable(): boolean {
    return this.status === 0;
  }
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** A path whose parts are escaped: at`/v1/agents/${name}`. */
export function at(parts: TemplateStringsArray, ...values: string[]): string {
  return String.raw({ raw: parts.raw }, ...values.map(encodeURIComponent));
}

/** An address with what is not empty asked in it. */
export function asked(path: string, query: Record<string, string | number | null | undefined>): string {
  const entries = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  if (entries.length === 0) return path;
  return `${path}?${new URLSearchParams(entries.map(([name, value]) => [name, String(value)]))}`;
}

/** Random, also where the page did not come over TLS. */
function writeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function send(method: Method, path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const own: Record<string, string> = { ...headers(), Accept: "application/json" };
  if (method !== "GET") own["Idempotency-Key"] = writeKey();
  if (body !== undefined) own["Content-Type"] = "application/json";
  try {
    return await fetch(path, {
      method,
      headers: own,
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
      credentials: "omit",
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "The server does not answer. Is it running, and can this machine reach it?");
  }
}

async function problem(response: Response): Promise<ApiError> {
  const text = await response.text();
  let document: { [name: string]: Json } = {};
  try {
    document = JSON.parse(text) as { [name: string]: Json };
  } catch {
    document = {};
  }
  const code = typeof document["type"] === "string" ? (document["type"].split("/").pop() ?? "") : "";
  const said = [document["detail"], document["title"]].find((part) => typeof part === "string");
  const error = new ApiError(
    response.status,
    code,
    String(said ?? `The server answered ${response.status}.`),
    document,
  );
  if (response.status === 401) refused.value = error.message;
  return error;
}

/** Asks, and reads the answer as JSON. */
export async function call<T>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await send(method, path, body, signal);
  if (!response.ok) throw await problem(response);
  return (response.status === 204 ? null : await response.json()) as T;
}

export const get = <T>(path: string, signal?: AbortSignal) => call<T>("GET", path, undefined, signal);
export const post = <T>(path: string, body: unknown = {}) => call<T>("POST", path, body);
export const put = <T>(path: string, body?: unknown) => call<T>("PUT", path, body);
export const remove = <T>(path: string) => call<T>("DELETE", path);

/** Asks, and reads the answer as text. */
export async function getText(path: string, signal?: AbortSignal): Promise<string> {
  const response = await send("GET", path, undefined, signal);
  if (!response.ok) throw await problem(response);
  return response.text();
}

/** What went wrong, in words for a person. */
export function said(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
