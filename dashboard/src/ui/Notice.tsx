// What stands where there is nothing, or something went wrong.

import type { ComponentChildren } from "preact";

import type { ApiError } from "../api/client.ts";
import { Line } from "./Inert.tsx";

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children && <p>{children}</p>}
    </div>
  );
}

export function Trouble({ error, retry, what }: { error: ApiError; retry?: () => void; what: string }) {
  if (error.isMissingRoute) {
    return (
      <div class="notice" role="status">
        <strong>This server does not serve {what}.</strong> Its version has no such address; nothing is shown in its
        place.
      </div>
    );
  }
  return (
    <div class="notice bad" role="alert">
      <strong>{error.isUnreachable ? "The server does not answer." : `Could not load ${what}.`}</strong>{" "}
      <Line text={error.message} length={400} />
      {typeof error.fields["request_id"] === "string" && (
        <span class="dim"> Request {error.fields["request_id"]}.</span>
      )}
      {retry && (
        <>
          {" "}
          <button onClick={retry}>Try again</button>
        </>
      )}
    </div>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <div class="empty dim" role="status">
      Loading {what}…
    </div>
  );
}

/** A name and a value, many of them. */
export function Facts({ children }: { children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>;
}

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

export function Section({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="section">
      <header>
        <h3>{title}</h3>
        {aside && <span class="aside">{aside}</span>}
      </header>
      {children}
    </section>
  );
}
