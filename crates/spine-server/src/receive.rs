//! Receiving a body: of the right kind, within its limit after decompression, in time, and only while the
//! bodies of all requests together are within theirs.

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, header};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, TryAcquireError};

use crate::App;
use crate::limits::{BODY_BYTES_MAX, FULL_RETRY_AFTER_S};
use crate::problem::{Problem, ProblemKind};

/// The whole body.
pub async fn receive_body(app: &App, headers: &HeaderMap, body: Body) -> Result<Bytes, Problem> {
    check_media_type(headers)?;
    check_encoding(headers)?;
    let time = app.settings.body_time_max;
    tokio::time::timeout(time, collect(app, body)).await.unwrap_or_else(|_| {
        let said = format!(
            "the body did not arrive within {} s: send it faster, or in smaller parts",
            time.as_secs()
        );
        Err(Problem::new(ProblemKind::RequestTimeout, said))
    })
}

fn check_media_type(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = given.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let is_json = essence.eq_ignore_ascii_case("application/json")
        || essence.to_ascii_lowercase().ends_with("+json");
    if is_json {
        return Ok(());
    }
    let said = format!("expected Content-Type: application/json, got {essence:?}");
    Err(Problem::new(ProblemKind::UnsupportedMediaType, said).with("parameter", "Content-Type"))
}

/// What could be unpacked is, and no longer says how it was packed.
fn check_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let packed = headers.get(header::CONTENT_ENCODING).filter(|value| *value != "identity");
    if packed.is_none() {
        return Ok(());
    }
    let said = "expected Content-Encoding: gzip, or none";
    Err(Problem::new(ProblemKind::UnsupportedMediaType, said).with("parameter", "Content-Encoding"))
}

async fn collect(app: &App, mut body: Body) -> Result<Bytes, Problem> {
    let mut received = BytesMut::new();
    // Given back when the body has been read into its type.
    let mut reserved: Option<OwnedSemaphorePermit> = None;
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| broken_off(&error))?.into_data() else { continue };
        if received.len() + data.len() > BODY_BYTES_MAX {
            return Err(too_large());
        }
        let more = reserve(app, data.len())?;
        match reserved.as_mut() {
            Some(reserved) => reserved.merge(more),
            None => reserved = Some(more),
        }
        received.extend_from_slice(&data);
    }
    Ok(received.freeze())
}

fn reserve(app: &App, bytes: usize) -> Result<OwnedSemaphorePermit, Problem> {
    let count = u32::try_from(bytes).map_err(|_| too_large())?;
    app.body_bytes.clone().try_acquire_many_owned(count).map_err(|error: TryAcquireError| {
        let said = "the server is reading as many bodies as it can hold: try again in a moment";
        Problem::new(ProblemKind::Overloaded, said)
            .retry_after(FULL_RETRY_AFTER_S)
            .logged(error.to_string())
    })
}

fn too_large() -> Problem {
    let said =
        format!("the body is larger than {BODY_BYTES_MAX} bytes: split it into several requests");
    Problem::new(ProblemKind::TooLarge, said).with("max_bytes", BODY_BYTES_MAX)
}

fn broken_off(error: &axum::Error) -> Problem {
    let said = "the body could not be read to its end: send it again, whole, and compressed as its Content-Encoding says";
    Problem::new(ProblemKind::MalformedJson, said).with("pointer", "").logged(error.to_string())
}
