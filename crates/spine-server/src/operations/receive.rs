//! Receiving.

use std::sync::Arc;
use std::time::Duration;

use spine_engine::Caller;
use spine_engine::delivery::limits::RECEIVE_MAX;
use spine_engine::delivery::{Handle, ReceiveRequest, Received};
use spine_protocol::{Envelope, Format, Major, emit, negotiate, render};

use super::{check_agent, place_to_wait};
use crate::App;
use crate::limits::RECEIVE_WAIT_DEFAULT;
use crate::problem::{Problem, ProblemKind};
use crate::route::{Call, Json};
use crate::trace;
use crate::wire::agent::AgentPath;
use crate::wire::delivery::DeliveryDocument;
use crate::wire::envelope::raw;
use crate::wire::receive::{ReceiveBody, ReceivedDocument, ReceivedListDocument};
use crate::wire::send::ms_of;

pub async fn receive(
    call: Call<AgentPath, (), ReceiveBody>,
) -> Result<Json<ReceivedListDocument>, Problem> {
    check_agent(&call.pass, &call.path.name)?;
    let (app, caller, body) = (&call.app, &call.pass.caller, call.body);
    let shape = Shape {
        major: accepted_version(body.accept_versions.as_deref().unwrap_or_default())?,
        format: body.format.map(Into::into),
    };
    let wait = body.wait_s.map_or(RECEIVE_WAIT_DEFAULT, Duration::from);
    let _place = place_to_wait(app, wait)?;
    let request = ReceiveRequest {
        max: checked_max(body.max.unwrap_or(1))?,
        wait,
        lease_ms: body.lease_s.map(ms_of),
        accept: body.accept,
        holder: body.holder,
        completeness_min: body.completeness_min,
        ..ReceiveRequest::new(call.path.name)
    };
    let received = app.deliveries.receive(caller, request).await?;
    let mut in_hands = InHands::new(app.clone(), caller.clone(), &received);
    let documents = received.into_iter().map(|one| shape.document(app, one));
    let deliveries = documents.collect::<Result<_, _>>()?;
    in_hands.disarm();
    Ok(Json::of(ReceivedListDocument { deliveries }))
}

fn checked_max(max: usize) -> Result<usize, Problem> {
    if (1..=RECEIVE_MAX).contains(&max) {
        return Ok(max);
    }
    let said = format!("max: expected a number from 1 to {RECEIVE_MAX}");
    Err(Problem::new(ProblemKind::InvalidBody, said).with("pointer", "/max"))
}

/// The newest version that a receiver reads; ours, if it does not say.
pub fn accepted_version(versions: &[String]) -> Result<Major, Problem> {
    if versions.is_empty() {
        return Ok(Major::V2);
    }
    let unsupported = |error: spine_protocol::VersionError| {
        Problem::new(ProblemKind::VersionUnsupported, error.to_string())
    };
    negotiate(versions).map_err(unsupported)
}

/// The form in which a receiver is given its envelopes.
pub struct Shape {
    /// The version.
    pub major: Major,
    /// The rendering to add.
    pub format: Option<Format>,
}

impl Shape {
    /// A delivery as its receiver gets it.
    pub fn document(&self, app: &App, received: Received) -> Result<ReceivedDocument, Problem> {
        trace::received(app, &received);
        let bytes = &received.envelope.bytes;
        let (envelope, rendered) = match (self.major, &self.format) {
            // What is stored is what is sent: nothing is read on this way.
            (Major::V2, None) => (raw(bytes)?, None),
            (major, format) => {
                let envelope = Envelope::read(bytes)?;
                let rendered = format.as_ref().map(|format| render(&envelope, format));
                (in_version(&envelope, major)?, rendered.transpose()?)
            }
        };
        Ok(ReceivedDocument {
            lease: received.fence.to_string(),
            delivery: DeliveryDocument::of(received.delivery, app.store.now()),
            envelope,
            envelope_version: self.major.as_str(),
            rendered,
        })
    }
}

fn in_version(
    envelope: &Envelope,
    major: Major,
) -> Result<Box<serde_json::value::RawValue>, Problem> {
    let unsupported = |error: spine_protocol::VersionError| {
        Problem::new(ProblemKind::VersionUnsupported, error.to_string())
    };
    let emitted = emit(envelope, &[major.as_str()]).map_err(unsupported)?;
    let one = emitted.first().map(|emitted| emitted.to_bytes()).transpose()?;
    raw(&one.unwrap_or_default())
}

/// Leases that are not their receiver's yet: whoever drops this gives them back.
pub struct InHands {
    app: Arc<App>,
    caller: Caller,
    leases: Vec<Handle>,
}

impl InHands {
    /// Those of what was received.
    pub fn new(app: Arc<App>, caller: Caller, received: &[Received]) -> Self {
        Self { app, caller, leases: received.iter().map(Received::handle).collect() }
    }

    /// The receiver has them.
    pub fn disarm(&mut self) -> Vec<Handle> {
        std::mem::take(&mut self.leases)
    }
}

impl Drop for InHands {
    fn drop(&mut self) {
        for lease in self.disarm() {
            self.app.deliveries.give_back(&self.caller, lease);
        }
    }
}
