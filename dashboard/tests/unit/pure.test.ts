import { describe, expect, test } from "vitest";

import type { Delivery, Envelope } from "../../src/api/types.ts";
import { HOSTILE } from "../../mock/hostile.ts";
import { diffEnvelopes, diffLines, fold } from "../../src/pure/diff.ts";
import { THRESHOLDS, compute, count, isolated, judgeCompleteness, judgeFailures, judgeTokens, percent, quantile } from "../../src/pure/figures.ts";
import { groupParked, reasonOf } from "../../src/pure/groups.ts";
import { inertText, oneLine, pieces, spell } from "../../src/pure/inert.ts";
import { layout } from "../../src/pure/layout.ts";
import { mergeHead } from "../../src/pure/paging.ts";
import { SseParser } from "../../src/pure/sse.ts";
import { between, duration, exact, relative } from "../../src/pure/time.ts";
import { moved, scrollFor, visible, wantsMore } from "../../src/pure/window.ts";

describe("inert text", () => {
  const check = (text: string, shown: string) => expect(inertText(text)).toBe(shown);

  test("spells what reorders, hides or commands", () => {
    check("user\u202Etxt.exe", "user[U+202E]txt.exe");
    check("\u001b[2J", "[U+001B][2J");
    check("a\u0000b\u007fc\u009bd", "a[U+0000]b[U+007F]c[U+009B]d");
    check("zero\u200Bwidth", "zero[U+200B]width");
    check("\uFEFF\u{E0041}", "[U+FEFF][U+E0041]");
    check("\r", "[U+000D]");
  });

  test("leaves texts of people as they are", () => {
    for (const text of ["plain\ttext\nwith breaks", "שלום עולם", "مرحبا", "👩‍👩‍👧‍👦", "نمی‌خواهم", "<b>&amp;</b>", "é e\u0301"]) check(text, text);
  });

  test("spells a joiner that joins nothing, and marks without end", () => {
    check("a \u200d b", "a [U+200D] b");
    expect(inertText(`Z${"\u0301".repeat(400)}`)).toBe(`Z${"\u0301".repeat(4)}${"[U+0301]".repeat(396)}`);
    check("\ud800x", "[U+D800]x");
  });

  test("nothing that is spelt stays in the plain pieces of any hostile text", () => {
    expect(HOSTILE.length).toBe(200);
    expect(new Set(HOSTILE).size).toBe(200);
    for (const text of HOSTILE) {
      const plain = pieces(text).map((piece) => ("text" in piece ? piece.text : "")).join("");
      expect(plain).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f]/u);
    }
  });

  test("one line is one line, cut by characters", () => {
    expect(oneLine(" a\n\n b\tc ")).toBe("a b c");
    expect(oneLine("👍👍👍", 2)).toBe("👍👍…");
    expect(spell(0x7)).toBe("U+0007");
  });
});

describe("time", () => {
  test.each([[0, "0 s"], [0.0004, "<1 ms"], [0.041, "41 ms"], [0.9996, "1.0 s"], [3.14, "3.1 s"], [42.4, "42 s"], [600, "10 min"], [7200, "2 h"], [200_000, "2 d"], [null, "–"], [NaN, "–"]])("%s s is %s", (seconds, said) => expect(duration(seconds)).toBe(said));

  test("relative and exact", () => {
    const now = Date.parse("2026-01-15T09:30:00.000Z");
    expect(relative("2026-01-15T09:29:59.000Z", now)).toBe("now");
    expect(relative("2026-01-15T09:29:15.000Z", now)).toBe("45 s ago");
    expect(relative("2026-01-15T09:40:00.000Z", now)).toBe("in 10 min");
    expect(relative("nonsense", now)).toBe("at an unknown time");
    expect(exact("2026-01-15T09:30:00.123Z")).toContain("2026-01-15T09:30:00.123Z");
    expect(between("2026-01-15T09:30:00.000Z", "2026-01-15T09:30:01.500Z")).toBe(1.5);
    expect(between(null, "2026-01-15T09:30:01.500Z")).toBeNull();
  });
});

