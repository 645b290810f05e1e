//! The clock of a server that was started for tests: read, and moved ahead.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spine_protocol::Timestamp;
use spine_store::{Clock, UnixMs};

use crate::App;
use crate::limits::CLOCK_ADVANCE_MAX;
use crate::problem::{Problem, ProblemKind};
use crate::route::{Call, Json};
use crate::test_clock::{TestClock, advance};
use crate::wire::memory::Seconds;

/// How far to move the clock.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdvanceBody {
    /// Seconds that pass.
    pub advance_s: Seconds,
}

/// What time it is.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ClockDocument {
    /// The server's own time.
    pub now: Option<Timestamp>,
}

impl ClockDocument {
    fn at(now: UnixMs) -> Json<Self> {
        Json::of(Self { now: now.to_timestamp() })
    }
}

pub async fn read(call: Call<(), (), ()>) -> Result<Json<ClockDocument>, Problem> {
    Ok(ClockDocument::at(clock(&call.app)?.now()))
}

pub async fn move_ahead(call: Call<(), (), AdvanceBody>) -> Result<Json<ClockDocument>, Problem> {
    let (clock, by) = (clock(&call.app)?, call.body.advance_s.into());
    let fits = by <= CLOCK_ADVANCE_MAX && clock.now().after(by) < UnixMs::MAX;
    if !fits {
        let most = CLOCK_ADVANCE_MAX.as_secs();
        let said = format!("advance_s: expected at most {most} at a time, and no year after 9999");
        return Err(Problem::new(ProblemKind::InvalidBody, said).with("pointer", "/advance_s"));
    }
    Ok(ClockDocument::at(advance(&call.app, &clock, by).await?))
}

fn clock(app: &App) -> Result<Arc<TestClock>, Problem> {
    // The route is only there with its clock.
    app.clock.clone().ok_or_else(crate::router::unknown_route)
}
