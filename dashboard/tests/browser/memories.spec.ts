import { expect, test } from "@playwright/test";

import { HOSTILE } from "../../mock/hostile.ts";
import { api, handOver, noBreakage, open } from "./page.ts";

test("a memory is found with the reasons, its versions compared, pinned and unpinned", async ({ page }) => {
  const spine = await api();
  await spine.post("/v1/memories", { memories: [{ content: "The gateway takes 100 requests a second.", title: "Rate limit" }, { content: "Lunch is at noon." }] });
  await spine.patch("/v1/memories/ms-1", { content: "The gateway takes 150 requests a second." });
  await open(page, "#/memories", spine.workspace);
  await page.getByLabel("Search").fill("gateway requests");
  const first = page.getByRole("listbox", { name: "Memories" }).getByRole("option").first();
  await expect(first).toContainText("Rate limit");
  await first.click();
  const detail = page.getByRole("region", { name: "Memory", exact: true });
  await expect(detail).toContainText("Why it was found");
  await expect(detail.locator("meter").first()).toBeVisible();
  await detail.getByRole("button", { name: "version 1" }).click();
  await expect(detail.locator(".diff .removed")).toContainText("100 requests");
  await expect(detail.locator(".diff .added")).toContainText("150 requests");
  await detail.getByRole("button", { name: "Pin" }).click();
  await expect(detail.getByRole("button", { name: "Unpin" })).toBeVisible();
  expect((await spine.get("/v1/memories/ms-1")).pinned).toBe(true);
  await detail.getByRole("button", { name: "Unpin" }).click();
  await expect.poll(async () => (await spine.get("/v1/memories/ms-1")).pinned).toBe(false);
  await noBreakage(page);
});

test("10,000 memories scroll, and few of them exist at a time", async ({ page }) => {
  test.setTimeout(120_000);
  const spine = await api();
  for (let batch = 0; batch < 50; batch++) await spine.post("/v1/memories", { memories: Array.from({ length: 200 }, (_, index) => ({ content: `Memory number ${batch * 200 + index + 1}` })) });
  await open(page, "#/memories", spine.workspace);
  const list = page.getByRole("listbox", { name: "Memories" });
  await expect(list.getByRole("option").first()).toContainText("number 10000");
  await list.focus();
  for (let round = 0; round < 60 && (await list.getAttribute("data-total")) !== "10000"; round++) {
    const before = await list.getAttribute("data-total");
    await page.keyboard.press("End");
    await expect(list).not.toHaveAttribute("data-total", before ?? "");
  }
  await expect(list).toHaveAttribute("data-total", "10000");
  await page.keyboard.press("End");
  await expect(list.getByRole("option").last()).toContainText("number 1");
  expect(await list.getByRole("option").count()).toBeLessThan(60);
  await page.keyboard.press("Home");
  await expect(list.getByRole("option").first()).toContainText("number 10000");
});

/** Opens each memory in turn, in the page itself, and tells what is wrong about how it is shown. */
async function walkThrough(count: number): Promise<{ id: string; wrong: string[] }[]> {
  const shown = async (id: string): Promise<Element> => {
    for (;;) {
      const detail = document.querySelector("section.detail");
      const text = detail?.querySelector(".section .text");
      if (detail?.querySelector("h2")?.textContent === id && text) return text;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const seen = [];
  for (let number = 1; number <= count; number++) {
    const id = `ms-${number}`;
    location.hash = `#/memories/${id}`;
    const text = await shown(id);
    const inside = [...text.querySelectorAll("*")];
    const raw = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f]/u.test(text.textContent ?? "");
    const wrong = [
      ...inside.map((one) => one.tagName).filter((tag) => !["BDI", "SPAN", "BUTTON"].includes(tag)),
      ...inside.flatMap((one) => one.getAttributeNames()).filter((name) => !["class", "title"].includes(name)),
      ...(document.documentElement.scrollWidth > innerWidth || text.getBoundingClientRect().right > innerWidth ? ["too wide"] : []),
      ...(text.textContent ? [] : ["empty"]),
      ...(raw ? ["raw control character"] : []),
    ];
    seen.push({ id, wrong: [...new Set(wrong)] });
  }
  return seen;
}

test("200 hostile texts are shown inert, in memories and in envelopes", async ({ page }) => {
  test.setTimeout(240_000);
  const spine = await api();
  for (let start = 0; start < HOSTILE.length; start += 50) {
    await spine.post("/v1/memories", { memories: HOSTILE.slice(start, start + 50).map((content, index) => ({ content: content.trim() ? content : `blank ${start + index}${content}` })) });
  }
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("dialog", () => requests.push("a dialog was opened"));
  await open(page, "#/memories/ms-1", spine.workspace);
  const seen = await page.evaluate(walkThrough, HOSTILE.length);
  expect(seen.length).toBe(HOSTILE.length);
  expect(seen.filter((one) => one.wrong.length > 0)).toEqual([]);
  const sent = await handOver(spine, "reader", HOSTILE[3] ?? "", { intent: HOSTILE[123] ?? "", memory_refs: Array.from({ length: 100 }, (_, index) => `ms-${index + 1}`), max_tokens: 60_000 });
  await page.evaluate((id) => { location.hash = `#/lineage/${id}`; }, sent.envelope);
  await page.getByRole("tab", { name: "Rendered" }).click();
  await expect(page.getByRole("tabpanel").locator(".text")).toContainText("window.__ran");
  await page.evaluate(() => { location.hash = "#/memories"; });
  await expect(page.getByRole("listbox", { name: "Memories" }).getByRole("option").first()).toBeVisible();
  expect(await page.evaluate(() => (window as { __ran?: number }).__ran)).toBeUndefined();
  expect(await page.evaluate(() => [document.scripts.length, document.querySelectorAll("iframe, object, embed, img, form[action], base, style").length])).toEqual([1, 0]);
  const origin = new URL(page.url()).origin;
  expect(requests.filter((url) => !url.startsWith(origin) && !url.startsWith("data:image/svg+xml"))).toEqual([]);
  await noBreakage(page);
});
