//! Pipelines.

use crate::problem::Problem;
use crate::route::{Call, Json};
use crate::wire::channel::{NamePath, PipelineBody, PipelineDocument, PipelineListDocument};

pub async fn list(call: Call<(), (), ()>) -> Result<Json<PipelineListDocument>, Problem> {
    let pipelines = call.app.deliveries.pipelines(call.caller()).await?;
    let shown = pipelines.into_iter().map(|(name, pipeline)| PipelineDocument::of(name, pipeline));
    Ok(Json::of(PipelineListDocument { pipelines: shown.collect() }))
}

pub async fn get(call: Call<NamePath, (), ()>) -> Result<Json<PipelineDocument>, Problem> {
    let name = call.path.name.as_str();
    let pipeline = call.app.deliveries.pipeline(call.caller(), name).await?;
    Ok(Json::of(PipelineDocument::of(name, pipeline)))
}

pub async fn set(
    call: Call<NamePath, (), PipelineBody>,
) -> Result<Json<PipelineDocument>, Problem> {
    let (deliveries, caller) = (&call.app.deliveries, &call.pass.caller);
    let name = call.path.name.as_str();
    deliveries.set_pipeline(caller, name, call.body.into()).await?;
    let pipeline = deliveries.pipeline(caller, name).await?;
    Ok(Json::of(PipelineDocument::of(name, pipeline)))
}
