import { expect, test } from "@playwright/test";

import { line } from "./line.ts";
import { api, deadLetter, handOver, isMock, noBreakage, open, take } from "./page.ts";

const MISSING = { status: 404, contentType: "application/problem+json", body: JSON.stringify({ type: "/errors/route-unknown", title: "There is nothing at this address", status: 404, detail: "there is nothing here" }) };

test("the overview shows the verdict, five figures with thresholds, charts and the feed, live", async ({ page }) => {
  const spine = await api();
  await handOver(spine, "coder", "Write it.");
  await open(page, "#/overview", spine.workspace);
  for (const name of ["Latency", "Completeness", "Failure rate", "Hop depth", "Token use"]) await expect(page.getByRole("article", { name })).toBeVisible();
  const feed = page.getByRole("listbox", { name: "Handoffs" });
  await expect(feed.getByRole("option")).toHaveCount(1);
  await expect(feed.getByRole("option")).toContainText("pending");
  const held = await take(spine, "coder");
  await spine.post(`/v1/deliveries/${held.id}/ack`, { lease: held.lease, result: { ok: true } }, "coder");
  await expect(feed.getByRole("option")).toContainText("done");
  await noBreakage(page);
});

test("charts tell what is pointed at", async ({ page }) => {
  test.skip(!isMock, "needs an hour of figures");
  await open(page, "#/overview", "default");
  const chart = page.locator("figure.chart").first();
  await expect(chart).toContainText("newest");
  await chart.locator(".u-over").hover({ position: { x: 60, y: 40 } });
  await expect(chart.locator("figcaption")).toContainText(/\d\d:\d\d/);
  await page.getByRole("button", { name: "24h" }).click();
  await expect(page.getByText("Handoffs and queue, per 15 min")).toBeVisible();
});

test("without health figures the page says so, and works out what it can", async ({ page }) => {
  const spine = await api();
  await handOver(spine, "coder", "Write it.");
  const held = await take(spine, "coder");
  await spine.post(`/v1/deliveries/${held.id}/ack`, { lease: held.lease, result: 1 }, "coder");
  await page.route("**/v1/health*", (route) => route.fulfill(MISSING));
  await page.route("**/v1/alerts*", (route) => route.fulfill(MISSING));
  await open(page, "#/overview", spine.workspace);
  await expect(page.getByText("This server does not serve health figures.")).toBeVisible();
  await expect(page.getByText("This server does not serve alerts.")).toBeVisible();
  await expect(page.getByRole("article", { name: "Failure rate" })).toContainText("0 of 1 handoff ran out");
  await expect(page.getByRole("article", { name: "Hop depth" })).toContainText("not known");
  await expect(page.locator("figure.chart")).toHaveCount(0);
});

test("an alert is acknowledged, silenced, and a test is sent", async ({ page }) => {
  const spine = await api();
  await deadLetter(spine, "coder", "Write it.");
  await open(page, "#/overview", spine.workspace);
  const alert = page.getByRole("listitem", { name: "A handoff ran out of attempts" });
  const known = async () => (await spine.get("/v1/alerts")).alerts[0];
  await expect(alert).toContainText("coder");
  await alert.getByRole("button", { name: "Acknowledge" }).click();
  await expect(alert).toContainText("acknowledged");
  expect((await known()).acknowledged).toMatchObject({ by: "tester" });
  await alert.getByRole("button", { name: "Silence…" }).click();
  await page.getByLabel("For how long").selectOption("14400");
  await page.getByLabel("Reason").fill("known");
  await page.getByRole("button", { name: "Silence", exact: true }).click();
  await expect(alert).toContainText("silenced until");
  expect((await known()).silenced).toMatchObject({ reason: "known" });
  await alert.getByRole("button", { name: "Lift silence" }).click();
  await expect(alert).not.toContainText("silenced until");
  expect((await known()).silenced).toBeNull();
  await page.getByRole("button", { name: "Send a test" }).click();
  await expect(page.locator(".toast").last()).toContainText(/delivered|failed|webhook/);
  await noBreakage(page);
});

test("a server that asks for a key gets it, from this tab only", async ({ page }) => {
  const spine = await api();
  await page.route("**/v1/**", async (route) => {
    const { authorization, ...headers } = route.request().headers();
    if (authorization === "Bearer msk_right") return route.continue({ headers });
    return route.fulfill({ status: 401, contentType: "application/problem+json", body: JSON.stringify({ type: "/errors/unauthenticated", status: 401, detail: "send `Authorization: Bearer msk_…`" }) });
  });
  await open(page, "#/memories", spine.workspace);
  await expect(page.getByText("This server has keys.")).toBeVisible();
  await page.getByLabel("API key").fill("msk_wrong");
  await page.getByRole("button", { name: "Enter" }).click();
  await expect(page.getByText("This server has keys.")).toBeVisible();
  await page.getByLabel("API key").fill("msk_right");
  await page.getByRole("button", { name: "Enter" }).click();
  await expect(page.getByText("No memory here.")).toBeVisible();
  expect(await page.evaluate(() => [JSON.stringify({ ...localStorage }).includes("msk_"), document.cookie, sessionStorage.getItem("memory-spine-session")?.includes("msk_right")])).toEqual([false, "", true]);
});

test("a lost connection is said, and events resume where they were", async ({ page }) => {
  const [spine, connection] = [await api(), await line()];
  await handOver(spine, "coder", "First.");
  await open(page, "#/overview", spine.workspace, connection.url);
  await expect(page.locator(".link-state")).toContainText("Live");
  await handOver(spine, "coder", "Second.");
  await expect(page.getByRole("listbox", { name: "Handoffs" }).getByRole("option")).toHaveCount(2);
  const resumed = page.waitForRequest((request) => request.url().endsWith("/v1/events") && request.headers()["last-event-id"] !== undefined, { timeout: 25_000 });
  connection.cut();
  await expect(page.getByText("The connection to the server is lost.")).toBeVisible();
  await handOver(spine, "coder", "Third, while nobody could see it.");
  connection.mend();
  await resumed;
  await expect(page.getByRole("listbox", { name: "Handoffs" }).getByRole("option")).toHaveCount(3);
  await expect(page.locator(".link-state")).toContainText("Live");
  connection.close();
});

test("the keyboard leads everywhere", async ({ page }) => {
  const spine = await api();
  await spine.post("/v1/memories", { memories: ["one", "two", "three"].map((content) => ({ content: `Memory ${content}` })) });
  await open(page, "#/overview", spine.workspace);
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  const list = page.getByRole("listbox", { name: "Memories" });
  await expect(list).toBeVisible();
  await page.keyboard.press("/");
  await expect(page.getByLabel("Search")).toBeFocused();
  await page.keyboard.press("Escape");
  await list.focus();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "ms-2" })).toBeVisible();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  const before = await page.evaluate(() => document.documentElement.dataset["theme"]);
  await page.keyboard.press("t");
  await page.keyboard.press("t");
  await expect.poll(() => page.evaluate(() => document.documentElement.dataset["theme"])).not.toBe(before);
});