describe("figures", () => {
  test("percent shows what matters near a threshold", () => {
    expect([1, 0.999, 0.9632, 0.5, 0.012, 0.0049, 0, null].map(percent)).toEqual(["100 %", "99.90 %", "96.3 %", "50.0 %", "1.20 %", "0.49 %", "0 %", "–"]);
    expect(count(1234567)).toBe("1\u202f234\u202f567");
  });

  test("thresholds of the spec, at their edges", () => {
    const complete = (value: number | null) => judgeCompleteness(value, THRESHOLDS.completeness);
    expect([0.95, 0.9499, 0.8, 0.7999, null].map(complete)).toEqual(["healthy", "degraded", "degraded", "critical", null]);
    const failing = (value: number | null) => judgeFailures(value, THRESHOLDS.failure_rate);
    expect([0, 0.0049, 0.005, 0.02, 0.0201].map(failing)).toEqual(["healthy", "healthy", "degraded", "degraded", "critical"]);
  });

  test("quantiles by nearest rank", () => {
    const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
    expect([0.5, 0.95, 0.99, 1].map((share) => quantile(hundred, share))).toEqual([50, 95, 99, 100]);
    expect(quantile([], 0.5)).toBeNull();
  });

  test("what deliveries alone tell", () => {
    const base = { sent_at: "2026-01-15T09:30:00.000Z", completeness: 1, parked: [] };
    const done = { ...base, state: "done", accepted_at: "2026-01-15T09:30:02.000Z", ended_at: "2026-01-15T09:30:10.000Z" };
    const failed = { ...base, state: "parked", accepted_at: null, ended_at: null, completeness: 0.5, parked: [{ cause: "nobody_took_it" }] };
    const asked = { ...base, state: "parked", accepted_at: null, ended_at: null, parked: [{ cause: "asked" }] };
    const figures = compute([done, failed, asked] as unknown as Delivery[]);
    expect(figures).toMatchObject({ deliveries: 3, failed: 1, ended: 2, failure_rate: 0.5, latency_accepted_s: { count: 1, p50: 2 }, latency_done_s: { p99: 10 } });
    expect(figures.completeness).toBeCloseTo(2.5 / 3);
    expect(compute([])).toMatchObject({ failure_rate: null, completeness: null, latency_accepted_s: null });
  });
});

describe("differences", () => {
  const say = (before: string, after: string) => diffLines(before.split(""), after.split("")).map((line) => ({ same: " ", added: "+", removed: "-" })[line.kind] + line.text).join("");

  test("lines", () => {
    expect(say("abcd", "abXd")).toBe(" a b-c+X d");
    expect(say("", "ab").replace("-", "")).toBe("+a+b");
    expect(say("same", "same")).toBe(" s a m e");
    expect(say("xaby", "yabx")).toBe("-x+y a b-y+x");
  });

  test("applying a difference gives the second text", () => {
    for (let seed = 1; seed < 60; seed++) {
      const make = (salt: number) => Array.from({ length: (seed * salt) % 13 }, (_, i) => "abc"[(i * seed + salt * i * i) % 3] ?? "a");
      const [before, after] = [make(7), make(11)];
      const lines = diffLines(before, after);
      expect(lines.filter((line) => line.kind !== "removed").map((line) => line.text)).toEqual(after);
      expect(lines.filter((line) => line.kind !== "added").map((line) => line.text)).toEqual(before);
    }
  });

  test("long stretches fold", () => {
    const lines = diffLines(Array.from({ length: 100 }, (_, i) => `${i}`), Array.from({ length: 100 }, (_, i) => (i === 50 ? "x" : `${i}`)));
    const kinds = fold(lines).map((line) => (line.kind === "folded" ? `${line.count}` : line.kind[0])).join(" ");
    expect(kinds).toBe("47 s s s r a s s s 46");
  });

  test("envelopes", () => {
    const make = (more: object) => ({ task: { summary: "s", intent: "i" }, memories: [], completeness: { gaps: [] }, ...more }) as unknown as Envelope;
    const before = make({ constraints: [{ name: "language", value: "python" }, { name: "style", value: "x" }], memories: [{ id: "ms-1", version: 1, detail: "full" }] });
    const after = make({ constraints: [{ name: "language", value: "rust" }], waived: [{ name: "style", reason: "late" }], memories: [{ id: "ms-1", version: 2, detail: "ref" }, { id: "ms-2", version: 1, detail: "full" }], completeness: { gaps: [{ ref: "ms-9", reason: "deleted" }] } });
    expect(diffEnvelopes(before, after).map((change) => `${change.kind} ${change.what}`)).toEqual([
      "changed constraint language", "removed constraint style", "added waiver style", "changed memory ms-1", "added memory ms-2", "added gap ms-9",
    ]);
    expect(diffEnvelopes(after, after)).toEqual([]);
  });
});

describe("graph", () => {
  const node = (id: string, hop: number, ...parents: string[]) => ({ id, hop, parents });

  test("fan-out and join", () => {
    const { placed, edges, columns, rows } = layout([node("a", 1), node("b", 2, "a"), node("c", 2, "a"), node("d", 2, "a"), node("e", 3, "b", "c", "d")]);
    expect([columns, rows, edges.length]).toEqual([3, 3, 6]);
    expect(["a", "c", "e"].map((id) => placed.get(id)?.row)).toEqual([1, 1, 1]);
    expect(["a", "b", "e"].map((id) => placed.get(id)?.column)).toEqual([0, 1, 2]);
  });

  test("children stand in the order of their parents, so that lines do not cross", () => {
    const { placed } = layout([node("r", 1), node("a", 2, "r"), node("b", 2, "r"), node("y", 3, "b"), node("x", 3, "a")]);
    const row = (id: string) => placed.get(id)?.row ?? -1;
    expect(Math.sign(row("a") - row("b"))).toBe(Math.sign(row("x") - row("y")));
  });

  test("no two stand in one place, and unknown parents draw no line", () => {
    const nodes = Array.from({ length: 200 }, (_, i) => node(`n${i}`, 1 + (i % 7), `n${i - 1}`, "pruned"));
    const { placed, edges } = layout(nodes);
    expect(new Set([...placed.values()].map(({ column, row }) => `${column} ${row}`)).size).toBe(200);
    expect(edges.every((edge) => edge.from !== "pruned")).toBe(true);
    expect(layout([])).toMatchObject({ columns: 0, rows: 0 });
  });
});

