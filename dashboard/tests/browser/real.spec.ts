// What only a real server can show: its own figures of a story that was told over the API, its keys, its audit log.

import { expect, test } from "@playwright/test";

import { api, deadLetter, handOver, isOwn, noBreakage, open, take } from "./page.ts";
import { KEYED_PORT, KEY_VARIABLE } from "./servers.ts";

test.skip(!isOwn, "needs servers of its own: MEMORY_SPINE_BINARY");

const KEYED = `http://127.0.0.1:${KEYED_PORT}`;

test("the overview shows the verdict, the alerts and the figures that the server has", async ({ page }) => {
  const spine = await api("default");
  await open(page, "#/overview", "default");
  const health = await spine.get("/v1/health");
  expect(health.verdict).toBe("critical");
  await expect(page.locator("main")).toContainText(health.reasons[0].text);
  for (const title of ["The breaker of invoice-writer opened", "Handoffs to translator fail one after another"]) await expect(page.getByRole("listitem", { name: title })).toBeVisible();
  await expect(page.getByRole("article", { name: "Failure rate" })).toContainText(`${health.windows["1h"].failure_rate.failed} of ${health.windows["1h"].failure_rate.ended}`);
  await expect(page.locator("figure.chart").first()).toBeVisible();
  await noBreakage(page);
});

test("every other page shows what the server has", async ({ page }) => {
  const spine = await api("default");
  const shows = async (hash: string, region: string, ...texts: string[]) => {
    await page.evaluate((to) => { location.hash = to; }, hash);
    for (const text of texts) await expect(page.getByRole("region", { name: region, exact: true })).toContainText(text);
  };
  await open(page, "#/lineage", "default");
  await shows("#/lineage", "Recent tasks", "code-generator → release-manager", "billing → invoice-writer");
  await shows("#/parked", "Dead letters", "7 deliveries", "translator", "invoice-writer");
  await shows("#/agents", "Agents", "deploy-us", "invoice-writer", "translator");
  await shows("#/agents/invoice-writer", "Agent", "breaker forced open", "Writes invoices from billing runs.", "invoice-writer-eu");
  await shows("#/memories", "Memories", "Rate limit of the payment gateway", "Decision: no card numbers");
  await shows("#/memories/ms-1", "Memory", "150 requests a second");
  await shows("#/channels/releases", "Channel", "deploy-eu", "deploy-us", "1 of 2");
  expect((await spine.get("/v1/parked")).deliveries.length).toBe(7);
  await noBreakage(page);
});

test("figures, queue and feed follow what happens, without a reload", async ({ page }) => {
  const spine = await api();
  await open(page, "#/overview", spine.workspace);
  await expect(page.locator(".link-state")).toContainText("Live");
  await handOver(spine, "coder", "Write it, see ms-404.");
  const feed = page.getByRole("listbox", { name: "Handoffs" });
  await expect(feed.getByRole("option")).toContainText("pending");
  const held = await take(spine, "coder");
  await spine.post(`/v1/deliveries/${held.id}/nack`, { lease: held.lease, reason: "no luck", retry: false }, "coder");
  await expect(feed.getByRole("option")).toContainText("parked");
  await expect(page.getByRole("article", { name: "Completeness" })).toContainText("0", { timeout: 30_000 });
  await noBreakage(page);
});

test("what a person does here stands in the audit log under their name", async ({ page }) => {
  const spine = await api();
  const letter = await deadLetter(spine, "coder", "Write it.");
  await open(page, `#/parked/${letter.delivery}`, spine.workspace);
  await page.getByRole("button", { name: "Requeue…" }).click();
  await page.getByRole("dialog").getByLabel("Reason").fill("the tool works again");
  await page.getByRole("dialog").getByRole("button", { name: "Requeue" }).click();
  await expect(page.locator(".toast")).toContainText("Requeued");
  const audit = JSON.stringify(await spine.get("/v1/audit?limit=200"));
  expect(audit).toContain("delivery.requeued");
  expect(audit).toContain('"tester"');
});

test("a server with keys asks for one, refuses a wrong one, and is live with the right one", async ({ page }) => {
  const key = process.env[KEY_VARIABLE] ?? "";
  const spine = await api("keyed", KEYED, key);
  await spine.post("/v1/memories", { content: "Only with a key." });
  await open(page, "#/memories", "keyed", KEYED);
  await expect(page.getByText("This server has keys.")).toBeVisible();
  await expect(page.getByText("Only with a key.")).toHaveCount(0);
  await page.getByLabel("API key").fill(`msk_${"0".repeat(43)}`);
  await page.getByRole("button", { name: "Enter" }).click();
  await expect(page.getByText("This server has keys.")).toBeVisible();
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Enter" }).click();
  await expect(page.getByRole("listbox", { name: "Memories" })).toContainText("Only with a key.");
  await expect(page.locator(".link-state")).toContainText("Live");
  await spine.post("/v1/memories", { content: "It came while you looked." });
  await expect(page.getByRole("listbox", { name: "Memories" })).toContainText("It came while you looked.");
  expect(await page.evaluate(() => [JSON.stringify({ ...localStorage }).includes("msk_"), document.cookie, location.href.includes("msk_")])).toEqual([false, "", false]);
  await noBreakage(page);
});
