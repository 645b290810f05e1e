//! Prompts: going on with a handoff, and writing a good one.

use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage,
    Role,
};
use serde_json::Value;
use spine_protocol::{DeliveryId, EnvelopeId};

use super::asker::Asker;
use super::held::{held, renew};
use super::resources::rendered;
use crate::problem::{Problem, ProblemKind};

/// The argument that names a delivery.
pub const DELIVERY: &str = "delivery";
/// The argument that names who gets the work.
pub const TARGET: &str = "target_agent";
const TASK: &str = "task";
const CONTINUE: &str = "continue_handoff";
const HAND_OFF: &str = "hand_off";

/// Every prompt there is.
pub fn all() -> Vec<Prompt> {
    let argument = |name: &str, says: &str| {
        PromptArgument::new(name).with_description(says).with_required(false)
    };
    vec![
        Prompt::new(
            CONTINUE,
            Some("Go on with work that was handed to you."),
            Some(vec![argument(DELIVERY, "dlv_… or env_…; the delivery you hold, if not said.")]),
        )
        .with_title("Continue a handoff"),
        Prompt::new(
            HAND_OFF,
            Some("Hand the work of this conversation to another agent, with nothing lost."),
            Some(vec![
                argument(TARGET, "Who is to go on."),
                argument(TASK, "What it is to do, in a line."),
            ]),
        )
        .with_title("Hand off"),
    ]
}

/// The prompt that is asked for.
pub async fn get(
    asker: &Asker,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, Problem> {
    let arguments = request.arguments.unwrap_or_default();
    let text = match request.name.as_str() {
        CONTINUE => going_on(asker, text_of(&arguments, DELIVERY)).await?,
        HAND_OFF => handing_off(text_of(&arguments, TARGET), text_of(&arguments, TASK)),
        other => {
            let said = format!("there is no prompt {other:?}: there are {CONTINUE} and {HAND_OFF}");
            return Err(Problem::new(ProblemKind::InvalidParameter, said));
        }
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

fn text_of<'a>(arguments: &'a JsonObject, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

async fn going_on(asker: &Asker, named: Option<&str>) -> Result<String, Problem> {
    let (delivery, envelope) = match named {
        Some(named) => of_name(asker, named).await?,
        None => match held(asker).await?.first() {
            Some(delivery) => (Some(delivery.row.id), delivery.row.envelope),
            None => return Ok(NOTHING_HELD.to_owned()),
        },
    };
    if let Some(id) = delivery
        && asker.pass.check(crate::access::Need::Write).is_ok()
    {
        renew(asker, id).await;
    }
    let how = match delivery {
        Some(id) => format!(
            "You hold the delivery {id}. Do the task below, and keep to its constraints. Say how far you are with handoff_progress, and end with handoff_complete (delivery_id {id}) and the result; handoff_nack if you cannot now, handoff_reject if it should not be done or is unclear."
        ),
        None => "Below is a handoff, for you to read. Receive it with handoff_receive before you work on it.".to_owned(),
    };
    Ok(format!("{how}\n\n{}", rendered(asker, envelope).await?))
}

const NOTHING_HELD: &str = "You hold no delivery. Call handoff_receive with wait_s 0 and work on what it gives you; if nothing is there, say so.";

async fn of_name(asker: &Asker, named: &str) -> Result<(Option<DeliveryId>, EnvelopeId), Problem> {
    if let Ok(id) = named.parse::<EnvelopeId>() {
        return Ok((None, id));
    }
    let id = named.parse::<DeliveryId>();
    let id = id.map_err(|error| Problem::parameter(DELIVERY, &error.to_string()))?;
    let delivery = asker.app.deliveries.get(&asker.pass.caller, id).await?;
    Ok((Some(id), delivery.row.envelope))
}

fn handing_off(target: Option<&str>, task: Option<&str>) -> String {
    let target = target.map_or_else(
        || "the agent that the user names (ask, if it is not clear)".to_owned(),
        |target| format!("the agent {target:?}"),
    );
    let task = task.map(|task| format!(" It is to do this: {task:?}.")).unwrap_or_default();
    format!(
        "Hand the work of this conversation to {target}.{task} The receiver knows nothing but what you pack.

1. Store with memory_store what it will need and cannot find: findings, file names, decisions, each by itself. Note the ids.
2. Call handoff_send with
   - intent: the user's request, word for word, not your summary. Leave it out if you hold a delivery: the task keeps its intent.
   - task_summary: what this receiver is to do now, in two or three sentences. Name memories as ms-….
   - constraints: what must hold to the end (language, deadline, what not to touch), by name.
   - state: progress made, decisions each with its reason, what remains, open questions. Do not hide doubts.
   - memory_refs: the ids of step 1.
   - expected_output: the form and the criteria of a good result.
3. Read the answer: if gaps are named, store or name what is missing and send again. Tell the user the delivery_id."
    )
}
