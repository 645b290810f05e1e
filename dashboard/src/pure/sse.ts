// Server-sent events out of a stream of text.

export type Message = { id: string; event: string; data: string };

/** Takes text as it comes and gives whole messages. */
export class SseParser {
  private rest = "";
  private id = "";
  private event = "";
  private data: string[] = [];

  /** The messages that this text completes. */
  feed(text: string): Message[] {
    this.rest += text;
    const found: Message[] = [];
    for (;;) {
      const end = /\r\n|\n|\r(?!$)/.exec(this.rest);
      if (!end) return found;
      const line = this.rest.slice(0, end.index);
      this.rest = this.rest.slice(end.index + end[0].length);
      const message = this.line(line);
      if (message) found.push(message);
    }
  }

  private line(line: string): Message | null {
    if (line === "") return this.finish();
    if (line.startsWith(":")) return null;
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.data.push(value);
    else if (field === "event") this.event = value;
    else if (field === "id" && !value.includes("\0")) this.id = value;
    return null;
  }

  private finish(): Message | null {
    const message = { id: this.id, event: this.event || "message", data: this.data.join("\n") };
    const isWhole = this.data.length > 0;
    this.event = "";
    this.data = [];
    return isWhole ? message : null;
  }
}
