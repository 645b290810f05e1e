// How things are, at a glance: the verdict, five figures, charts, alerts, and what is being handed over.

import { useState } from "preact/hooks";

import { asked, get } from "../api/client.ts";
import type { Delivery, Health, WindowName } from "../api/types.ts";
import { type Loaded, useLoad } from "../live/load.ts";
import { THRESHOLDS, compute, counted } from "../pure/figures.ts";
import { Line } from "../ui/Inert.tsx";
import { Loading, Trouble } from "../ui/Notice.tsx";
import { linkTo } from "../ui/route.ts";
import { VerdictBadge } from "../ui/Status.tsx";
import { Ago } from "../ui/Time.tsx";
import { Alerts } from "./overview/Alerts.tsx";
import { Charts } from "./overview/Charts.tsx";
import { Feed } from "./overview/Feed.tsx";
import { ComputedFigures, Figures } from "./overview/Figures.tsx";
import { Targets } from "./overview/Targets.tsx";

const EVERY_MS = 10_000;
const WINDOWS: WindowName[] = ["5m", "1h", "24h"];
const WORDS: Record<WindowName, string> = { "5m": "5 minutes", "1h": "1 hour", "24h": "24 hours" };

function WindowChoice({ value, choose }: { value: WindowName; choose: (name: WindowName) => void }) {
  return (
    <div class="choice" role="group" aria-label="Window">
      {WINDOWS.map((name) => (
        <button key={name} aria-pressed={name === value} onClick={() => choose(name)} title={`The last ${WORDS[name]}`}>
          {name}
        </button>
      ))}
    </div>
  );
}

function Verdict({ health }: { health: Health }) {
  return (
    <section class={`verdict-panel ${health.verdict}`} aria-label="Verdict">
      <h1>
        <VerdictBadge verdict={health.verdict} />
      </h1>
      {health.reasons.length === 0 ? (
        <p>All figures are within their thresholds.</p>
      ) : (
        <ul>
          {health.reasons.map((reason) => (
            <li key={reason.text}>
              <Line text={reason.text} length={400} />
              {reason.target && (
                <>
                  {" "}
                  <a href={linkTo("agents", reason.target)}>open agent</a>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      <span class="dim as-of">
        as of <Ago at={health.at} />
      </span>
    </section>
  );
}

/** Without `/v1/health`: what can be worked out from deliveries, and said to be so. */
function WithoutHealth() {
  const hourAgo = Math.floor((Date.now() - 3_600_000) / 60_000) * 60_000;
  const since = new Date(hourAgo).toISOString();
  const recent = useLoad(
    "recent",
    (signal) =>
      get<{ deliveries: Delivery[]; next_cursor: string | null }>(
        asked("/v1/deliveries", { since, limit: 1000, order: "newest" }),
        signal,
      ),
    { on: ["delivery."], everyMs: EVERY_MS },
  );
  return (
    <>
      <div class="notice" role="status">
        <strong>This server does not serve health figures.</strong> There is no verdict and no chart.
        {recent.value && (
          <>
            {" "}
            The figures below were worked out by this page from{" "}
            {counted(recent.value.deliveries.length, "delivery", "deliveries")} sent in the last hour
            {recent.value.next_cursor ? " (the newest; there are more)" : ""}.
          </>
        )}
      </div>
      {recent.error && <Trouble error={recent.error} what="deliveries" retry={recent.reload} />}
      {recent.value && <ComputedFigures computed={compute(recent.value.deliveries)} thresholds={THRESHOLDS} />}
    </>
  );
}

function Known({ health, name }: { health: Health; name: WindowName }) {
  return (
    <>
      <Figures window={health.windows[name]} thresholds={health.thresholds} queue={health.queue} />
      <Charts series={health.series[name === "24h" ? "24h" : "1h"]} thresholds={health.thresholds} />
    </>
  );
}

function Top({
  health,
  name,
  choose,
}: {
  health: Loaded<Health>;
  name: WindowName;
  choose: (name: WindowName) => void;
}) {
  if (health.error && !health.value) {
    return health.error.isMissingRoute ? (
      <WithoutHealth />
    ) : (
      <Trouble error={health.error} what="health" retry={health.reload} />
    );
  }
  if (!health.value) return <Loading what="health" />;
  return (
    <>
      <div class="verdict-row">
        <Verdict health={health.value} />
        <WindowChoice value={name} choose={choose} />
      </div>
      <Known health={health.value} name={name} />
    </>
  );
}

export function OverviewPage() {
  const [name, choose] = useState<WindowName>("5m");
  const health = useLoad("health", (signal) => get<Health>("/v1/health", signal), {
    on: ["delivery.", "breaker.", "alert."],
    everyMs: EVERY_MS,
  });
  return (
    <div class="page overview">
      <Top health={health} name={name} choose={choose} />
      <div class="columns">
        <Alerts />
        <Feed />
      </div>
      {health.value && <Targets health={health.value} name={name} />}
    </div>
  );
}
