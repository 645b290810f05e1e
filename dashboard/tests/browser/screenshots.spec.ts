// Pictures of every page, light, dark and on a phone. Looked at by people; here they only must not be broken.

import { expect, test } from "@playwright/test";

import { isMock, isOwn, noBreakage, open } from "./page.ts";

/** The story is told to the stand-in and to servers of our own. */
const hasStory = isMock || isOwn;
const FOLDER = isMock ? "screenshots" : "screenshots/real";

const PLACES: [name: string, hash: string, ready: string][] = [
  ["overview", "#/overview", "Handoffs"], ["lineage", "#/lineage", "Recent tasks"], ["parked", "#/parked", "Dead letters"], ["agents", "#/agents/invoice-writer", "Agents"],
  ["memories", "#/memories/ms-1", "Memories"], ["memory-hostile", "#/memories/ms-9", "Memories"], ["channels", "#/channels/releases", "Channels"],
];

const LOOKS = [
  { name: "light", viewport: { width: 1440, height: 900 }, colorScheme: "light" as const },
  { name: "dark", viewport: { width: 1440, height: 900 }, colorScheme: "dark" as const },
  { name: "phone", viewport: { width: 390, height: 844 }, colorScheme: "dark" as const },
];

for (const look of LOOKS) {
  test.describe(look.name, () => {
    test.use({ viewport: look.viewport, colorScheme: look.colorScheme });
    for (const [name, hash, ready] of PLACES) {
      test(`${name} ${look.name}`, async ({ page }) => {
        await open(page, hash, "default");
        // On a phone an opened detail stands instead of its list.
        const region = page.getByRole("region").first();
        await expect(look.name === "phone" ? region : page.getByRole("region", { name: ready, exact: true })).toBeVisible();
        await expect(page.getByText("Loading", { exact: false })).toHaveCount(0);
        await noBreakage(page);
        await page.screenshot({ path: `${FOLDER}/${name}-${look.name}.png` });
      });
    }
    test(`lineage graph ${look.name}`, async ({ page }) => {
      test.skip(!hasStory, "this server has another story");
      await open(page, "#/lineage", "default");
      await page.getByRole("link", { name: "code-generator → release-manager" }).click();
      await expect(page.getByRole("button", { name: /release-manager/ }).first()).toBeVisible();
      await expect(page.getByText("verified")).toBeVisible();
      await noBreakage(page);
      await page.screenshot({ path: `${FOLDER}/lineage-graph-${look.name}.png` });
      if (look.name === "phone") return;
      await page.getByRole("button", { name: "Compare two hops" }).click();
      await page.getByRole("region", { name: "Compare" }).scrollIntoViewIfNeeded();
      await expect(page.getByRole("list", { name: "Changes" })).toBeVisible();
      await page.screenshot({ path: `${FOLDER}/lineage-compare-${look.name}.png` });
    });
    test(`dead letter ${look.name}`, async ({ page }) => {
      test.skip(!hasStory, "this server has another story");
      await open(page, "#/parked", "default");
      await page.locator(".row").first().click();
      await expect(page.getByRole("heading", { name: "Attempts" })).toBeVisible();
      await noBreakage(page);
      await page.screenshot({ path: `${FOLDER}/parked-open-${look.name}.png` });
      if (look.name === "phone") return;
      await page.getByRole("button", { name: /^Requeue all/ }).click();
      await expect(page.getByText(/^Dry run: \d+/)).toBeVisible();
      await page.screenshot({ path: `${FOLDER}/parked-many-${look.name}.png` });
    });
  });
}
