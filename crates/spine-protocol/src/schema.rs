//! JSON Schema 2020-12 of both versions, generated from the types.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use crate::envelope::Body;
use crate::v1::FlatEnvelope;
use crate::version::Major;

/// The schema that an envelope of this version fits.
pub fn schema(major: Major) -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    match major {
        Major::V1 => generator.into_root_schema_for::<FlatEnvelope>(),
        Major::V2 => generator.into_root_schema_for::<Body>(),
    }
    .to_value()
}
