//! What a model is told when something cannot be done: what went wrong, and what to do next.

use rmcp::model::{CallToolResult, ContentBlock, ErrorData};
use serde_json::json;

use crate::problem::{Problem, ProblemKind};

/// As a tool's result: protocol errors are often kept from the model.
pub fn tool_error(problem: &Problem) -> CallToolResult {
    let slug = problem.kind().slug();
    let text = match next_step(problem.kind()) {
        Some(next) => format!("{problem}\nNext: {next}\n(problem: {slug})"),
        None => format!("{problem}\n(problem: {slug})"),
    };
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// As an error of the protocol, where there is no result to put it in.
pub fn protocol_error(problem: &Problem) -> ErrorData {
    let (said, data) = (problem.to_string(), Some(json!({"problem": problem})));
    match problem.kind() {
        ProblemKind::NotFound | ProblemKind::Gone | ProblemKind::Pruned => {
            ErrorData::resource_not_found(said, data)
        }
        kind if kind.status().is_server_error() => ErrorData::internal_error(said, data),
        _ => ErrorData::invalid_params(said, data),
    }
}

/// In the words of the tools.
fn next_step(kind: ProblemKind) -> Option<&'static str> {
    Some(match kind {
        ProblemKind::InvalidBody | ProblemKind::InvalidParameter => {
            "correct that argument and call again."
        }
        ProblemKind::NotFound | ProblemKind::Gone => {
            "check the id; memory_search and handoff_status show what there is."
        }
        ProblemKind::LeaseLost => {
            "stop this work, somebody else may have it; call handoff_receive for other work."
        }
        ProblemKind::Cancelled => "stop this work; call handoff_receive for other work.",
        ProblemKind::AlreadyOver => "nothing; handoff_status shows how it ended.",
        ProblemKind::NotParked => "handoff_status shows where it stands.",
        ProblemKind::CircuitOpen => {
            "name fallbacks, another target_agent, or leave wait_s out so that it is queued."
        }
        ProblemKind::ResultInvalid => "correct the result; the delivery is still yours.",
        ProblemKind::Budget => "shorten what is named, or raise max_tokens.",
        ProblemKind::ConstraintChanged => {
            "keep the constraint, or give it up openly in `waive` with a reason."
        }
        ProblemKind::IntentChanged => "leave `intent` out: the task has one. Or say new_task.",
        ProblemKind::HopLimit => "finish the work yourself, or reject it with a reason.",
        ProblemKind::SecretInCore => "take the secret out of the text.",
        ProblemKind::Forbidden | ProblemKind::Unauthenticated => {
            "tell the user: the API key does not allow this."
        }
        ProblemKind::RateLimited | ProblemKind::Overloaded | ProblemKind::Contended => {
            "wait a few seconds and call again."
        }
        ProblemKind::Unavailable | ProblemKind::OutcomeUnknown | ProblemKind::DiskFull => {
            "tell the user; call again later."
        }
        _ => return None,
    })
}
