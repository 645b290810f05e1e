// Key, workspace and name: who is looking.

import { useState } from "preact/hooks";

import { type Session, enter, session } from "../api/session.ts";
import { Dialog, Field } from "../ui/Dialog.tsx";
import { Line } from "../ui/Inert.tsx";

function Fields({ value, change }: { value: Session; change: (next: Session) => void }) {
  const set = (name: keyof Session) => (event: Event) =>
    change({ ...value, [name]: (event.currentTarget as HTMLInputElement).value.trim() });
  return (
    <>
      <Field
        label="API key"
        hint="Begins with msk_. Leave it empty where the server has no keys. Kept in this tab only, until it closes."
      >
        <input
          type="password"
          autoComplete="off"
          spellcheck={false}
          value={value.key}
          onInput={set("key")}
          name="key"
        />
      </Field>
      <Field label="Workspace" hint="Nothing of another workspace is shown.">
        <input
          autoComplete="off"
          spellcheck={false}
          value={value.workspace}
          onInput={set("workspace")}
          name="workspace"
        />
      </Field>
      <Field
        label="Your name"
        hint="Stands beside what you do: requeued by, resolved by. A key that names its agent needs none."
      >
        <input autoComplete="off" spellcheck={false} value={value.name} onInput={set("name")} name="name" />
      </Field>
    </>
  );
}

export function SessionDialog({ close }: { close: () => void }) {
  const [value, change] = useState(session.value);
  const act = async () => {
    enter(value);
    return `Looking at workspace ${value.workspace || "default"}.`;
  };
  return (
    <Dialog title="Who is looking" confirm="Use these" act={act} close={close}>
      <Fields value={value} change={change} />
    </Dialog>
  );
}

/** Instead of the pages, while the server asks for a key. */
export function SessionPage({ said }: { said: string }) {
  const [value, change] = useState(session.value);
  const submit = (event: Event) => {
    event.preventDefault();
    enter(value);
  };
  return (
    <main class="gate">
      <form onSubmit={submit}>
        <h1>Memory Spine</h1>
        <p class="notice" role="alert">
          This server has keys. <Line text={said} />
        </p>
        <Fields value={value} change={change} />
        <footer>
          <button class="primary" type="submit">
            Enter
          </button>
        </footer>
      </form>
    </main>
  );
}
