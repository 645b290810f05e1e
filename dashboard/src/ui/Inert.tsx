// The only way a text from elsewhere gets onto the page.

import { useMemo, useState } from "preact/hooks";

import { nameOf, oneLine, pieces, spell } from "../pure/inert.ts";

/** Characters that are shown before somebody asks for all. */
const SHOWN_MAX = 20_000;

function Pieces({ text }: { text: string }) {
  const cut = useMemo(() => pieces(text), [text]);
  return (
    <>
      {cut.map((piece, index) =>
        "text" in piece ? (
          piece.text
        ) : (
          <span key={index} class="spelt" title={nameOf(piece.code)}>
            {spell(piece.code)}
          </span>
        ),
      )}
    </>
  );
}

/** A text in one line, cut to its place by the style sheet. */
export function Line({ text, length = 200 }: { text: string; length?: number }) {
  return (
    <bdi class="line">
      <Pieces text={oneLine(text, length)} />
    </bdi>
  );
}

/** A word such as a name, which may come from anywhere, too. */
export function Word({ text }: { text: string }) {
  return (
    <bdi class="word">
      <Pieces text={oneLine(text, 120)} />
    </bdi>
  );
}

/** A text as it is, with its breaks. */
export function Text({ text, mono = false }: { text: string; mono?: boolean }) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > SHOWN_MAX && !isWhole;
  const shown = isLong ? Array.from(text.slice(0, SHOWN_MAX)).join("") : text;
  return (
    <div class={mono ? "text mono" : "text"}>
      <bdi>
        <Pieces text={shown} />
      </bdi>
      {isLong && (
        <button class="link" onClick={() => setWhole(true)}>
          show all {text.length.toLocaleString("en-US")} characters
        </button>
      )}
    </div>
  );
}

/** A JSON value, to read. */
export function JsonText({ value }: { value: unknown }) {
  return <Text mono text={JSON.stringify(value, null, 2) ?? "null"} />;
}
