// Channels: who listens, what was published, and what came of it.

import { useState } from "preact/hooks";

import { at, get, put, remove, said } from "../api/client.ts";
import type { Channel, Delivery, Pipeline, Publication } from "../api/types.ts";
import { useLoad } from "../live/load.ts";
import { usePages } from "../live/pages.ts";
import { counted } from "../pure/figures.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { JsonText, Line, Word } from "../ui/Inert.tsx";
import { Empty, Fact, Facts, Loading, Section, Trouble } from "../ui/Notice.tsx";
import { go, linkTo, place } from "../ui/route.ts";
import { Rows } from "../ui/Rows.tsx";
import { Badge, StateBadge } from "../ui/Status.tsx";
import { Ago } from "../ui/Time.tsx";
import { toast } from "../ui/Toasts.tsx";

function Unsubscribe({
  channel,
  agent,
  close,
  done,
}: {
  channel: string;
  agent: string;
  close: () => void;
  done: () => void;
}) {
  const act = async () => {
    await remove(at`/v1/channels/${channel}/subscribers/${agent}`);
    done();
    return `${agent} is no longer subscribed.`;
  };
  return (
    <Dialog title="Remove a subscriber" confirm="Remove 1 subscriber" danger act={act} close={close}>
      <p>
        <Word text={agent} /> gets nothing further that is published to <Word text={channel} />. What it has already
        been sent stays.
      </p>
    </Dialog>
  );
}

function Subscribers({ channel, changed }: { channel: Channel; changed: () => void }) {
  const [name, setName] = useState("");
  const [leaving, leave] = useState<string | null>(null);
  const add = async (event: Event) => {
    event.preventDefault();
    try {
      await put(at`/v1/channels/${channel.name}/subscribers/${name}`);
      toast(`${name} is subscribed.`);
      setName("");
      changed();
    } catch (error) {
      toast(said(error), true);
    }
  };
  return (
    <Section title="Subscribers" aside={String(channel.subscribers.length)}>
      {channel.subscribers.length === 0 && <p class="dim">Nobody: publishing needs named receivers.</p>}
      <ul class="lines">
        {channel.subscribers.map((agent) => (
          <li key={agent}>
            <a href={linkTo("agents", agent)}>
              <Word text={agent} />
            </a>{" "}
            <button onClick={() => leave(agent)} aria-label={`Remove ${agent}`}>
              Remove…
            </button>
          </li>
        ))}
      </ul>
      <form class="bar" onSubmit={add}>
        <input
          aria-label="Agent to subscribe"
          placeholder="agent"
          value={name}
          onInput={(event) => setName(event.currentTarget.value.trim())}
        />
        <button type="submit" disabled={!name}>
          Subscribe
        </button>
      </form>
      {leaving && <Unsubscribe channel={channel.name} agent={leaving} close={() => leave(null)} done={changed} />}
    </Section>
  );
}

function Join({ publication }: { publication: Publication }) {
  const { join } = publication;
  if (!join) return null;
  return (
    <p>
      <b>Join</b>
      {join.target && (
        <>
          {" "}
          to <Word text={join.target} />
        </>
      )}
      :{" "}
      {join.made ? (
        <>
          <Badge tone="good" glyph="✓">
            made
          </Badge>{" "}
          <a href={linkTo("lineage", join.made.envelope_id)}>open it</a> <Ago at={join.made.at} />
        </>
      ) : (
        <>
          waits for {join.need ?? "all"} of {publication.deliveries.length}
          {join.until && (
            <>
              , at most until <Ago at={join.until} />
            </>
          )}
        </>
      )}
    </p>
  );
}

