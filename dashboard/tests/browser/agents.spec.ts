import { expect, test } from "@playwright/test";

import { api, handOver, noBreakage, open } from "./page.ts";

test("an agent is paused, resumed, its breaker forced open and closed", async ({ page }) => {
  const spine = await api();
  await handOver(spine, "coder", "Write it.");
  await open(page, "#/agents", spine.workspace);
  await page.getByRole("listbox", { name: "Agents" }).getByText("coder", { exact: true }).click();
  const pull = async (lever: string, confirm: string, told: string) => {
    await page.getByRole("button", { name: lever }).click();
    await page.getByRole("dialog").getByRole("button", { name: confirm, exact: true }).click();
    await expect(page.locator(".toast").last()).toContainText(told);
  };
  await expect(page.getByRole("region", { name: "Agent", exact: true })).toContainText("breaker closed");
  await pull("Pause…", "Pause", "Paused");
  expect((await spine.get("/v1/agents/coder")).paused).toBe(true);
  await pull("Resume…", "Resume", "Resumed");
  expect((await spine.get("/v1/agents/coder")).paused).toBe(false);
  await pull("Force the breaker open…", "Force it open", "forced open");
  expect((await spine.get("/v1/agents/coder")).breaker).toMatchObject({ state: "open", forced: true });
  await pull("Close the breaker…", "Close it", "closed");
  expect((await spine.get("/v1/agents/coder")).breaker.state).toBe("closed");
  await noBreakage(page);
});

test("options are edited", async ({ page }) => {
  const spine = await api();
  await handOver(spine, "coder", "Write it.");
  await open(page, "#/agents/coder", spine.workspace);
  await page.getByRole("button", { name: "Edit…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Description").fill("Writes code.");
  await dialog.getByLabel("Token budget").fill("6000");
  await dialog.getByLabel("Fallbacks").fill("coder-eu coder-us");
  await dialog.getByLabel("Policy").fill('{"attempts": 5}');
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("region", { name: "Agent", exact: true })).toContainText("coder-eu, coder-us");
  expect(await spine.get("/v1/agents/coder")).toMatchObject({ description: "Writes code.", max_tokens: 6000, fallbacks: ["coder-eu", "coder-us"], policy: { attempts: 5 } });
});

test("subscribers come and go, and a publication is followed", async ({ page }) => {
  const spine = await api();
  await open(page, "#/channels", spine.workspace);
  await expect(page.getByText("No channel yet.")).toBeVisible();
  await page.getByRole("textbox", { name: "Channel", exact: true }).fill("releases");
  await page.getByRole("button", { name: "Open" }).click();
  for (const name of ["deploy-eu", "deploy-us"]) {
    await page.getByLabel("Agent to subscribe").fill(name);
    await page.getByRole("button", { name: "Subscribe" }).click();
    await expect(page.getByRole("region", { name: "Channel", exact: true }).getByRole("link", { name })).toBeVisible();
  }
  const made = await spine.post("/v1/envelopes", { target_agent: "broadcast", task_summary: "Roll out." });
  const publication = await spine.post("/v1/channels/releases/publish", { envelope_id: made.id, join: { handoff: { target_agent: "manager", task_summary: "Weigh it." }, need: 2 } });
  const shown = page.getByLabel(`Publication ${publication.id}`);
  await expect(shown).toContainText("0 of 2");
  await expect(shown).toContainText("waits for 2 of 2");
  await page.getByRole("button", { name: "Remove deploy-us" }).click();
  await page.getByRole("button", { name: "Remove 1 subscriber" }).click();
  await expect.poll(async () => (await spine.get("/v1/channels/releases")).subscribers).toEqual(["deploy-eu"]);
  await noBreakage(page);
});
