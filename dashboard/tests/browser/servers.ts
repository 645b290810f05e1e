// Real servers for the browser tests, from the binary that MEMORY_SPINE_BINARY names: one that is open, one that has keys.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export const KEYED_PORT = 4797;
/** Where the key of the second server is told to the tests. */
export const KEY_VARIABLE = "MEMORY_SPINE_TEST_KEY";

const START_MS_MAX = 60_000;

export type Running = { stop: () => Promise<void> };

/** Starts a server with data of its own; comes back when it answers. */
export async function serve(binary: string, port: number, data = newFolder()): Promise<Running> {
  const server = spawn(binary, ["--data", data, "serve", "--listen", `127.0.0.1:${port}`], { cwd: data, stdio: ["ignore", "pipe", "inherit"] });
  await ready(server);
  return {
    stop: async () => {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGTERM");
      await ended;
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Starts a server that has one key, and tells the tests that key. */
export async function serveWithKeys(binary: string, port: number): Promise<Running> {
  const data = newFolder();
  const create = ["--data", data, "keys", "create", "--scope", "admin", "--workspace", "*", "--name", "browser"];
  const printed = execFileSync(binary, create, { cwd: data, encoding: "utf8" });
  const key = /msk_[A-Za-z0-9_-]+/.exec(printed)?.[0];
  if (!key) throw new Error(`keys create printed no key: ${printed}`);
  process.env[KEY_VARIABLE] = key;
  return serve(binary, port, data);
}

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), "memory-spine-browser-"));
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`the server was not ready within ${START_MS_MAX} ms`)), START_MS_MAX);
    server.once("exit", (code) => reject(new Error(`the server ended (${code}) before it was ready`)));
    if (server.stdout) createInterface(server.stdout).on("line", (line) => {
      if (!line.startsWith("ready ")) return;
      clearTimeout(late);
      resolve();
    });
  });
}
