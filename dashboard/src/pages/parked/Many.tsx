// All dead letters that fit a filter, at once: first what would happen, then for real.

import { useState } from "preact/hooks";

import { ApiError, post } from "../../api/client.ts";
import type { Filter, ManyAnswer } from "../../api/types.ts";
import { useLoad } from "../../live/load.ts";
import { counted } from "../../pure/figures.ts";
import { Dialog, Field } from "../../ui/Dialog.tsx";
import { Line } from "../../ui/Inert.tsx";
import { Trouble } from "../../ui/Notice.tsx";

export type ManyAction = "requeue" | "discard";

const MAX_DEFAULT = 300;
const RATE_DEFAULT = 20;
const IDS_SHOWN = 5;

type Props = { action: ManyAction; filter: Filter; close: () => void; done: () => void };

function filterSaid(filter: Filter): string {
  const parts = [
    filter.target && `for ${filter.target}`,
    filter.reason && `reason “${filter.reason}”`,
    filter.since && `parked since ${filter.since}`,
  ];
  return parts.filter(Boolean).join(", ") || "every dead letter of this workspace";
}

function Rehearsal({
  answer,
  error,
  action,
}: {
  answer: ManyAnswer | null;
  error: ApiError | null;
  action: ManyAction;
}) {
  if (error) return <Trouble error={error} what="the dry run" />;
  if (!answer) return <p class="dim">Counting: a dry run, nothing is changed…</p>;
  const shown = answer.ids.slice(0, IDS_SHOWN);
  return (
    <div class="notice" aria-label="Dry run">
      <strong>
        Dry run: {counted(answer.ids.length, "delivery", "deliveries")} would be {action}
        {action === "requeue" ? "d" : "ed"}.
      </strong>{" "}
      {answer.missed.length > 0 && <>{answer.missed.length} would be missed: somebody else is at them. </>}
      {shown.length > 0 && (
        <span class="mono small">
          {shown.join(" ")}
          {answer.ids.length > shown.length ? ` and ${answer.ids.length - shown.length} more` : ""}
        </span>
      )}
    </div>
  );
}

export function ManyDialog({ action, filter, close, done }: Props) {
  const [max, setMax] = useState(String(MAX_DEFAULT));
  const [rate, setRate] = useState(String(RATE_DEFAULT));
  const [target, setTarget] = useState("");
  const [reason, setReason] = useState("");
  const body = { filter, max: Number(max) || MAX_DEFAULT };
  const rehearsed = useLoad(`dry run ${action} ${JSON.stringify(body)}`, () =>
    post<ManyAnswer>(`/v1/parked/${action}`, { ...body, reason: "dry run", dry_run: true }),
  );
  const count = rehearsed.value?.ids.length ?? 0;
  const act = async () => {
    const more =
      action === "requeue"
        ? { ...(target ? { target } : {}), ...(Number(rate) ? { rate_per_s: Number(rate) } : {}) }
        : {};
    const answer = await post<ManyAnswer>(`/v1/parked/${action}`, { ...body, ...more, reason, dry_run: false });
    done();
    return `${counted(answer.ids.length, "delivery", "deliveries")} ${action}${action === "requeue" ? "d" : "ed"}${answer.missed.length ? `, ${answer.missed.length} missed` : ""}.`;
  };
  const verb = action === "requeue" ? "Requeue" : "Discard";
  return (
    <Dialog
      title={`${verb} many`}
      confirm={`${verb} ${counted(count, "delivery", "deliveries")}`}
      danger={action === "discard"}
      act={act}
      close={close}
      disabled={count === 0 || !reason.trim()}
    >
      <p>
        <Line text={filterSaid(filter)} length={300} />
      </p>
      <Rehearsal answer={rehearsed.value} error={rehearsed.error} action={action} />
      <Field label="At most">
        <input
          name="max"
          inputMode="numeric"
          value={max}
          onInput={(event) => setMax(event.currentTarget.value.trim())}
        />
      </Field>
      {action === "requeue" && (
        <>
          <Field label="To" hint="Empty: each to its own agent.">
            <input name="target" value={target} onInput={(event) => setTarget(event.currentTarget.value.trim())} />
          </Field>
          <Field label="How many a second" hint="So that an agent that just came back is not flooded.">
            <input
              name="rate"
              inputMode="numeric"
              value={rate}
              onInput={(event) => setRate(event.currentTarget.value.trim())}
            />
          </Field>
        </>
      )}
      <Field label="Reason">
        <input name="reason" required value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </Field>
    </Dialog>
  );
}
