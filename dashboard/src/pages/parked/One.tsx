// What a person can do about one dead letter.

import { useState } from "preact/hooks";

import { at, post } from "../../api/client.ts";
import { actor } from "../../api/session.ts";
import type { Delivery, Json } from "../../api/types.ts";
import { Dialog, Field } from "../../ui/Dialog.tsx";
import { Word } from "../../ui/Inert.tsx";
import { Loading } from "../../ui/Notice.tsx";
import { useEnvelope } from "../shared/EnvelopeView.tsx";

export type OneAction = "requeue" | "resend" | "resolve" | "discard";
type Props = { delivery: Delivery; close: () => void; done: () => void };

function Requeue({ delivery, close, done }: Props) {
  const [target, setTarget] = useState("");
  const [reason, setReason] = useState("");
  const act = async () => {
    await post(at`/v1/parked/${delivery.id}/requeue`, { ...(target ? { target } : {}), ...(reason ? { reason } : {}) });
    done();
    return `Requeued to ${target || delivery.target}.`;
  };
  return (
    <Dialog title="Requeue" confirm="Requeue" act={act} close={close}>
      <p>It goes back to the queue with all its attempts again.</p>
      <Field label="To" hint="Empty: the same agent.">
        <input
          name="target"
          placeholder={delivery.target}
          value={target}
          onInput={(event) => setTarget(event.currentTarget.value.trim())}
        />
      </Field>
      <Field label="Reason">
        <input name="reason" value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </Field>
    </Dialog>
  );
}

function Resend({ delivery, close, done }: Props) {
  const envelope = useEnvelope(delivery.envelope_id);
  const [target, setTarget] = useState(delivery.target);
  const [edited, setSummary] = useState<string | null>(null);
  const [refs, setRefs] = useState("");
  const [tokens, setTokens] = useState("");
  const summary = edited ?? envelope.value?.task.summary ?? "";
  const act = async () => {
    const memories = refs.split(/[\s,]+/).filter(Boolean);
    const body: { [name: string]: Json } = { target_agent: target, task_summary: summary };
    if (memories.length) body["memory_refs"] = memories;
    if (tokens) body["max_tokens"] = Number(tokens);
    await post(at`/v1/parked/${delivery.id}/resend`, body);
    done();
    return `Sent anew to ${target}.`;
  };
  return (
    <Dialog title="Edit and resend" confirm="Send" act={act} close={close} disabled={!summary.trim() || !target}>
      <p>A new envelope follows this one, with the same intent and constraints. This delivery is replaced by it.</p>
      {!envelope.value && <Loading what="the envelope" />}
      <Field label="To">
        <input name="target" value={target} onInput={(event) => setTarget(event.currentTarget.value.trim())} />
      </Field>
      <Field label="What the receiver is to do">
        <textarea name="summary" rows={6} value={summary} onInput={(event) => setSummary(event.currentTarget.value)} />
      </Field>
      <Field label="Further memories" hint="Such as ms-12 ms-40.">
        <input name="refs" value={refs} onInput={(event) => setRefs(event.currentTarget.value)} />
      </Field>
      <Field label="Token budget" hint={`Empty: ${envelope.value?.assembly.max_tokens ?? "the receiver's own"}.`}>
        <input
          name="tokens"
          inputMode="numeric"
          pattern="[0-9]*"
          value={tokens}
          onInput={(event) => setTokens(event.currentTarget.value.trim())}
        />
      </Field>
    </Dialog>
  );
}

/** JSON if it is some, else the text itself. */
export function resultOf(text: string): { value: Json; isText: boolean } {
  try {
    return { value: JSON.parse(text) as Json, isText: false };
  } catch {
    return { value: text, isText: true };
  }
}

function Resolve({ delivery, close, done }: Props) {
  const [text, setText] = useState("");
  const [by, setBy] = useState(actor() ?? "");
  const { value, isText } = resultOf(text);
  const act = async () => {
    await post(at`/v1/parked/${delivery.id}/resolve`, { result: value, ...(by ? { by } : {}) });
    done();
    return "Resolved by hand.";
  };
  return (
    <Dialog title="Resolve by hand" confirm="It is done" act={act} close={close} disabled={!text.trim()}>
      <p>
        You did the work yourself. The result goes to whoever waits for it, as if <Word text={delivery.target} /> had
        given it.
      </p>
      <Field label="Result" hint={text.trim() && isText ? "Not JSON: it is sent as a text." : "JSON, or a text."}>
        <textarea
          name="result"
          rows={6}
          class="mono"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </Field>
      <Field label="By">
        <input name="by" value={by} onInput={(event) => setBy(event.currentTarget.value)} />
      </Field>
    </Dialog>
  );
}

function Discard({ delivery, close, done }: Props) {
  const [reason, setReason] = useState("");
  const act = async () => {
    await post(at`/v1/parked/${delivery.id}/discard`, { reason });
    done();
    return "Discarded.";
  };
  return (
    <Dialog
      title="Discard this delivery"
      confirm="Discard 1 delivery"
      danger
      act={act}
      close={close}
      disabled={!reason.trim()}
    >
      <p>Nobody will get it. It stays on record, with your reason.</p>
      <Field label="Reason">
        <input name="reason" required value={reason} onInput={(event) => setReason(event.currentTarget.value)} />
      </Field>
    </Dialog>
  );
}

export function OneDialog({ action, ...props }: Props & { action: OneAction }) {
  switch (action) {
    case "requeue":
      return <Requeue {...props} />;
    case "resend":
      return <Resend {...props} />;
    case "resolve":
      return <Resolve {...props} />;
    case "discard":
      return <Discard {...props} />;
  }
}
