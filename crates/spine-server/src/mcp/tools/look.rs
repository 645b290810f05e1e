//! Looking: where things stand.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spine_protocol::{AgentName, DeliveryId, EnvelopeId, PublicationId};

use super::card::Card;
use super::wait;
use crate::mcp::asker::Asker;
use crate::mcp::held::renew;
use crate::mcp::inbox;
use crate::operations::{channels, deliveries, envelopes, health};
use crate::problem::{Problem, ProblemKind};
use crate::wire::agent::BreakerStateWord;
use crate::wire::channel::{PublicationPath, PublicationWaitQuery};
use crate::wire::delivery::DeliveryPath;
use crate::wire::envelope::{EnvelopePath, LineageNode};
use crate::wire::health::HealthQuery;
use crate::wire::send::{DeliveryWaitQuery, UntilWord};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusIn {
    delivery_id: Option<DeliveryId>,
    publication_id: Option<PublicationId>,
    #[schemars(range(min = 0, max = 45))]
    wait_s: Option<f64>,
    /// done if not said.
    wait_until: Option<UntilWord>,
}

/// Where deliveries stand.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveriesOut {
    deliveries: Vec<Card>,
    /// More that are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
}

pub async fn status(asker: Asker, input: StatusIn) -> Result<DeliveriesOut, Problem> {
    let deliveries = match (input.delivery_id, input.publication_id) {
        (Some(id), None) => vec![one(&asker, id, &input).await?],
        (None, Some(id)) => {
            let wait_s = wait::seconds(input.wait_s.unwrap_or_default())?;
            let query = PublicationWaitQuery { wait_s: Some(wait_s) };
            let call = asker.call(PublicationPath { id }, query, ());
            let publication = channels::publication(call).await?.into_value();
            publication.deliveries.into_iter().map(Into::into).collect()
        }
        (None, None) => own(&asker).await?,
        (Some(_), Some(_)) => {
            let said = "give a delivery_id or a publication_id, not both";
            return Err(Problem::new(ProblemKind::InvalidBody, said));
        }
    };
    Ok(DeliveriesOut { deliveries, left_out: None })
}

async fn one(asker: &Asker, id: DeliveryId, input: &StatusIn) -> Result<Card, Problem> {
    if asker.pass.check(crate::access::Need::Write).is_ok() {
        renew(asker, id).await;
    }
    let wait = wait::body(input.wait_s, input.wait_until)?;
    let query = DeliveryWaitQuery {
        wait_until: wait.map(|wait| wait.until),
        wait_s: wait.and_then(|wait| wait.timeout_s),
    };
    let call = asker.call(DeliveryPath { id }, query, ());
    Ok(deliveries::get(call).await?.into_value().into())
}

/// What the asker holds, and what waits for it.
async fn own(asker: &Asker) -> Result<Vec<Card>, Problem> {
    let open = inbox::open(asker, asker.agent()?).await?;
    Ok(open.into_iter().map(Into::into).collect())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceIn {
    /// One of the two.
    envelope_id: Option<EnvelopeId>,
    delivery_id: Option<DeliveryId>,
}

/// A task from its beginning.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceOut {
    intent: String,
    /// Whether anything was altered.
    integrity: String,
    hops: Vec<HopOut>,
    deliveries: Vec<Card>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
}

/// One envelope.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HopOut {
    envelope_id: EnvelopeId,
    hop: u32,
    from: AgentName,
    target: AgentName,
    task_summary: String,
}

impl From<LineageNode> for HopOut {
    fn from(node: LineageNode) -> Self {
        let LineageNode { id, hop, from, target, task_summary, .. } = node;
        Self { envelope_id: id, hop, from, target, task_summary }
    }
}

pub async fn trace(asker: Asker, input: TraceIn) -> Result<TraceOut, Problem> {
    let id = match (input.envelope_id, input.delivery_id) {
        (Some(id), _) => id,
        (None, Some(id)) => asker.app.deliveries.get(&asker.pass.caller, id).await?.row.envelope,
        (None, None) => {
            let said = "give the envelope_id or the delivery_id of the task";
            return Err(Problem::new(ProblemKind::InvalidBody, said));
        }
    };
    let lineage = envelopes::lineage(asker.call(EnvelopePath { id }, (), ())).await?.into_value();
    let verified = envelopes::verify(asker.call(EnvelopePath { id }, (), ())).await?.into_value();
    Ok(TraceOut {
        intent: lineage.intent,
        integrity: verified.summary,
        hops: lineage.envelopes.into_iter().map(Into::into).collect(),
        deliveries: lineage.deliveries.into_iter().map(Into::into).collect(),
        left_out: None,
    })
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HealthIn {
    /// One agent only.
    target: Option<AgentName>,
}

/// How things stand.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HealthOut {
    verdict: String,
    reasons: Vec<String>,
    pending: u64,
    at_work: u64,
    parked: u64,
    agents: Vec<AgentOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
}

/// One agent's queue.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentOut {
    agent: AgentName,
    pending: u64,
    at_work: u64,
    breaker: BreakerStateWord,
    paused: bool,
}

pub async fn health(asker: Asker, input: HealthIn) -> Result<HealthOut, Problem> {
    let query = HealthQuery { target: input.target };
    let health = health::health(asker.call((), query, ())).await?.into_value();
    let agents = health.targets.into_iter().map(|target| AgentOut {
        agent: target.agent,
        pending: target.queue.pending,
        at_work: target.queue.leased + target.queue.accepted,
        breaker: target.breaker.state,
        paused: target.paused,
    });
    Ok(HealthOut {
        verdict: health.verdict.to_owned(),
        reasons: health.reasons.into_iter().map(|reason| reason.text).collect(),
        pending: health.queue.pending,
        at_work: health.queue.leased + health.queue.accepted,
        parked: health.queue.parked,
        agents: agents.collect(),
        left_out: None,
    })
}
