// Texts from elsewhere, made harmless to look at: what would hide, reorder or break out is spelt instead.

/** A stretch of plain text, or one character that is spelt. */
export type Piece = { text: string } | { code: number };

/** Marks on one letter that are still drawn; more would climb over other lines. */
const MARKS_MAX = 4;

const KEPT_CONTROLS = new Set([0x09, 0x0a]);

function isSpelt(code: number): boolean {
  return (
    (code < 0x20 && !KEPT_CONTROLS.has(code)) || // C0: terminal escapes begin here
    (code >= 0x7f && code <= 0x9f) || // delete and C1
    code === 0x00ad ||
    code === 0x034f ||
    code === 0x061c ||
    code === 0x115f ||
    code === 0x1160 ||
    code === 0x17b4 ||
    code === 0x17b5 ||
    code === 0x180e ||
    code === 0x3164 ||
    code === 0xffa0 ||
    code === 0x200b ||
    code === 0x200e ||
    code === 0x200f || // zero width, direction marks
    (code >= 0x2028 && code <= 0x202e) || // line separators, embeddings, overrides
    (code >= 0x2060 && code <= 0x206f) || // invisible operators, isolates
    code === 0xfeff ||
    (code >= 0xfff9 && code <= 0xfffb) ||
    (code >= 0xd800 && code <= 0xdfff) || // half a character
    (code >= 0xe0000 && code <= 0xe0fff) // tags: text that nobody sees
  );
}

const JOINER = /[\u200c\u200d]/u;
const JOINABLE = /[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]/u;
const MARK = /\p{M}/u;

/** A joiner between letters or pictures shapes them; anywhere else it only hides. */
function isStray(characters: string[], index: number): boolean {
  const before = characters[index - 1] ?? "";
  const after = characters[index + 1] ?? "";
  return !(JOINABLE.test(before) && JOINABLE.test(after));
}

/** Cuts a text into what can be shown as it is and what has to be spelt. */
export function pieces(text: string): Piece[] {
  const characters = Array.from(text);
  const found: Piece[] = [];
  let plain = "";
  let marks = 0;
  const flush = () => {
    if (plain) found.push({ text: plain });
    plain = "";
  };
  characters.forEach((character, index) => {
    const code = character.codePointAt(0) ?? 0;
    marks = MARK.test(character) && code !== 0xfe0f ? marks + 1 : 0;
    const spelt = isSpelt(code) || marks > MARKS_MAX || (JOINER.test(character) && isStray(characters, index));
    if (!spelt) {
      plain += character;
      return;
    }
    flush();
    found.push({ code });
  });
  flush();
  return found;
}

/** How one character is spelt. */
export function spell(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

const NAMES: Record<number, string> = {
  0x00: "null",
  0x07: "bell",
  0x08: "backspace",
  0x0b: "vertical tab",
  0x0c: "form feed",
  0x0d: "carriage return",
  0x1b: "escape",
  0x7f: "delete",
  0x9b: "control sequence introducer",
  0xad: "soft hyphen",
  0x061c: "Arabic letter mark",
  0x200b: "zero width space",
  0x200c: "zero width non-joiner",
  0x200d: "zero width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x2028: "line separator",
  0x2029: "paragraph separator",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "pop directional formatting",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2060: "word joiner",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2068: "first strong isolate",
  0x2069: "pop directional isolate",
  0xfeff: "byte order mark",
};

/** What a spelt character is, for whoever points at it. */
export function nameOf(code: number): string {
  if (code >= 0xe0000 && code <= 0xe0fff) return "invisible tag character";
  if (code >= 0xd800 && code <= 0xdfff) return "half a character";
  return NAMES[code] ?? "a character that cannot be seen";
}

/** The same as a string, for places that take nothing else, such as a tooltip. */
export function inertText(text: string): string {
  return pieces(text)
    .map((piece) => ("text" in piece ? piece.text : `[${spell(piece.code)}]`))
    .join("");
}

/** In one line: breaks and tabs become spaces. */
export function oneLine(text: string, length = 200): string {
  const line = text.replace(/\s+/gu, " ").trim();
  const characters = Array.from(line);
  return characters.length > length ? `${characters.slice(0, length).join("")}…` : line;
}
