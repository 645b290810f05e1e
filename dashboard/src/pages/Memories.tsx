// Memories: found by words and meaning, with the reasons; every version; the pin.

import { useEffect, useState } from "preact/hooks";

import { at, get, post, put, remove, said } from "../api/client.ts";
import type { Found, Memory, Page, Search } from "../api/types.ts";
import { useLoad } from "../live/load.ts";
import { usePages } from "../live/pages.ts";
import { count, counted } from "../pure/figures.ts";
import { DiffView } from "../ui/DiffView.tsx";
import { JsonText, Line, Text, Word } from "../ui/Inert.tsx";
import { Empty, Fact, Facts, Loading, Section, Trouble } from "../ui/Notice.tsx";
import { go, linkTo, place } from "../ui/route.ts";
import { Rows } from "../ui/Rows.tsx";
import { Badge } from "../ui/Status.tsx";
import { Ago } from "../ui/Time.tsx";
import { toast } from "../ui/Toasts.tsx";

const HITS_MAX = 50;

type Row = { id: string; memory: Memory; hit: Found | null };
type Narrow = { kind: string; tag: string; thread: string; subject: string; pinned: boolean };
const EVERYTHING: Narrow = { kind: "", tag: "", thread: "", subject: "", pinned: false };

/** The text under its title; where there is none, what else is known of it. */
function secondLine(memory: Memory): string {
  if (memory.title ?? memory.summary) return memory.content;
  return [
    memory.author && `by ${memory.author}`,
    memory.thread && `in ${memory.thread}`,
    ...memory.tags.map((tag) => `#${tag}`),
  ]
    .filter(Boolean)
    .join(" ");
}

function MemoryLine({ row }: { row: Row }) {
  const { memory, hit } = row;
  return (
    <div class="two-lines">
      <div>
        <span class="mono small">{memory.id}</span>{" "}
        <strong>
          <Line text={memory.title ?? memory.summary ?? memory.content} length={90} />
        </strong>
        <span class="grow" />
        {memory.pinned && (
          <Badge tone="busy" glyph="◆">
            pinned
          </Badge>
        )}
        {hit && (
          <span class="dim" title="score, comparable within this search">
            {hit.score.toFixed(3)}
          </span>
        )}
      </div>
      <div class="dim">
        <span class="grow-line">
          <Line text={secondLine(memory)} length={140} />
        </span>
        <span class="when">
          <Word text={memory.kind} /> · <Ago at={memory.updated_at} />
        </span>
      </div>
    </div>
  );
}

function body(narrow: Narrow): { [name: string]: unknown } {
  return {
    ...(narrow.kind ? { kinds: [narrow.kind] } : {}),
    ...(narrow.tag ? { tags: [narrow.tag] } : {}),
    ...(narrow.thread ? { thread: narrow.thread } : {}),
    ...(narrow.subject ? { subject: narrow.subject } : {}),
    ...(narrow.pinned ? { pinned: true } : {}),
  };
}

function useRows(text: string, narrow: Narrow) {
  const listed = usePages<Memory>(
    "/v1/memories",
    {
      kinds: narrow.kind,
      tags: narrow.tag,
      thread: narrow.thread,
      subject: narrow.subject,
      pinned: narrow.pinned ? "true" : "",
    },
    "memories",
    text ? ["never"] : ["memory."],
  );
  const found = useLoad(
    `search ${text} ${JSON.stringify(narrow)}`,
    text
      ? () => post<Search>("/v1/memories/search", { query: text, limit: HITS_MAX, explain: true, ...body(narrow) })
      : null,
    { on: text ? ["memory."] : [] },
  );
  if (text) {
    const rows: Row[] = (found.value?.hits ?? []).map((hit) => ({ id: hit.memory.id, memory: hit.memory, hit }));
    return {
      rows,
      error: found.error,
      loading: found.loading && !found.value,
      reload: found.reload,
      more: undefined,
      isWhole: true,
      degraded: found.value?.degraded ?? [],
    };
  }
  const rows: Row[] = listed.rows.map((memory) => ({ id: memory.id, memory, hit: null }));
  return {
    rows,
    error: listed.error,
    loading: listed.loading,
    reload: listed.reload,
    more: listed.more,
    isWhole: listed.isWhole,
    degraded: [],
  };
}

