// Moments and lengths of time in words.

const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 86400;

/** A length of time, as short as it can be said. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return "–";
  const s = Math.abs(seconds);
  if (s < 0.001) return s === 0 ? "0 s" : "<1 ms";
  if (s < 0.9995) return `${Math.round(s * 1000)} ms`;
  if (s < 9.95) return `${s.toFixed(1)} s`;
  if (s < 99.5) return `${Math.round(s)} s`;
  if (s < 90 * MINUTE_S) return `${Math.round(s / MINUTE_S)} min`;
  if (s < 36 * HOUR_S) return `${Math.round(s / HOUR_S)} h`;
  return `${Math.round(s / DAY_S)} d`;
}

/** How long ago, or in how long. */
export function relative(moment: string, nowMs: number): string {
  const seconds = (nowMs - Date.parse(moment)) / 1000;
  if (Number.isNaN(seconds)) return "at an unknown time";
  if (Math.abs(seconds) < 2) return "now";
  const said = Math.abs(seconds) < 99.5 ? `${Math.round(Math.abs(seconds))} s` : duration(seconds);
  return seconds >= 0 ? `${said} ago` : `in ${said}`;
}

const two = (n: number) => String(n).padStart(2, "0");

/** The exact moment where the reader is, with the one in UTC. */
export function exact(moment: string): string {
  const date = new Date(moment);
  if (Number.isNaN(date.getTime())) return moment;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${day} ${clock} here · ${date.toISOString()}`;
}

/** Hours and minutes, for an axis. */
export function clock(epochS: number): string {
  const date = new Date(epochS * 1000);
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Seconds between two moments; null if one is missing. */
export function between(from: string | null, until: string | null): number | null {
  if (!from || !until) return null;
  const seconds = (Date.parse(until) - Date.parse(from)) / 1000;
  return Number.isNaN(seconds) ? null : seconds;
}
