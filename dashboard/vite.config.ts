import { defineConfig } from "vite";

import { mockPlugin } from "./mock/plugin.ts";

/** `npm run dev` answers from the mock; with BACKEND=http://127.0.0.1:8788 from a real server. */
const backend = process.env["BACKEND"];

/** The server compares a page's origin with the host it is asked as: both must stay this one's. */
const proxied = (target: string) => ({ target, changeOrigin: false });

export default defineConfig({
  base: "/",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: backend ? [] : [mockPlugin()],
  server: backend ? { proxy: { "/v1": proxied(backend), "/openapi.json": proxied(backend) } } : {},
  // Everything inlined would need a looser policy; only the icon is small enough, and images may be data.
  build: { target: "es2022", modulePreload: { polyfill: false }, sourcemap: false, reportCompressedSize: true },
});