function Bar({
  text,
  ask,
  narrow,
  setNarrow,
}: {
  text: string;
  ask: (text: string) => void;
  narrow: Narrow;
  setNarrow: (next: Narrow) => void;
}) {
  const [typed, setTyped] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => typed.trim() !== text && ask(typed.trim()), 250);
    return () => clearTimeout(timer);
  }, [typed]);
  const set = (name: "kind" | "tag" | "thread" | "subject") => (event: Event) =>
    setNarrow({ ...narrow, [name]: (event.currentTarget as HTMLInputElement).value.trim() });
  return (
    <div class="bar wrap" role="search">
      <input
        class="wide"
        type="search"
        data-search
        aria-label="Search"
        placeholder="Search by words and meaning"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <input aria-label="Kind" placeholder="kind" onChange={set("kind")} />
      <input aria-label="Tag" placeholder="tag" onChange={set("tag")} />
      <input aria-label="Thread" placeholder="thread" onChange={set("thread")} />
      <input aria-label="Subject" placeholder="subject" onChange={set("subject")} />
      <label class="check">
        <input
          type="checkbox"
          checked={narrow.pinned}
          onChange={(event) => setNarrow({ ...narrow, pinned: event.currentTarget.checked })}
        />{" "}
        pinned
      </label>
    </div>
  );
}

