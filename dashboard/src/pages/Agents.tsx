// Agents: who waits for what, whose breaker is open, who is paused; and the levers.

import { useState } from "preact/hooks";

import { ApiError, at, get, post, put } from "../api/client.ts";
import type { Agent, Health, TargetHealth } from "../api/types.ts";
import { useLoad } from "../live/load.ts";
import { count, counted, percent } from "../pure/figures.ts";
import { duration } from "../pure/time.ts";
import { Dialog } from "../ui/Dialog.tsx";
import { JsonText, Line, Text, Word } from "../ui/Inert.tsx";
import { Empty, Fact, Facts, Loading, Section, Trouble } from "../ui/Notice.tsx";
import { go, linkTo, place } from "../ui/route.ts";
import { Rows } from "../ui/Rows.tsx";
import { Badge, BreakerBadge } from "../ui/Status.tsx";
import { Age, Ago } from "../ui/Time.tsx";
import { OptionsDialog } from "./agents/Options.tsx";

const EVERY_MS = 10_000;
const ON = ["agent.", "breaker.", "delivery."];

function AgentLine({ agent }: { agent: Agent }) {
  return (
    <div class="two-lines">
      <div>
        <strong>
          <Word text={agent.name} />
        </strong>
        {agent.paused && (
          <Badge tone="warn" glyph="❚❚">
            paused
          </Badge>
        )}
        {agent.breaker.state !== "closed" && <BreakerBadge breaker={agent.breaker} />}
        <span class="grow" />
        <span class="dim">
          {agent.queue.oldest_pending_at ? (
            <>
              oldest <Age since={agent.queue.oldest_pending_at} />
            </>
          ) : (
            "nothing waits"
          )}
        </span>
      </div>
      <div class="dim">
        {count(agent.queue.pending)} waiting · {count(agent.queue.leased + agent.queue.accepted)} at work ·{" "}
        {count(agent.queue.parked)} dead letters
      </div>
    </div>
  );
}

/** Whoever needs a person first, then by what waits. */
export function troubledFirst(agents: Agent[]): Agent[] {
  const rank = (agent: Agent) => (agent.breaker.state === "closed" ? (agent.paused ? 1 : 2) : 0);
  return [...agents].sort(
    (a, b) => rank(a) - rank(b) || b.queue.pending - a.queue.pending || (a.name < b.name ? -1 : 1),
  );
}

type Lever = {
  title: string;
  confirm: string;
  danger: boolean;
  says: string;
  done: string;
  act: () => Promise<unknown>;
};

function levers(agent: Agent): Record<string, Lever> {
  const { name, queue } = agent;
  return {
    reset: {
      title: "Close the breaker",
      confirm: "Close it",
      danger: false,
      says: `Queued work goes to ${name} again at once: ${counted(queue.pending, "delivery waits", "deliveries wait")}. If it still takes nothing, the breaker opens again after 3 in a row.`,
      done: "The breaker is closed.",
      act: () => put(at`/v1/agents/${name}/breaker`, { state: "closed" }),
    },
    open: {
      title: "Force the breaker open",
      confirm: "Force it open",
      danger: true,
      says: `New direct handoffs to ${name} fail at once, or take a fallback; ${counted(queue.pending, "delivery waits", "deliveries wait")} until you close it.`,
      done: "The breaker is forced open.",
      act: () => put(at`/v1/agents/${name}/breaker`, { state: "open" }),
    },
    pause: {
      title: "Pause",
      confirm: "Pause",
      danger: true,
      says: `${name} gets nothing new until you resume it. What it holds goes on: ${counted(queue.leased + queue.accepted, "delivery", "deliveries")}.`,
      done: "Paused.",
      act: () => post(at`/v1/agents/${name}/pause`),
    },
    resume: {
      title: "Resume",
      confirm: "Resume",
      danger: false,
      says: `${counted(queue.pending, "delivery waits", "deliveries wait")} for ${name} and will be given out again.`,
      done: "Resumed.",
      act: () => post(at`/v1/agents/${name}/resume`),
    },
  };
}