function PublicationView({ id }: { id: string }) {
  const publication = useLoad(`publication ${id}`, (signal) => get<Publication>(at`/v1/publications/${id}`, signal), {
    on: ["delivery.", "publication."],
  });
  if (publication.error && !publication.value)
    return <Trouble error={publication.error} what="the publication" retry={publication.reload} />;
  if (!publication.value) return <Loading what="the publication" />;
  const { value } = publication;
  const done = value.deliveries.filter((one) => one.state === "done").length;
  return (
    <div class="publication" aria-label={`Publication ${value.id}`}>
      <Facts>
        <Fact name="channel">
          <Word text={value.channel} />
        </Fact>
        <Fact name="published">
          <Ago at={value.at} />
          {value.by && (
            <>
              {" "}
              by <Word text={value.by} />
            </>
          )}
        </Fact>
        <Fact name="state">
          {value.settled ? (
            <Badge tone="good" glyph="✓">
              settled
            </Badge>
          ) : (
            <Badge tone="busy" glyph="◑">
              under way
            </Badge>
          )}
        </Fact>
        <Fact name="done">
          {done} of {value.deliveries.length}
        </Fact>
        <Fact name="envelope">
          <a href={linkTo("lineage", value.envelope_id)} class="mono small">
            {value.envelope_id}
          </a>
        </Fact>
      </Facts>
      <Join publication={value} />
      <ul class="lines">
        {value.deliveries.map((one) => (
          <li key={one.id}>
            <StateBadge state={one.state} /> <Word text={one.agent} />{" "}
            {one.state === "parked" && <a href={linkTo("parked", one.id)}>review</a>}{" "}
            <span class="dim">
              <Ago at={one.updated_at} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The API has no list of publications: they are told from the deliveries they made. */
function Publications() {
  const feed = usePages<Delivery>("/v1/deliveries", { order: "newest" }, "deliveries", [
    "delivery.sent",
    "publication.",
  ]);
  const ids = [...new Set(feed.rows.map((one) => one.publication_id).filter((one) => one !== null))].slice(0, 20);
  const [chosen, setOpen] = useState<string | null>(null);
  const open = chosen ?? ids[0] ?? null;
  return (
    <Section title="Recent publications" aside="among the newest deliveries">
      {feed.error && <Trouble error={feed.error} what="deliveries" retry={feed.reload} />}
      {!feed.loading && ids.length === 0 && !feed.error && (
        <p class="dim">None. Publish with POST /v1/channels/…/publish.</p>
      )}
      {ids.map((id) => (
        <details
          key={id}
          class="memory"
          open={open === id}
          onToggle={(event) => event.currentTarget.open && setOpen(id)}
        >
          <summary class="mono small">{id}</summary>
          {open === id && <PublicationView id={id} />}
        </details>
      ))}
    </Section>
  );
}

function Pipelines() {
  const pipelines = useLoad("pipelines", (signal) => get<{ pipelines: Pipeline[] }>("/v1/pipelines", signal), {
    on: ["pipeline."],
  });
  if (pipelines.error)
    return (
      <Section title="Pipelines">
        <Trouble error={pipelines.error} what="pipelines" retry={pipelines.reload} />
      </Section>
    );
  return (
    <Section title="Pipelines" aside={String(pipelines.value?.pipelines.length ?? "")}>
      {pipelines.value?.pipelines.length === 0 && <p class="dim">None is set.</p>}
      {pipelines.value?.pipelines.map((one) => (
        <details key={one.name} class="memory">
          <summary>
            <Word text={one.name} />{" "}
            <span class="dim">
              <Line text={one.steps.map((step) => step.agent).join(" → ")} />
            </span>
          </summary>
          <JsonText value={one.steps} />
        </details>
      ))}
    </Section>
  );
}

function Detail({ name, changed }: { name: string; changed: () => void }) {
  const channel = useLoad(`channel ${name}`, (signal) => get<Channel>(at`/v1/channels/${name}`, signal), {
    on: ["channel."],
  });
  if (channel.error && !channel.value)
    return <Trouble error={channel.error} what="the channel" retry={channel.reload} />;
  if (!channel.value) return <Loading what="the channel" />;
  const both = () => {
    channel.reload();
    changed();
  };
  return <Subscribers channel={channel.value} changed={both} />;
}

export function ChannelsPage() {
  const name = place.value.id;
  const channels = useLoad("channels", (signal) => get<{ channels: Channel[] }>("/v1/channels", signal), {
    on: ["channel."],
  });
  const [typed, setTyped] = useState("");
  const all = channels.value?.channels ?? [];
  const open = (event: Event) => {
    event.preventDefault();
    if (typed) go("channels", typed);
  };
  return (
    <div class={`page split${name ? " opened" : ""}`}>
      <section class="panel list" aria-label="Channels">
        <header>
          <h2>Channels</h2>
          <span class="dim">{channels.value ? counted(all.length, "channel") : ""}</span>
        </header>
        <form class="bar" onSubmit={open}>
          <input
            data-search
            aria-label="Channel"
            placeholder="channel, also a new one"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value.trim())}
          />
          <button type="submit">Open</button>
        </form>
        {channels.error && <Trouble error={channels.error} what="channels" retry={channels.reload} />}
        {channels.value && all.length === 0 && (
          <Empty title="No channel yet.">Name one above and subscribe an agent to it: then it exists.</Empty>
        )}
        {all.length > 0 && (
          <Rows
            label="Channels"
            rows={all}
            id={(one) => one.name}
            row={(one) => (
              <div class="two-lines">
                <div>
                  <strong>
                    <Word text={one.name} />
                  </strong>
                </div>
                <div class="dim">
                  <Line text={one.subscribers.join(", ") || "nobody listens"} />
                </div>
              </div>
            )}
            selected={name}
            open={(one) => go("channels", one.name)}
            rowHeight={52}
          />
        )}
      </section>
      <section class="panel detail" aria-label="Channel">
        {name && (
          <>
            <header>
              <a href={linkTo("channels")} data-back>
                ← list
              </a>
              <h2>
                <Word text={name} />
              </h2>
            </header>
            <Detail key={name} name={name} changed={channels.reload} />
          </>
        )}
        <Publications />
        <Pipelines />
      </section>
    </div>
  );
}
