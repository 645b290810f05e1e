//! How long a call waits.

use spine_protocol::ReadError;

use crate::limits::MCP_WAIT_MAX;
use crate::problem::{Problem, ProblemKind};
use crate::wire::memory::Seconds;
use crate::wire::send::{UntilWord, WaitBody};

/// Within what hosts have patience for.
pub fn seconds(wait_s: f64) -> Result<Seconds, Problem> {
    let max = MCP_WAIT_MAX.as_secs_f64();
    let wait = (0.0..=max).contains(&wait_s).then(|| Seconds::try_from(wait_s).ok()).flatten();
    let problem = format!("expected seconds from 0 to {max}: call again to wait longer");
    let wrong = || Problem::body(ProblemKind::InvalidBody, &ReadError::at("/wait_s", problem));
    wait.ok_or_else(wrong)
}

/// What a sender waits for, if it does.
pub fn body(wait_s: Option<f64>, until: Option<UntilWord>) -> Result<Option<WaitBody>, Problem> {
    let Some(wait_s) = wait_s else { return Ok(None) };
    let until = until.unwrap_or(UntilWord::Done);
    Ok(Some(WaitBody { until, timeout_s: Some(seconds(wait_s)?) }))
}