function LeverDialog({ lever, close, done }: { lever: Lever; close: () => void; done: () => void }) {
  const act = async () => {
    await lever.act();
    done();
    return lever.done;
  };
  return (
    <Dialog title={lever.title} confirm={lever.confirm} danger={lever.danger} act={act} close={close}>
      <p>
        <Line text={lever.says} length={400} />
      </p>
    </Dialog>
  );
}

function Breaker({ agent }: { agent: Agent }) {
  const { breaker } = agent;
  return (
    <Section title="Breaker" aside={<BreakerBadge breaker={breaker} />}>
      <Facts>
        <Fact name="in a row">{counted(breaker.failures, "failure")}</Fact>
        {breaker.opened_at && (
          <Fact name="opened">
            <Ago at={breaker.opened_at} />
          </Fact>
        )}
        {breaker.retry_at && !breaker.forced && (
          <Fact name="next probe">
            <Ago at={breaker.retry_at} />
          </Fact>
        )}
      </Facts>
    </Section>
  );
}

function Figures({ target }: { target: TargetHealth }) {
  return (
    <table class="grid">
      <thead>
        <tr>
          <th>window</th>
          <th class="num">handoffs</th>
          <th class="num">accepted p50</th>
          <th class="num">p95</th>
          <th class="num">p99</th>
          <th class="num">done p95</th>
          <th class="num">complete</th>
          <th class="num">failures</th>
        </tr>
      </thead>
      <tbody>
        {(["5m", "1h", "24h"] as const).map((name) => {
          const window = target.windows[name];
          return (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="num">{count(window.counts.handoffs)}</td>
              <td class="num">{duration(window.latency_accepted_s?.p50)}</td>
              <td class="num">{duration(window.latency_accepted_s?.p95)}</td>
              <td class="num">{duration(window.latency_accepted_s?.p99)}</td>
              <td class="num">{duration(window.latency_done_s?.p95)}</td>
              <td class="num">{percent(window.completeness.value)}</td>
              <td class="num">{percent(window.failure_rate.value)}</td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function Latency({ name, health, error }: { name: string; health: Health | null; error: ApiError | null }) {
  const target = health?.targets.find((one) => one.agent === name);
  return (
    <Section title="Latency and outcome">
      {error?.isMissingRoute && <p class="dim">This server does not serve health figures.</p>}
      {error && !error.isMissingRoute && <Trouble error={error} what="health" />}
      {health && !target && <p class="dim">Nothing was handed to it in the last 24 hours.</p>}
      {target && (
        <div class="scroll">
          <Figures target={target} />
        </div>
      )}
    </Section>
  );
}

function Options({ agent, edit }: { agent: Agent; edit: () => void }) {
  return (
    <Section title="Options" aside={<button onClick={edit}>Edit…</button>}>
      {agent.description && <Text text={agent.description} />}
      <Facts>
        <Fact name="token budget">{agent.max_tokens ?? "the default"}</Fact>
        <Fact name="fallbacks">{agent.fallbacks.length ? <Line text={agent.fallbacks.join(", ")} /> : "none"}</Fact>
        <Fact name="pushed to">{agent.webhook ? <Line text={agent.webhook.url} /> : "nowhere: it pulls"}</Fact>
      </Facts>
      {agent.policy && (
        <details>
          <summary>Policy</summary>
          <JsonText value={agent.policy} />
        </details>
      )}
    </Section>
  );
}

function Detail({ name, changed }: { name: string; changed: () => void }) {
  const agent = useLoad(`agent ${name}`, (signal) => get<Agent>(at`/v1/agents/${name}`, signal), {
    on: ON,
    everyMs: EVERY_MS,
  });
  const health = useLoad("health", (signal) => get<Health>("/v1/health", signal), { everyMs: EVERY_MS });
  const [pulled, pull] = useState<string | null>(null);
  if (agent.error && !agent.value) return <Trouble error={agent.error} what="the agent" retry={agent.reload} />;
  if (!agent.value) return <Loading what="the agent" />;
  const { value } = agent;
  const done = () => {
    agent.reload();
    changed();
  };
  const lever = pulled ? levers(value)[pulled] : undefined;
  return (
    <>
      <div class="actions main">
        {value.paused ? (
          <button class="primary" onClick={() => pull("resume")}>
            Resume…
          </button>
        ) : (
          <button onClick={() => pull("pause")}>Pause…</button>
        )}
        {value.breaker.state !== "closed" && (
          <button class="primary" onClick={() => pull("reset")}>
            Close the breaker…
          </button>
        )}
        {!(value.breaker.state === "open" && value.breaker.forced) && (
          <button class="danger" onClick={() => pull("open")}>
            Force the breaker open…
          </button>
        )}
      </div>
      <Section title="Queue">
        <Facts>
          <Fact name="waiting">{count(value.queue.pending)}</Fact>
          <Fact name="oldest">
            <Age since={value.queue.oldest_pending_at} />
          </Fact>
          <Fact name="leased">{count(value.queue.leased)}</Fact>
          <Fact name="accepted">{count(value.queue.accepted)}</Fact>
          <Fact name="dead letters">
            {value.queue.parked ? (
              <a href={linkTo("parked", "", { target: name })}>{count(value.queue.parked)}</a>
            ) : (
              "0"
            )}
          </Fact>
        </Facts>
      </Section>
      <Breaker agent={value} />
      <Latency name={name} health={health.value} error={health.error} />
      <Options agent={value} edit={() => pull("options")} />
      {lever && <LeverDialog lever={lever} close={() => pull(null)} done={done} />}
      {pulled === "options" && <OptionsDialog agent={value} close={() => pull(null)} done={done} />}
    </>
  );
}

export function AgentsPage() {
  const name = place.value.id;
  const agents = useLoad("agents", (signal) => get<{ agents: Agent[] }>("/v1/agents", signal), {
    on: ON,
    everyMs: EVERY_MS,
  });
  const [filter, setFilter] = useState("");
  const all = troubledFirst(agents.value?.agents ?? []);
  const shown = all.filter((agent) => agent.name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <div class={`page split${name ? " opened" : ""}`}>
      <section class="panel list" aria-label="Agents">
        <header>
          <h2>Agents</h2>
          <span class="dim">{agents.value ? counted(all.length, "agent") : ""}</span>
        </header>
        <div class="bar">
          <input
            data-search
            aria-label="Name"
            placeholder="name"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </div>
        {agents.error && <Trouble error={agents.error} what="agents" retry={agents.reload} />}
        {!agents.value && !agents.error && <Loading what="agents" />}
        {agents.value && shown.length === 0 && (
          <Empty title={all.length ? "No agent has this in its name." : "No agent yet."}>
            {all.length ? "" : "An agent exists as soon as it is first used as sender or receiver."}
          </Empty>
        )}
        {shown.length > 0 && (
          <Rows
            label="Agents"
            rows={shown}
            id={(agent) => agent.name}
            row={(agent) => <AgentLine agent={agent} />}
            selected={name}
            open={(agent) => go("agents", agent.name)}
            rowHeight={52}
          />
        )}
      </section>
      <section class="panel detail" aria-label="Agent">
        {name ? (
          <>
            <header>
              <a href={linkTo("agents")} data-back>
                ← list
              </a>
              <h2>
                <Word text={name} />
              </h2>
            </header>
            <Detail key={name} name={name} changed={agents.reload} />
          </>
        ) : (
          <Empty title="Choose an agent.">Its queue, its breaker, how fast it takes work, and its options.</Empty>
        )}
      </section>
    </div>
  );
}
