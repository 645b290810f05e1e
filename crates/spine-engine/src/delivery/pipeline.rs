//! Pipelines: who is next, as configured, with conditions on the result.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use spine_protocol::AgentName;
use spine_store::{Collection, Record, all_records};

use super::act::{read_named, read_record, to_record};
use super::agents::key;
use super::hand_on::Next;
use super::limits::PIPELINE_STEPS_MAX;
use super::send::SendOptions;
use super::settle::{Ack, check_text};
use super::story::Delivery;
use super::{Deliveries, DeliveryError, Result};
use crate::Caller;
use crate::assembly::HandoffRequest;

/// Which agent follows which.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pipeline {
    /// From the first to the last.
    pub steps: Vec<Step>,
}

/// One agent of a pipeline, and where its work goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Who works here.
    pub agent: AgentName,
    /// What it is to do; the summary of the handoff before, if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Where the work goes from here: the first whose condition holds. Without any, to the next step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<Branch>,
}

/// One way out of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Branch {
    /// To whom; nobody ends the pipeline.
    #[serde(default)]
    pub to: Option<AgentName>,
    /// When; always, if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
}

/// A condition on a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// Where in the result, as a JSON Pointer; the whole of it, if empty.
    #[serde(default)]
    pub at: String,
    /// What must be there; anything at all, if not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<Value>,
    /// Whether the opposite is meant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not: bool,
}

impl Condition {
    fn holds(&self, result: &Value) -> bool {
        let found = result.pointer(&self.at).filter(|found| !found.is_null());
        let holds = match &self.equals {
            Some(wanted) => found == Some(wanted),
            None => found.is_some(),
        };
        holds != self.not
    }
}

impl Pipeline {
    /// Who follows an agent with this result, and with which summary.
    pub fn after(&self, agent: &AgentName, result: &Value) -> Option<(&AgentName, Option<&str>)> {
        let place = self.steps.iter().position(|step| step.agent == *agent)?;
        let step = self.steps.get(place)?;
        let next = if step.next.is_empty() {
            self.steps.get(place + 1).map(|step| &step.agent)
        } else {
            let holds =
                |branch: &&Branch| branch.when.as_ref().is_none_or(|when| when.holds(result));
            step.next.iter().find(holds).and_then(|branch| branch.to.as_ref())
        }?;
        let summary = self.steps.iter().find(|step| step.agent == *next);
        Some((next, summary.and_then(|step| step.summary.as_deref())))
    }

    fn check(&self) -> Result<()> {
        let found = self.steps.len();
        if found > PIPELINE_STEPS_MAX {
            let (field, max, unit) = ("steps", PIPELINE_STEPS_MAX, "steps");
            return Err(DeliveryError::TooLarge { field, found, max, unit });
        }
        let wrong = |problem: String| Err(DeliveryError::Invalid { field: "steps", problem });
        if found == 0 {
            return wrong("must name at least one agent".to_owned());
        }
        for (place, step) in self.steps.iter().enumerate() {
            step.summary.as_deref().map_or(Ok(()), |summary| check_text("summary", summary))?;
            if self.steps.iter().take(place).any(|earlier| earlier.agent == step.agent) {
                return wrong(format!("name {} twice: an agent has one place", step.agent));
            }
        }
        Ok(())
    }
}

impl Deliveries {
    /// Sets a pipeline.
    pub async fn set_pipeline(
        &self,
        caller: &Caller,
        name: &str,
        pipeline: Pipeline,
    ) -> Result<()> {
        pipeline.check()?;
        let key = key(Collection::Pipeline, name)?;
        let put = |record: Option<&Record>| {
            Ok(Some((to_record(key.clone(), &pipeline, record), "pipeline.set")))
        };
        self.change_record(caller, &key, name, put).await
    }

    /// A pipeline.
    pub async fn pipeline(&self, caller: &Caller, name: &str) -> Result<Pipeline> {
        let key = key(Collection::Pipeline, name)?;
        let found = self.store.records(&caller.workspace, vec![key]).await?.pop();
        let unknown = || DeliveryError::NotFound { kind: "pipeline", name: name.to_owned() };
        read_record(&found.ok_or_else(unknown)?)
    }

    /// Every pipeline, by name.
    pub async fn pipelines(&self, caller: &Caller) -> Result<Vec<(String, Pipeline)>> {
        read_named(&all_records(&*self.store, &caller.workspace, Collection::Pipeline).await?)
    }

    pub(super) async fn next_in_pipeline(
        &self,
        caller: &Caller,
        name: &str,
        delivery: &Delivery,
        ack: &Ack,
    ) -> Result<Option<Box<Next>>> {
        let pipeline = self.pipeline(caller, name).await?;
        let result = ack.result.clone().unwrap_or_default();
        let Some((agent, summary)) = pipeline.after(&delivery.row.agent, &result) else {
            return Ok(None);
        };
        let envelope = self.envelope(caller, delivery).await?;
        let summary = summary.unwrap_or(&envelope.task.summary);
        let handoff = HandoffRequest::new(agent.clone(), summary);
        let options = SendOptions { pipeline: Some(name.to_owned()), ..SendOptions::default() };
        Ok(Some(Box::new(Next { handoff, options })))
    }
}
