// The frame of every page: where one can go, how the server is, who is looking.

import { useSignal } from "@preact/signals";

import { refused, session } from "./api/session.ts";
import type { Health } from "./api/types.ts";
import { get } from "./api/client.ts";
import { link } from "./live/events.ts";
import { useLoad } from "./live/load.ts";
import { AgentsPage } from "./pages/Agents.tsx";
import { ChannelsPage } from "./pages/Channels.tsx";
import { LineagePage } from "./pages/Lineage.tsx";
import { MemoriesPage } from "./pages/Memories.tsx";
import { OverviewPage } from "./pages/Overview.tsx";
import { ParkedPage } from "./pages/Parked.tsx";
import { SessionDialog, SessionPage } from "./pages/Session.tsx";
import { Help } from "./ui/Help.tsx";
import { Icon } from "./ui/Icon.tsx";
import { Line } from "./ui/Inert.tsx";
import { PAGES, helpShown } from "./ui/keys.ts";
import { linkTo, place } from "./ui/route.ts";
import { VerdictBadge } from "./ui/Status.tsx";
import { theme, turnTheme } from "./ui/theme.ts";
import { Toasts } from "./ui/Toasts.tsx";

const HEALTH_EVERY_MS = 10_000;

function Page() {
  switch (place.value.page) {
    case "overview":
      return <OverviewPage />;
    case "lineage":
      return <LineagePage />;
    case "parked":
      return <ParkedPage />;
    case "agents":
      return <AgentsPage />;
    case "memories":
      return <MemoriesPage />;
    case "channels":
      return <ChannelsPage />;
    default:
      return (
        <div class="empty">
          <strong>There is no such page.</strong>
          <p>
            <a href={linkTo("overview")}>Go to the overview</a>
          </p>
        </div>
      );
  }
}

const LINKS = {
  live: ["✓", "Live", "Events arrive as they happen."],
  connecting: ["…", "Connecting", "Waiting for the event stream."],
  lost: ["■", "Connection lost", "What you see may be old. Trying again."],
  missing: ["▲", "Not live", "This server has no event stream; figures are asked for every few seconds."],
} as const;

function LinkState() {
  const [glyph, word, title] = LINKS[link.value];
  return (
    <span class={`link-state ${link.value}`} title={title} role="status">
      <span aria-hidden="true">{glyph}</span> {word}
    </span>
  );
}

/** The verdict follows one to every page. */
function Verdict() {
  const health = useLoad("verdict", (signal) => get<Health>("/v1/health", signal), {
    on: ["breaker.", "alert.", "delivery.parked"],
    everyMs: HEALTH_EVERY_MS,
  });
  if (!health.value) return null;
  return (
    <a
      class="verdict"
      href={linkTo("overview")}
      title={health.value.reasons.map((reason) => reason.text).join("\n") || "All figures are within their thresholds."}
    >
      <VerdictBadge verdict={health.value.verdict} />
    </a>
  );
}

function Navigation() {
  return (
    <nav aria-label="Pages">
      {PAGES.map(({ page, label, key }) => (
        <a
          key={page}
          href={linkTo(page)}
          aria-current={place.value.page === page ? "page" : undefined}
          title={`${label} (g ${key})`}
        >
          <Icon name={page} />
          <span class="nav-label">{label}</span>
        </a>
      ))}
    </nav>
  );
}

const THEMES = {
  system: ["◐", "Theme: as the system"],
  light: ["○", "Theme: light"],
  dark: ["●", "Theme: dark"],
} as const;

export function App() {
  const asking = useSignal(false);
  if (refused.value !== null)
    return (
      <>
        <SessionPage said={refused.value} />
        <Toasts />
      </>
    );
  const [glyph, title] = THEMES[theme.value];
  return (
    <div class="frame">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to the page
      </a>
      <header class="top">
        <a class="brand" href={linkTo("overview")}>
          Memory Spine
        </a>
        <Verdict />
        <span class="grow" />
        <LinkState />
        <button
          class="quiet session"
          onClick={() => {
            asking.value = true;
          }}
          title="Workspace, key and name"
        >
          <Line text={session.value.workspace || "default"} length={24} />
        </button>
        <button class="quiet" onClick={turnTheme} title={`${title} (t)`} aria-label={title}>
          {glyph}
        </button>
        <button
          class="quiet help-button"
          onClick={() => {
            helpShown.value = true;
          }}
          title="Keyboard (?)"
          aria-label="Keyboard help"
        >
          ?
        </button>
      </header>
      <Navigation />
      {link.value === "lost" && (
        <div class="stale" role="alert">
          ■ The connection to the server is lost. What you see may be old; trying again.
        </div>
      )}
      <main id="main" tabIndex={-1} key={`${session.value.workspace} ${session.value.key}`}>
        <Page />
      </main>
      {asking.value && (
        <SessionDialog
          close={() => {
            asking.value = false;
          }}
        />
      )}
      {helpShown.value && <Help />}
      <Toasts />
    </div>
  );
}
