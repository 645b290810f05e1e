// The stand-in over HTTP, and the built page beside it with the headers that the server gives it.

import { readFileSync, statSync } from "node:fs";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import { extname, join, normalize } from "node:path";

import type { SpineEvent } from "../src/api/types.ts";
import { ROUTES } from "./routes.ts";
import { tell } from "./story.ts";
import { type Body, Problem, World } from "./world.ts";

export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

const worlds = new Map<string, World>();

function worldOf(name: string): World {
  const known = worlds.get(name);
  if (known) return known;
  const world = new World(name);
  worlds.set(name, world);
  if (name === "default") tell(world);
  return world;
}

async function read(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  try {
    return text ? (JSON.parse(text) as Body) : {};
  } catch {
    throw new Problem(400, "malformed-json", "the body is not JSON");
  }
}

function answer(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, {
    "Content-Type": type,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  });
  response.end(text);
}

function refuse(response: ServerResponse, problem: Problem): void {
  const document = {
    type: `/errors/${problem.code}`,
    title: problem.code,
    status: problem.status,
    detail: problem.message,
    request_id: "req-mock",
    ...problem.fields,
  };
  answer(response, problem.status, "application/problem+json", JSON.stringify(document));
}

function follow(world: World, request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
  const write = (event: SpineEvent) =>
    response.write(`id: ${event.change}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`);
  const last = request.headers["last-event-id"];
  if (typeof last === "string") world.events.slice(Number(last)).forEach(write);
  response.write(": hello\n\n");
  const alive = setInterval(() => response.write(": alive\n\n"), 15_000);
  world.listeners.add(write);
  request.on("close", () => {
    clearInterval(alive);
    world.listeners.delete(write);
  });
}

/** Answers a request to the API. */
export async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const url = new URL(request.url ?? "/", "http://mock");
    const header = (name: string) => (typeof request.headers[name] === "string" ? request.headers[name] : undefined);
    const world = worldOf(header("memory-spine-workspace") ?? "default");
    if (url.pathname === "/v1/events") return follow(world, request, response);
    const body = await read(request);
    for (const [method, path, run, status] of ROUTES) {
      const match = path.exec(url.pathname);
      if (!match || method !== request.method) continue;
      const result = run({
        world,
        params: match.slice(1),
        query: url.searchParams,
        body,
        actor: header("memory-spine-agent") ?? "operator",
      });
      return answer(
        response,
        status ?? 200,
        typeof result === "string" ? "text/markdown; charset=utf-8" : "application/json",
        typeof result === "string" ? result : JSON.stringify(result),
      );
    }
    throw new Problem(404, "route-unknown", "there is nothing here: /openapi.json lists every address");
  } catch (error) {
    refuse(response, error instanceof Problem ? error : new Problem(500, "internal", String(error)));
  }
}

function file(folder: string, path: string, response: ServerResponse): void {
  const name = normalize(path === "/" ? "/index.html" : path);
  const full = join(folder, name);
  if (!full.startsWith(folder) || !statSync(full, { throwIfNoEntry: false })?.isFile())
    return refuse(response, new Problem(404, "route-unknown", "there is nothing here"));
  response.writeHead(200, {
    "Content-Type": TYPES[extname(full)] ?? "application/octet-stream",
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
  });
  response.end(readFileSync(full));
}

/** Starts the stand-in with the built page. */
export function start(folder: string, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/v1/")) return void handle(request, response);
    file(folder, new URL(request.url ?? "/", "http://mock").pathname, response);
  });
  return new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(server)));
}
