// The options of an agent.

import { useState } from "preact/hooks";

import { at, put } from "../../api/client.ts";
import type { Agent, Json } from "../../api/types.ts";
import { Dialog, Field } from "../../ui/Dialog.tsx";

export type OptionsForm = {
  description: string;
  tokens: string;
  fallbacks: string;
  policy: string;
  url: string;
  secret: string;
};

/** What is sent: what was left empty is left to the default. */
export function optionsBody(form: OptionsForm, versions: string[] | null): { [name: string]: Json } {
  const fallbacks = form.fallbacks.split(/[\s,]+/).filter(Boolean);
  const policy = form.policy.trim() ? (JSON.parse(form.policy) as Json) : null;
  return {
    description: form.description || null,
    max_tokens: form.tokens ? Number(form.tokens) : null,
    fallbacks,
    ...(policy === null ? {} : { policy }),
    ...(form.url ? { webhook: { url: form.url, secret: form.secret, accept_versions: versions } } : {}),
  };
}

export function OptionsDialog({ agent, close, done }: { agent: Agent; close: () => void; done: () => void }) {
  const [form, setForm] = useState({
    description: agent.description ?? "",
    tokens: agent.max_tokens ? String(agent.max_tokens) : "",
    fallbacks: agent.fallbacks.join(" "),
    policy: agent.policy ? JSON.stringify(agent.policy, null, 2) : "",
    url: agent.webhook?.url ?? "",
    secret: "",
  });
  const set = (name: keyof typeof form) => (event: Event) =>
    setForm({ ...form, [name]: (event.currentTarget as HTMLInputElement).value });
  const act = async () => {
    await put(at`/v1/agents/${agent.name}`, optionsBody(form, agent.webhook?.accept_versions ?? null));
    done();
    return "Saved.";
  };
  return (
    <Dialog
      title={`Options of ${agent.name}`}
      confirm="Save"
      act={act}
      close={close}
      disabled={Boolean(form.url) && !form.secret}
    >
      <Field label="Description">
        <input name="description" value={form.description} onInput={set("description")} />
      </Field>
      <Field label="Token budget" hint="Of every handoff to it, unless the sender says otherwise.">
        <input name="tokens" inputMode="numeric" pattern="[0-9]*" value={form.tokens} onInput={set("tokens")} />
      </Field>
      <Field label="Fallbacks" hint="Names, in the order they are tried.">
        <input name="fallbacks" value={form.fallbacks} onInput={set("fallbacks")} />
      </Field>
      <Field label="Policy" hint="JSON: attempts, lease_s, backoff_first_s, backoff_max_s, take_s, pending_s_max.">
        <textarea name="policy" rows={6} class="mono" value={form.policy} onInput={set("policy")} />
      </Field>
      <Field label="Push to" hint="Empty: it pulls.">
        <input name="url" value={form.url} onInput={set("url")} />
      </Field>
      {form.url && (
        <Field
          label="Its secret"
          hint="Saving replaces every option, and the server never shows a secret: give it again."
        >
          <input name="secret" type="password" autoComplete="off" value={form.secret} onInput={set("secret")} />
        </Field>
      )}
    </Dialog>
  );
}
