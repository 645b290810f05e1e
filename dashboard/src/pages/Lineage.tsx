// One task from its first envelope on, drawn; each hop opens.

import { useState } from "preact/hooks";

import { at, get } from "../api/client.ts";
import type { Delivery, Lineage, Verification } from "../api/types.ts";
import { usePages } from "../live/pages.ts";
import { useLoad } from "../live/load.ts";
import { counted } from "../pure/figures.ts";
import { JsonText, Line, Text, Word } from "../ui/Inert.tsx";
import { Empty, Loading, Section, Trouble } from "../ui/Notice.tsx";
import { go, linkTo, place } from "../ui/route.ts";
import { Badge, StateBadge } from "../ui/Status.tsx";
import { Ago } from "../ui/Time.tsx";
import { Compare } from "./lineage/Compare.tsx";
import { Graph } from "./lineage/Graph.tsx";
import { Attempts, DeliveryFacts, Outcome, Why } from "./shared/DeliveryView.tsx";
import { EnvelopeTabs } from "./shared/EnvelopeView.tsx";

function Verified({ id }: { id: string }) {
  const verification = useLoad(`verify ${id}`, (signal) => get<Verification>(at`/v1/envelopes/${id}/verify`, signal));
  if (verification.error)
    return <Trouble error={verification.error} what="the verification" retry={verification.reload} />;
  if (!verification.value) return <span class="dim">verifying…</span>;
  const { intact, summary, findings } = verification.value;
  return (
    <div class="verified" aria-label="Verification">
      <Badge tone={intact ? "good" : "bad"} glyph={intact ? "✓" : "■"}>
        {intact ? "verified" : "altered"}
      </Badge>{" "}
      <Line text={summary} />
      {findings.length > 0 && (
        <ul class="lines">
          {findings.map((one, index) => (
            <li key={index}>
              {one.damage ? "■ damage" : "● note"}:{" "}
              <a href={linkTo("lineage", one.id)} class="mono small">
                {one.id}
              </a>{" "}
              <Line text={one.detail} length={300} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Deliveries({ deliveries }: { deliveries: Delivery[] }) {
  return (
    <>
      {deliveries.map((delivery) => (
        <details key={delivery.id} class="memory" open={deliveries.length === 1}>
          <summary>
            <StateBadge state={delivery.state} /> to <Word text={delivery.agent} />{" "}
            {delivery.state === "parked" && <a href={linkTo("parked", delivery.id)}>review</a>}
          </summary>
          <DeliveryFacts delivery={delivery} />
          <Why delivery={delivery} />
          {delivery.attempts.length > 0 && <Attempts delivery={delivery} />}
          <Outcome delivery={delivery} />
        </details>
      ))}
    </>
  );
}

function Hop({ id, lineage }: { id: string; lineage: Lineage }) {
  const node = lineage.envelopes.find((one) => one.id === id);
  const deliveries = lineage.deliveries?.filter((one) => one.envelope_id === id) ?? [];
  return (
    <section class="panel hop" aria-label="Hop">
      <header>
        <h2>
          {node ? (
            <>
              Hop {node.hop}: <Word text={node.from} /> → <Word text={node.target} />
            </>
          ) : (
            "Hop"
          )}
        </h2>
        <span class="grow" />
        <span class="mono small dim">{id}</span>
      </header>
      {deliveries.length > 0 && (
        <Section title="Deliveries" aside={String(deliveries.length)}>
          <Deliveries deliveries={deliveries} />
        </Section>
      )}
      <EnvelopeTabs
        key={id}
        id={id}
        first={node && (node.gaps.length > 0 || node.waived.length > 0) ? "losses" : "task"}
      />
    </section>
  );
}

function Shown({ id }: { id: string }) {
  const lineage = useLoad(`lineage ${id}`, (signal) => get<Lineage>(at`/v1/envelopes/${id}/lineage`, signal), {
    on: ["delivery.", "envelope.made", "publication."],
  });
  const [comparing, setComparing] = useState(false);
  if (lineage.error && !lineage.value)
    return <Trouble error={lineage.error} what="the lineage" retry={lineage.reload} />;
  if (!lineage.value) return <Loading what="the lineage" />;
  const { value } = lineage;
  return (
    <>
      <section class="panel" aria-label="Lineage">
        <header>
          <h2>Lineage</h2>
          <span class="dim">
            {counted(value.envelopes.length, "hop")} from{" "}
            <a href={linkTo("lineage", value.root)} class="mono small">
              {value.root}
            </a>
          </span>
          <span class="grow" />
          <button aria-pressed={comparing} onClick={() => setComparing(!comparing)}>
            Compare two hops
          </button>
        </header>
        <div class="intent">
          <span class="dim">Intent</span> <Text text={value.intent} />
        </div>
        <Verified id={id} />
        <Graph lineage={value} selected={id} open={(next) => go("lineage", next)} />
      </section>
      {comparing && <Compare lineage={value} first={id} />}
      <Hop id={id} lineage={value} />
    </>
  );
}

/** The newest deliveries, one for each task. */
function Recent() {
  const feed = usePages<Delivery>("/v1/deliveries", { order: "newest" }, "deliveries", ["delivery.sent"]);
  const roots = new Map<string, Delivery>();
  for (const delivery of feed.rows) if (!roots.has(delivery.root)) roots.set(delivery.root, delivery);
  const tasks = [...roots.values()].slice(0, 40);
  return (
    <section class="panel" aria-label="Recent tasks">
      <header>
        <h2>Recent tasks</h2>
      </header>
      {feed.error && <Trouble error={feed.error} what="deliveries" retry={feed.reload} />}
      {!feed.loading && tasks.length === 0 && !feed.error && (
        <Empty title="No task yet.">Give the id of an envelope above, or hand something over.</Empty>
      )}
      <ul class="lines tasks">
        {tasks.map((one) => (
          <li key={one.root}>
            <StateBadge state={one.state} />{" "}
            <a href={linkTo("lineage", one.envelope_id)}>
              <Word text={one.sender ?? "?"} /> → <Word text={one.agent} />
            </a>{" "}
            <span class="mono small dim">{one.root}</span>{" "}
            <span class="dim">
              <Ago at={one.sent_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

async function resolveId(text: string): Promise<string> {
  if (!text.startsWith("dlv_")) return text;
  return (await get<Delivery>(at`/v1/deliveries/${text}`)).envelope_id;
}

export function LineagePage() {
  const { id } = place.value;
  const [text, setText] = useState("");
  const [error, setError] = useState<string | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    setError(null);
    try {
      const found = await resolveId(text.trim());
      if (found) go("lineage", found);
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
    }
  };
  return (
    <div class="page">
      <form class="bar" role="search" onSubmit={submit}>
        <input
          data-search
          aria-label="Envelope or delivery"
          placeholder="env_… or dlv_…"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit">Open</button>
        {id && (
          <a href={linkTo("lineage")} data-back>
            recent tasks
          </a>
        )}
        {error && (
          <span class="is-bad" role="alert">
            ■ {error}
          </span>
        )}
      </form>
      {id ? (
        <>
          <Shown id={id} />
          <Trace id={id} />
        </>
      ) : (
        <Recent />
      )}
    </div>
  );
}

function Trace({ id }: { id: string }) {
  const [shown, show] = useState(false);
  const trace = useLoad(
    `trace ${id} ${shown}`,
    shown ? (signal) => get<{ events: unknown[] }>(at`/v1/envelopes/${id}/trace`, signal) : null,
  );
  return (
    <details class="panel" onToggle={(event) => show(event.currentTarget.open)}>
      <summary>Everything that happened to this task</summary>
      {trace.error && <Trouble error={trace.error} what="the trace" retry={trace.reload} />}
      {trace.value && <JsonText value={trace.value.events} />}
    </details>
  );
}
