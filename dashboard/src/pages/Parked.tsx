// Dead letters: why each is here, and what to do about it. One by one, or all that fit a filter.

import { useEffect, useState } from "preact/hooks";

import { at, get } from "../api/client.ts";
import type { Delivery, Filter } from "../api/types.ts";
import { useLoad } from "../live/load.ts";
import { usePages } from "../live/pages.ts";
import { counted } from "../pure/figures.ts";
import { groupParked, reasonOf } from "../pure/groups.ts";
import { Line, Word } from "../ui/Inert.tsx";
import { Empty, Loading, Section, Trouble } from "../ui/Notice.tsx";
import { go, linkTo, place } from "../ui/route.ts";
import { Rows } from "../ui/Rows.tsx";
import { causeSaid } from "../ui/Status.tsx";
import { Ago } from "../ui/Time.tsx";
import { ManyDialog, type ManyAction } from "./parked/Many.tsx";
import { OneDialog, type OneAction } from "./parked/One.tsx";
import { Attempts, DeliveryFacts, Outcome, Why } from "./shared/DeliveryView.tsx";
import { EnvelopeTabs } from "./shared/EnvelopeView.tsx";

const SPANS: [string, string][] = [
  ["", "any time"],
  ["3600", "last hour"],
  ["21600", "last 6 hours"],
  ["86400", "last day"],
  ["604800", "last week"],
];

type Asked = { target: string; reason: string; span: string; since: string };

function since(span: string): string {
  return span ? new Date(Date.now() - Number(span) * 1000).toISOString() : "";
}

