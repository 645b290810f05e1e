// What an envelope says: the task, what travelled and in which detail, what did not and why.

import { useState } from "preact/hooks";

import { asked, at, get, getText } from "../../api/client.ts";
import type { Envelope, Explanation } from "../../api/types.ts";
import { useLoad } from "../../live/load.ts";
import { counted, percent } from "../../pure/figures.ts";
import { JsonText, Line, Text, Word } from "../../ui/Inert.tsx";
import { Empty, Fact, Facts, Loading, Section, Trouble } from "../../ui/Notice.tsx";
import { linkTo } from "../../ui/route.ts";
import { Badge } from "../../ui/Status.tsx";
import { Ago } from "../../ui/Time.tsx";

/** An envelope never changes: once loaded it is right. */
export function useEnvelope(id: string | null) {
  return useLoad(`envelope ${id}`, id ? (signal) => get<Envelope>(at`/v1/envelopes/${id}`, signal) : null);
}

function List({ items }: { items: string[] | undefined }) {
  return (
    <ul class="lines">
      {(items ?? []).map((item, index) => (
        <li key={index}>
          <Line text={item} length={500} />
        </li>
      ))}
    </ul>
  );
}

function State({ envelope }: { envelope: Envelope }) {
  const state = envelope.task.state;
  if (!state) return null;
  return (
    <>
      {!!state.progress?.length && (
        <Section title="Progress">
          <List items={state.progress} />
        </Section>
      )}
      {!!state.decisions?.length && (
        <Section title="Decisions">
          <List items={state.decisions.map((one) => `${one.what}${one.why ? `, because ${one.why}` : ""}`)} />
        </Section>
      )}
      {!!state.remaining?.length && (
        <Section title="Remaining">
          <List items={state.remaining} />
        </Section>
      )}
      {!!state.open_questions?.length && (
        <Section title="Questions">
          <List
            items={state.open_questions.map((one) => `${one.question} ${one.answer ? `→ ${one.answer}` : "(open)"}`)}
          />
        </Section>
      )}
    </>
  );
}