function Why({ hit }: { hit: Found }) {
  const most = Math.max(0.0001, ...hit.parts.map((part) => Math.abs(part.adds)));
  return (
    <Section title="Why it was found" aside={`score ${hit.score.toFixed(3)}`}>
      {hit.parts.length === 0 && <p class="dim">The server named no parts.</p>}
      <table class="plain parts">
        <tbody>
          {hit.parts.map((part) => (
            <tr key={part.name}>
              <th scope="row">
                <Word text={part.name} />
              </th>
              <td>
                <meter min={0} max={most} value={Math.abs(part.adds)} />
              </td>
              <td class="num">adds {part.adds.toFixed(3)}</td>
              <td class="num dim">of {part.value.toFixed(3)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}

function Versions({ memory }: { memory: Memory }) {
  const versions = useLoad(
    `versions ${memory.id} ${memory.version}`,
    memory.version > 1
      ? (signal) => get<Page<"memories", Memory>>(at`/v1/memories/${memory.id}/versions`, signal)
      : null,
  );
  const [chosen, choose] = useState<number | null>(null);
  if (memory.version <= 1)
    return (
      <Section title="Versions">
        <p class="dim">Only this one.</p>
      </Section>
    );
  const all = versions.value?.memories ?? [];
  const old = all.find((one) => one.version === chosen);
  return (
    <Section title="Versions" aside={String(memory.version)}>
      {versions.error && <Trouble error={versions.error} what="the versions" retry={versions.reload} />}
      <ul class="lines">
        {all.map((one) => (
          <li key={one.version}>
            <button
              aria-pressed={chosen === one.version}
              onClick={() => choose(chosen === one.version ? null : one.version)}
            >
              version {one.version}
            </button>{" "}
            <span class="dim">
              <Ago at={one.updated_at} />
            </span>{" "}
            <Line text={one.title ?? one.content} length={80} />
          </li>
        ))}
      </ul>
      {old && (
        <>
          <p class="dim">
            From version {old.version} to version {memory.version}:
          </p>
          <DiffView before={old.content} after={memory.content} />
        </>
      )}
    </Section>
  );
}

async function pin(memory: Memory, done: () => void): Promise<void> {
  try {
    await (memory.pinned ? remove(at`/v1/memories/${memory.id}/pin`) : put(at`/v1/memories/${memory.id}/pin`));
    toast(memory.pinned ? "Unpinned." : "Pinned: it travels with every handoff.");
    done();
  } catch (error) {
    toast(said(error), true);
  }
}

function Detail({ id, hit, changed }: { id: string; hit: Found | null; changed: () => void }) {
  const memory = useLoad(`memory ${id}`, (signal) => get<Memory>(at`/v1/memories/${id}`, signal), { on: ["memory."] });
  if (memory.error && !memory.value) return <Trouble error={memory.error} what="the memory" retry={memory.reload} />;
  if (!memory.value) return <Loading what="the memory" />;
  const { value } = memory;
  const done = () => {
    memory.reload();
    changed();
  };
  return (
    <>
      <div class="actions main">
        <button onClick={() => void pin(value, done)} aria-pressed={value.pinned}>
          {value.pinned ? "Unpin" : "Pin"}
        </button>
        {value.pinned && (
          <Badge tone="busy" glyph="◆">
            pinned
          </Badge>
        )}
      </div>
      {value.title && (
        <h3>
          <Line text={value.title} length={300} />
        </h3>
      )}
      {hit && <Why hit={hit} />}
      <Section title="Text">
        <Text text={value.content} />
      </Section>
      {value.summary && (
        <Section title="Summary">
          <Text text={value.summary} />
        </Section>
      )}
      <Facts>
        <Fact name="kind">
          <Word text={value.kind} />
        </Fact>
        <Fact name="priority">
          <Word text={value.priority} />
        </Fact>
        <Fact name="version">{value.version}</Fact>
        <Fact name="stored">
          <Ago at={value.created_at} />
        </Fact>
        <Fact name="written">
          <Ago at={value.updated_at} />
        </Fact>
        {value.author && (
          <Fact name="author">
            <Word text={value.author} />
          </Fact>
        )}
        {value.thread && (
          <Fact name="thread">
            <Word text={value.thread} />
          </Fact>
        )}
        {value.subject && (
          <Fact name="subject">
            <Word text={value.subject} />
          </Fact>
        )}
        {value.occurred_at && (
          <Fact name="about">
            <Ago at={value.occurred_at} />
          </Fact>
        )}
        {value.expires_at && (
          <Fact name="expires">
            <Ago at={value.expires_at} />
          </Fact>
        )}
        {value.tags.length > 0 && (
          <Fact name="tags">
            <Line text={value.tags.join(", ")} />
          </Fact>
        )}
      </Facts>
      {Object.keys(value.metadata).length > 0 && (
        <Section title="Metadata">
          <JsonText value={value.metadata} />
        </Section>
      )}
      <Versions memory={value} />
    </>
  );
}

export function MemoriesPage() {
  const { id } = place.value;
  const [text, ask] = useState("");
  const [narrow, setNarrow] = useState(EVERYTHING);
  const list = useRows(text, narrow);
  const hit = list.rows.find((row) => row.id === id)?.hit ?? null;
  return (
    <div class={`page split${id ? " opened" : ""}`}>
      <section class="panel list" aria-label="Memories">
        <header>
          <h2>Memories</h2>
          <span class="dim">
            {list.loading
              ? ""
              : text
                ? counted(list.rows.length, "hit")
                : `${count(list.rows.length)}${list.isWhole ? "" : "+"}, newest first`}
          </span>
        </header>
        <Bar text={text} ask={ask} narrow={narrow} setNarrow={setNarrow} />
        {list.degraded.length > 0 && (
          <p class="notice">
            ▲ The search did without: <Line text={list.degraded.join(", ")} />
          </p>
        )}
        {list.error && <Trouble error={list.error} what="memories" retry={list.reload} />}
        {list.loading && list.rows.length === 0 && <Loading what="memories" />}
        {!list.loading && !list.error && list.rows.length === 0 && (
          <Empty title={text ? "Nothing was found." : "No memory here."}>
            {text
              ? "Other words may help, or fewer filters."
              : "Store one with POST /v1/memories or an SDK, or loosen the filters."}
          </Empty>
        )}
        {list.rows.length > 0 && (
          <Rows
            label="Memories"
            rows={list.rows}
            id={(row) => row.id}
            row={(row) => <MemoryLine row={row} />}
            selected={id}
            open={(row) => go("memories", row.id)}
            {...(list.more ? { more: list.more } : {})}
            rowHeight={52}
          />
        )}
      </section>
      <section class="panel detail" aria-label="Memory">
        {id ? (
          <>
            <header>
              <a href={linkTo("memories")} data-back>
                ← list
              </a>
              <h2 class="mono">{id}</h2>
            </header>
            <Detail key={id} id={id} hit={hit} changed={list.reload} />
          </>
        ) : (
          <Empty title="Choose a memory.">Its text, why it was found, its versions, and whether it is pinned.</Empty>
        )}
      </section>
    </div>
  );
}
