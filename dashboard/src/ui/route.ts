// Where on the page one is: the fragment of the address, so that a link leads back there.

import { signal } from "@preact/signals";

export type Place = { page: string; id: string; query: URLSearchParams };

export function parsePlace(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [page = "", ...rest] = path.split("/");
  let id = rest.join("/");
  try {
    id = decodeURIComponent(id);
  } catch {
    id = "";
  }
  return { page: page || "overview", id, query: new URLSearchParams(query) };
}

export const place = signal<Place>(parsePlace(location.hash));
addEventListener("hashchange", () => {
  place.value = parsePlace(location.hash);
});

/** The address of a place. */
export function linkTo(page: string, id = "", query: Record<string, string> = {}): string {
  const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== "")).toString();
  return `#/${page}${id ? `/${encodeURIComponent(id)}` : ""}${asked ? `?${asked}` : ""}`;
}

export function go(page: string, id = "", query: Record<string, string> = {}): void {
  location.hash = linkTo(page, id, query);
}
