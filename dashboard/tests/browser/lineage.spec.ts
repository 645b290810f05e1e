import { expect, test } from "@playwright/test";

import { type Api, api, handOver, noBreakage, open } from "./page.ts";

/** A task that is fanned out and joined, with a gap and a waiver. */
async function fanOut(spine: Api): Promise<{ first: string; left: string; joined: string }> {
  await spine.post("/v1/memories", { content: "The gateway takes 100 requests a second." });
  const first = await handOver(spine, "researcher", "Find the limits.", { intent: "Integrate the gateway.", constraints: { language: "python", style: "terse" }, memory_refs: ["ms-1", "ms-404"] }, "analyst");
  const left = await handOver(spine, "left-reviewer", "Review the left side.", { parent: first.envelope, waive: { style: "reviews may be long" } }, "researcher");
  const right = await handOver(spine, "right-reviewer", "Review the right side.", { parent: first.envelope }, "researcher");
  const joined = await handOver(spine, "manager", "Weigh both reviews.", { parents: [left.envelope, right.envelope] }, "researcher");
  return { first: first.envelope, left: left.envelope, joined: joined.envelope };
}

test("a lineage is drawn with its fan-out and join, verified, and each hop opens", async ({ page }) => {
  const spine = await api();
  const { first, left, joined } = await fanOut(spine);
  await open(page, `#/lineage/${joined}`, spine.workspace);
  await expect(page.locator(".node")).toHaveCount(4);
  await expect(page.locator(".edges path")).toHaveCount(4);
  await expect(page.getByLabel("Verification")).toContainText("intact");
  await page.locator(`[data-node="${first}"]`).click();
  await expect(page.getByRole("region", { name: "Hop" })).toContainText("Hop 1: analyst → researcher");
  await page.getByRole("tab", { name: /Left behind/ }).click();
  await expect(page.getByRole("tabpanel")).toContainText("ms-404");
  await page.getByRole("tab", { name: /Travelled/ }).click();
  await page.getByRole("tabpanel").locator("summary").first().click();
  await expect(page.getByRole("tabpanel")).toContainText("100 requests a second");
  await page.getByRole("tab", { name: "Rendered" }).click();
  await expect(page.getByRole("tabpanel")).toContainText("Find the limits.");
  await page.locator(`[data-node="${left}"]`).click();
  await page.getByRole("tab", { name: /Left behind/ }).click();
  await expect(page.getByRole("tabpanel")).toContainText("reviews may be long");
  await noBreakage(page);
});

test("two hops are compared", async ({ page }) => {
  const spine = await api();
  const { first, left } = await fanOut(spine);
  await open(page, `#/lineage/${left}`, spine.workspace);
  await page.getByRole("button", { name: "Compare two hops" }).click();
  const compare = page.getByRole("region", { name: "Compare" });
  await expect(compare.getByLabel("from")).toHaveValue(first);
  await expect(compare.getByRole("list", { name: "Changes" })).toContainText("removed constraint style");
  await expect(compare).toContainText("added waiver style");
  await compare.getByText("Line by line").click();
  await expect(compare.locator(".diff .added").first()).toBeVisible();
});

test("an id is opened, and one that does not exist is said to be so", async ({ page }) => {
  const spine = await api();
  const sent = await handOver(spine, "coder", "Write it.");
  await open(page, "#/lineage", spine.workspace);
  await expect(page.getByRole("region", { name: "Recent tasks" })).toContainText("coder");
  await page.getByLabel("Envelope or delivery").fill(sent.delivery);
  await page.keyboard.press("Enter");
  await expect(page.locator(".node")).toHaveCount(1);
  await page.getByLabel("Envelope or delivery").fill("dlv_01ARZ3NDEKTSV4RRFFQ69G5FAV");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alert")).toBeVisible();
});
