import { type Page, expect, test } from "@playwright/test";

import { type Api, api, deadLetter, handOver, noBreakage, open } from "./page.ts";

async function oneDeadLetter(page: Page): Promise<{ spine: Api; delivery: string; envelope: string }> {
  const spine = await api();
  const letter = await deadLetter(spine, "coder", "Write the client.", "the tool server refused");
  await open(page, `#/parked/${letter.delivery}`, spine.workspace);
  return { spine, ...letter };
}

const stateOf = async (spine: Api, id: string) => spine.get(`/v1/deliveries/${id}`);

test("a dead letter shows why, every attempt and the envelope", async ({ page }) => {
  await oneDeadLetter(page);
  const detail = page.getByRole("region", { name: "Delivery" });
  await expect(detail).toContainText("ran out of attempts");
  await expect(detail.locator(".attempts li")).toHaveCount(1);
  await expect(detail.locator(".attempts")).toContainText("the tool server refused");
  await expect(page.getByRole("region", { name: "Dead letters" }).locator(".row")).toContainText("the tool server refused");
  await expect(detail.getByRole("tabpanel")).toContainText("Write the client.");
  await noBreakage(page);
});

test("requeue to another agent", async ({ page }) => {
  const { spine, delivery } = await oneDeadLetter(page);
  await page.getByRole("button", { name: "Requeue…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("To").fill("coder-eu");
  await dialog.getByLabel("Reason").fill("the other region works");
  await dialog.getByRole("button", { name: "Requeue" }).click();
  await expect(page.locator(".toast")).toContainText("Requeued to coder-eu");
  expect(await stateOf(spine, delivery)).toMatchObject({ state: "pending", agent: "coder-eu" });
  await expect(page.getByText("This is no longer parked")).toBeVisible();
});

test("edit and resend", async ({ page }) => {
  const { spine, delivery, envelope } = await oneDeadLetter(page);
  await page.getByRole("button", { name: "Edit and resend…" }).click();
  const dialog = page.getByRole("dialog");
  const summary = dialog.getByLabel("What the receiver is to do");
  await expect(summary).toHaveValue("Write the client.");
  await summary.fill("Write the client, without the tool server.");
  await dialog.getByRole("button", { name: "Send" }).click();
  await expect(page.locator(".toast")).toContainText("Sent anew");
  expect((await stateOf(spine, delivery)).state).not.toBe("parked");
  const lineage = await spine.get(`/v1/envelopes/${envelope}/lineage`);
  expect(lineage.envelopes.map((one: { task_summary: string }) => one.task_summary)).toContain("Write the client, without the tool server.");
});

test("resolve by hand", async ({ page }) => {
  const { spine, delivery } = await oneDeadLetter(page);
  await page.getByRole("button", { name: "Resolve by hand…" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "It is done" })).toBeDisabled();
  await dialog.getByLabel("Result").fill('{"files": 3}');
  await dialog.getByRole("button", { name: "It is done" }).click();
  await expect(page.locator(".toast")).toContainText("Resolved");
  expect(await stateOf(spine, delivery)).toMatchObject({ state: "done", result: { files: 3 }, ending: { by_hand: true } });
});

test("discard needs a reason", async ({ page }) => {
  const { spine, delivery } = await oneDeadLetter(page);
  await page.getByRole("button", { name: "Discard…", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByRole("button", { name: "Discard 1 delivery" })).toBeDisabled();
  await dialog.getByLabel("Reason").fill("a test order");
  await dialog.getByRole("button", { name: "Discard 1 delivery" }).click();
  await expect(page.locator(".toast")).toContainText("Discarded");
  const after = await stateOf(spine, delivery);
  expect(after.state).not.toBe("parked");
  expect(after.ending.reason).toContain("a test order");
});

test("two reviewers do not collide: the second is told", async ({ page }) => {
  const { spine, delivery } = await oneDeadLetter(page);
  await page.getByRole("button", { name: "Discard…", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Reason").fill("mine");
  await spine.post(`/v1/parked/${delivery}/requeue`, { reason: "was first" });
  await dialog.getByRole("button", { name: "Discard 1 delivery" }).click();
  await expect(dialog.getByRole("alert")).toBeVisible();
  expect(await stateOf(spine, delivery)).toMatchObject({ state: "pending" });
});

test("300 at once by filter, after a dry run", async ({ page }) => {
  test.setTimeout(120_000);
  const spine = await api();
  for (let batch = 0; batch < 30; batch++) {
    await Promise.all(Array.from({ length: 10 }, async (_, index) => {
      const sent = await handOver(spine, "invoices", `Invoice ${batch * 10 + index}`);
      await spine.post("/v1/parked", { envelope_id: sent.envelope, reason: "the printer burns" });
    }));
  }
  const other = await handOver(spine, "coder", "Something else.");
  await spine.post("/v1/parked", { envelope_id: other.envelope, reason: "by hand" });
  await open(page, "#/parked", spine.workspace);
  await page.getByLabel("Agent", { exact: true }).fill("invoices");
  await expect(page.getByRole("button", { name: "Requeue all that match…" })).toBeEnabled();
  await expect(page.getByRole("region", { name: "Dead letters" }).locator("header")).toContainText("200 deliveries and more");
  await page.getByRole("button", { name: "Requeue all that match…" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog).toContainText("Dry run: 300 deliveries would be requeued.");
  expect((await spine.get("/v1/parked?limit=1000")).deliveries.length).toBe(301);
  await dialog.getByLabel("How many a second").fill("1000");
  await dialog.getByLabel("Reason").fill("the fire is out");
  await dialog.getByRole("button", { name: "Requeue 300 deliveries" }).click();
  await expect(page.locator(".toast")).toContainText("300 deliveries requeued", { timeout: 30_000 });
  expect((await spine.get("/v1/parked?limit=1000")).deliveries.length).toBe(1);
  await page.getByLabel("Agent", { exact: true }).fill("");
  await page.getByRole("button", { name: /Discard all/ }).click();
  await expect(dialog).toContainText("Dry run: 1 delivery would be discarded.");
  await dialog.getByLabel("Reason").fill("nobody needs it");
  await dialog.getByRole("button", { name: "Discard 1 delivery" }).click();
  await expect(page.getByText("No dead letters.")).toBeVisible();
});
