// One delivery: its way, attempt by attempt.

import type { Delivery } from "../../api/types.ts";
import { percent } from "../../pure/figures.ts";
import { between, duration } from "../../pure/time.ts";
import { JsonText, Line, Text, Word } from "../../ui/Inert.tsx";
import { Fact, Facts, Section } from "../../ui/Notice.tsx";
import { linkTo } from "../../ui/route.ts";
import { StateBadge, causeSaid } from "../../ui/Status.tsx";
import { Ago } from "../../ui/Time.tsx";

const OUTCOMES: Record<string, string> = {
  not_taken: "nobody took it",
  lease_expired: "the lease ran out",
  nacked: "given back",
};

export function Why({ delivery }: { delivery: Delivery }) {
  if (delivery.parked.length === 0) return null;
  return (
    <Section title="Why it is parked">
      <ul class="lines">
        {delivery.parked.map((entry, index) => (
          <li key={index}>
            <strong>{causeSaid(entry.cause)}</strong>{" "}
            <span class="dim">
              <Ago at={entry.at} />
              {entry.by && (
                <>
                  {" "}
                  by <Word text={entry.by} />
                </>
              )}
            </span>
            {entry.reason && <Text text={entry.reason} />}
          </li>
        ))}
      </ul>
      {delivery.refused !== null && (
        <details>
          <summary>The request that was refused</summary>
          <JsonText value={delivery.refused} />
        </details>
      )}
    </Section>
  );
}

export function Attempts({ delivery }: { delivery: Delivery }) {
  return (
    <Section title="Attempts" aside={`${delivery.attempts_ended} ended`}>
      {delivery.attempts.length === 0 && <p class="dim">None has ended.</p>}
      <ol class="attempts">
        {delivery.attempts.map((attempt, index) => (
          <li key={index}>
            <b>
              <Word text={attempt.agent} />
            </b>{" "}
            {OUTCOMES[attempt.outcome] ?? attempt.outcome}{" "}
            <span class="dim">
              after {duration(between(attempt.since, attempt.at))}, <Ago at={attempt.at} />
              {attempt.holder && (
                <>
                  , held by <Word text={attempt.holder} />
                </>
              )}
            </span>
            {attempt.reason && <Text text={attempt.reason} />}
          </li>
        ))}
      </ol>
    </Section>
  );
}

export function Outcome({ delivery }: { delivery: Delivery }) {
  const { ending } = delivery;
  return (
    <>
      {delivery.progress.length > 0 && (
        <Section title="Progress">
          <ul class="lines">
            {delivery.progress.map((one, index) => (
              <li key={index}>
                <Ago at={one.at} /> {one.percent !== null && <b>{Math.round(one.percent)} % </b>}
                {one.note && <Line text={one.note} length={300} />}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {ending && (
        <Section title="How it ended" aside={<Ago at={ending.at} />}>
          <p>
            {ending.by && (
              <>
                By <Word text={ending.by} />
                {ending.by_hand ? ", by hand" : ""}.{" "}
              </>
            )}
            {ending.action && <Line text={ending.action} />}{" "}
            {ending.why && (
              <span class="dim">
                because <Line text={ending.why} />
              </span>
            )}
          </p>
          {ending.reason && <Text text={ending.reason} />}
          {ending.question && (
            <p>
              Asks back: <Line text={ending.question} length={400} />
            </p>
          )}
          {ending.next && (
            <p>
              Handed on: <a href={linkTo("lineage", ending.next)}>{ending.next}</a>
            </p>
          )}
          {delivery.result !== null && (
            <details>
              <summary>The result</summary>
              <JsonText value={delivery.result} />
            </details>
          )}
        </Section>
      )}
    </>
  );
}

export function DeliveryFacts({ delivery }: { delivery: Delivery }) {
  return (
    <Facts>
      <Fact name="state">
        <StateBadge state={delivery.state} />
      </Fact>
      <Fact name="way">
        <Word text={delivery.sender ?? "?"} /> → <Word text={delivery.agent} />
        {delivery.agent !== delivery.target && (
          <span class="dim">
            {" "}
            (meant for <Word text={delivery.target} />)
          </span>
        )}
      </Fact>
      <Fact name="sent">
        <Ago at={delivery.sent_at} />
      </Fact>
      {delivery.accepted_at && (
        <Fact name="accepted">after {duration(between(delivery.sent_at, delivery.accepted_at))}</Fact>
      )}
      {delivery.lease && (
        <Fact name="lease">
          until <Ago at={delivery.lease.until} />
          {delivery.lease.holder && (
            <>
              {" "}
              by <Word text={delivery.lease.holder} />
            </>
          )}
        </Fact>
      )}
      <Fact name="priority">
        <Word text={delivery.priority} />
      </Fact>
      {delivery.completeness !== null && <Fact name="complete">{percent(delivery.completeness)}</Fact>}
      {delivery.fallbacks.length > 0 && (
        <Fact name="fallbacks">
          <Line text={delivery.fallbacks.join(", ")} />
        </Fact>
      )}
      {delivery.deadline && (
        <Fact name="deadline">
          <Ago at={delivery.deadline} />
          {delivery.overdue && " ▲ overdue"}
        </Fact>
      )}
      <Fact name="delivery">
        <span class="mono small">{delivery.id}</span>
      </Fact>
      <Fact name="envelope">
        <a class="mono small" href={linkTo("lineage", delivery.envelope_id)}>
          {delivery.envelope_id}
        </a>
      </Fact>
    </Facts>
  );
}
