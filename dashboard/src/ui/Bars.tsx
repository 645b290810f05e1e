// A distribution as a row of bars, each readable by pointing or by a screen reader.

export type Bar = { label: string; count: number; tone?: "bad" | "warn" };

export function Bars({ bars, label }: { bars: Bar[]; label: string }) {
  const most = Math.max(1, ...bars.map((bar) => bar.count));
  return (
    <div class="bars" role="img" aria-label={`${label}: ${bars.map((bar) => `${bar.label}: ${bar.count}`).join(", ")}`}>
      {bars.map((bar) => (
        <div key={bar.label} class="stick" title={`${bar.label}: ${bar.count}`}>
          <div
            class={`bar-fill ${bar.tone ?? ""}`}
            style={{ height: `${Math.max(bar.count ? 6 : 1, (bar.count / most) * 100)}%` }}
          />
        </div>
      ))}
    </div>
  );
}
