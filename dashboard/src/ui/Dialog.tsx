// Questions before something is done that cannot be undone by the next click.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { said } from "../api/client.ts";
import { toast } from "./Toasts.tsx";

export type DialogProps = {
  title: string;
  confirm: string;
  danger?: boolean;
  disabled?: boolean;
  /** Throws to stay open; what it returns is told. */
  act: () => Promise<string>;
  close: () => void;
  children?: ComponentChildren;
};

export function Dialog({ title, confirm, danger = false, disabled = false, act, close, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  useEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy || disabled) return;
    setBusy(true);
    setError(null);
    try {
      toast(await act());
      close();
    } catch (failure) {
      setError(said(failure));
      setBusy(false);
    }
  };
  return (
    <dialog ref={element} onClose={close} aria-label={title}>
      <form onSubmit={submit}>
        <h2>{title}</h2>
        {children}
        {error && (
          <p class="notice bad" role="alert">
            {error}
          </p>
        )}
        <footer>
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class={danger ? "danger" : "primary"} disabled={busy || disabled}>
            {busy ? "Working…" : confirm}
          </button>
        </footer>
      </form>
    </dialog>
  );
}

export function Field({ label, hint, children }: { label: string; hint?: string; children: ComponentChildren }) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {hint && <small>{hint}</small>}
    </label>
  );
}
