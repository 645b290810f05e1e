import { defineConfig } from "@playwright/test";

/** With BASE_URL the same tests run against a real server. */
const port = 4799;
export const base = process.env["BASE_URL"] ?? `http://127.0.0.1:${port}`;

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
