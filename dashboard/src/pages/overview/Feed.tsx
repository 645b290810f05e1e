// Handoffs as they go by.

import { useState } from "preact/hooks";

import type { Delivery } from "../../api/types.ts";
import { usePages } from "../../live/pages.ts";
import { count, counted, percent } from "../../pure/figures.ts";
import { between, duration } from "../../pure/time.ts";
import { Word } from "../../ui/Inert.tsx";
import { Empty, Loading, Trouble } from "../../ui/Notice.tsx";
import { go } from "../../ui/route.ts";
import { Rows } from "../../ui/Rows.tsx";
import { Badge, StateBadge } from "../../ui/Status.tsx";
import { Ago } from "../../ui/Time.tsx";

const STATES = ["", "pending", "leased", "accepted", "done", "rejected", "cancelled", "parked"];

export function DeliveryLine({ delivery }: { delivery: Delivery }) {
  const took = between(delivery.sent_at, delivery.accepted_at);
  return (
    <div class="delivery-line">
      <StateBadge state={delivery.state} />
      <span class="route">
        <Word text={delivery.sender ?? "?"} /> <span class="dim">→</span> <Word text={delivery.agent} />
      </span>
      <span class="extras">
        {delivery.attempts_ended > 0 && <span class="dim">{counted(delivery.attempts_ended, "attempt")}</span>}
        {delivery.completeness !== null && delivery.completeness < 1 && (
          <Badge tone="warn" glyph="▲">
            {percent(delivery.completeness)}
          </Badge>
        )}
        {delivery.overdue && (
          <Badge tone="warn" glyph="▲">
            overdue
          </Badge>
        )}
        {took !== null && (
          <span class="dim" title="from handoff to accepted">
            {duration(took)}
          </span>
        )}
      </span>
      <span class="dim when">
        <Ago at={delivery.sent_at} />
      </span>
    </div>
  );
}

export function Feed() {
  const [state, setState] = useState("");
  const feed = usePages<Delivery>("/v1/deliveries", { state, order: "newest" }, "deliveries", ["delivery."]);
  return (
    <section class="panel feed" aria-label="Handoffs">
      <header>
        <h2>Handoffs</h2>
        <span class="dim">
          {count(feed.rows.length)}
          {feed.isWhole ? "" : "+"}
        </span>
        <span class="grow" />
        <select aria-label="State" value={state} onChange={(event) => setState(event.currentTarget.value)} data-search>
          {STATES.map((one) => (
            <option key={one} value={one}>
              {one || "every state"}
            </option>
          ))}
        </select>
      </header>
      {feed.error && <Trouble error={feed.error} what="deliveries" retry={feed.reload} />}
      {feed.loading && feed.rows.length === 0 && <Loading what="handoffs" />}
      {!feed.loading && !feed.error && feed.rows.length === 0 && (
        <Empty title={state ? `Nothing is ${state}.` : "Nothing has been handed over yet."}>
          {state
            ? "Choose another state."
            : "Agents hand over with POST /v1/handoffs or the SDKs; each shows here at once."}
        </Empty>
      )}
      {feed.rows.length > 0 && (
        <Rows
          label="Handoffs"
          rows={feed.rows}
          id={(one) => one.id}
          row={(one) => <DeliveryLine delivery={one} />}
          open={(one) => go("lineage", one.envelope_id)}
          more={feed.more}
          rowHeight={36}
        />
      )}
    </section>
  );
}