function Bar({ value, change }: { value: Asked; change: (next: Asked) => void }) {
  const [target, setTarget] = useState(value.target);
  useEffect(() => setTarget(value.target), [value.target]);
  const [reason, setReason] = useState(value.reason);
  useEffect(() => {
    const timer = setTimeout(
      () => (target !== value.target || reason !== value.reason) && change({ ...value, target, reason }),
      300,
    );
    return () => clearTimeout(timer);
  }, [target, reason]);
  return (
    <div class="bar" role="search">
      <input
        data-search
        aria-label="Agent"
        placeholder="agent"
        value={target}
        onInput={(event) => setTarget(event.currentTarget.value.trim())}
      />
      <input
        aria-label="Reason"
        placeholder="reason"
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      <select
        aria-label="When"
        value={value.span}
        onChange={(event) => {
          const span = event.currentTarget.value;
          change({ ...value, span, since: since(span) });
        }}
      >
        {SPANS.map(([seconds, label]) => (
          <option key={seconds} value={seconds}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}

function ParkedLine({ delivery }: { delivery: Delivery }) {
  const last = delivery.parked.at(-1);
  return (
    <div class="two-lines">
      <div>
        <strong>{causeSaid(last?.cause ?? "parked")}</strong>{" "}
        <span class="route">
          <span class="sender">
            <Word text={delivery.sender ?? "?"} />
          </span>{" "}
          <span class="dim">→</span> <Word text={delivery.target} />
        </span>
        <span class="grow" />
        <span class="dim when">
          <Ago at={last?.at ?? delivery.updated_at} />
        </span>
      </div>
      <div class="dim">
        <Line text={reasonOf(delivery) ?? "no reason was given"} length={160} />
      </div>
    </div>
  );
}

function Actions({ act }: { act: (action: OneAction) => void }) {
  return (
    <div class="actions main">
      <button class="primary" onClick={() => act("requeue")}>
        Requeue…
      </button>
      <button onClick={() => act("resend")}>Edit and resend…</button>
      <button onClick={() => act("resolve")}>Resolve by hand…</button>
      <button class="danger" onClick={() => act("discard")}>
        Discard…
      </button>
    </div>
  );
}

function Detail({ id, done }: { id: string; done: () => void }) {
  const delivery = useLoad(`delivery ${id}`, (signal) => get<Delivery>(at`/v1/deliveries/${id}`, signal), {
    on: ["delivery."],
  });
  const [action, act] = useState<OneAction | null>(null);
  if (delivery.error && !delivery.value)
    return <Trouble error={delivery.error} what="the delivery" retry={delivery.reload} />;
  if (!delivery.value) return <Loading what="the delivery" />;
  const { value } = delivery;
  return (
    <>
      {value.state === "parked" ? (
        <Actions act={act} />
      ) : (
        <p class="notice">
          This is no longer parked: it is {value.state}.{" "}
          <a href={linkTo("lineage", value.envelope_id)}>Open its lineage</a>
        </p>
      )}
      <Why delivery={value} />
      <Attempts delivery={value} />
      <Outcome delivery={value} />
      <DeliveryFacts delivery={value} />
      <Section title="The envelope">
        <EnvelopeTabs key={value.envelope_id} id={value.envelope_id} />
      </Section>
      {action && (
        <OneDialog
          action={action}
          delivery={value}
          close={() => act(null)}
          done={() => {
            delivery.reload();
            done();
          }}
        />
      )}
    </>
  );
}

/** The same trouble, together: what a night's dead letters come down to. */
function Groups({ rows, isWhole, choose }: { rows: Delivery[]; isWhole: boolean; choose: (target: string) => void }) {
  const groups = groupParked(rows);
  if (groups.length === 0) return <Empty title="Nothing to review." />;
  return (
    <>
      <header>
        <h2>What they come down to</h2>
        <span class="dim">{isWhole ? "" : "of those loaded"}</span>
      </header>
      <div class="groups">
        {groups.slice(0, 30).map((group) => (
          <button
            key={`${group.target} ${group.cause} ${group.reason}`}
            onClick={() => choose(group.target)}
            title="Show only this agent's"
          >
            <b>{group.count}</b>
            <span>
              <Word text={group.target} />: {causeSaid(group.cause)}{" "}
              <span class="dim">
                <Line text={group.reason} length={120} />
              </span>
            </span>
          </button>
        ))}
      </div>
      <p class="dim hint">
        Choose one on the left to see every attempt and the envelope. Arrow keys and Enter work, too.
      </p>
    </>
  );
}

function filterOf({ target, reason, since: from }: Asked): Filter {
  return { ...(target ? { target } : {}), ...(reason ? { reason } : {}), ...(from ? { since: from } : {}) };
}

export function ParkedPage() {
  const { id, query } = place.value;
  const [filter, setFilter] = useState<Asked>({ target: query.get("target") ?? "", reason: "", span: "", since: "" });
  const [many, doMany] = useState<ManyAction | null>(null);
  const parked = usePages<Delivery>(
    "/v1/parked",
    { target: filter.target, reason: filter.reason, since: filter.since },
    "deliveries",
    [
      "delivery.parked",
      "delivery.requeued",
      "delivery.resolved",
      "delivery.discarded",
      "delivery.resent",
      "delivery.cancelled",
    ],
  );
  const isFiltered = Boolean(filter.target || filter.reason || filter.since);
  return (
    <div class={`page split${id ? " opened" : ""}`}>
      <section class="panel list" aria-label="Dead letters">
        <header>
          <h2>Dead letters</h2>
          <span class="dim">
            {parked.loading
              ? ""
              : `${counted(parked.rows.length, "delivery", "deliveries")}${parked.isWhole ? "" : " and more"}`}
          </span>
        </header>
        <Bar value={filter} change={setFilter} />
        <div class="actions">
          <button disabled={parked.rows.length === 0} onClick={() => doMany("requeue")}>
            Requeue all{isFiltered ? " that match" : ""}…
          </button>
          <button class="danger" disabled={parked.rows.length === 0} onClick={() => doMany("discard")}>
            Discard all{isFiltered ? " that match" : ""}…
          </button>
        </div>
        {parked.error && <Trouble error={parked.error} what="dead letters" retry={parked.reload} />}
        {parked.loading && parked.rows.length === 0 && <Loading what="dead letters" />}
        {!parked.loading && !parked.error && parked.rows.length === 0 && (
          <Empty title={isFiltered ? "Nothing parked fits this filter." : "No dead letters."}>
            {isFiltered
              ? "Loosen the filter to see others."
              : "Every handoff ended, or is on its way. What cannot be delivered comes here, and waits for a person."}
          </Empty>
        )}
        {parked.rows.length > 0 && (
          <Rows
            label="Dead letters"
            rows={parked.rows}
            id={(one) => one.id}
            row={(one) => <ParkedLine delivery={one} />}
            selected={id}
            open={(one) => go("parked", one.id)}
            more={parked.more}
            rowHeight={52}
          />
        )}
      </section>
      <section class="panel detail" aria-label="Delivery">
        {id ? (
          <>
            <header>
              <a href={linkTo("parked")} data-back>
                ← list
              </a>
              <h2>Delivery</h2>
            </header>
            <Detail key={id} id={id} done={parked.reload} />
          </>
        ) : (
          <Groups rows={parked.rows} isWhole={parked.isWhole} choose={(target) => setFilter({ ...filter, target })} />
        )}
      </section>
      {many && <ManyDialog action={many} filter={filterOf(filter)} close={() => doMany(null)} done={parked.reload} />}
    </div>
  );
}
