//! Channels, publications and pipelines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spine_engine::delivery::pipeline::{Branch, Condition, Pipeline, Step};
use spine_engine::delivery::{Channel, Join, Made, PublicationView};
use spine_protocol::{AgentName, DeliveryId, EnvelopeId, PublicationId, Timestamp};
use spine_store::{RecordName, UnixMs};

use super::delivery::DeliveryDocument;
use super::handoff::HandoffBody;
use super::memory::{Seconds, Word};
use super::send::SendBody;

/// The address of a channel or a pipeline.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NamePath {
    /// Its name.
    #[schemars(with = "Word")]
    pub name: RecordName,
}

/// The address of a subscription.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SubscriberPath {
    /// The channel.
    #[schemars(with = "Word")]
    pub name: RecordName,
    /// Who gets what is published there.
    pub agent: AgentName,
}

/// A channel.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChannelDocument {
    /// Its name.
    pub name: String,
    /// Who gets what is published there.
    pub subscribers: Vec<AgentName>,
}

impl ChannelDocument {
    /// Of a channel.
    pub fn of(name: impl Into<String>, channel: Channel) -> Self {
        Self { name: name.into(), subscribers: channel.subscribers.into_iter().collect() }
    }
}

/// Every channel.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChannelListDocument {
    /// By name.
    pub channels: Vec<ChannelDocument>,
}

/// What is published.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishBody {
    /// The envelope.
    pub envelope_id: EnvelopeId,
    /// To whom; the subscribers, if not said.
    pub receivers: Option<Vec<AgentName>>,
    /// What happens when they are done.
    pub join: Option<JoinBody>,
    /// How each is sent.
    pub send: Option<SendBody>,
}

/// What happens when the receivers are done.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinBody {
    /// The handoff to make of their results, which are its parents.
    pub handoff: HandoffBody,
    /// How many must be done; all, if not said.
    #[schemars(range(min = 1))]
    pub need: Option<u32>,
    /// When to go on with what there is.
    pub timeout_s: Option<Seconds>,
    /// How it is sent.
    pub send: Option<SendBody>,
}

/// A publication, and who has it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PublicationDocument {
    /// Its id.
    pub id: PublicationId,
    /// Where.
    pub channel: String,
    /// What.
    pub envelope_id: EnvelopeId,
    /// The first envelope of its task.
    pub root: EnvelopeId,
    /// By whom.
    pub by: Option<AgentName>,
    /// When.
    pub at: Option<Timestamp>,
    /// A delivery for each receiver.
    pub deliveries: Vec<DeliveryDocument>,
    /// Whether nothing more is to come.
    pub settled: bool,
    /// What happens when they are done.
    pub join: Option<JoinDocument>,
}

/// A join.
#[derive(Debug, Serialize, JsonSchema)]
pub struct JoinDocument {
    /// How many must be done.
    pub need: u32,
    /// When to go on with what there is.
    pub until: Option<Timestamp>,
    /// To whom it goes.
    pub target: AgentName,
    /// What was made of it.
    pub made: Option<MadeDocument>,
}

/// A join that happened.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MadeDocument {
    /// When.
    pub at: Option<Timestamp>,
    /// The envelope; null where the chain was at its end.
    pub envelope_id: Option<EnvelopeId>,
    /// Its delivery.
    pub delivery_id: DeliveryId,
    /// How many results are in it.
    pub done: u32,
}

impl From<Made> for MadeDocument {
    fn from(made: Made) -> Self {
        Self {
            at: made.at.to_timestamp(),
            envelope_id: made.envelope,
            delivery_id: made.delivery,
            done: made.done,
        }
    }
}

impl From<Join> for JoinDocument {
    fn from(join: Join) -> Self {
        Self {
            need: join.need,
            until: join.until.and_then(UnixMs::to_timestamp),
            target: join.target,
            made: join.made.map(Into::into),
        }
    }
}

