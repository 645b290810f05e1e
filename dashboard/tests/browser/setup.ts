// Starts the stand-in, unless a real server is named.

import { existsSync } from "node:fs";
import { join } from "node:path";

import { start } from "../../mock/serve.ts";

export default async function setup(): Promise<() => Promise<void>> {
  const chromium = process.env["CHROMIUM"] ?? "/usr/bin/chromium";
  if (!existsSync(chromium)) throw new Error(`${chromium} is missing: install Debian's package chromium (apt-get install chromium), or name another one in CHROMIUM`);
  if (process.env["BASE_URL"]) return async () => {};
  const folder = join(import.meta.dirname ?? "tests/browser", "../../dist");
  if (!existsSync(join(folder, "index.html"))) throw new Error("the page is not built: npm run build");
  const server = await start(folder, 4799);
  return async () => {
    server.closeAllConnections();
    server.close();
  };
}
