// What every browser test needs: a page on a workspace, a way to fill one over the public API, and what must never happen.

import { type APIRequestContext, type Page, expect, request } from "@playwright/test";

import { base } from "../../playwright.config.ts";

export const isMock = !process.env["BASE_URL"] && !process.env["MEMORY_SPINE_BINARY"];
/** Whether the servers were started for these tests, with their story and with keys. */
export const isOwn = !process.env["BASE_URL"] && !isMock;

let numbered = 0;

/** A workspace nobody has used. */
export function freshWorkspace(): string {
  return `t${Date.now().toString(36)}x${numbered++}`;
}

export type Api = {
  workspace: string;
  post: <T = any>(path: string, body?: unknown, agent?: string) => Promise<T>;
  put: <T = any>(path: string, body?: unknown) => Promise<T>;
  patch: <T = any>(path: string, body?: unknown) => Promise<T>;
  get: <T = any>(path: string) => Promise<T>;
};

/** The public API, as a program uses it. */
export async function api(workspace = freshWorkspace(), at = base, key = ""): Promise<Api> {
  const context: APIRequestContext = await request.newContext({ baseURL: at, extraHTTPHeaders: key ? { Authorization: `Bearer ${key}` } : {} });
  const call = async (method: string, path: string, body?: unknown, agent = "tester") => {
    const response = await context.fetch(path, { method, headers: { "Memory-Spine-Workspace": workspace, "Memory-Spine-Agent": agent }, ...(body === undefined ? {} : { data: body as object }) });
    expect(response.ok(), `${method} ${path}: ${response.status()} ${response.ok() ? "" : await response.text()}`).toBe(true);
    return response.json();
  };
  return {
    workspace,
    post: (path, body = {}, agent) => call("POST", path, body, agent),
    put: (path, body = {}) => call("PUT", path, body),
    patch: (path, body) => call("PATCH", path, body),
    get: (path) => call("GET", path),
  };
}

const problems = new WeakMap<Page, string[]>();

/** Opens a place of the dashboard. */
export async function open(page: Page, hash: string, workspace: string, at = ""): Promise<void> {
  const seen: string[] = [];
  problems.set(page, seen);
  page.on("pageerror", (error) => seen.push(`error: ${error.message}`));
  page.on("console", (message) => {
    const isOurs = message.type() === "error" && !message.text().includes("Failed to load resource") && !message.text().includes("net::ERR_");
    if (isOurs) seen.push(`console: ${message.text()}`);
  });
  await page.addInitScript((stored) => sessionStorage.getItem("memory-spine-session") ?? sessionStorage.setItem("memory-spine-session", stored), JSON.stringify({ key: "", workspace, name: "tester" }));
  await page.goto(`${at}/${hash}`);
  await expect(page.locator("main")).toBeVisible();
}

/** Nothing was thrown, no policy was violated, nothing is wider than the screen. */
export async function noBreakage(page: Page): Promise<void> {
  expect(problems.get(page) ?? []).toEqual([]);
  const { wide, width } = await page.evaluate(() => {
    const main = document.querySelector("main");
    return { wide: Math.max(document.documentElement.scrollWidth, main?.scrollWidth ?? 0), width: innerWidth };
  });
  expect(wide, "wider than the screen").toBeLessThanOrEqual(width);
}

/** A handoff that is sent; answers the ids. */
export async function handOver(spine: Api, target: string, summary: string, more: { [name: string]: unknown } = {}, from = "tester"): Promise<{ envelope: string; delivery: string }> {
  const made = await spine.post("/v1/handoffs", { target_agent: target, task_summary: summary, ...more }, from);
  return { envelope: made.handoff.id, delivery: made.delivery?.id };
}

export type Held = { id: string; lease: string };

/** Takes the next delivery of an agent. */
export async function take(spine: Api, agent: string): Promise<Held> {
  const { deliveries } = await spine.post(`/v1/agents/${agent}/receive`, { max: 1, wait_s: 5, holder: "tester-1" }, agent);
  expect(deliveries.length).toBe(1);
  return { id: deliveries[0].delivery.id, lease: deliveries[0].lease };
}

/** A handoff whose only attempt failed: a dead letter. */
export async function deadLetter(spine: Api, target: string, summary: string, reason = "the tool server refused"): Promise<{ envelope: string; delivery: string }> {
  const sent = await handOver(spine, target, summary, { send: { policy: { attempts: 1 } } });
  const held = await take(spine, target);
  await spine.post(`/v1/deliveries/${held.id}/nack`, { lease: held.lease, reason }, target);
  return sent;
}