describe("long lists", () => {
  test("only what is seen exists", () => {
    expect(visible(10_000, 50, 0, 500)).toEqual({ first: 0, last: 18, top: 0, height: 500_000 });
    const { first, last } = visible(10_000, 50, 250_000, 500);
    expect(last - first).toBeLessThan(30);
    expect(first).toBeLessThan(5_000);
    expect(visible(3, 50, 9_999, 500).last).toBe(3);
    expect(visible(0, 50, 0, 500)).toMatchObject({ first: 0, last: 0 });
  });

  test("keys", () => {
    expect(["j", "ArrowUp", "PageDown", "End", "Home", "x"].map((key) => moved(key, 5, 100, 10))).toEqual([6, 4, 15, 99, 0, null]);
    expect(moved("j", 99, 100, 10)).toBe(99);
    expect(moved("j", -1, 100, 10)).toBe(0);
    expect([scrollFor(0, 50, 100, 500), scrollFor(20, 50, 0, 500), scrollFor(5, 50, 0, 500)]).toEqual([0, 550, 0]);
    expect([wantsMore(20, 200), wantsMore(190, 200)]).toEqual([false, true]);
  });

  const rows = (...ids: string[]) => ids.map((id) => ({ id }));
  test("a fresh head joins the rest", () => {
    expect(mergeHead(rows("c", "b", "a"), rows("d", "c"), true)).toEqual({ rows: rows("d", "c", "b", "a"), isHeadOnly: false });
    expect(mergeHead(rows("c", "b", "a"), rows("z", "y"), true)).toEqual({ rows: rows("z", "y"), isHeadOnly: true });
    expect(mergeHead(rows("c", "b", "a"), rows("b"), false)).toEqual({ rows: rows("b"), isHeadOnly: true });
    expect(mergeHead(rows("c", "gone", "b", "a"), rows("c", "b"), true).rows).toEqual(rows("c", "b", "a"));
  });

  test("dead letters group by agent, cause and the words of the reason", () => {
    const parked = (target: string, reason: string) => ({ target, parked: [{ cause: "asked", reason }], attempts: [] }) as unknown as Delivery;
    expect(groupParked([parked("a", "took 12 s"), parked("b", "other"), parked("a", "took 7 s")])).toEqual([
      { target: "a", cause: "asked", reason: "took # s", count: 2 }, { target: "b", cause: "asked", reason: "other", count: 1 },
    ]);
  });
});

describe("the reason of a dead letter", () => {
  const check = (cause: string, attempt: string | null, said: string | null) =>
    expect(reasonOf({ parked: [{ at: "", cause, reason: "no attempts left after 1", by: null }], attempts: [{ agent: "a", outcome: "nacked", reason: attempt, holder: null, since: null, at: "" }] })).toBe(said);

  test("is what the last attempt ran into", () => check("attempts_exhausted", "endpoint answered 529", "endpoint answered 529"));
  test("is what is known, where an attempt ended without a word", () => check("attempts_exhausted", null, "no attempts left after 1"));
  test("is the person's, where one parked it", () => check("asked", "endpoint answered 529", "no attempts left after 1"));
});

describe("the use of token budgets", () => {
  const check = (p50: number, count: number, verdict: string | null) => expect(judgeTokens({ p50, counts: [{ upto: 1, count }] }, THRESHOLDS.token_utilisation)).toBe(verdict);

  test("is judged as the server does: by its median", () => {
    check(0.05, 20, "degraded");
    check(0.5, 20, "healthy");
    check(0.98, 20, "degraded");
  });
  test("is not judged by a few handoffs", () => check(0.05, 19, null));
});

test("a figure between gaps is a point, since it has no line", () => {
  expect(isolated([1, null, 2, 3, null, 4])).toEqual([0, 5]);
  expect(isolated([null, null])).toEqual([]);
});

describe("server-sent events", () => {
  const stream = ": hello\n\nid: 7\nevent: delivery.sent\ndata: {\"a\":1}\n\nid: 8\r\ndata: x\r\ndata: y\r\n\r\n: alive\n\ndata:z\n\n";
  const wanted = [{ id: "7", event: "delivery.sent", data: '{"a":1}' }, { id: "8", event: "message", data: "x\ny" }, { id: "8", event: "message", data: "z" }];

  test("however the stream is cut", () => {
    for (let size = 1; size <= stream.length; size++) {
      const parser = new SseParser();
      const found = [];
      for (let at = 0; at < stream.length; at += size) found.push(...parser.feed(stream.slice(at, at + size)));
      expect(found).toEqual(wanted);
    }
  });
});
