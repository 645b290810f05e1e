// Starts what the tests look at: real servers where MEMORY_SPINE_BINARY names one, else the stand-in; nothing where BASE_URL names a server.

import { existsSync } from "node:fs";
import { join } from "node:path";

import { start } from "../../mock/serve.ts";
import { MOCK_PORT, REAL_PORT } from "../../playwright.config.ts";
import { tell } from "./seed.ts";
import { KEYED_PORT, serve, serveWithKeys } from "./servers.ts";

async function real(binary: string): Promise<() => Promise<void>> {
  const servers = [await serve(binary, REAL_PORT), await serveWithKeys(binary, KEYED_PORT)];
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  try {
    await tell();
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

async function mock(): Promise<() => Promise<void>> {
  const folder = join(import.meta.dirname ?? "tests/browser", "../../dist");
  if (!existsSync(join(folder, "index.html"))) throw new Error("the page is not built: npm run build");
  const server = await start(folder, MOCK_PORT);
  return async () => {
    server.closeAllConnections();
    server.close();
  };
}

export default async function setup(): Promise<() => Promise<void>> {
  const chromium = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
  if (!existsSync(chromium)) throw new Error(`${chromium} is missing: install Debian's package chromium (apt-get install chromium), or name another one in CHROMIUM`);
  if (process.env["BASE_URL"]) return async () => {};
  const binary = process.env["MEMORY_SPINE_BINARY"];
  return binary ? real(binary) : mock();
}
