// Pictures of the pages, drawn: what a font has differs from machine to machine.

const PATHS: Record<string, string> = {
  overview: "M2 13h12M4 13V8M8 13V3M12 13V6",
  lineage: "M3 8h3m0 0c3 0 2-4 5-4h2M6 8c3 0 2 4 5 4h2",
  parked: "M2 4h12v8H2zM2 4.5l6 4.5 6-4.5",
  agents: "M8 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M3 13.5c.4-2.6 2.4-4 5-4s4.600 1.400 5 4",
  memories: "M3 4h10M3 8h10M3 12h6",
  channels: "M8 9V14M8 9a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3M4.500 11a5 5 0 0 1 0-7M11.500 11a5 5 0 0 0 0-7",
};

export function Icon({ name }: { name: string }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name] ?? ""} />
    </svg>
  );
}