export function Task({ envelope }: { envelope: Envelope }) {
  return (
    <>
      <Section title="To do">
        <Text text={envelope.task.summary} />
      </Section>
      <Section
        title="Intent, word for word"
        aside={envelope.task.intent_source === "summary" ? "none was given: taken from the first summary" : undefined}
      >
        <Text text={envelope.task.intent} />
      </Section>
      <Section title="Constraints" aside={counted(envelope.constraints?.length ?? 0, "constraint")}>
        {envelope.constraints?.length ? (
          <table class="plain">
            <tbody>
              {envelope.constraints.map((one) => (
                <tr key={one.name}>
                  <th scope="row">
                    <Word text={one.name} />
                  </th>
                  <td>
                    <Line text={typeof one.value === "string" ? one.value : JSON.stringify(one.value)} length={300} />
                  </td>
                  <td class="dim">
                    {one.scope}
                    {one.set_by && (
                      <>
                        , by <Word text={one.set_by} />
                      </>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        ) : (
          <p class="dim">None.</p>
        )}
      </Section>
      <State envelope={envelope} />
    </>
  );
}

/** What was left behind, each with its reason: the first thing to look at when a result is odd. */
export function Losses({ envelope }: { envelope: Envelope }) {
  const gaps = envelope.completeness.gaps ?? [];
  const trimmed = envelope.trimmed?.items ?? [];
  const unnamed = (envelope.trimmed?.count ?? 0) - trimmed.length;
  const waived = envelope.waived ?? [];
  const redactions = envelope.redactions ?? [];
  return (
    <>
      <Section
        title="Missing"
        aside={`${envelope.completeness.included} of ${envelope.completeness.requested} references are here`}
      >
        {gaps.length ? (
          <ul class="lines">
            {gaps.map((gap) => (
              <li key={gap.ref}>
                <Badge tone="warn" glyph="▲">
                  missing
                </Badge>{" "}
                <Word text={gap.ref} />{" "}
                <span class="dim">
                  <Line text={gap.reason} />
                </span>
              </li>
            ))}
          </ul>
        ) : (
          <p class="dim">Nothing that was asked for is missing.</p>
        )}
      </Section>
      <Section title="Trimmed" aside={counted(envelope.trimmed?.count ?? 0, "memory", "memories")}>
        {trimmed.length ? (
          <ul class="lines">
            {trimmed.map((item) => (
              <li key={item.id}>
                <a href={linkTo("memories", item.id)}>{item.id}</a> {item.from} → {item.to}{" "}
                <span class="dim">
                  <Line text={item.reason} />
                </span>
              </li>
            ))}
          </ul>
        ) : (
          <p class="dim">Nothing lost detail.</p>
        )}
        {unnamed > 0 && <p class="dim">and {unnamed} more, counted only</p>}
      </Section>
      <Section title="Waived" aside={counted(waived.length, "constraint")}>
        {waived.length ? (
          <ul class="lines">
            {waived.map((one) => (
              <li key={`${one.name} ${one.at_hop}`}>
                <b>
                  <Word text={one.name} />
                </b>
                {one.value !== undefined && (
                  <>
                    {" "}
                    <Line text={JSON.stringify(one.value)} />
                  </>
                )}
                : <Line text={one.reason} />{" "}
                <span class="dim">
                  {one.by && (
                    <>
                      by <Word text={one.by} />
                    </>
                  )}
                  {one.at_hop ? ` at hop ${one.at_hop}` : ""}
                </span>
              </li>
            ))}
          </ul>
        ) : (
          <p class="dim">No constraint was given up.</p>
        )}
      </Section>
      {redactions.length > 0 && (
        <Section title="Redacted">
          <List items={redactions.map((one) => `${one.kind} in ${one.in}`)} />
        </Section>
      )}
    </>
  );
}

export function Travelled({ envelope }: { envelope: Envelope }) {
  const explained = useLoad(`explain ${envelope.id}`, (signal) =>
    get<Explanation>(at`/v1/envelopes/${envelope.id}/explain`, signal),
  );
  const rules = new Map(explained.value?.memories.map((one) => [one.id, one]) ?? []);
  const left = explained.value?.memories.filter((one) => one.chosen === null) ?? [];
  return (
    <>
      <Section
        title="Memories that travelled"
        aside={`${counted(envelope.memories.length, "memory", "memories")}, ${envelope.assembly.tokens} of ${envelope.assembly.max_tokens} tokens`}
      >
        {envelope.memories.length === 0 && <p class="dim">None.</p>}
        {envelope.memories.map((memory) => (
          <details key={memory.id} class="memory">
            <summary>
              <a href={linkTo("memories", memory.id)}>{memory.id}</a>{" "}
              <Line text={memory.title ?? memory.text ?? ""} length={90} />{" "}
              <span class="dim">
                v{memory.version}, {memory.detail}
                {memory.source ? `, ${memory.source}` : ""}
                {memory.tokens ? `, ${memory.tokens} tokens` : ""}
              </span>
            </summary>
            {rules.get(memory.id) && (
              <p class="dim">
                Why: <Line text={rules.get(memory.id)?.rule ?? ""} length={300} /> · relevance{" "}
                {percent(rules.get(memory.id)?.relevance)}, recency {percent(rules.get(memory.id)?.recency)}
              </p>
            )}
            {memory.text ? (
              <Text text={memory.text} />
            ) : (
              <p class="dim">
                {memory.detail === "ref" ? "Only a reference: the receiver fetches it." : "The text was erased."}
              </p>
            )}
          </details>
        ))}
      </Section>
      {left.length > 0 && (
        <Section title="Weighed and left behind">
          <ul class="lines">
            {left.map((one) => (
              <li key={one.id}>
                <a href={linkTo("memories", one.id)}>{one.id}</a>{" "}
                <span class="dim">
                  <Line text={one.rule} length={200} />
                </span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      {!!envelope.history?.length && (
        <Section title="History">
          <ol class="lines">
            {envelope.history.map((step, index) => (
              <li key={index}>
                <b>
                  <Word text={step.agent} />
                </b>{" "}
                <Line text={step.action} length={300} />
                {step.why && (
                  <span class="dim">
                    {" "}
                    because <Line text={step.why} />
                  </span>
                )}{" "}
                {step.hop && <span class="dim">hop {step.hop}</span>}
              </li>
            ))}
          </ol>
        </Section>
      )}
    </>
  );
}

const FORMATS = ["markdown", "xml", "json"];

export function Rendered({ id }: { id: string }) {
  const [format, setFormat] = useState("markdown");
  const text = useLoad(`render ${id} ${format}`, (signal) =>
    getText(asked(at`/v1/envelopes/${id}/render`, { format }), signal),
  );
  return (
    <Section
      title="As the receiver reads it"
      aside={
        <select aria-label="Format" value={format} onChange={(event) => setFormat(event.currentTarget.value)}>
          {FORMATS.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      }
    >
      {text.error && <Trouble error={text.error} what="the rendering" retry={text.reload} />}
      {text.value !== null ? <Text mono text={text.value} /> : !text.error && <Loading what="the rendering" />}
    </Section>
  );
}

export function EnvelopeFacts({ envelope }: { envelope: Envelope }) {
  return (
    <Facts>
      <Fact name="hop">
        {envelope.hop} of {envelope.max_hops}
      </Fact>
      <Fact name="made">
        <Ago at={envelope.created_at} />
      </Fact>
      <Fact name="tokens">
        {envelope.assembly.tokens} of {envelope.assembly.max_tokens}
      </Fact>
      <Fact name="complete">
        {envelope.completeness.requested
          ? percent(envelope.completeness.included / envelope.completeness.requested)
          : "nothing was asked for"}
      </Fact>
      {envelope.subject && (
        <Fact name="subject">
          <Word text={envelope.subject} />
        </Fact>
      )}
      <Fact name="digest">
        <span class="mono small">{envelope.digest.slice(0, 23)}…</span>
      </Fact>
    </Facts>
  );
}

export function Raw({ envelope }: { envelope: Envelope }) {
  return (
    <Section title="The envelope itself">
      <JsonText value={envelope} />
    </Section>
  );
}

const TABS = ["task", "losses", "memories", "rendered", "raw"] as const;
type Tab = (typeof TABS)[number];

/** An envelope by its parts. */
export function EnvelopeTabs({ id, first = "task" }: { id: string; first?: Tab }) {
  const envelope = useEnvelope(id);
  const [tab, setTab] = useState<Tab>(first);
  if (envelope.error) return <Trouble error={envelope.error} what="the envelope" retry={envelope.reload} />;
  if (!envelope.value) return <Loading what="the envelope" />;
  const value = envelope.value;
  const lost = (value.completeness.gaps?.length ?? 0) + (value.trimmed?.count ?? 0) + (value.waived?.length ?? 0);
  const labels: Record<Tab, string> = {
    task: "Task",
    losses: `Left behind (${lost})`,
    memories: `Travelled (${value.memories.length})`,
    rendered: "Rendered",
    raw: "JSON",
  };
  return (
    <>
      <EnvelopeFacts envelope={value} />
      <div class="tabs" role="tablist">
        {TABS.map((one) => (
          <button key={one} role="tab" aria-selected={one === tab} onClick={() => setTab(one)}>
            {labels[one]}
          </button>
        ))}
      </div>
      <div role="tabpanel">
        {tab === "task" && <Task envelope={value} />}
        {tab === "losses" && <Losses envelope={value} />}
        {tab === "memories" && <Travelled envelope={value} />}
        {tab === "rendered" && <Rendered id={value.id} />}
        {tab === "raw" && <Raw envelope={value} />}
      </div>
    </>
  );
}

export function NoEnvelope() {
  return <Empty title="Choose a hop.">Each opens: what it was to do, what travelled, what was left behind.</Empty>;
}
