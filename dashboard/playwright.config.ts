import { defineConfig } from "@playwright/test";

/** With MEMORY_SPINE_BINARY the same tests, and some more, run on servers that are started from it; with BASE_URL on one that runs. */
export const MOCK_PORT = 4799;
export const REAL_PORT = 4798;
const isReal = Boolean(process.env["MEMORY_SPINE_BINARY"]);
export const base = process.env["BASE_URL"] ?? `http://127.0.0.1:${isReal ? REAL_PORT : MOCK_PORT}`;

export default defineConfig({
  testDir: "tests/browser",
  outputDir: "test-results",
  timeout: 60_000,
  expect: { timeout: 20_000 },
  workers: 1,
  reporter: [["list"]],
  globalSetup: "./tests/browser/setup.ts",
  use: {
    baseURL: base,
    viewport: { width: 1440, height: 900 },
    colorScheme: "light",
    locale: "en-US",
    launchOptions: {
      executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
