// Alerts: what opened, who looks after it, and whether anybody is told.

import { useState } from "preact/hooks";

import { asked, at, get, post, said } from "../../api/client.ts";
import { actor } from "../../api/session.ts";
import type { Alert, Page, Sent } from "../../api/types.ts";
import { useLoad } from "../../live/load.ts";
import { counted } from "../../pure/figures.ts";
import { Dialog, Field } from "../../ui/Dialog.tsx";
import { Line, Word } from "../../ui/Inert.tsx";
import { Empty, Loading, Trouble } from "../../ui/Notice.tsx";
import { linkTo } from "../../ui/route.ts";
import { Badge, SeverityBadge } from "../../ui/Status.tsx";
import { Ago } from "../../ui/Time.tsx";
import { toast } from "../../ui/Toasts.tsx";

const EVERY_MS = 15_000;
const SHOWN_MAX = 50;

type Answer = Page<"alerts", Alert> & { webhooks?: number };

function by(): { by?: string } {
  const name = actor();
  return name ? { by: name } : {};
}

async function acknowledge(alert: Alert, done: () => void): Promise<void> {
  try {
    await post(at`/v1/alerts/${alert.id}/ack`, by());
    toast("Acknowledged.");
    done();
  } catch (error) {
    toast(said(error), true);
  }
}

async function unsilence(alert: Alert, done: () => void): Promise<void> {
  try {
    await post(at`/v1/alerts/${alert.id}/silence`, { for_s: 0, ...by() });
    toast("Its notices are sent again.");
    done();
  } catch (error) {
    toast(said(error), true);
  }
}

const LENGTHS: [string, string][] = [
  ["1800", "30 minutes"],
  ["3600", "1 hour"],
  ["14400", "4 hours"],
  ["43200", "12 hours"],
  ["86400", "1 day"],
];

function SilenceDialog({ alert, close, done }: { alert: Alert; close: () => void; done: () => void }) {
  const [length, setLength] = useState("3600");
  const [reason, setReason] = useState("");
  const act = async () => {
    await post(at`/v1/alerts/${alert.id}/silence`, { for_s: Number(length), ...(reason ? { reason } : {}), ...by() });
    done();
    return "Silenced.";
  };
  return (
    <Dialog title="Silence this alert" confirm="Silence" act={act} close={close}>
      <p>
        Notices of this kind
        {alert.target ? (
          <>
            {" "}
            for <Word text={alert.target} />
          </>
        ) : (
          ""
        )}{" "}
        are not sent meanwhile. It still shows here, and still resolves by itself.
      </p>
      <Field label="For how long">
        <select value={length} onChange={(event) => setLength(event.currentTarget.value)}>
          {LENGTHS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Reason">
        <input value={reason} onInput={(event) => setReason(event.currentTarget.value)} name="reason" />
      </Field>
    </Dialog>
  );
}

function sentSaid(sent: Sent[]): string {
  if (sent.length === 0) return "No webhook is configured: nobody is told. Configure one, or use the Prometheus rules.";
  return sent
    .map(
      (one) =>
        `${one.webhook}: ${one.ok ? "delivered" : `failed${one.status ? ` (${one.status})` : ""}${one.error ? `, ${one.error}` : ""}`}`,
    )
    .join("; ");
}

async function test(): Promise<void> {
  try {
    const { sent } = await post<{ sent: Sent[] }>("/v1/alerts/test");
    toast(sentSaid(sent), sent.length === 0 || sent.some((one) => !one.ok));
  } catch (error) {
    toast(said(error), true);
  }
}

function Marks({ alert }: { alert: Alert }) {
  return (
    <>
      {alert.state === "resolved" && (
        <Badge tone="good" glyph="✓">
          resolved
        </Badge>
      )}
      {alert.acknowledged && (
        <span class="dim">
          acknowledged <Ago at={alert.acknowledged.at} />
          {alert.acknowledged.by && (
            <>
              {" "}
              by <Word text={alert.acknowledged.by} />
            </>
          )}
        </span>
      )}
      {alert.silenced && (
        <span class="dim">
          silenced until <Ago at={alert.silenced.until} />
        </span>
      )}
      {alert.sent.some((one) => !one.ok) && (
        <Badge tone="warn" glyph="▲">
          a webhook failed
        </Badge>
      )}
    </>
  );
}

function AlertItem({ alert, reload, silence }: { alert: Alert; reload: () => void; silence: (alert: Alert) => void }) {
  const first = alert.deliveries[0];
  return (
    <li class={`alert ${alert.state}`} aria-label={alert.title}>
      <div class="alert-head">
        <SeverityBadge severity={alert.severity} />
        <strong>
          <Line text={alert.title} />
        </strong>
        {alert.count > 1 && <span class="dim">×{alert.count}</span>}
        <span class="grow" />
        <span class="dim">
          <Ago at={alert.last_at} />
        </span>
      </div>
      <p>
        <Line text={alert.detail} length={300} />
      </p>
      <div class="actions">
        <Marks alert={alert} />
        <span class="grow" />
        {alert.target && <a href={linkTo("agents", alert.target)}>agent</a>}
        {first && <a href={linkTo("parked", first)}>delivery</a>}
        {!alert.acknowledged && alert.state === "open" && (
          <button onClick={() => void acknowledge(alert, reload)}>Acknowledge</button>
        )}
        {alert.state === "open" &&
          (alert.silenced ? (
            <button onClick={() => void unsilence(alert, reload)}>Lift silence</button>
          ) : (
            <button onClick={() => silence(alert)}>Silence…</button>
          ))}
      </div>
    </li>
  );
}

const RANKS = { critical: 0, warning: 1, info: 2 } as const;

/** Open ones by how bad they are, then the rest as the server has them. */
function worstFirst(alerts: Alert[]): Alert[] {
  const rank = (alert: Alert) => (alert.state === "open" ? RANKS[alert.severity] : 3);
  return [...alerts].sort((a, b) => rank(a) - rank(b));
}

export function Alerts() {
  const alerts = useLoad("alerts", (signal) => get<Answer>(asked("/v1/alerts", { limit: SHOWN_MAX }), signal), {
    on: ["alert.", "breaker."],
    everyMs: EVERY_MS,
  });
  const [silencing, silence] = useState<Alert | null>(null);
  const open = alerts.value?.alerts.filter((alert) => alert.state === "open").length ?? 0;
  return (
    <section class="panel alerts" aria-label="Alerts">
      <header>
        <h2>Alerts</h2>
        <span class="dim">{alerts.value ? (open ? counted(open, "open one") : "none open") : ""}</span>
        <span class="grow" />
        {alerts.value && <button onClick={() => void test()}>Send a test</button>}
      </header>
      {alerts.error && <Trouble error={alerts.error} what="alerts" retry={alerts.reload} />}
      {!alerts.value && !alerts.error && <Loading what="alerts" />}
      {alerts.value?.webhooks === 0 && <p class="notice">No webhook is configured: alerts show here only.</p>}
      {alerts.value && alerts.value.alerts.length === 0 && (
        <Empty title="No alert has opened.">
          One failed handoff opens an info, three in a row to one agent a warning, an open breaker a critical one.
        </Empty>
      )}
      {alerts.value && (
        <ul class="alert-list">
          {worstFirst(alerts.value.alerts).map((alert) => (
            <AlertItem key={alert.id} alert={alert} reload={alerts.reload} silence={silence} />
          ))}
        </ul>
      )}
      {silencing && <SilenceDialog alert={silencing} close={() => silence(null)} done={alerts.reload} />}
    </section>
  );
}