impl PublicationDocument {
    /// Of a publication, at this moment.
    pub fn of(view: PublicationView, now: UnixMs) -> Self {
        let settled = view.is_settled();
        let PublicationView { publication, deliveries } = view;
        Self {
            id: publication.id,
            channel: publication.channel,
            envelope_id: publication.envelope,
            root: publication.root,
            by: publication.by,
            at: publication.at.to_timestamp(),
            deliveries: DeliveryDocument::list(deliveries, now),
            settled,
            join: publication.join.map(Into::into),
        }
    }
}

/// The address of a publication.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct PublicationPath {
    /// Its id.
    pub id: PublicationId,
}

/// How long to wait for a publication.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct PublicationWaitQuery {
    /// How long to wait until everything is settled, at most 300; not at all, if not said.
    pub wait_s: Option<Seconds>,
}

/// Which agent follows which.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({"steps": [{"agent": "coder"}, {"agent": "reviewer", "next": [{"to": "coder", "when": {"at": "/approved", "equals": false}}, {"to": null}]}]}))]
pub struct PipelineBody {
    /// From the first to the last.
    #[schemars(length(min = 1, max = 64))]
    pub steps: Vec<StepBody>,
}

/// One agent of a pipeline, and where its work goes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StepBody {
    /// Who works here.
    pub agent: AgentName,
    /// What it is to do; the summary of the handoff before, if not said.
    #[serde(default)]
    pub summary: Option<String>,
    /// Where the work goes from here: the first whose condition holds. Without any, to the next step.
    #[serde(default)]
    pub next: Vec<BranchBody>,
}

/// One way out of a step.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BranchBody {
    /// To whom; nobody ends the pipeline.
    #[serde(default)]
    pub to: Option<AgentName>,
    /// When; always, if not said.
    #[serde(default)]
    pub when: Option<ConditionBody>,
}

/// A condition on a result.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConditionBody {
    /// Where in the result, as a JSON Pointer; the whole of it, if empty.
    #[serde(default)]
    pub at: String,
    /// What must be there; anything at all, if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<Value>,
    /// Whether the opposite is meant.
    #[serde(default)]
    pub not: bool,
}

impl From<PipelineBody> for Pipeline {
    fn from(body: PipelineBody) -> Self {
        Self { steps: body.steps.into_iter().map(Into::into).collect() }
    }
}

impl From<StepBody> for Step {
    fn from(body: StepBody) -> Self {
        let next = body.next.into_iter().map(Into::into).collect();
        Self { agent: body.agent, summary: body.summary, next }
    }
}

impl From<BranchBody> for Branch {
    fn from(body: BranchBody) -> Self {
        Self { to: body.to, when: body.when.map(Into::into) }
    }
}

impl From<ConditionBody> for Condition {
    fn from(body: ConditionBody) -> Self {
        Self { at: body.at, equals: body.equals, not: body.not }
    }
}

impl From<Pipeline> for PipelineBody {
    fn from(pipeline: Pipeline) -> Self {
        let branch = |branch: Branch| BranchBody {
            to: branch.to,
            when: branch.when.map(|when| ConditionBody {
                at: when.at,
                equals: when.equals,
                not: when.not,
            }),
        };
        let step = |step: Step| StepBody {
            agent: step.agent,
            summary: step.summary,
            next: step.next.into_iter().map(branch).collect(),
        };
        Self { steps: pipeline.steps.into_iter().map(step).collect() }
    }
}

/// A pipeline.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PipelineDocument {
    /// Its name.
    pub name: String,
    /// From the first to the last.
    pub steps: Vec<StepBody>,
}

impl PipelineDocument {
    /// Of a pipeline.
    pub fn of(name: impl Into<String>, pipeline: Pipeline) -> Self {
        Self { name: name.into(), steps: PipelineBody::from(pipeline).steps }
    }
}

/// Every pipeline.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PipelineListDocument {
    /// By name.
    pub pipelines: Vec<PipelineDocument>,
}
